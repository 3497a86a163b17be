//! One history: nodes, clients, network and what happens to them, event by event, on one virtual clock.
//!
//! The first thing that must not be ends it. Checks of single steps are in `steps`, those of quiet times in `looks`.

use std::collections::BTreeMap;
use std::fmt::Arguments;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use heureka_protocol::{AppName, InstanceId};
use heureka_registry::{Application, ClockReading, Now, Record, Rules};

use crate::agenda::{Agenda, Event};
use crate::bugs::Bug;
use crate::chance::Chance;
use crate::clients::Client;
use crate::network::Network;
use crate::node::Node;
use crate::plan::Plan;
use crate::truth::{Promise, Truth};

/// The wall clock at the beginning of every history.
pub const EPOCH_MS: i64 = 1_700_000_000_000;

/// What a history has exercised.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Events that were handled.
    pub events: u64,
    /// Hash over the whole course, to compare replays.
    pub course: u64,
    /// How often something happened, by name.
    pub counts: BTreeMap<&'static str, u64>,
}

/// The world.
pub struct World {
    pub plan: Plan,
    pub bug: Option<Bug>,
    pub promise: Promise,
    pub chance: Chance,
    pub now_ms: u64,
    pub agenda: Agenda,
    pub nodes: Vec<Node>,
    pub network: Network,
    pub clients: Vec<Client>,
    pub ids: Vec<InstanceId>,
    pub truths: Vec<Truth>,
    /// Nothing new happens: only heartbeats and what is still on its way.
    pub is_calm: bool,
    pub failure: Option<String>,
    pub coverage: Coverage,
    course: DefaultHasher,
    is_traced: bool,
}

impl World {
    /// The world of a seed at its beginning.
    pub fn new(seed: u64, bug: Option<Bug>, promise: Promise, is_traced: bool) -> Self {
        let mut chance = Chance::new(seed);
        let mut plan = Plan::draw(&mut chance);
        let skew = |chance: &mut Chance| i64::try_from(chance.range(0..120_000)).unwrap() - 60_000;
        plan.are_ours |= promise == Promise::AntiEntropy;
        plan.compares |= promise == Promise::AntiEntropy;
        let nodes = (0..plan.places).map(|place| Node::new(place, &plan)).collect();
        let clients: Vec<Client> = (0..plan.clients)
            .map(|_| Client::new(chance.index(plan.members), skew(&mut chance), chance.permille(300)))
            .collect();
        let mut world = Self {
            network: Network::new(plan.places),
            ids: (0..plan.clients).map(|who| InstanceId::from(format!("i-{who}"))).collect(),
            truths: (0..plan.clients).map(|_| Truth::default()).collect(),
            bug,
            promise,
            chance,
            now_ms: 0,
            agenda: Agenda::default(),
            nodes,
            clients,
            plan,
            is_calm: false,
            failure: None,
            coverage: Coverage::default(),
            course: DefaultHasher::new(),
            is_traced,
        };
        world.begin();
        world
    }

    fn begin(&mut self) {
        for place in 0..self.plan.members {
            self.join(place);
        }
        for who in 0..self.plan.clients {
            let at_ms = self.chance.range(0..5_000);
            self.agenda.put(at_ms, Event::Act { who });
        }
        self.agenda.put(2_000, Event::Operate);
        self.agenda.put(3_000, Event::Weather);
        self.agenda.put(10_000, Event::Trouble);
    }

    /// Runs the whole history.
    ///
    /// # Errors
    /// What broke first, and when.
    pub fn run(mut self) -> Result<Coverage, String> {
        for epoch in 0..self.plan.epochs {
            self.is_calm = false;
            self.pass(self.plan.storm_ms);
            self.calm();
            self.pass(self.plan.rounds_ms(self.promise));
            self.look_after_rounds(epoch);
            self.pass(self.plan.lease_end_ms());
            self.look_after_lease_end(epoch);
        }
        self.coverage.course = self.course.finish();
        match self.failure {
            None => Ok(self.coverage),
            Some(failure) => Err(failure),
        }
    }

    fn calm(&mut self) {
        self.note(format_args!("calm"));
        self.is_calm = true;
        self.network.heal();
        self.start_all();
    }

