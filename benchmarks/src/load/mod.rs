//! The load: who sends what when, and what is written down about it.
//!
//! Everything runs on one thread, so that the generator takes one core at most and shares nothing.
//!
//! - [`closed`]: every connection sends its next request as soon as the last one is answered. Gives the highest rate, and
//!   says nothing about latency under a given load.
//! - [`open`]: requests are due on a schedule, whatever the server does. Latency counts from the moment a request was due,
//!   so a server that stalls cannot hide the requests that waited (no coordinated omission).

mod closed;
mod open;
mod outcome;
mod pacer;
mod pool;
mod queue;
mod workload;

pub use closed::{closed, send_all};
pub use open::{beside, open};
pub use outcome::{Outcome, Quantiles};
pub use pacer::TICK;
pub use pool::Pool;
pub use workload::{Generated, Prepared, Workload};
