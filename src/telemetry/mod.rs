//! What operators see of a node from outside its pages: logs and metrics.

pub mod logging;
pub mod metrics;
