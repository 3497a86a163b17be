//! What a process has used, from `/proc`.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use anyhow::Context;

/// Length of a clock tick of `/proc/PID/stat`: 100 a second on every Linux, whatever its timer.
const TICK: Duration = Duration::from_millis(10);
/// A process total is the sum of two figures, each cut off at a tick, so a difference of two totals may be wrong by this.
const TOTAL_ERROR: Duration = Duration::from_millis(20);

/// CPU time of a process, by name of its threads, and of threads that have ended.
#[derive(Clone, Debug, Default)]
pub struct CpuTime {
    by_thread: BTreeMap<(u32, String), Duration>,
    /// Of all threads, ended ones too, in ticks.
    process: Duration,
    /// Of threads that ended between two looks, as far as it can be told.
    ended: Duration,
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
        let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        let process = process_time(&stat).context("/proc/PID/stat is not readable")?;
        Ok(Self { by_thread, process, ended: Duration::ZERO })
    }

    /// CPU time of this very process.
    ///
    /// # Errors
    /// As for [`CpuTime::of`].
    pub fn own() -> anyhow::Result<Self> {
        Self::of(std::process::id())
    }

    /// Of all threads: those that live to the nanosecond, those that have ended since the look before as far as ticks tell.
    #[must_use]
    pub fn total(&self) -> Duration {
        self.by_thread.values().sum::<Duration>() + self.ended
    }

    /// What has been used since an earlier look. Threads that have ended meanwhile (a JVM's compilers come and go) are known from the
    /// total of the process, which is coarse: below its error they count as nothing.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let used = |(thread, time): (&(u32, String), &Duration)| {
            let before = earlier.by_thread.get(thread).copied().unwrap_or_default();
            (thread.clone(), time.saturating_sub(before))
        };
        let by_thread: BTreeMap<_, _> = self.by_thread.iter().map(used).collect();
        let process = self.process.saturating_sub(earlier.process);
        let missing = process.saturating_sub(by_thread.values().sum());
        let ended = if missing > TOTAL_ERROR { missing } else { Duration::ZERO };
        Self { by_thread, process, ended }
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

/// User and system time of a whole process, from the text of its `stat`: the 14th and 15th value. The second, its name, may hold
/// blanks and parentheses.
fn process_time(stat: &str) -> Option<Duration> {
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut values = rest.split(' ').skip(11).map(str::parse::<u32>);
    let (user, system) = (values.next()?.ok()?, values.next()?.ok()?);
    Some(TICK * (user + system))
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
    fn the_time_of_a_thread_that_has_ended_counts() {
        let spun = Duration::from_millis(200);
        let before = CpuTime::own().unwrap();
        let worker = std::thread::spawn(move || {
            let stat = "/proc/thread-self/schedstat";
            let used =
                || -> u64 { fs::read_to_string(stat).unwrap().split(' ').next().unwrap().parse().unwrap() };
            while used() < spun.as_nanos() as u64 {}
        });
        worker.join().unwrap();
        let used = CpuTime::own().unwrap().since(&before);
        assert!(used.total() >= spun - TOTAL_ERROR, "{used:?}");
    }

    #[test]
    fn the_time_of_a_process_is_found_behind_its_name() {
        let stat = "7 (a b) c) S 1 7 7 0 -1 4194560 100 0 0 0 12 30 5 6 20 0 3 0 99";
        assert_eq!(process_time(stat), Some(Duration::from_millis(420)));
        assert_eq!(process_time("7 (a) S 1"), None);
    }

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
