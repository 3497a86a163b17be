//! The real binary over several lives: stopped, killed, started again on what it has kept.

mod crash;
mod fleet;
mod lives;
pub(crate) mod node;
mod tools;
