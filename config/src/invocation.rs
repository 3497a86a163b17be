//! What the outside world gives: arguments, environment, folder, and facts about the machine.
//!
//! The only place that touches the process is [`Invocation::from_process`]; everything else works on values.

use std::path::PathBuf;

/// How the program was started.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Invocation {
    /// Arguments without the program's own name. `--key=value`, `--flag` and `-Dkey=value` are read, others left alone.
    pub args: Vec<String>,
    /// Environment variables.
    pub env: Vec<(String, String)>,
    /// Folder that relative paths belong to.
    pub working_dir: PathBuf,
}

impl Invocation {
    /// Reads arguments, environment and folder of this process. Only `main` calls this. Variables that are not Unicode are
    /// left out; no key could name them.
    pub fn from_process() -> Self {
        Self {
            args: std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned()).collect(),
            env: std::env::vars_os()
                .filter_map(|(n, v)| Some((n.into_string().ok()?, v.into_string().ok()?)))
                .collect(),
            working_dir: std::env::current_dir().unwrap_or_else(|_| PathBuf::from(".")),
        }
    }
}

/// How to guess the machine's own address and name: `spring.cloud.inetutils.*` (`spec/spring.md` 3.3).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InetSettings {
    /// `ignored-interfaces`: regular expressions of interface names that are not used.
    pub ignored_interfaces: Vec<String>,
    /// `preferred-networks`: regular expressions or prefixes of addresses; any of them must fit if there are some.
    pub preferred_networks: Vec<String>,
    /// `use-only-site-local-interfaces`.
    pub only_site_local: bool,
    /// `default-hostname`: if nothing can be found.
    pub default_hostname: String,
    /// `default-ip-address`: if nothing can be found.
    pub default_ip_address: String,
    /// `timeout-seconds` of the reverse look-up.
    pub timeout_secs: u64,
}

impl Default for InetSettings {
    fn default() -> Self {
        Self {
            ignored_interfaces: Vec::new(),
            preferred_networks: Vec::new(),
            only_site_local: false,
            default_hostname: "localhost".into(),
            default_ip_address: "127.0.0.1".into(),
            timeout_secs: 1,
        }
    }
}

/// Answers questions about this machine. Asked only for what no key says, because a look-up may take a second.
pub trait HostFacts {
    /// The address of the first usable interface.
    fn ip_address(&self, settings: &InetSettings) -> String;
    /// The name of this machine; the address in text if it has none.
    fn hostname(&self, settings: &InetSettings) -> String;
}

/// Knows nothing: `localhost` and `127.0.0.1`, or what `spring.cloud.inetutils.default-*` say. For tests and for `check`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHostFacts;

impl HostFacts for NoHostFacts {
    fn ip_address(&self, settings: &InetSettings) -> String {
        settings.default_ip_address.clone()
    }

    fn hostname(&self, settings: &InetSettings) -> String {
        settings.default_hostname.clone()
    }
}
