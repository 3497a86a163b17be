//! How long a peer that fails is left alone (`replication.md` 9.3.2).

use crate::random::Random;

use super::batch::Sick;
use super::settings::QueueSettings;

/// The pause after failures in a row: doubled each time, with chance in it so that nodes do not come back in step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backoff {
    failures: u32,
    until_ms: u64,
    pause_ms: u64,
}

impl Backoff {
    /// Begins or prolongs the pause. A failure of a batch that left before the pause began does not double it.
    pub(super) fn fail(&mut self, why: Sick, settings: &QueueSettings, now_ms: u64, random: &mut dyn Random) {
        let (first_ms, longest_ms) = match why {
            Sick::Unreachable => settings.network_pause_ms,
            Sick::Congested | Sick::Refusing => settings.congestion_pause_ms,
        };
        if self.failures > 0 && now_ms < self.until_ms {
            return;
        }
        let doubled_ms = first_ms.saturating_mul(1 << self.failures.min(16)).min(longest_ms);
        self.failures = self.failures.saturating_add(1);
        self.pause_ms = jittered(doubled_ms, random);
        self.until_ms = now_ms.saturating_add(self.pause_ms);
    }

    /// The peer works again.
    pub(super) const fn succeed(&mut self) {
        *self = Self { failures: 0, until_ms: 0, pause_ms: 0 };
    }

    pub(super) const fn is_failing(&self) -> bool {
        self.failures > 0
    }

    /// When the next attempt may start.
    pub(super) const fn until_ms(&self) -> u64 {
        self.until_ms
    }

    /// Length of the current pause; 0 if the peer is well.
    pub(super) const fn pause_ms(&self) -> u64 {
        self.pause_ms
    }
}

/// The pause for something that failed alone, `failures` times.
pub(super) fn pause_ms(settings: &QueueSettings, failures: u32, random: &mut dyn Random) -> u64 {
    let (first_ms, longest_ms) = settings.congestion_pause_ms;
    jittered(first_ms.saturating_mul(1 << failures.min(16)).min(longest_ms), random)
}

/// Four fifths to six fifths of a time.
fn jittered(ms: u64, random: &mut dyn Random) -> u64 {
    ms * 4 / 5 + random.below(ms * 2 / 5 + 1)
}
