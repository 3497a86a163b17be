//! How each kind of server is started.

use std::ffi::OsStr;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Context;

use super::process::{Process, free_address};
use super::{Baseline, CpuTime, Memory};

/// A Java server on a busy machine takes its time.
const START_PATIENCE: Duration = Duration::from_secs(120);

/// Answered as soon as the server takes traffic, and asks for no document.
const HEALTH: &str = "/actuator/health";
/// The whole registry.
pub(super) const REGISTRY: &str = "/eureka/apps";

/// Where the programs are.
#[derive(Clone, Debug)]
pub struct Launcher {
    /// The binary of Heureka.
    pub heureka: PathBuf,
    /// The jar of the Java server; `None` if it could not be built.
    pub java: Option<PathBuf>,
    /// Options of the JVM.
    pub java_options: Vec<String>,
}

/// A server that runs and answers.
#[derive(Debug)]
pub struct Server {
    /// What it is called in tables.
    pub name: String,
    /// Its process.
    pub process: Process,
    /// From the start of the process to its first answer; zero if nobody has waited for it.
    pub started_in: Duration,
}

impl Launcher {
    /// Starts Heureka with further options.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn heureka(&self, options: &[&str]) -> anyhow::Result<Server> {
        self.heureka_until(HEALTH, options)
    }

    /// Starts Heureka and waits for a first full answer, for measuring the start itself. It then believes that somebody
    /// reads JSON.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn heureka_answering(&self, options: &[&str]) -> anyhow::Result<Server> {
        self.heureka_until(REGISTRY, options)
    }

    fn heureka_until(&self, path: &str, options: &[&str]) -> anyhow::Result<Server> {
        self.spawn_heureka(free_address()?, options)?.ready(path)
    }

    /// Starts Heureka on an address and does not wait for it.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn_heureka<S: AsRef<OsStr>>(
        &self,
        address: SocketAddr,
        options: &[S],
    ) -> anyhow::Result<Server> {
        let mut command = Command::new(&self.heureka);
        command.arg(format!("--server.port={}", address.port())).args(options);
        Server::spawn("Heureka", &mut command, address)
    }

    /// Starts the Java server with further options; `None` if there is no Java.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn java(&self, options: &[&str]) -> anyhow::Result<Option<Server>> {
        let server = self.spawn_java(free_address()?, options)?;
        server.map(|server| server.ready(REGISTRY)).transpose()
    }

    /// Starts the Java server on an address and does not wait for it; `None` if there is no Java.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn_java<S: AsRef<OsStr>>(
        &self,
        address: SocketAddr,
        options: &[S],
    ) -> anyhow::Result<Option<Server>> {
        let Some(jar) = &self.java else { return Ok(None) };
        let mut command = Command::new("java");
        command.args(&self.java_options).arg("-jar").arg(jar);
        // Tomcat closes a connection after 100 requests by default. One client would never send so many in a row; ours stand
        // for many clients each.
        command
            .arg("--server.tomcat.max-keep-alive-requests=-1")
            .arg("--server.tomcat.keep-alive-timeout=75s");
        command.arg(format!("--server.port={}", address.port())).args(options);
        Server::spawn("Java", &mut command, address).map(Some)
    }

    /// Starts a baseline: this very program.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn baseline(&self, baseline: Baseline) -> anyhow::Result<Server> {
        let address = free_address()?;
        let program = std::env::current_exe().context("cannot find this program")?;
        // As many as a node has by default.
        let workers = std::thread::available_parallelism().map_or(1, |cores| cores.get() / 2).max(1);
        let (port, workers) = (address.port().to_string(), workers.to_string());
        let mut command = Command::new(program);
        command.args(["baseline", "--handler", baseline.name(), "--port", &port, "--workers", &workers]);
        Server::spawn(&format!("actix-web {}", baseline.name()), &mut command, address)?.ready("/")
    }
}

impl Server {
    fn spawn(name: &str, command: &mut Command, address: SocketAddr) -> anyhow::Result<Self> {
        let process = Process::start(command, address)?;
        Ok(Self { name: name.to_owned(), process, started_in: Duration::ZERO })
    }

    /// Waits for the first answer to a path.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn ready(mut self, path: &str) -> anyhow::Result<Self> {
        let waited = self.process.wait_until_ready(path, START_PATIENCE);
        self.started_in = waited.with_context(|| format!("{} does not start", self.name))?;
        Ok(self)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.process.address
    }

    /// Its CPU time so far.
    ///
    /// # Errors
    /// If it has ended.
    pub fn cpu(&self) -> anyhow::Result<CpuTime> {
        CpuTime::of(self.process.pid())
    }

    /// Its memory now.
    ///
    /// # Errors
    /// If it has ended.
    pub fn memory(&self) -> anyhow::Result<Memory> {
        Memory::of(self.process.pid())
    }
}
