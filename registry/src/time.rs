//! Time as the rules see it: handed in, never asked for.

/// One moment on both clocks.
///
/// Expiry, queues and back-off use the monotonic clock; published timestamps use the wall clock (design, "Time"). A step
/// of the wall clock therefore changes no lease's liveness (invariant L-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Monotonic milliseconds since some fixed start.
    pub mono_ms: u64,
    /// Wall clock, milliseconds since the epoch.
    pub wall_ms: i64,
}

impl Now {
    /// The wall-clock time of another monotonic moment, as seen from this one.
    #[must_use]
    pub fn wall_of(&self, mono_ms: u64) -> i64 {
        let ahead = i128::from(mono_ms) - i128::from(self.mono_ms);
        let wall = i128::from(self.wall_ms) + ahead;
        i64::try_from(wall).unwrap_or(if wall < 0 { i64::MIN } else { i64::MAX })
    }
}
