//! Requests that are due, waiting for a connection; connections that are idle, waiting for a request.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::Instant;

/// A request that should be on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its number.
    pub number: u64,
    /// Since when.
    pub at: Instant,
}

/// First come, first served, on both sides. Unbounded on purpose: a bound would hide how far a server is behind.
#[derive(Default)]
pub struct Queue(RefCell<State>);

#[derive(Default)]
struct State {
    due: VecDeque<Due>,
    idle: VecDeque<Waker>,
    is_closed: bool,
}

impl Queue {
    /// Adds a request and wakes the connection that has been idle longest.
    pub fn push(&self, due: Due) {
        let waker = {
            let mut state = self.0.borrow_mut();
            state.due.push_back(due);
            state.idle.pop_front()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// The next request; `None` once the queue is closed and empty.
    pub async fn pop(&self) -> Option<Due> {
        poll_fn(|context| {
            let mut state = self.0.borrow_mut();
            match state.due.pop_front() {
                Some(due) => Poll::Ready(Some(due)),
                None if state.is_closed => Poll::Ready(None),
                None => {
                    state.idle.push_back(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Says that no more requests will come.
    pub fn close(&self) {
        let idle = {
            let mut state = self.0.borrow_mut();
            state.is_closed = true;
            std::mem::take(&mut state.idle)
        };
        idle.into_iter().for_each(Waker::wake);
    }

    /// Takes out what nobody has sent.
    pub fn abandon(&self) -> Vec<Due> {
        self.0.borrow_mut().due.drain(..).collect()
    }
}
