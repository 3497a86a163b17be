//! Where values come from, in Spring's order of precedence (`spec/spring.md` 3.2).
//!
//! Files < environment < `-D` < `SPRING_APPLICATION_JSON` < command line. This module collects; what a name means is
//! decided in `binding`.

mod activation;
mod config_tree;
mod disk;
mod files;
mod jvm_flags;
mod loader;
mod location;
mod outside;
mod profiles;
mod stack;

pub(crate) use activation::cloud_platform;
pub(crate) use files::collect_files;
pub(crate) use outside::{odd_arguments, outside_sources};
pub(crate) use stack::{Stack, split_list};
