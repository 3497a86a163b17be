//! The one place that asks what time it is.

use std::time::{SystemTime, UNIX_EPOCH};

use heureka_registry::Now;
use tokio::time::Instant;

/// Start of the monotonic clock: far enough from zero that "before the start" stays representable.
const MONO_START_MS: u64 = 1_000_000_000;

/// Monotonic and wall clock of a node. The monotonic part follows tokio's clock, so paused time in tests moves it.
#[derive(Clone, Debug)]
pub struct Clock {
    started: Instant,
    wall: Wall,
}

#[derive(Clone, Debug)]
enum Wall {
    System,
    /// Moves with the monotonic clock from a fixed start, milliseconds since the epoch.
    From(i64),
}

impl Clock {
    /// The machine's clocks.
    #[must_use]
    pub fn system() -> Self {
        Self { started: Instant::now(), wall: Wall::System }
    }

    /// A wall clock that starts at a fixed time and moves with tokio's clock, for tests.
    #[must_use]
    pub fn starting_at(wall_ms: i64) -> Self {
        Self { started: Instant::now(), wall: Wall::From(wall_ms) }
    }

    /// This moment on both clocks.
    #[must_use]
    pub fn now(&self) -> Now {
        let elapsed_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX / 2);
        let wall_ms = match self.wall {
            Wall::System => system_wall_ms(),
            Wall::From(start_ms) => start_ms.saturating_add_unsigned(elapsed_ms),
        };
        Now { mono_ms: MONO_START_MS + elapsed_ms, wall_ms }
    }

    /// Milliseconds since the node started.
    #[must_use]
    pub fn uptime_ms(&self) -> u64 {
        self.now().mono_ms - MONO_START_MS
    }
}

fn system_wall_ms() -> i64 {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX)
}
