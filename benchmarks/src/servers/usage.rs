//! What a process has used, from `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::Context;

/// CPU time of a process, by name of its threads.
#[derive(Clone, Debug, Default)]
pub struct CpuTime {
    by_thread: BTreeMap<(u32, String), Duration>,
}

impl CpuTime {
    /// CPU time used so far, to the nanosecond.
    ///
    /// # Errors
    /// If there is no such process or the kernel keeps no scheduler statistics.
    pub fn of(pid: u32) -> anyhow::Result<Self> {
        let tasks = fs::read_dir(format!("/proc/{pid}/task")).with_context(|| format!("no process {pid}"))?;
        let mut by_thread = BTreeMap::new();
        for task in tasks {
            let path = task?.path();
            // A thread may end while the list is read.
            let (Ok(name), Ok(stat)) =
                (fs::read_to_string(path.join("comm")), fs::read_to_string(path.join("schedstat")))
            else {
                continue;
            };
            let nanos = stat.split_whitespace().next().and_then(|text| text.parse().ok());
            let tid = path.file_name().and_then(|tid| tid.to_str()?.parse().ok()).unwrap_or(0);
            let nanos = nanos.context("/proc/PID/schedstat is not readable")?;
            by_thread.insert((tid, name.trim().to_owned()), Duration::from_nanos(nanos));
        }
        Ok(Self { by_thread })
    }

    /// CPU time of this very process.
    ///
    /// # Errors
    /// As for [`CpuTime::of`].
    pub fn own() -> anyhow::Result<Self> {
        Self::of(std::process::id())
    }

    /// Of all threads.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.by_thread.values().sum()
    }

    /// What has been used since an earlier look.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let used = |(thread, time): (&(u32, String), &Duration)| {
            let before = earlier.by_thread.get(thread).copied().unwrap_or_default();
            (thread.clone(), time.saturating_sub(before))
        };
        Self { by_thread: self.by_thread.iter().map(used).collect() }
    }

    /// Threads that have used something, busiest first.
    #[must_use]
    pub fn threads(&self) -> Vec<(&str, Duration)> {
        let mut threads: Vec<_> = self
            .by_thread
            .iter()
            .map(|((_, name), time)| (name.as_str(), *time))
            .filter(|(_, t)| !t.is_zero())
            .collect();
        threads.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        threads
    }
}

/// Memory of a process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Memory {
    /// Resident bytes, code included.
    pub resident: u64,
    /// Of these, bytes that belong to no file: heap and stacks.
    pub anonymous: u64,
    /// The most that has been resident so far.
    pub peak: u64,
}

impl Memory {
    /// Memory of a process now.
    ///
    /// # Errors
    /// If there is no such process.
    pub fn of(pid: u32) -> anyhow::Result<Self> {
        let text =
            fs::read_to_string(format!("/proc/{pid}/status")).with_context(|| format!("no process {pid}"))?;
        let kib = |name: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
        };
        let bytes = |name| kib(name) * 1024;
        Ok(Self { resident: bytes("VmRSS:"), anonymous: bytes("RssAnon:"), peak: bytes("VmHWM:") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_cpu_and_memory() {
        let before = CpuTime::own().unwrap();
        let spun = std::hint::black_box(
            (0..20_000_000_u64).fold(0, |a: u64, b| a.wrapping_mul(31) ^ std::hint::black_box(b)),
        );
        let used = CpuTime::own().unwrap().since(&before);
        assert!(used.total() > Duration::from_millis(1), "{used:?} {spun}");
        let memory = Memory::of(std::process::id()).unwrap();
        assert!(
            memory.resident > 100_000
                && memory.anonymous <= memory.resident
                && memory.peak >= memory.resident
        );
    }
}
