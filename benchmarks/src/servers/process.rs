//! One child process that listens on a port of its own.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::ops::Range;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, kill_process};

/// Pause between two attempts to reach a server that is starting. Short against any start that is measured.
const POLL: Duration = Duration::from_micros(200);
/// A process that has not ended so long after SIGTERM is killed.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// A child process; ended when dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Its working directory, empty at the start: no file of the caller's directory configures it.
    directory: PathBuf,
    /// Where it listens.
    pub address: SocketAddr,
    started: Instant,
}

/// Ports to choose from: below those that systems give to outgoing connections, so that none of ours takes the port of a server
/// that is down for a while.
const PORTS: Range<u16> = 18_000..32_000;

/// A port that nobody uses right now, a different one each time.
///
/// # Errors
/// If there is none.
pub fn free_address() -> io::Result<SocketAddr> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let own = std::process::id().wrapping_mul(61);
    for _ in PORTS {
        let number = own.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let port = PORTS.start + (number % PORTS.len() as u32) as u16;
        if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            return listener.local_addr();
        }
    }
    Err(io::ErrorKind::AddrInUse.into())
}

impl Process {
    /// Starts a command that will listen on `address`. Its output goes to the file that `HEUREKA_BENCH_LOG` names, or nowhere.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn start(command: &mut Command, address: SocketAddr) -> anyhow::Result<Self> {
        let log = std::env::var_os("HEUREKA_BENCH_LOG");
        let output = || -> io::Result<Stdio> {
            let Some(path) = &log else { return Ok(Stdio::null()) };
            Ok(std::fs::OpenOptions::new().append(true).create(true).open(path)?.into())
        };
        let directory =
            std::env::temp_dir().join(format!("heureka-bench-{}-{}", std::process::id(), address.port()));
        std::fs::create_dir_all(&directory)
            .with_context(|| format!("cannot make {}", directory.display()))?;
        command.current_dir(&directory).stdin(Stdio::null()).stdout(output()?).stderr(output()?);
        let started = Instant::now();
        let child = command.spawn().with_context(|| format!("cannot start {command:?}"))?;
        Ok(Self { child, directory, address, started })
    }

    /// Time since it was started.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.started.elapsed()
    }

    /// True if it has not ended.
    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until `path` is answered with 2xx; returns the time since the start of the process.
    ///
    /// # Errors
    /// If the process ends or the time is over.
    pub fn wait_until_ready(&mut self, path: &str, patience: Duration) -> anyhow::Result<Duration> {
        loop {
            if let Ok((200..=299, _)) = first_answer(self.address, path) {
                return Ok(self.started.elapsed());
            }
            if let Some(status) = self.child.try_wait()? {
                bail!("the server has ended with {status} before it answered");
            }
            if self.started.elapsed() > patience {
                bail!("the server has not answered {path} within {patience:?}");
            }
            std::thread::sleep(POLL);
        }
    }

    /// Asks the process to end and waits for it; returns how long that took.
    pub fn stop(mut self) -> Duration {
        let asked = Instant::now();
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            // It may have ended by itself.
            let _ = kill_process(pid, Signal::TERM);
        }
        while asked.elapsed() < STOP_PATIENCE {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return asked.elapsed();
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        asked.elapsed()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both fail only if it has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// Asks once for a path on a connection of its own; returns status and length of the answer.
///
/// # Errors
/// If there is no answer.
pub fn first_answer(address: SocketAddr, path: &str) -> io::Result<(u16, usize)> {
    let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_nodelay(true)?;
    let head = "Accept: application/json\r\nAccept-Encoding: gzip\r\nConnection: close";
    write!(stream, "GET {path} HTTP/1.1\r\nHost: localhost\r\n{head}\r\n\r\n")?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let status = answer.get(9..12).and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok());
    Ok((status.ok_or(io::ErrorKind::UnexpectedEof)?, answer.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_differ_and_are_not_those_of_outgoing_connections() {
        let ports: Vec<u16> = (0..3).map(|_| free_address().unwrap().port()).collect();
        assert!(ports.iter().all(|port| PORTS.contains(port)), "{ports:?}");
        assert!(ports[0] != ports[1] && ports[1] != ports[2], "{ports:?}");
    }
}