    fn pass(&mut self, ms: u64) {
        let until_ms = self.now_ms + ms;
        while self.failure.is_none()
            && let Some((at_ms, event)) = self.agenda.next(until_ms)
        {
            self.now_ms = at_ms;
            self.coverage.events += 1;
            self.handle(event);
        }
        self.now_ms = until_ms;
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Beat { who, life } => self.client_beat(who, life),
            Event::Act { who } => self.client_act(who),
            Event::Call { who, number, node, call } => self.client_served(who, number, node, call),
            Event::Reply { who, number, reply } => self.client_heard(who, number, reply),
            Event::Again { who, number } => self.client_again(who, number),
            Event::Operate => self.operate(),
            Event::Wake { life, peer } => self.wake(life, peer),
            Event::Carry { life } => self.carry(life),
            Event::Arrive { parcel } => self.arrive(*parcel),
            Event::Settle { life, peer, number, outcome, head } => {
                self.settle(life, peer, number, outcome, head);
            }
            Event::Minute { life } => self.minute(life),
            Event::Sweep { life } => self.sweep(life),
            Event::Save { life } => self.save(life),
            Event::Start { node, memory } => self.start(node, memory),
            Event::Compare { life, peer } => self.compare(life, peer),
            Event::Compared { life, peer, theirs, clock } => self.compared(life, peer, &theirs, clock),
            Event::Ask { life } => self.ask(life),
            Event::Copy { life, asked_mono_ms, copies, clocks } => {
                clocks.into_iter().for_each(|clock| self.hear_copied_clock(life, clock));
                self.copy(life, asked_mono_ms, copies);
            }
            Event::Left { life } => self.left(life),
            Event::Weather => self.weather(),
            Event::Trouble => self.trouble(),
        }
    }

    /// Says what happens: part of the course, and shown if wanted.
    pub fn note(&mut self, words: Arguments<'_>) {
        self.now_ms.hash(&mut self.course);
        if self.is_traced {
            println!("{:>9} {words}", self.now_ms);
        }
    }

    pub fn is_traced(&self) -> bool {
        self.is_traced
    }

    pub fn count(&mut self, what: &'static str) {
        *self.coverage.counts.entry(what).or_default() += 1;
        what.hash(&mut self.course);
    }

    /// Ends the history unless something holds.
    pub fn require(&mut self, holds: bool, words: impl FnOnce() -> String) {
        if !holds && self.failure.is_none() {
            self.failure = Some(format!("at {} ms: {}", self.now_ms, words()));
        }
    }

    pub fn has(&self, bug: Bug) -> bool {
        self.bug == Some(bug)
    }

    pub fn members(&self) -> Vec<usize> {
        self.nodes.iter().filter(|node| node.is_member).map(|node| node.place).collect()
    }

    pub fn up(&self) -> Vec<usize> {
        self.nodes.iter().filter(|node| node.is_up).map(|node| node.place).collect()
    }

    pub fn some_member(&mut self) -> usize {
        let members = self.members();
        self.chance.pick(&members)
    }

    /// The moment at a node.
    pub fn node_now(&self, n: usize) -> Now {
        let mut now = self.nodes[n].now(self.now_ms);
        if self.has(Bug::WallClockLeases) {
            now.mono_ms = u64::try_from(now.wall_ms - EPOCH_MS + 10_000_000).unwrap();
        }
        now
    }

    pub fn record(&self, n: usize, who: usize) -> Option<&Arc<Record>> {
        self.nodes[n].record(self.plan.app_of(who), &self.ids[who])
    }

    /// Performs an operation on the application of a client's instance, which is made if it is new.
    pub fn on_app<R>(
        &mut self,
        n: usize,
        who: usize,
        operation: impl FnOnce(&mut Application, Now, &Rules) -> R,
    ) -> R {
        let now = self.node_now(n);
        let name = AppName::new(self.plan.app_of(who));
        let node = &mut self.nodes[n];
        let app = node.apps.entry(name).or_insert_with_key(|name| Application::new(name.clone()));
        operation(app, now, &node.rules)
    }

    /// A node hears what the clock of another one shows.
    pub fn hear_clock(&mut self, n: usize, reading: Option<ClockReading>) {
        let now = self.node_now(n);
        if let Some(reading) = reading {
            let Node { rules, apps, .. } = &mut self.nodes[n];
            if rules.stamps.hear(reading, now) {
                apps.values_mut().for_each(|app| app.settle_stamps(rules));
            }
        }
    }
}
