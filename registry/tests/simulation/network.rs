//! The network: who reaches whom, how slowly, and what gets lost or arrives twice. It knows nothing of what it carries.

use crate::chance::Chance;

/// Delay of a healthy path.
const HEALTHY_MS: (u64, u64) = (1, 5);

/// One direction between two nodes, or between the clients and a node.
#[derive(Clone, Copy, Debug)]
struct Path {
    is_open: bool,
    delay_ms: (u64, u64),
    lost_permille: u64,
    copied_permille: u64,
}

const HEALTHY: Path = Path { is_open: true, delay_ms: HEALTHY_MS, lost_permille: 0, copied_permille: 0 };

/// The state of all paths, and of nodes as far as one sees it from outside.
#[derive(Debug)]
pub struct Network {
    paths: Vec<Vec<Path>>,
    from_clients: Vec<Path>,
    /// Extra time that a node takes for each batch.
    slow_ms: Vec<u64>,
    /// Status with which a node, or a proxy before it, answers every batch.
    sick: Vec<Option<u16>>,
}

impl Network {
    pub fn new(places: usize) -> Self {
        Self {
            paths: vec![vec![HEALTHY; places]; places],
            from_clients: vec![HEALTHY; places],
            slow_ms: vec![0; places],
            sick: vec![None; places],
        }
    }

    pub fn heal(&mut self) {
        *self = Self::new(self.sick.len());
    }

    /// How long a message takes from one node to another; `None` if it gets lost.
    pub fn transit(&self, from: usize, to: usize, chance: &mut Chance) -> Option<u64> {
        travel(self.paths[from][to], chance)
    }

    /// The same between the clients and a node, in either direction.
    pub fn client_transit(&self, node: usize, chance: &mut Chance) -> Option<u64> {
        travel(self.from_clients[node], chance)
    }

    pub fn is_copied(&self, from: usize, to: usize, chance: &mut Chance) -> bool {
        chance.permille(self.paths[from][to].copied_permille)
    }

    pub fn is_open(&self, from: usize, to: usize) -> bool {
        self.paths[from][to].is_open && self.paths[to][from].is_open
    }

    pub fn slow_ms(&self, node: usize, chance: &mut Chance) -> u64 {
        chance.range(0..self.slow_ms[node] + 1)
    }

    pub fn sick(&self, node: usize) -> Option<u16> {
        self.sick[node]
    }

    /// Something gets worse, or better; returns the words for it.
    pub fn change(&mut self, chance: &mut Chance) -> String {
        let places = self.sick.len();
        if chance.permille(350) {
            self.heal();
        }
        let (one, other) = (chance.index(places), chance.index(places));
        match chance.index(10) {
            0 => {
                let side: Vec<bool> = (0..places).map(|_| chance.permille(500)).collect();
                self.each(|from, to, path| path.is_open &= side[from] == side[to]);
                format!("split {side:?}")
            }
            1 => {
                self.each(|from, to, path| path.is_open &= (from == one) == (to == one));
                self.from_clients[one].is_open &= chance.permille(500);
                format!("{one} is alone")
            }
            2 => {
                self.paths[one][other].is_open = one == other;
                format!("{one} does not reach {other}")
            }
            3 => {
                let lost = chance.range(50..400);
                self.each(|_, _, path| path.lost_permille = lost);
                format!("{lost} of 1000 get lost")
            }
            4 => {
                let most_ms = chance.range(50..600);
                self.each(|_, _, path| path.delay_ms = (1, most_ms));
                format!("up to {most_ms} ms on the way")
            }
            5 => {
                self.slow_ms[one] = chance.range(100..2_000);
                format!("{one} is slow by {} ms", self.slow_ms[one])
            }
            6 => {
                self.sick[one] = Some(chance.pick(&[503, 503, 502, 500]));
                format!("{one} answers {:?}", self.sick[one])
            }
            7 => {
                self.from_clients[one].is_open = false;
                format!("no client reaches {one}")
            }
            8 => {
                self.each(|_, _, path| path.copied_permille = 150);
                "copies".to_owned()
            }
            _ => {
                self.from_clients.iter_mut().for_each(|path| path.lost_permille = 100);
                "calls of clients get lost".to_owned()
            }
        }
    }

    fn each(&mut self, mut change: impl FnMut(usize, usize, &mut Path)) {
        for (from, row) in self.paths.iter_mut().enumerate() {
            for (to, path) in row.iter_mut().enumerate() {
                change(from, to, path);
            }
        }
    }
}

fn travel(path: Path, chance: &mut Chance) -> Option<u64> {
    let (least_ms, most_ms) = path.delay_ms;
    let delay_ms = chance.range(least_ms..most_ms + 1);
    let is_lost = chance.permille(path.lost_permille);
    (path.is_open && !is_lost).then_some(delay_ms)
}
