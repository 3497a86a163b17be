//! Whether the copy of the peers' registry that a node makes at its start is still on its way.
//!
//! While it is, an instance that is not known here may be known in a moment. A client that is told 404 meanwhile registers
//! again, and everybody hears of an instance that never left. So such a request waits, briefly, and is then answered.

use std::sync::Arc;
use std::time::Duration;

use heureka_actors::Shared;
use heureka_actors::shared::Copying;
use tokio::sync::watch;

/// Longest wait of a request: shorter than clients wait for an answer, longer than a copy takes from peers that are well.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether the copy is on its way.
#[derive(Debug)]
pub struct StartCopy(watch::Sender<bool>);

/// As long as it lives, the copy is on its way.
pub struct OnItsWay {
    state: watch::Sender<bool>,
    _remembers: Option<Copying>,
}

impl Default for StartCopy {
    fn default() -> Self {
        Self(watch::Sender::new(false))
    }
}

impl StartCopy {
    /// From now on the copy is on its way, and the registry remembers cancels of what it does not know yet: a peer may tell
    /// them before the first list is asked for.
    #[must_use]
    pub fn begin(&self, registry: &Arc<Shared>) -> OnItsWay {
        self.hold(Some(registry.start_copying()))
    }

    fn hold(&self, remembers: Option<Copying>) -> OnItsWay {
        self.0.send_replace(true);
        OnItsWay { state: self.0.clone(), _remembers: remembers }
    }

    /// Waits for the copy. False, and at once, if there was nothing to wait for.
    pub async fn arrives(&self) -> bool {
        if !*self.0.borrow() {
            return false;
        }
        let mut state = self.0.subscribe();
        let _ = tokio::time::timeout(PATIENCE, state.wait_for(|is_on_its_way| !is_on_its_way)).await;
        true
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.state.send_replace(false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn who_asks_waits_for_the_copy_and_not_longer_than_patience() {
        let copy = StartCopy::default();
        assert!(!copy.arrives().await, "nothing is on its way");
        let on_its_way = copy.hold(None);
        let started = tokio::time::Instant::now();
        let ends = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            drop(on_its_way);
        };
        let (arrived, ()) = tokio::join!(copy.arrives(), ends);
        assert!(arrived && started.elapsed() == Duration::from_millis(300));
        assert!(!copy.arrives().await, "it has come");
        let _never_ends = copy.hold(None);
        assert!(copy.arrives().await);
        assert_eq!(started.elapsed(), Duration::from_millis(300) + PATIENCE);
    }
}
