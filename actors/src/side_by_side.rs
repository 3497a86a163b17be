//! The same work on many things, on all cores: for a start, and for somebody who waits. Actors do without it.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Never on more threads than this: requests need some too.
const THREADS_MAX: usize = 4;

/// What `work` makes of each item, in the order of the items. The calling thread does its share.
///
/// # Panics
/// If `work` does, with its panic.
pub fn map<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let helpers = thread::available_parallelism().map_or(1, NonZero::get).min(THREADS_MAX).min(items.len());
    let waiting = Mutex::new(items.into_iter().enumerate());
    // Nothing that can panic happens under the lock.
    let next = || waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
    let work_off = || {
        let mut done = Vec::new();
        while let Some((place, item)) = next() {
            done.push((place, work(item)));
        }
        done
    };
    let mut done = thread::scope(|scope| {
        // Without them this thread does the work alone.
        let start = |_| thread::Builder::new().name("side-by-side".into()).spawn_scoped(scope, work_off).ok();
        let helpers: Vec<_> = (1..helpers).filter_map(start).collect();
        let mut done = work_off();
        for helper in helpers {
            done.extend(helper.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        done
    });
    done.sort_unstable_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn results_come_in_order_and_every_item_is_taken_once() {
        let items: Vec<u64> = (0..1_000).collect();
        let doubled = map(items.clone(), |item| item * 2);
        assert!(doubled.iter().zip(&items).all(|(doubled, item)| *doubled == item * 2));
        assert_eq!(doubled.len(), items.len());
        assert!(map(Vec::<u64>::new(), |item| item).is_empty());
    }

    #[test]
    fn a_panic_is_passed_on_whoever_met_it() {
        let work = |item: u64| assert_ne!(item, 77, "on purpose");
        let caught = catch_unwind(AssertUnwindSafe(|| map((0..100).collect(), work)));
        assert!(caught.is_err());
    }
}
