//! An application from what was published or kept of it: after a panic, or from a snapshot.

use std::sync::Arc;

use heureka_protocol::{AppName, InstanceId, Status};

use crate::change::{Change, Origin};
use crate::lease::Lease;
use crate::record::Record;
use crate::rules::Rules;
use crate::stamp::Stamp;
use crate::time::Now;
use crate::totals::LeaseTotals;

use super::{Application, Mark, Override, Slot, Tombstone};

impl Application {
    /// Builds an application from records and overrides. Nothing is lost and no change is made.
    ///
    /// Records are shared with the view that they come from, and so are their clocks: heartbeats go on. A record whose
    /// clock was retired (the owner died between retiring it and publishing its successor) gets a fresh clock from now.
    /// Overrides that only a record knows of count too; those without a lease live for a while (defect D13).
    #[must_use]
    pub fn from_records(
        name: AppName,
        records: impl IntoIterator<Item = Arc<Record>>,
        overrides: impl IntoIterator<Item = (InstanceId, Status)>,
        next_sequence: u64,
        now: Now,
    ) -> Self {
        let mut app = Self::new(name);
        app.next_sequence = next_sequence.max(1);
        for record in records.into_iter().filter(|record| record.lease.eviction_timestamp == 0) {
            app.restore_record(with_living_clock(record, now));
        }
        for (id, status) in overrides {
            app.restore_override(id, status, None, now);
        }
        app
    }

    /// The same application, built anew from the records that it has announced: a step of it has failed half-way. What no
    /// record shows is kept too: who has set or removed an override and when, whom a 404 has asked for its status, and
    /// what was cancelled. It goes on where it was; to nobody does it look like a start.
    #[must_use]
    pub fn rebuilt(&self, records: impl IntoIterator<Item = Arc<Record>>, now: Now, rules: &Rules) -> Self {
        let overrides: Vec<_> = self.overrides().map(|(id, status)| (Arc::clone(id), status)).collect();
        let mut app = Self::from_records(self.name.clone(), records, overrides, self.next_sequence, now);
        app.has_unstamped = self.has_unstamped;
        app.removals = self.removals.clone();
        for (id, entry) in &mut app.overrides {
            if let Some(known) = self.overrides.get(id) {
                entry.carry(known);
            }
        }
        for (id, slot) in &mut app.leases {
            if let Some(known) = self.leases.get(id) {
                slot.was_asked_for_status = known.was_asked_for_status;
                (slot.content, slot.overridden) = (known.content, known.overridden);
            }
        }
        for (id, tombstone) in self.tombstones() {
            app.restore_tombstone(Arc::clone(id), *tombstone, rules);
        }
        app
    }

    /// The application that a snapshot has kept. Tombstones do not stand against what came back with them. The clock of the
    /// rules hears of all stamps.
    #[must_use]
    pub fn restored(
        name: AppName,
        records: impl IntoIterator<Item = Arc<Record>>,
        overrides: impl IntoIterator<Item = (InstanceId, Status, Option<Stamp>)>,
        tombstones: impl IntoIterator<Item = (InstanceId, Tombstone)>,
        now: Now,
        rules: &Rules,
    ) -> Self {
        let mut app = Self::from_records(name, records, [], 1, now);
        app.records().for_each(|record| rules.stamps.keep(record.override_stamp.get()));
        for (id, status, stamp) in overrides {
            rules.stamps.keep(stamp);
            app.restore_override(id, status, stamp, now);
        }
        for (id, tombstone) in tombstones {
            rules.stamps.keep(tombstone.override_stamp);
            app.restore_tombstone(id, tombstone, rules);
        }
        app
    }

    /// Brings every status in line with the rules: after a restart, or when the state of an auto-scaling group has
    /// changed. Leases are not renewed. One change for each instance that was not in line.
    pub fn correct_statuses(&mut self, origin: Origin, now: Now, rules: &Rules) -> Vec<Change> {
        let records: Vec<_> = self.records().map(Arc::clone).collect();
        records.iter().filter_map(|record| self.correct(record, origin, now, rules)).collect()
    }

    fn restore_record(&mut self, record: Arc<Record>) {
        let id = Arc::clone(&record.instance.instance_id);
        let overridden = record.instance.overridden_status;
        if overridden != Status::Unknown {
            self.overrides.insert(Arc::clone(&id), Override::new(overridden, Origin::StartUp));
        }
        self.totals += LeaseTotals::of(&record);
        let unknown = Mark::default();
        let slot = Slot { record, was_asked_for_status: false, content: unknown, overridden: unknown };
        if let Some(double) = self.leases.insert(id, slot) {
            self.totals -= LeaseTotals::of(&double.record);
        }
    }

    fn restore_override(&mut self, id: InstanceId, status: Status, stamp: Option<Stamp>, now: Now) {
        if status == Status::Unknown {
            return;
        }
        let entry = if self.leases.contains_key(&id) {
            Override::new(status, Origin::StartUp)
        } else {
            Override::orphaned(status, stamp, Origin::StartUp, now)
        };
        self.overrides.insert(id, entry);
    }
}

impl Override {
    /// Takes over who set it, and since when it has no lease if it still has none.
    const fn carry(&mut self, known: &Self) {
        self.origin = known.origin;
        if self.orphan.is_some() && known.orphan.is_some() {
            self.orphan = known.orphan;
        }
    }
}

fn with_living_clock(record: Arc<Record>, now: Now) -> Arc<Record> {
    if record.lease.clock.get().is_some() {
        return record;
    }
    let lease: Lease = record.lease.with_clock(now.mono_ms);
    let (instance, reported_status) = (record.instance.clone(), record.reported_status);
    Arc::new(Record { instance, reported_status, lease, override_stamp: record.override_stamp.carried() })
}
