//! Work that may hang or panic, kept away from whoever needs to go on.

use std::any::Any;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use crate::doubt::Doubt;

/// Tells work that nobody waits for it any more: from then on it must not change anything, since others go on without it.
#[derive(Clone, Debug, Default)]
pub struct Cancelled(Arc<AtomicBool>);

impl Cancelled {
    /// Tells it.
    pub fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    /// Asked before each step that changes something.
    ///
    /// # Errors
    /// If nobody waits any more.
    pub fn check(&self) -> io::Result<()> {
        if self.0.load(Ordering::SeqCst) {
            return Err(io::Error::other("it took so long that nobody waits for it any more"));
        }
        Ok(())
    }
}

/// Runs work on a thread of its own for at most so long. If it takes longer, it is told so and left behind, and its result
/// dropped.
///
/// # Errors
/// [`Doubt::TimedOut`] or [`Doubt::Panicked`].
pub fn run_limited<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce(&Cancelled) -> T + Send + 'static,
) -> Result<T, Doubt> {
    let cancelled = Cancelled::default();
    let told = cancelled.clone();
    let (done, is_done) = mpsc::sync_channel(1);
    let started = thread::Builder::new().name("snapshot-load".into()).spawn(move || {
        // Nobody listens any more if it took too long.
        let _ = done.send(caught(|| work(&told)));
    });
    if let Err(error) = started {
        return Err(Doubt::NoThread(error.to_string()));
    }
    in_parts(limit, |part| match is_done.recv_timeout(part) {
        Err(mpsc::RecvTimeoutError::Timeout) => None,
        Err(mpsc::RecvTimeoutError::Disconnected) => Some(Err(Doubt::Panicked("no text".into()))),
        Ok(result) => Some(result),
    })
    .unwrap_or_else(|| {
        cancelled.set();
        Err(Doubt::TimedOut(limit))
    })
}

/// Waits in parts: of the time in which the whole process stood still, since it was stopped or the machine slept, only the rest
/// of one part counts.
fn in_parts<T>(limit: Duration, wait: impl FnMut(Duration) -> Option<T>) -> Option<T> {
    const PARTS: u32 = 20;
    std::iter::repeat_n(limit / PARTS, PARTS as usize).find_map(wait)
}

/// Drops something on a thread of its own, since that may hang; waits for it for at most so long. True if it is gone then.
pub fn drop_aside<T: Send + 'static>(value: T, patience: Duration) -> bool {
    let (done, is_done) = mpsc::sync_channel::<()>(1);
    // Without a thread it is dropped right here.
    let started = thread::Builder::new().name("snapshot-close".into()).spawn(move || {
        let _ = caught(|| drop(value));
        drop(done);
    });
    started.is_err() || is_done.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Disconnected)
}

/// Runs work that may panic.
///
/// # Errors
/// [`Doubt::Panicked`] with the words of the panic.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, Doubt> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| Doubt::Panicked(text_of(&*payload)))
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no text".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_stood_still_is_not_late() {
        let (limit, mut waited, mut worked) = (Duration::from_secs(20), Duration::ZERO, 0);
        let found = in_parts(limit, |part| {
            // In the third part the process stands still for a minute.
            waited += if worked == 2 { Duration::from_secs(60) } else { part };
            worked += 1;
            (worked == 15).then_some(waited)
        });
        assert_eq!(found, Some(Duration::from_secs(74)));
        assert_eq!(in_parts(limit, |part| (part > limit).then_some(())), None);
    }

    #[test]
    fn who_drops_something_that_hangs_goes_on() {
        struct Hangs(mpsc::Receiver<()>);
        impl Drop for Hangs {
            fn drop(&mut self) {
                let _ = self.0.recv();
            }
        }
        let (release, is_released) = mpsc::channel();
        assert!(!drop_aside(Hangs(is_released), Duration::from_millis(1)));
        drop(release);
        let (release, is_released) = mpsc::channel();
        drop(release);
        assert!(drop_aside(Hangs(is_released), Duration::from_secs(60)));
    }

    #[test]
    fn results_panics_and_hangs_are_told_apart() {
        let long = Duration::from_secs(60);
        assert_eq!(run_limited(long, |_| 7), Ok(7));
        let panicked = run_limited(long, |_| -> u8 { std::panic::panic_any("on purpose".to_owned()) });
        assert_eq!(panicked, Err(Doubt::Panicked("on purpose".into())));
        let (release, is_released) = mpsc::channel::<()>();
        let short = Duration::from_millis(1);
        let (end, ended) = mpsc::channel();
        let hung = run_limited(short, move |cancelled| {
            let _ = is_released.recv();
            end.send(cancelled.check().is_err()).unwrap();
        });
        assert_eq!(hung, Err(Doubt::TimedOut(short)));
        drop(release);
        assert_eq!(ended.recv(), Ok(true), "it is told that it was left behind");
    }
}
