//! Ticks of the open loop's schedule.
//!
//! Tokio's timers are a millisecond coarse; latencies here are a tenth of that. A timer file descriptor gives ticks that are
//! fine enough without spinning, which on two cores would take half of what is measured.

use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Requests are due at multiples of this.
pub const TICK: Duration = Duration::from_micros(250);

/// A timer that fires every [`TICK`].
pub struct Pacer(AsyncFd<OwnedFd>);

impl Pacer {
    /// Starts ticking.
    ///
    /// # Errors
    /// As from the operating system.
    pub fn start() -> io::Result<Self> {
        let timer =
            timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC)?;
        let tick = Timespec { tv_sec: 0, tv_nsec: i64::from(TICK.subsec_nanos()) };
        timerfd_settime(
            &timer,
            TimerfdTimerFlags::empty(),
            &Itimerspec { it_interval: tick, it_value: tick },
        )?;
        // Its replacement is unsafe because a type could lie about the descriptor that it owns. This one cannot.
        #[expect(deprecated, reason = "an owned descriptor is what the deprecation wants to make sure of")]
        let registered = AsyncFd::with_interest(timer, Interest::READABLE)?;
        Ok(Self(registered))
    }

    /// Waits until at least one tick has passed since the last call.
    ///
    /// # Errors
    /// As from the operating system.
    pub async fn tick(&self) -> io::Result<()> {
        let mut expirations = [0; 8];
        let read = |timer: &OwnedFd| rustix::io::read(timer, &mut expirations).map_err(io::Error::from);
        self.0.async_io(Interest::READABLE, read).await?;
        Ok(())
    }
}
