//! Clients as Java's: one call at a time, another node when one does not answer, and on 404 a registration with a newer
//! dirty timestamp.

use heureka_protocol::{AppName, DataCenter, Instance, InstanceId, LeaseInfo, Metadata, Port, Status};
use heureka_registry::{Change, Heartbeat, MetadataLimits, Origin, QuickRenewal, RenewalAnswer};

use crate::agenda::Event;
use crate::truth::Stage;
use crate::world::{EPOCH_MS, World};

const TIMEOUT_MS: u64 = 1_000;
const RETRY_MS: u64 = 200;
/// How often a request is tried that waits for the copy at the start of its node.
const HOLD_MS: u64 = 20;
const ATTEMPTS_MAX: u32 = 4;

/// A call on its way.
#[derive(Clone, Debug)]
pub enum Call {
    Register(Box<Instance>),
    /// With the dirty timestamp, or without one, as clients in other languages do it.
    Heartbeat(Option<i64>),
    Metadata(String),
    Cancel,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Register,
    Heartbeat,
    Metadata,
    Cancel,
}

/// What a client hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    Ok,
    NotFound,
    /// Nobody listens there.
    Refused,
    /// Nothing was heard in time.
    Silence,
}

#[derive(Debug, Default)]
pub struct Client {
    /// The node that it talks to.
    at: usize,
    is_running: bool,
    /// Its registration was acknowledged by some node in this life.
    is_registered: bool,
    life: u32,
    dirty: i64,
    status: Option<Status>,
    skew_ms: i64,
    /// Its heartbeats name no dirty timestamp.
    is_plain: bool,
    versions: u64,
    pending: Option<(u64, Kind, u32)>,
    calls: u64,
}

impl Client {
    pub fn new(at: usize, skew_ms: i64, is_plain: bool) -> Self {
        Self { at, skew_ms, is_plain, ..Self::default() }
    }

    /// It must be found everywhere once things are quiet.
    pub fn is_live(&self) -> bool {
        self.is_running && self.is_registered
    }

    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    pub fn dirty(&self) -> i64 {
        self.dirty
    }

    pub fn at(&self) -> usize {
        self.at
    }
}

impl World {
    fn client_clock(&self, who: usize) -> i64 {
        EPOCH_MS + i64::try_from(self.now_ms).unwrap() + self.clients[who].skew_ms
    }

    /// The client has changed itself.
    fn make_dirty(&mut self, who: usize) {
        let clock = self.client_clock(who);
        let client = &mut self.clients[who];
        client.dirty = if clock > client.dirty { clock } else { client.dirty + 1 };
        client.versions += 1;
    }

    fn instance(&self, who: usize) -> Instance {
        let client = &self.clients[who];
        let mut metadata = Metadata::new();
        metadata.insert("version", client.versions.to_string());
        Instance {
            instance_id: InstanceId::clone(&self.ids[who]),
            host_name: Box::from("host"),
            app: AppName::new(self.plan.app_of(who)),
            ip_addr: Box::from("10.0.0.1"),
            sid: None,
            status: client.status.unwrap_or(Status::Up),
            overridden_status: Status::Unknown,
            port: Port::DEFAULT_PLAIN,
            secure_port: Port::DEFAULT_SECURE,
            country_id: 1,
            data_center: DataCenter::MyOwn,
            lease: LeaseInfo {
                renewal_interval_secs: i32::try_from(self.plan.renewal_secs).unwrap(),
                duration_secs: i32::try_from(self.plan.duration_secs).unwrap(),
                ..LeaseInfo::default()
            },
            metadata,
            app_group_name: None,
            home_page_url: None,
            status_page_url: None,
            health_check_url: None,
            secure_health_check_url: None,
            vip_address: None,
            secure_vip_address: None,
            is_coordinating_discovery_server: false,
            last_updated_timestamp: 0,
            last_dirty_timestamp: client.dirty,
            action_type: None,
            asg_name: None,
        }
    }

    /// The heartbeat timer.
    pub fn client_beat(&mut self, who: usize, life: u32) {
        let client = &self.clients[who];
        if client.life != life || !client.is_running {
            return;
        }
        self.agenda.put(self.now_ms + self.plan.renewal_secs * 1000, Event::Beat { who, life });
        if client.pending.is_none() {
            let kind = if client.is_registered { Kind::Heartbeat } else { Kind::Register };
            self.client_call(who, kind);
        }
    }

