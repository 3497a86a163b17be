//! Random histories: what callers, clocks and the node's own timers do, in any order.

use heureka_protocol::Status;
use heureka_registry::Origin;
use proptest::prelude::*;

/// Applications in a history.
pub const APPS: usize = 2;
/// Instances of each application.
pub const IDS: usize = 3;
/// The id whose instances belong to the auto-scaling group.
pub const GROUP_ID: usize = 2;

/// An instance: number of its application, number of its id. Both applications use the same ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Who {
    pub app: usize,
    pub id: usize,
}

/// What a registration says.
#[derive(Clone, Copy, Debug)]
pub struct Said {
    pub status: Status,
    pub overridden: Status,
    pub dirty: i64,
    pub duration_secs: i32,
    pub interval_secs: i32,
}

/// One step of a history.
#[derive(Clone, Debug)]
pub enum Step {
    Register {
        who: Who,
        said: Said,
        origin: Origin,
    },
    Adopt {
        who: Who,
        said: Said,
    },
    Renew {
        who: Who,
        dirty: Option<i64>,
        overridden: Option<Status>,
        origin: Origin,
    },
    /// A heartbeat on the record that was published last, past the owner.
    Quick {
        who: Who,
        dirty: Option<i64>,
    },
    /// The readers get to see the records of this moment.
    Publish,
    Cancel {
        who: Who,
        origin: Origin,
    },
    SetStatus {
        who: Who,
        status: Status,
        dirty: Option<i64>,
        origin: Origin,
    },
    RemoveOverride {
        who: Who,
        status: Option<Status>,
        dirty: Option<i64>,
        origin: Origin,
    },
    Metadata {
        who: Who,
        entry: Option<u8>,
    },
    /// Looks for expired leases.
    Scan {
        extra_ms: u64,
    },
    /// Evicts what the last scan found.
    Evict {
        extra_ms: u64,
    },
    Sweep,
    ExpireDelta,
    LiftTombstone {
        who: Who,
        dirty: i64,
    },
    /// The group changes its state; nobody is told.
    Group {
        enabled: bool,
    },
    /// Every status is brought in line.
    Correct,
    /// The owner dies, perhaps while it replaces one record, and starts from the published records.
    Panic {
        broken: Option<Who>,
    },
    /// The node starts from a snapshot that lacks one instance but knows its override; deltas start anew.
    Restart {
        lost: Who,
    },
    Pass {
        mono_ms: u64,
        wall_step_ms: i64,
    },
    /// A client takes a full copy.
    Fetch,
}

/// Switches that stay for a whole history.
#[derive(Clone, Copy, Debug)]
pub struct Switches {
    pub exact_expiry: bool,
    pub compare_timestamps: bool,
    pub store_equal: bool,
    pub on_aws: bool,
    pub tombstones_max: usize,
}

/// One instance is in most of the trouble, so that long stories of one instance come about.
fn who() -> impl Strategy<Value = Who> {
    prop_oneof![2 => Just(Who { app: 0, id: 0 }), 1 => (0..APPS, 0..IDS).prop_map(|(app, id)| Who { app, id })]
}

fn status() -> impl Strategy<Value = Status> {
    prop_oneof![
        4 => Just(Status::Up),
        3 => Just(Status::OutOfService),
        2 => Just(Status::Down),
        1 => Just(Status::Starting),
        2 => Just(Status::Unknown),
    ]
}

fn origin() -> impl Strategy<Value = Origin> {
    prop_oneof![5 => Just(Origin::Client), 4 => Just(Origin::Peer), 2 => Just(Origin::StartUp)]
}

fn dirty() -> impl Strategy<Value = i64> {
    0..6_i64
}

fn said() -> impl Strategy<Value = Said> {
    let overridden = prop_oneof![3 => Just(Status::Unknown), 1 => status()];
    let duration_secs = prop_oneof![Just(1), Just(2), Just(90), Just(0), Just(-1), Just(10_000_000)];
    let interval_secs = prop_oneof![Just(30), Just(10), Just(7), Just(0)];
    (status(), overridden, dirty(), duration_secs, interval_secs).prop_map(
        |(status, overridden, dirty, duration_secs, interval_secs)| Said {
            status,
            overridden,
            dirty,
            duration_secs,
            interval_secs,
        },
    )
}

fn call() -> impl Strategy<Value = Step> {
    let maybe_dirty = || proptest::option::of(dirty());
    let maybe_status = || proptest::option::of(status());
    prop_oneof![
        6 => (who(), said(), origin()).prop_map(|(who, said, origin)| Step::Register { who, said, origin }),
        1 => (who(), said()).prop_map(|(who, said)| Step::Adopt { who, said }),
        4 => (who(), maybe_dirty(), maybe_status(), origin())
            .prop_map(|(who, dirty, overridden, origin)| Step::Renew { who, dirty, overridden, origin }),
        4 => (who(), maybe_dirty()).prop_map(|(who, dirty)| Step::Quick { who, dirty }),
        2 => (who(), origin()).prop_map(|(who, origin)| Step::Cancel { who, origin }),
        3 => (who(), status(), maybe_dirty(), origin())
            .prop_map(|(who, status, dirty, origin)| Step::SetStatus { who, status, dirty, origin }),
        3 => (who(), maybe_status(), maybe_dirty(), origin())
            .prop_map(|(who, status, dirty, origin)| Step::RemoveOverride { who, status, dirty, origin }),
        1 => (who(), proptest::option::of(0..2_u8)).prop_map(|(who, entry)| Step::Metadata { who, entry }),
        1 => (who(), dirty()).prop_map(|(who, dirty)| Step::LiftTombstone { who, dirty }),
    ]
}

fn timer() -> impl Strategy<Value = Step> {
    let extra_ms = || prop_oneof![3 => Just(0_u64), 1 => Just(1), 1 => Just(700)];
    let mono_ms = prop_oneof![
        Just(1_u64),
        Just(999),
        Just(1_000),
        Just(1_001),
        Just(2_000),
        Just(9_999),
        Just(90_000),
        Just(90_001),
        Just(179_999),
        Just(300_000),
        Just(3_600_001),
    ];
    let wall_step_ms = prop_oneof![4 => Just(0_i64), 1 => Just(-86_400_000), 1 => Just(86_400_000)];
    prop_oneof![
        5 => Just(Step::Publish),
        4 => extra_ms().prop_map(|extra_ms| Step::Scan { extra_ms }),
        4 => extra_ms().prop_map(|extra_ms| Step::Evict { extra_ms }),
        2 => Just(Step::Sweep),
        1 => Just(Step::ExpireDelta),
        1 => any::<bool>().prop_map(|enabled| Step::Group { enabled }),
        1 => Just(Step::Correct),
        1 => proptest::option::of(who()).prop_map(|broken| Step::Panic { broken }),
        2 => who().prop_map(|lost| Step::Restart { lost }),
        8 => (mono_ms, wall_step_ms).prop_map(|(mono_ms, wall_step_ms)| Step::Pass { mono_ms, wall_step_ms }),
        2 => Just(Step::Fetch),
    ]
}

/// A whole history.
pub fn history() -> impl Strategy<Value = (Switches, Vec<Step>)> {
    let switches = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 1..4_usize).prop_map(
        |(exact_expiry, compare_timestamps, store_equal, on_aws, tombstones_max)| Switches {
            exact_expiry,
            compare_timestamps,
            store_equal,
            on_aws,
            tombstones_max,
        },
    );
    let step = prop_oneof![3 => call(), 2 => timer()];
    (switches, proptest::collection::vec(step, 1..80))
}
