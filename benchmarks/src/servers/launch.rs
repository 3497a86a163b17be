//! How each kind of server is started.

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
const REGISTRY: &str = "/eureka/apps";

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
    /// From the start of the process to its first answer.
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
        let address = free_address()?;
        let mut command = Command::new(&self.heureka);
        command.arg(format!("--server.port={}", address.port())).args(options);
        Server::start("Heureka", &mut command, address, path)
    }

    /// Starts the Java server with further options; `None` if there is no Java.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn java(&self, options: &[&str]) -> anyhow::Result<Option<Server>> {
        let Some(jar) = &self.java else { return Ok(None) };
        let address = free_address()?;
        let mut command = Command::new("java");
        command.args(&self.java_options).arg("-jar").arg(jar);
        // Tomcat closes a connection after 100 requests by default. One client would never send so many in a row; ours stand
        // for many clients each.
        command
            .arg("--server.tomcat.max-keep-alive-requests=-1")
            .arg("--server.tomcat.keep-alive-timeout=75s");
        command.arg(format!("--server.port={}", address.port())).args(options);
        Server::start("Java", &mut command, address, REGISTRY).map(Some)
    }

    /// Starts a baseline: this very program.
    ///
    /// # Errors
    /// If it does not come up.
    pub fn baseline(&self, baseline: Baseline) -> anyhow::Result<Server> {
        let address = free_address()?;
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut command = Command::new(program);
        command.args(["baseline", "--handler", baseline.name(), "--port", &address.port().to_string()]);
        Server::start(&format!("actix-web {}", baseline.name()), &mut command, address, "/")
    }
}

impl Server {
    fn start(name: &str, command: &mut Command, address: SocketAddr, path: &str) -> anyhow::Result<Self> {
        let mut process = Process::start(command, address)?;
        let started_in = process.wait_until_ready(path, START_PATIENCE)?;
        Ok(Self { name: name.to_owned(), process, started_in })
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
