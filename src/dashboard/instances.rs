//! "Instances currently registered with Eureka": what the table shows of each application (spec `spring.md` 2.5).
//!
//! Borrows everything from the view. The number of instances on one page is bounded; what is left out is counted and
//! linked.

use std::collections::BTreeMap;

use heureka_actors::cache::{AppView, View};
use heureka_protocol::{DataCenter, Instance, Status};

use super::links;

/// Instances of one status that stand in the row itself; the others open on a click.
const SHOWN_AT_ONCE: usize = 8;
/// The same for instances that are UP in a registry of more than [`LARGE`] instances: rows shall fit the screen.
const SHOWN_OF_MANY: usize = 3;
/// From so many instances on a registry is large.
const LARGE: u64 = 200;
/// Hiding fewer than this is not worth a click.
const HIDDEN_AT_LEAST: usize = 3;
/// Instances of one status of one application that are on the page at all.
const LISTED_PER_GROUP: usize = 1_000;
/// Instances on the page.
const LISTED_IN_ALL: usize = 20_000;
/// Stands for what an instance does not say.
const NOT_SAID: &str = "\u{2013}";

/// The whole table.
#[derive(Debug)]
pub struct Listing<'a> {
    /// Applications by name.
    pub apps: Vec<AppRow<'a>>,
}

/// One application.
#[derive(Debug)]
pub struct AppRow<'a> {
    /// Name.
    pub name: &'a str,
    /// Address of all its instances in the API.
    pub document: String,
    /// Machine images, with the number of instances.
    pub amis: Vec<Part<'a>>,
    /// Zones, with the number of instances.
    pub zones: Vec<Part<'a>>,
    /// Instances by status: what needs attention comes first.
    pub groups: Vec<Group<'a>>,
}

/// A value that several instances share.
#[derive(Debug, PartialEq, Eq)]
pub struct Part<'a> {
    /// The value.
    pub name: &'a str,
    /// How many have it.
    pub count: usize,
}

impl Part<'_> {
    /// Style class: what says nothing shall not catch the eye.
    pub fn class(&self) -> &'static str {
        if matches!(self.name, "n/a" | NOT_SAID) { "muted" } else { "part" }
    }
}

/// Instances of one application that have the same status.
#[derive(Debug)]
pub struct Group<'a> {
    /// The status.
    pub status: Status,
    /// How many.
    pub count: usize,
    /// How many of them the page does not list.
    pub left_out: usize,
    links: Vec<InstanceLink<'a>>,
    at_once: usize,
}

impl<'a> Group<'a> {
    /// The instances that are always visible.
    pub fn first(&self) -> &[InstanceLink<'a>] {
        &self.links[..self.at_once]
    }

    /// The instances that open on a click.
    pub fn rest(&self) -> &[InstanceLink<'a>] {
        &self.links[self.at_once..]
    }

    /// True if something opens on a click.
    pub fn has_rest(&self) -> bool {
        self.rest_count() > 0
    }

    /// How many are not visible at once.
    pub fn rest_count(&self) -> usize {
        self.count - self.at_once
    }
}

/// One instance.
#[derive(Debug)]
pub struct InstanceLink<'a> {
    /// Its id.
    pub id: &'a str,
    /// Its status page, if that is an address one may click on.
    pub href: Option<&'a str>,
    /// True if an operator has set its status.
    pub is_overridden: bool,
    /// True if a comma belongs behind it.
    pub is_before_another: bool,
}

/// How much may still stand on the page.
#[derive(Debug)]
struct Room {
    left: usize,
    is_large: bool,
}

impl Room {
    /// Takes up to `count` instances.
    fn take(&mut self, count: usize) -> usize {
        let taken = count.min(LISTED_PER_GROUP).min(self.left);
        self.left -= taken;
        taken
    }

    /// How many of the listed instances of a status are visible at once.
    fn at_once(&self, status: Status, listed: usize) -> usize {
        let shown = if self.is_large && status == Status::Up { SHOWN_OF_MANY } else { SHOWN_AT_ONCE };
        if listed < shown + HIDDEN_AT_LEAST { listed } else { shown }
    }
}

impl<'a> Listing<'a> {
    /// The table of a view. `api` is the address of the API, without a slash at its end.
    pub fn of(view: &'a View, api: &str) -> Self {
        let mut views: Vec<&AppView> = view.apps().map(|app| &**app).collect();
        views.sort_by(|a, b| a.name.cmp(&b.name));
        let mut room = Room { left: LISTED_IN_ALL, is_large: view.counts().total() > LARGE };
        let apps = views.into_iter().map(|app| AppRow::of(app, api, &mut room)).collect();
        Self { apps }
    }
}

impl<'a> AppRow<'a> {
    fn of(app: &'a AppView, api: &str, room: &mut Room) -> Self {
        let instances: Vec<&Instance> = app.entries().iter().map(|entry| &entry.record.instance).collect();
        let groups = Status::IN_TEXT_ORDER.into_iter().filter_map(|status| {
            let of_status: Vec<&Instance> =
                instances.iter().copied().filter(|instance| instance.status == status).collect();
            (!of_status.is_empty()).then(|| Group::of(status, &of_status, room))
        });
        Self {
            name: &app.name,
            document: format!("{api}/apps/{}", links::segment(&app.name)),
            groups: groups.collect(),
            amis: parts(instances.iter().map(|instance| ami(instance))),
            zones: parts(instances.iter().map(|instance| zone(instance))),
        }
    }
}

impl<'a> Group<'a> {
    fn of(status: Status, instances: &[&'a Instance], room: &mut Room) -> Self {
        let count = instances.len();
        let listed = room.take(count);
        let at_once = room.at_once(status, listed);
        let links = instances[..listed].iter().enumerate().map(|(index, instance)| InstanceLink {
            id: &instance.instance_id,
            href: instance.status_page_url.as_deref().and_then(links::safe),
            is_overridden: instance.overridden_status != Status::Unknown,
            is_before_another: index + 1 != at_once && index + 1 != listed,
        });
        Self { status, count, left_out: count - listed, links: links.collect(), at_once }
    }
}

fn parts<'a>(values: impl Iterator<Item = &'a str>) -> Vec<Part<'a>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts.into_iter().map(|(name, count)| Part { name, count }).collect()
}

/// The machine image; an Amazon instance need not have one.
fn ami(instance: &Instance) -> &str {
    match &instance.data_center {
        DataCenter::Amazon(about) => about.get("ami-id").filter(|id| !id.is_empty()).unwrap_or(NOT_SAID),
        DataCenter::MyOwn | DataCenter::Netflix => "n/a",
    }
}

/// The zone that Amazon says, else the one in the metadata, which Spring's clients set and its page ignores.
fn zone(instance: &Instance) -> &str {
    let of_amazon = match &instance.data_center {
        DataCenter::Amazon(about) => about.get("availability-zone"),
        DataCenter::MyOwn | DataCenter::Netflix => None,
    };
    let said = of_amazon.or_else(|| instance.metadata.get("zone"));
    said.filter(|zone| !zone.is_empty()).unwrap_or(NOT_SAID)
}
