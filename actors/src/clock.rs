//! The one place that asks what time it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
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
    From(Arc<AtomicI64>),
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
        Self { started: Instant::now(), wall: Wall::From(Arc::new(AtomicI64::new(wall_ms))) }
    }

    /// Sets the wall clock of a test forward, or back. The machine's is left alone.
    pub fn set_wall_by(&self, ms: i64) {
        if let Wall::From(start_ms) = &self.wall {
            start_ms.fetch_add(ms, Ordering::Relaxed);
        }
    }

    /// This moment on both clocks.
    #[must_use]
    pub fn now(&self) -> Now {
        let elapsed_ms = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX / 2);
        let wall_ms = match &self.wall {
            Wall::System => system_wall_ms(),
            Wall::From(start_ms) => start_ms.load(Ordering::Relaxed).saturating_add_unsigned(elapsed_ms),
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
