//! Small changes of recorded documents: an instance less, another status, the hash code that follows from it.

use std::collections::BTreeMap;

use super::compare::instance_id;
use super::expected::{Body, Expected};
use super::node::{Check, Node};

impl Expected {
    /// Changes every instance of the body.
    pub(crate) fn each_instance(&mut self, mut change: impl FnMut(&mut Node)) {
        if let Some(node) = self.node_mut() {
            node.for_each_instance(&mut change);
        }
    }

    /// Takes the body of another answer, with its media type.
    pub(crate) fn take_body(&mut self, other: Expected) {
        self.content_type = other.content_type;
        self.body = other.body;
    }

    /// Keeps only the instances that fulfil the condition, and writes the hash code anew.
    pub(crate) fn keep_instances(&mut self, keep: impl Fn(&Node) -> bool) {
        let is_xml = matches!(self.body, Body::Xml(..));
        let Some(applications) = self.node_mut().and_then(|node| node.get_mut("applications")) else {
            return;
        };
        if let Some(Node::List(list)) = applications.get_mut("application") {
            for application in list.iter_mut() {
                if let Some(Node::List(instances)) = application.get_mut("instance") {
                    instances.retain(&keep);
                }
            }
            list.retain(|application| {
                application.get("instance").is_some_and(|node| !node.items().is_empty())
            });
            if is_xml && list.is_empty() {
                applications.take("application");
            }
        }
        self.rehash();
    }

    /// Adds an instance to an application that the document has, and writes the hash code anew.
    pub(crate) fn add_instance(&mut self, instance: Node) {
        let name = instance.get("app").and_then(Node::text).map(str::to_owned);
        let Some(root) = self.node_mut() else { return };
        let application = match root.get_mut("applications").and_then(|node| node.get_mut("application")) {
            Some(Node::List(list)) => {
                list.iter_mut().find(|node| node.get("name").and_then(Node::text) == name.as_deref())
            }
            _ => root.get_mut("application"),
        };
        if let Some(Node::List(instances)) = application.and_then(|node| node.get_mut("instance")) {
            instances.push(instance);
        }
        self.rehash();
    }

    /// The instance of that id.
    pub(crate) fn instance(&self, id: &str) -> Node {
        let mut found = None;
        let mut copy = self.clone();
        copy.each_instance(|node| {
            if instance_id(node) == id {
                found = Some(node.clone());
            }
        });
        found.unwrap_or_else(|| panic!("no instance `{id}`"))
    }

    /// Writes the hash code that follows from the instances of the document (spec `wire.md` 5).
    pub(crate) fn rehash(&mut self) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        self.each_instance(|node| {
            *counts
                .entry(node.get("status").and_then(Node::text).unwrap_or_default().to_owned())
                .or_default() += 1;
        });
        self.set_hash(&counts.iter().map(|(status, count)| format!("{status}_{count}_")).collect::<String>());
    }

    /// Writes a hash code into a document that has one.
    pub(crate) fn set_hash(&mut self, hash: &str) {
        if let Some(applications) = self.node_mut().and_then(|node| node.get_mut("applications")) {
            applications.set("apps__hashcode", Node::Text(hash.to_owned()));
        }
    }

    /// Writes the version of a document, or what is required of it.
    pub(crate) fn set_version(&mut self, version: Node) {
        if let Some(applications) = self.node_mut().and_then(|node| node.get_mut("applications")) {
            applications.set("versions__delta", version);
        }
    }
}

/// A text leaf.
pub(crate) fn text(value: &str) -> Node {
    Node::Text(value.to_owned())
}

/// Requires the times of an instance to be times of the test, where the recording has any.
pub(crate) fn check_times(instance: &mut Node) {
    let check = |node: &mut Node, key: &str| {
        if let Some(leaf) = node.get_mut(key)
            && leaf.integer().is_some_and(|time| time > 0)
        {
            *leaf = Node::Checked(Box::new(leaf.recorded().clone()), Check::Time);
        }
    };
    check(instance, "lastUpdatedTimestamp");
    if let Some(lease) = instance.get_mut("leaseInfo") {
        for key in
            ["registrationTimestamp", "lastRenewalTimestamp", "evictionTimestamp", "serviceUpTimestamp"]
        {
            check(lease, key);
        }
    }
}
