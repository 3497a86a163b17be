//! What the operating system says about this process, and lets it do.

use std::fs;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Memory of the machine and of this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Of the machine, or of the control group if that is less.
    pub total_bytes: u64,
    /// Resident in this process.
    pub resident_bytes: u64,
}

impl Memory {
    /// Reads the figures of this moment; zero where the system does not tell.
    #[must_use]
    pub fn now() -> Self {
        let meminfo = fs::read_to_string("/proc/meminfo").unwrap_or_default();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let machine = kilobytes(&meminfo, "MemTotal:") * 1024;
        let group =
            fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse().ok());
        Self {
            total_bytes: group.map_or(machine, |group: u64| group.min(machine)),
            resident_bytes: kilobytes(&status, "VmRSS:") * 1024,
        }
    }
}

/// Lets this process open so many files, as far as the system allows; never fewer than it may already. Every connection
/// is a file, and many systems begin with 1,024. Says how many it may open now; `None` if there is no limit.
pub fn raise_file_limit(wanted: u64) -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current?;
    let raised = limit.maximum.map_or(wanted, |maximum| maximum.min(wanted));
    if raised <= current {
        return Some(current);
    }
    match setrlimit(Resource::Nofile, Rlimit { current: Some(raised), maximum: limit.maximum }) {
        Ok(()) => Some(raised),
        Err(error) => {
            tracing::debug!(%error, "cannot raise the number of open files");
            Some(current)
        }
    }
}

/// The number in a line such as `VmRSS:   1234 kB`.
fn kilobytes(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_files_is_raised_as_far_as_allowed_and_never_lowered() {
        let before = getrlimit(Resource::Nofile);
        assert_eq!(raise_file_limit(1), before.current);
        assert_eq!(getrlimit(Resource::Nofile), before);
        if before.current.is_some() {
            let maximum = before.maximum.unwrap_or(1 << 20);
            assert_eq!(raise_file_limit(maximum), Some(maximum));
            assert_eq!(raise_file_limit(0), Some(maximum));
            assert_eq!(getrlimit(Resource::Nofile).maximum, before.maximum);
        }
    }
}
