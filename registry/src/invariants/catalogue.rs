//! The statements themselves, group by group, in the order of `registry.md` 10.1. Where a decision of `design.md` or a
//! verdict of `registry.md` 9.1 goes beyond Java, the statement says what this implementation does.

use super::{Home, Invariant, Scope};

macro_rules! catalogue {
    ($($name:ident $id:literal $number:literal $scope:ident $home:ident $statement:literal)*) => {
        $(
            #[doc = $statement]
            pub const $name: Invariant = Invariant {
                id: $id,
                number: $number,
                scope: Scope::$scope,
                home: Home::$home,
                statement: $statement,
            };
        )*
        /// Every invariant, in the order of their numbers.
        pub const ALL: &[Invariant] = &[$($name),*];
    };
}

catalogue! {
    L_1 "L-1" 1 Common Registry
        "A lease of duration D made at t and never renewed lives at t + D and has expired 1 ms later."
    L_2 "L-2" 2 Common Registry
        "A lease renewed at t lives at t + 2D (with exact expiry t + D) and has expired 1 ms later."
    L_3 "L-3" 3 Common Registry
        "A lease that is expired with some extra time is expired with every smaller one."
    L_4 "L-4" 4 Common Registry
        "A cancelled lease is expired at every time, whatever renewals follow."
    L_5 "L-5" 5 Common Registry
        "The eviction time of a lease is written at most once."
    L_6 "L-6" 6 Common Registry
        "A service-up time that is not 0 stays until the instance is cancelled or evicted."
    L_7 "L-7" 7 Common Registry
        "A registration never moves the registration time back, unless the wall clock went back."
    L_8 "L-8" 8 New Registry
        "A step of the wall clock changes no lease's liveness."

    R_1 "R-1" 9 Common Registry
        "After an applied registration the look-up by application and id finds a record with that id."
    R_2 "R-2" 10 Common Registry
        "A registration makes the application larger by one if the id was absent, else not at all."
    R_3 "R-3" 11 Common Registry
        "The content kept is that of the greatest dirty timestamp registered; on a tie of the last arrival."
    R_4 "R-4" 12 Common Registry
        "The stored dirty timestamp of a living id never decreases."
    R_5 "R-5" 13 Common Registry
        "Registering the same record twice leaves content and status as after the first time."
    R_6 "R-6" 14 Common Registry
        "The stored status is the rules' result for the kept record, the previous lease and the kind of call."
    R_7 "R-7" 15 Common Registry
        "A registration's override is taken over only if there is none; an existing one never changes."
    R_8 "R-8" 16 Common Registry
        "The overridden status of a record is the override of its id, or UNKNOWN if there is none."
    R_9 "R-9" 17 New Registry
        "Expected clients grow by one exactly when an absent id registers, also from 0."
    R_10 "R-10" 18 New Registry
        "An operation that is answered with an error has changed nothing."

    O_1 "O-1" 19 Common Registry
        "A record that says DOWN, STARTING or UNKNOWN keeps that status whatever else is known."
    O_2 "O-2" 20 Common Registry
        "Without override and group, a replicated registration keeps the record's status."
    O_3 "O-3" 21 Common Registry
        "A registration with UP or out of service ends in the override until that is removed or replaced."
    O_4 "O-4" 22 Common Registry
        "Evaluating the rules changes nothing; evaluated on their own result they give it again."
    O_5 "O-5" 23 Common Registry
        "The result is the record's status, the override, the lease's status or, with a group, UP or out of service."

    H_1 "H-1" 24 Common Registry
        "A renewal is refused if there is no lease, or once while the status is UNKNOWN; else never."
    H_2 "H-2" 25 Common Registry
        "After a cancel a renewal finds nothing until the id registers again."
    H_3 "H-3" 26 Common Registry
        "The renew rate grows by one exactly when a lease was renewed by a heartbeat."
    H_4 "H-4" 27 Common Registry
        "A renewal changes neither expected clients, threshold, size nor dirty timestamp, and no override unless a peer sent a different one with a newer copy."
    H_5 "H-5" 28 New Registry
        "A renewal that changed the status made a change, so views and deltas show it."
    H_6 "H-6" 29 New Registry
        "A renewal that changed nothing visible made no change."

    C_1 "C-1" 30 Common Registry
        "A cancel succeeds exactly if there was a lease; the second of two finds nothing."
    C_2 "C-2" 31 Common Registry
        "A cancelled id is not in the view, and deltas show it DELETED until it registers again or ages out."
    C_3 "C-3" 32 Common Registry
        "After a cancel the id has no override; overrides of other applications are untouched."
    C_4 "C-4" 33 Common Registry
        "Expected clients fall by one for each lease removed and are never negative."
    C_5 "C-5" 34 Common Actors
        "Without expiry enabled nothing is evicted."
    C_6 "C-6" 35 Common Registry
        "One sweep plans exactly the smaller of size - floor(size * fraction) and the number of expired leases."
    C_7 "C-7" 36 Common Registry
        "A sweep removes only leases that are still there and still expired, extra time included, when removed."
    C_8 "C-8" 37 Common Registry
        "Each expired lease is equally likely to be removed."
    C_9 "C-9" 38 Common Registry
        "A sweep sends nothing to peers and leaves no tombstone."

    S_1 "S-1" 39 Common Registry
        "Both status operations succeed exactly if there is a lease, and extend it as a renewal does."
    S_2 "S-2" 40 Common Registry
        "After a status update to another status, status, overridden status and override are that status."
    S_3 "S-3" 41 Common Registry
        "A status update to the current status changes nothing but the lease."
    S_4 "S-4" 42 Common Registry
        "After removing an override with a status: no override, overridden status UNKNOWN, that status; without one the reported status."
    S_5 "S-5" 43 Common Registry
        "Removing an override that is not there changes nothing but the lease."
    S_6 "S-6" 44 Common Registry
        "After a status operation the dirty timestamp is the greater of before and given, if something changed."

    G_1 "G-1" 45 Common Registry
        "The threshold is at every moment the formula applied to the expected clients of that moment."
    G_2 "G-2" 46 Common Registry
        "With protection on, leases expire exactly if T > 0 and R > T; with it off, always."
    G_3 "G-3" 47 Common Registry
        "With protection on, the threshold task never sets the expected clients to fraction * old or less."
    G_4 "G-4" 48 Common Registry
        "The renew rate changes only at ticks, and all buckets together hold every renewal once."
    G_5 "G-5" 49 Common Registry
        "Opened with nothing, queries are refused until strictly more than the wait time has passed; else served at once."
    G_6 "G-6" 50 New Registry
        "Before opening, queries are refused."
    G_7 "G-7" 51 Common Cluster
        "The start-up sync stops after the first round that registers something, or after the configured number."

    K_1 "K-1" 52 New Cache
        "Without the read-only tier, a read that starts after a change completed shows the change."
    K_2 "K-2" 53 Common Cache
        "Between two ticks the read-only tier answers identical bytes; after a tick it shows every change completed before."
    K_3 "K-3" 54 Common Cache
        "The gzip form decompresses to the text form."
    K_4 "K-4" 55 New Cache
        "Full and delta documents of one version carry equal hashes and come from one state."
    K_5 "K-5" 56 New Cache
        "Requests for absent names do not grow the cache without bound."
    K_6 "K-6" 57 Common Cache
        "The order and repetition of regions in a request do not change the content of the answer."

    D_1 "D-1" 58 New Registry
        "A delta applied to a full copy at most one retention older gives the hash in the delta."
    D_2 "D-2" 59 New Registry
        "Under the same conditions the copy equals the view as a set of application, id and status."
    D_3 "D-3" 60 Common Registry
        "Applying a delta twice equals applying it once."
    D_4 "D-4" 61 Common Registry
        "Inside an application a delta has at most one entry per id, showing the last change."
    D_5 "D-5" 62 Common Registry
        "A delta holds every change younger than the retention and none older than retention and one sweep period."
    D_6 "D-6" 63 Common Registry
        "An id shown DELETED is not in the view; one shown ADDED or MODIFIED is."
    D_7 "D-7" 64 New Registry
        "Inside an application of a delta, no DELETED entry precedes another kind."
    D_8 "D-8" 65 Common Registry
        "The hash depends only on the number of instances per status; the empty view hashes to the empty text."

    Q_1 "Q-1" 66 Common Registry
        "Every lease is in exactly one application, under its own name; sizes add up to the registry size."
    Q_2 "Q-2" 67 Common Registry
        "A VIP query selects the members of the comma lists: spelled exactly, else in any letter case."
    Q_3 "Q-3" 68 Common Cache
        "Sorted applications are in strictly ascending order of their names."
    Q_4 "Q-4" 69 Common Registry
        "Each history has at most 1000 entries, newest first."
    Q_5 "Q-5" 70 Common Registry
        "A look-up by id differs from the view only by hiding expired leases while expiry is enabled."

    P_1 "P-1" 71 Common Registry
        "A replicated operation is not sent on; a successful local one is, once to each peer."
    P_2 "P-2" 72 Common Registry
        "Two registries that get the same replicated registrations with different dirty timestamps, in any order, end equal."
    P_3 "P-3" 73 Common Registry
        "A status update, replicated, leaves both nodes with the same status, overridden status and override."
}