    /// Something that only the client itself has a reason for.
    pub fn client_act(&mut self, who: usize) {
        let next_ms = self.now_ms + self.chance.range(1..2 * self.plan.act_ms);
        self.agenda.put(next_ms, Event::Act { who });
        if self.is_calm || self.clients[who].pending.is_some() {
            return;
        }
        if !self.clients[who].is_running {
            return self.client_start(who, false);
        }
        match self.chance.index(20) {
            0..=6 => {
                let status = self.chance.pick(&[Status::Up, Status::Up, Status::Down, Status::Starting]);
                self.clients[who].status = Some(status);
                self.make_dirty(who);
                self.client_call(who, Kind::Register);
                if self.clients[who].is_plain {
                    // Its heartbeats go on elsewhere, perhaps to a node that has not heard of the change.
                    self.clients[who].at = self.some_member();
                }
            }
            7..=9 => self.client_call(who, Kind::Metadata),
            10..=13 => {
                self.clients[who].is_running = false;
                self.client_call(who, Kind::Cancel);
            }
            14..=15 => self.clients[who].is_running = false,
            16..=17 => {
                let has_earlier_clock = self.chance.permille(500);
                self.client_start(who, has_earlier_clock);
            }
            _ => self.clients[who].at = self.some_member(),
        }
    }

    fn client_start(&mut self, who: usize, has_earlier_clock: bool) {
        let client = &mut self.clients[who];
        client.is_running = true;
        client.is_registered = false;
        client.life += 1;
        client.status = None;
        let life = client.life;
        if has_earlier_clock {
            // The host has lost its time; the registry keeps what it has until the clock is past it (defect D13).
            client.dirty -= 60_000;
            client.versions += 1;
            self.clients[who].at = self.some_member();
        } else {
            self.make_dirty(who);
        }
        self.client_call(who, Kind::Register);
        self.agenda.put(self.now_ms + self.plan.renewal_secs * 1000, Event::Beat { who, life });
    }

    fn client_call(&mut self, who: usize, kind: Kind) {
        self.clients[who].calls += 1;
        let number = self.clients[who].calls;
        self.clients[who].pending = Some((number, kind, 1));
        self.client_send(who, number, kind);
    }

    fn client_send(&mut self, who: usize, number: u64, kind: Kind) {
        let call = match kind {
            Kind::Register => Call::Register(Box::new(self.instance(who))),
            Kind::Heartbeat => {
                let client = &self.clients[who];
                Call::Heartbeat((!client.is_plain).then_some(client.dirty))
            }
            Kind::Metadata => Call::Metadata(number.to_string()),
            Kind::Cancel => Call::Cancel,
        };
        let node = self.clients[who].at;
        let silence = Event::Reply { who, number, reply: Reply::Silence };
        self.agenda.put(self.now_ms + TIMEOUT_MS, silence);
        let Some(delay_ms) = self.network.client_transit(node, &mut self.chance) else { return };
        self.agenda.put(self.now_ms + delay_ms, Event::Call { who, number, node, call });
    }

    /// A call has reached a node.
    pub fn client_served(&mut self, who: usize, number: u64, node: usize, call: Call) {
        let reply = if self.nodes[node].is_up && !self.nodes[node].is_leaving {
            self.serve(who, node, call.clone())
        } else {
            Reply::Refused
        };
        if reply == Reply::NotFound && self.nodes[node].is_copying {
            // It may be known in a moment: the request waits for the lists of the peers.
            self.agenda.put(self.now_ms + HOLD_MS, Event::Call { who, number, node, call });
            return;
        }
        if let Some(delay_ms) = self.network.client_transit(node, &mut self.chance) {
            self.agenda.put(self.now_ms + delay_ms, Event::Reply { who, number, reply });
        }
    }

    pub fn client_heard(&mut self, who: usize, number: u64, reply: Reply) {
        let Some((current, kind, attempts)) = self.clients[who].pending else { return };
        if current != number {
            return;
        }
        self.clients[who].pending = None;
        match (reply, kind) {
            (Reply::Ok, Kind::Register) => self.clients[who].is_registered = true,
            (Reply::NotFound, Kind::Heartbeat) => {
                self.make_dirty(who);
                self.client_call(who, Kind::Register);
            }
            (Reply::Ok | Reply::NotFound, _) => {}
            (Reply::Refused | Reply::Silence, _) => {
                self.clients[who].at = self.some_member();
                if attempts < ATTEMPTS_MAX {
                    self.clients[who].calls += 1;
                    let again = self.clients[who].calls;
                    self.clients[who].pending = Some((again, kind, attempts + 1));
                    self.agenda.put(self.now_ms + RETRY_MS, Event::Again { who, number: again });
                }
            }
        }
    }

    pub fn client_again(&mut self, who: usize, number: u64) {
        if let Some((current, kind, _)) = self.clients[who].pending
            && current == number
        {
            self.client_send(who, number, kind);
        }
    }

