//! Settings of Heureka: the files, environment variables and arguments that Spring Cloud Eureka users have, read as
//! they are, and turned into one immutable [`Settings`].
//!
//! Two stages. *Raw*: what was written, each value with its source. *Resolved*: what it means, checked. This crate knows no
//! other crate of the workspace, opens no socket and reads no process environment except in one function.

mod secret;
pub mod settings;

pub use secret::{MASK, Secret, mask_credentials};
pub use settings::Settings;
