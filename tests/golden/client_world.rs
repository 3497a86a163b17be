//! The surroundings of a recorded client: everything that others did to the registry while it ran.
//!
//! What the client registered itself is left alone as long as the recorded answers agree with it, so that its own form of
//! registration is what is read back.

use std::collections::BTreeMap;

use super::clients::ClientExchange;
use super::compare::instance_id;
use super::expected::{Body, Expected, readable_body};
use super::http::{TIMEOUT, send};
use super::node::{Node, write_json};
use super::recording::Request;
use super::xml::{Layout, write_xml};

/// What a path of the API means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Target {
    /// All applications.
    All,
    /// The delta.
    Delta,
    /// An application.
    Application(String),
    /// An instance.
    Instance(String, String),
    /// The status of an instance.
    Status(String, String),
    /// A VIP address.
    Vip(String),
}

impl Target {
    /// Reads a recorded path.
    pub(crate) fn of(path: &str) -> Target {
        let path = path.split('?').next().unwrap_or_default().trim_end_matches('/').replace("%3A", ":");
        let parts: Vec<&str> = path.split('/').skip(2).collect();
        let owned = |text: &str| text.to_owned();
        match parts.as_slice() {
            ["apps"] => Target::All,
            ["apps", "delta"] => Target::Delta,
            ["apps", app] => Target::Application(app.to_uppercase()),
            ["apps", app, id] => Target::Instance(app.to_uppercase(), owned(id)),
            ["apps", app, id, "status"] => Target::Status(app.to_uppercase(), owned(id)),
            ["vips", vip] => Target::Vip(owned(vip)),
            other => panic!("a path that no recording has: {other:?}"),
        }
    }
}

/// An instance that is registered, as the harness knows it.
#[derive(Clone, Debug)]
struct Known {
    status: Option<String>,
    vip: Option<String>,
    dirty: Option<String>,
    /// What the harness registered; `None` if the client did.
    document: Option<Node>,
    /// The registration that the client last sent, to repeat it.
    sent: Option<Request>,
}

/// The registry as it should be.
#[derive(Debug)]
pub(crate) struct World {
    port: u16,
    known: BTreeMap<(String, String), Known>,
    /// The last registration of the client, also if it was deleted since.
    last_sent: BTreeMap<String, Request>,
}

impl World {
    /// An empty registry on that port.
    pub(crate) fn new(port: u16) -> World {
        World { port, known: BTreeMap::new(), last_sent: BTreeMap::new() }
    }

    /// Does what others must have done, if this is what the client was answered.
    pub(crate) fn prepare(&mut self, exchange: &ClientExchange, target: &Target, expected: &Expected) {
        let is_found = exchange.response.status == 200;
        match (target, exchange.request.method.as_str()) {
            (Target::Instance(app, id), "GET") if is_found => {
                self.show(&exchange.response.body, |key, _| *key == (app.clone(), id.clone()))
            }
            (Target::Instance(app, id) | Target::Status(app, id), _) if is_found => {
                self.ensure(app, id, query(&exchange.request.path, "lastDirtyTimestamp"));
            }
            (Target::Instance(app, id) | Target::Status(app, id), _) => self.remove(app, id),
            (Target::All, "GET") => self.show(&exchange.response.body, |_, _| true),
            (Target::Application(app), "GET") => {
                self.show(&exchange.response.body, |key, _| key.0 == *app);
            }
            (Target::Vip(vip), "GET") => {
                self.show(&exchange.response.body, |_, known| known.vip.as_deref() == Some(vip));
            }
            _ => debug_assert!(expected.status.is_some()),
        }
    }

    /// Remembers what the client has done itself.
    pub(crate) fn note(&mut self, exchange: &ClientExchange, target: &Target) {
        match (target, exchange.request.method.as_str()) {
            (Target::Application(app), "POST") => {
                let request = exchange.to_send();
                let body = String::from_utf8(request.body_bytes().unwrap_or_default()).expect("a text");
                let document = Expected { body: readable_body(&body), ..Expected::answer(204) };
                let instance = document.node().and_then(|node| node.get("instance")).expect("an instance");
                let text = |key: &str| instance.get(key).and_then(Node::text).map(str::to_owned);
                let known = Known {
                    status: text("status"),
                    vip: text("vipAddress"),
                    dirty: text("lastDirtyTimestamp"),
                    document: None,
                    sent: Some(request.clone()),
                };
                self.known.insert((app.clone(), instance_id(instance)), known);
                self.last_sent.insert(app.clone(), request);
            }
            (Target::Instance(app, id), "DELETE") => {
                self.known.remove(&(app.clone(), id.clone()));
            }
            // The status is now what somebody else decides: the next document says it.
            (Target::Status(app, id), _) => {
                if let Some(known) = self.known.get_mut(&(app.clone(), id.clone())) {
                    known.status = query(&exchange.request.path, "value");
                }
            }
            _ => {}
        }
    }

