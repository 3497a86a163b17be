//! What a placeholder may name: every source in any spelling, the machine, random numbers, defaults of known keys.

use crate::catalogue::{self, Default};
use crate::invocation::{HostFacts, InetSettings};
use crate::key;
use crate::placeholders::{self, Lookup, Unresolved};
use crate::random::random_value;
use crate::sources::{Stack, cloud_platform};
use std::cell::OnceCell;

/// Looks through everything.
pub(super) struct Everything<'a> {
    stack: &'a Stack,
    host: &'a dyn HostFacts,
    inet: InetSettings,
    hostname: OnceCell<String>,
    ip_address: OnceCell<String>,
}

impl<'a> Everything<'a> {
    pub(super) fn new(stack: &'a Stack, host: &'a dyn HostFacts, inet: InetSettings) -> Self {
        Self { stack, host, inet, hostname: OnceCell::new(), ip_address: OnceCell::new() }
    }

    /// The machine's name, asked once.
    pub(super) fn hostname(&self) -> &str {
        self.hostname.get_or_init(|| self.host.hostname(&self.inet))
    }

    /// The machine's address, asked once.
    pub(super) fn ip_address(&self) -> &str {
        self.ip_address.get_or_init(|| self.host.ip_address(&self.inet))
    }

    /// The cloud platform, if one is recognised.
    pub(super) fn cloud_platform(&self) -> Option<String> {
        cloud_platform(self.stack)
    }

    /// Resolves the placeholders of a text; tells which names it used.
    pub(super) fn resolve(&self, text: &str) -> Result<(String, Vec<String>), Unresolved> {
        let mut names = Vec::new();
        let resolved = placeholders::resolve(text, self, &mut names)?;
        Ok((resolved, names))
    }

    fn written(&self, name: &str) -> Option<String> {
        self.stack.find(name).map(|property| property.value.clone())
    }
}

impl Lookup for Everything<'_> {
    fn find(&self, name: &str) -> Result<Option<String>, String> {
        if let Some(written) = self.written(name) {
            return Ok(Some(written));
        }
        if let Some(random) = random_value(name) {
            return random.map(Some);
        }
        Ok(match key::canonical(name).as_str() {
            "spring.cloud.client.hostname" => Some(self.hostname().to_owned()),
            "spring.cloud.client.ipaddress" => Some(self.ip_address().to_owned()),
            "local.server.port" => self.written("server.port").or_else(|| default_of("server.port")),
            "eureka.hostname" => self.written("eureka.instance.hostname"),
            _ => None,
        })
    }

    fn fallback(&self, name: &str) -> Option<String> {
        match key::canonical(name).as_str() {
            "eureka.instance.hostname" | "eureka.hostname" => Some(self.hostname().to_owned()),
            "eureka.instance.ipaddress" => Some(self.ip_address().to_owned()),
            "eureka.instance.nonsecureport" => {
                self.written("server.port").or_else(|| default_of("server.port"))
            }
            canonical => default_of(canonical),
        }
    }
}

fn default_of(name: &str) -> Option<String> {
    match catalogue::find(name)?.default {
        Default::Is(value) if !value.is_empty() => Some(value.to_owned()),
        _ => None,
    }
}
