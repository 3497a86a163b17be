//! What operators see of a node from outside its pages: logs and metrics.

pub mod edge_gauges;
pub mod gauges;
pub mod latency;
pub mod logging;
pub mod metrics;
pub mod process_gauges;