    /// The ids of all instances that are there.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.known.keys().map(|(_, id)| id.clone()).collect()
    }

    /// The hash code of the registry, as the server shows it.
    pub(crate) fn hash(&self) -> String {
        let headers = vec![("Accept".to_owned(), "application/json".to_owned())];
        let request = Request {
            method: "GET".to_owned(),
            path: "/eureka/apps".to_owned(),
            headers,
            ..Request::default()
        };
        let answer = send(self.port, &request, TIMEOUT).expect("the registry");
        let document = Expected { body: readable_body(&answer.text()), ..Expected::answer(200) };
        let hash = document.node().and_then(|node| node.get("applications")?.get("apps__hashcode"));
        hash.and_then(Node::text).unwrap_or("none").to_owned()
    }

    /// Makes the part of the registry that `is_part` selects what the recorded document shows.
    fn show(&mut self, body: &str, is_part: impl Fn(&(String, String), &Known) -> bool) {
        let mut shown = BTreeMap::new();
        let mut document = Expected { body: readable_body(body), ..Expected::answer(200) };
        let layout = if let Body::Xml(..) = document.body { Some(Layout::Indented) } else { None };
        document.each_instance(|node| {
            let app = node.get("app").and_then(Node::text).unwrap_or_default().to_owned();
            shown.insert((app, instance_id(node)), node.clone());
        });
        let gone: Vec<_> = self
            .known
            .iter()
            .filter(|(key, known)| is_part(key, known) && !shown.contains_key(*key))
            .collect();
        for (app, id) in gone.into_iter().map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            self.remove(&app, &id);
        }
        for (key, node) in shown {
            if !self.known.get(&key).is_some_and(|known| known.agrees(&node)) {
                self.remove(&key.0, &key.1);
                self.register(&key, node, layout);
            }
        }
    }

    fn register(&mut self, key: &(String, String), node: Node, layout: Option<Layout>) {
        let root = Node::Object(vec![("instance".to_owned(), node.clone())]);
        let (media_type, body) = match layout {
            Some(layout) => ("application/xml", write_xml(&root, layout)),
            None => ("application/json", write_json(&root)),
        };
        let request = Request {
            method: "POST".to_owned(),
            path: format!("/eureka/apps/{}", key.0),
            headers: vec![("Content-Type".to_owned(), media_type.to_owned())],
            body: Some(body),
            ..Request::default()
        };
        let answer = send(self.port, &request, TIMEOUT).expect("an answer");
        assert_eq!(answer.status, 204, "{key:?}: {}", answer.text());
        let text = |name: &str| node.get(name).and_then(Node::text).map(str::to_owned);
        let known = Known {
            status: text("status"),
            vip: text("vipAddress"),
            dirty: text("lastDirtyTimestamp"),
            document: Some(node),
            sent: None,
        };
        self.known.insert(key.clone(), known);
    }

    /// Sees to it that the instance is there, with that dirty timestamp if one is given.
    fn ensure(&mut self, app: &str, id: &str, dirty: Option<String>) {
        let key = (app.to_owned(), id.to_owned());
        let is_there = self.known.get(&key).is_some_and(|known| dirty.is_none() || known.dirty == dirty);
        if is_there {
            return;
        }
        let mut request = self.known.get(&key).and_then(|known| known.sent.clone());
        request = request.or_else(|| self.last_sent.get(app).cloned());
        let mut request = request.unwrap_or_else(|| panic!("{key:?}: nothing was registered before"));
        let text = String::from_utf8(request.body_bytes().unwrap_or_default()).expect("a text");
        let mut document = Expected { body: readable_body(&text), ..Expected::answer(204) };
        if let Some(dirty) = &dirty {
            document.each_instance(|node| node.set("lastDirtyTimestamp", Node::Text(dirty.clone())));
        }
        request.body = Some(document.sample());
        request.headers.retain(|(name, _)| !name.eq_ignore_ascii_case("Content-Length"));
        self.remove(app, id);
        let answer = send(self.port, &request, TIMEOUT).expect("an answer");
        assert_eq!(answer.status, 204, "{key:?}: {}", answer.text());
        let instance = document.node().and_then(|node| node.get("instance")).cloned().expect("an instance");
        let text = |name: &str| instance.get(name).and_then(Node::text).map(str::to_owned);
        let known = Known {
            status: text("status"),
            vip: text("vipAddress"),
            dirty,
            document: None,
            sent: Some(request),
        };
        self.known.insert(key, known);
    }

    fn remove(&mut self, app: &str, id: &str) {
        let request = Request {
            method: "DELETE".to_owned(),
            path: format!("/eureka/apps/{app}/{id}"),
            ..Request::default()
        };
        send(self.port, &request, TIMEOUT).expect("an answer");
        self.known.remove(&(app.to_owned(), id.to_owned()));
    }
}

impl Known {
    /// Whether the recorded document shows this instance as it is.
    fn agrees(&self, node: &Node) -> bool {
        let same = |key: &str, known: &Option<String>| match node.get(key).and_then(Node::text) {
            Some(text) => known.as_deref() == Some(text),
            None => true,
        };
        let is_same_document = self.document.as_ref().is_none_or(|document| {
            ["metadata", "status", "overriddenStatus", "overriddenstatus"]
                .iter()
                .all(|key| document.get(key) == node.get(key))
        });
        same("status", &self.status) && same("lastDirtyTimestamp", &self.dirty) && is_same_document
    }
}

/// The value of a query parameter.
fn query(path: &str, name: &str) -> Option<String> {
    let (_, query) = path.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('=')).map(str::to_owned)
}
