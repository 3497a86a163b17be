//! The real binary over several lives: stopped, killed, started again on what it has kept.

mod crash;
mod lives;
mod node;
mod tools;
