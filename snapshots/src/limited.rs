//! Work that may hang or panic, kept away from whoever needs to go on.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use crate::doubt::Doubt;

/// Runs work on a thread of its own for at most so long. If it takes longer, it is left behind and its result dropped.
///
/// # Errors
/// [`Doubt::TimedOut`] or [`Doubt::Panicked`].
pub fn run_limited<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Doubt> {
    let (done, is_done) = mpsc::sync_channel(1);
    let started = thread::Builder::new().name("snapshot-load".into()).spawn(move || {
        // Nobody listens any more if it took too long.
        let _ = done.send(caught(work));
    });
    if let Err(error) = started {
        return Err(Doubt::NoThread(error.to_string()));
    }
    is_done.recv_timeout(limit).unwrap_or(Err(Doubt::TimedOut(limit)))
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
    fn results_panics_and_hangs_are_told_apart() {
        let long = Duration::from_secs(60);
        assert_eq!(run_limited(long, || 7), Ok(7));
        let panicked = run_limited(long, || -> u8 { std::panic::panic_any("on purpose".to_owned()) });
        assert_eq!(panicked, Err(Doubt::Panicked("on purpose".into())));
        let (release, is_released) = mpsc::channel::<()>();
        let short = Duration::from_millis(1);
        let hung = run_limited(short, move || {
            let _ = is_released.recv();
        });
        assert_eq!(hung, Err(Doubt::TimedOut(short)));
        drop(release);
    }
}
