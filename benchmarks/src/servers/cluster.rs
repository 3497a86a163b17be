//! Servers that are peers of one another.

use std::net::SocketAddr;

use super::launch::REGISTRY;
use super::process::free_address;
use super::{Launcher, Server};

/// Where the nodes of a cluster listen. A node can be started, ended, and started again at its place.
#[derive(Clone, Debug)]
pub struct Sites(Vec<SocketAddr>);

impl Sites {
    /// Places for so many nodes.
    ///
    /// # Errors
    /// If there are no free ports.
    pub fn new(count: usize) -> anyhow::Result<Self> {
        let addresses = (0..count).map(|_| free_address()).collect::<Result<_, _>>()?;
        Ok(Self(addresses))
    }

    /// Options of one node: its name, and all others as its peers. Peers are named by address, so a Java server, which takes
    /// a peer of its own host name for itself, does not mistake them.
    #[must_use]
    pub fn options(&self, node: usize) -> Vec<String> {
        let others = self.0.iter().enumerate().filter(|(index, _)| *index != node);
        let urls: Vec<String> = others.map(|(_, address)| format!("http://{address}/eureka/")).collect();
        vec![
            format!("--eureka.instance.hostname=node-{node}"),
            format!("--eureka.client.service-url.defaultZone={}", urls.join(",")),
            "--eureka.client.register-with-eureka=false".to_owned(),
        ]
    }

    /// The same with further options. One that is there already is replaced: given twice, Spring would take it for a list.
    fn options_and(&self, node: usize, further: &[&str]) -> Vec<String> {
        let name = |option: &str| option.split('=').next().unwrap_or_default().to_owned();
        let mut options = self.options(node);
        options.retain(|option| further.iter().all(|&other| name(other) != name(option)));
        options.extend(further.iter().map(|&option| option.to_owned()));
        options
    }

    /// Starts one of our nodes and does not wait for it.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn_heureka(
        &self,
        launcher: &Launcher,
        node: usize,
        further: &[&str],
    ) -> anyhow::Result<Server> {
        launcher.spawn_heureka(self.0[node], &self.options_and(node, further))
    }

    /// Starts a Java node and does not wait for it; `None` if there is no Java.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn spawn_java(
        &self,
        launcher: &Launcher,
        node: usize,
        further: &[&str],
    ) -> anyhow::Result<Option<Server>> {
        launcher.spawn_java(self.0[node], &self.options_and(node, further))
    }
}

impl Launcher {
    /// Starts so many nodes of ours that are peers of one another, and waits until all of them answer lists.
    ///
    /// # Errors
    /// If one does not come up.
    pub fn heureka_cluster(&self, count: usize, further: &[&str]) -> anyhow::Result<Vec<Server>> {
        let sites = Sites::new(count)?;
        let nodes: Vec<_> =
            (0..count).map(|node| sites.spawn_heureka(self, node, further)).collect::<Result<_, _>>()?;
        nodes.into_iter().map(|node| node.ready(REGISTRY)).collect()
    }

    /// Starts Java servers that are peers of one another; none if there is no Java. They begin empty, without asking each other:
    /// a Java server that asks a peer that is not there yet stays closed for minutes.
    ///
    /// # Errors
    /// If one does not come up.
    pub fn java_cluster(&self, count: usize, further: &[&str]) -> anyhow::Result<Vec<Server>> {
        let sites = Sites::new(count)?;
        let further = [&["--eureka.client.fetch-registry=false"], further].concat();
        let nodes: Vec<_> =
            (0..count).map(|node| sites.spawn_java(self, node, &further)).collect::<Result<_, _>>()?;
        nodes.into_iter().flatten().map(|node| node.ready(REGISTRY)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_names_all_others_and_not_itself() {
        let sites = Sites::new(3).unwrap();
        let options = sites.options(1);
        let zone = options.iter().find(|option| option.contains("defaultZone")).unwrap();
        for (node, address) in sites.0.iter().enumerate() {
            assert_eq!(zone.contains(&format!("http://{address}/eureka/")), node != 1, "{zone}");
        }
    }

    #[test]
    fn an_option_that_is_given_again_replaces_the_usual_one() {
        let options =
            Sites::new(1).unwrap().options_and(0, &["--eureka.client.register-with-eureka=true", "--a=b"]);
        let given: Vec<_> = options.iter().filter(|option| option.contains("register-with-eureka")).collect();
        assert_eq!(given, ["--eureka.client.register-with-eureka=true"]);
        assert!(options.iter().any(|option| option == "--a=b"));
    }
}