    /// The node's part of a call.
    fn serve(&mut self, who: usize, n: usize, call: Call) -> Reply {
        self.note(format_args!("client {who} at {n}: {}", call.text()));
        match call {
            Call::Register(instance) => self.serve_register(who, n, *instance),
            Call::Heartbeat(dirty) => self.serve_heartbeat(who, n, dirty),
            Call::Metadata(value) => self.serve_metadata(who, n, value),
            Call::Cancel => self.serve_cancel(who, n),
        }
    }

    fn serve_register(&mut self, who: usize, n: usize, instance: Instance) -> Reply {
        self.doubt_if_overlapping(who, n);
        let (is_known, dirty) = (self.record(n, who).is_some(), instance.last_dirty_timestamp);
        let truth = &mut self.truths[who];
        if !is_known && truth.wanted.is_some() {
            truth.doubt("registered at a node without its override");
        }
        truth.newest = truth.newest.max(dirty);
        if self.clients[who].is_running {
            truth.stage = Stage::Registered;
            truth.weak = None;
        }
        let change =
            self.on_app(n, who, |app, now, rules| app.register(instance, Origin::Client, now, rules));
        self.require(change.is_some(), || format!("R-1: client {who} was not registered at {n}"));
        self.wrote(n, who, false, change);
        Reply::Ok
    }

    fn serve_heartbeat(&mut self, who: usize, n: usize, dirty: Option<i64>) -> Reply {
        let (now_ms, plan) = (self.now_ms, &self.plan);
        let node = &mut self.nodes[n];
        let now = node.now(now_ms);
        let record = node.record(plan.app_of(who), &self.ids[who]).cloned();
        if let Some(record) = &record
            && self.chance.permille(500)
        {
            let quick = record.try_quick_renewal(dirty, now, self.plan.rules.lease_expiry);
            if quick == QuickRenewal::Renewed {
                self.renewed(n, who);
                self.carry_later(n, std::sync::Arc::clone(record));
                return Reply::Ok;
            }
        }
        if record.is_none() {
            return Reply::NotFound;
        }
        let id = self.ids[who].clone();
        let beat = Heartbeat { last_dirty: dirty, ..Heartbeat::default() };
        let renewal =
            self.on_app(n, who, |app, now, rules| app.renew(&id, &beat, Origin::Client, now, rules));
        if renewal.counts() {
            self.renewed(n, who);
        }
        let has_changed = renewal.change.is_some();
        if let Some(change) = renewal.change {
            self.absorb(n, change);
        }
        if matches!(renewal.answer, RenewalAnswer::Renewed) {
            if let Some(record) = self.record(n, who).filter(|_| !has_changed).cloned() {
                self.carry_later(n, record);
            }
            return Reply::Ok;
        }
        Reply::NotFound
    }

    fn serve_metadata(&mut self, who: usize, n: usize, value: String) -> Reply {
        if !self.is_visible(n, who) {
            return Reply::NotFound;
        }
        self.doubt_if_overlapping(who, n);
        let id = self.ids[who].clone();
        let entries = vec![("note".to_owned(), value)];
        let merged = self.on_app(n, who, |app, now, rules| {
            let limits = MetadataLimits::default();
            app.merge_metadata(&id, entries, limits, Origin::Client, now, rules)
        });
        match merged {
            Ok(change) => self.wrote(n, who, false, change),
            Err(_) => return Reply::NotFound,
        }
        Reply::Ok
    }

    fn serve_cancel(&mut self, who: usize, n: usize) -> Reply {
        let known = self.record(n, who).map(|record| record.instance.last_dirty_timestamp);
        self.doubt_if_overlapping(who, n);
        let id = self.ids[who].clone();
        let change: Option<Change> =
            self.on_app(n, who, |app, now, rules| app.cancel(&id, Origin::Client, now, rules));
        let Some(change) = change else { return Reply::NotFound };
        let is_running = self.clients[who].is_running;
        let truth = &mut self.truths[who];
        if !is_running {
            truth.stage = Stage::Cancelled;
            truth.wanted = None;
            truth.stamp = change.tombstone.as_ref().and_then(|stone| stone.override_stamp);
            truth.weak = None;
            if known.is_none_or(|dirty| dirty < truth.newest) {
                truth.weaken("cancelled at a node that did not have the newest copy");
            }
        }
        self.nodes[n].seen.lease_ends.remove(&who);
        self.require_tombstone(n, who);
        self.wrote_removal(n, who, change);
        Reply::Ok
    }
}

impl Call {
    fn text(&self) -> String {
        match self {
            Self::Register(instance) => {
                format!("Register @{} {}", crate::wire::short(instance.last_dirty_timestamp), instance.status)
            }
            Self::Heartbeat(dirty) => format!("Heartbeat @{:?}", dirty.map(crate::wire::short)),
            Self::Metadata(value) => format!("Metadata {value}"),
            Self::Cancel => "Cancel".to_owned(),
        }
    }
}
