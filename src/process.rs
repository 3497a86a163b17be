//! What the operating system says about this process.

use std::fs;

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

/// The number in a line such as `VmRSS:   1234 kB`.
fn kilobytes(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
