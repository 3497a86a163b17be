//! Auto-scaling groups of Amazon.

use super::{COUNT, KeySpec, Kind, LONG, POSITIVE, acts, acts_if_set};

pub(super) const ASG: &[KeySpec] = &[
    acts(
        "heureka.asg.enabled",
        Kind::Bool,
        "false",
        "On: groups can be switched off with all their instances, by PUT asg/NAME/status?value=DISABLED or at Amazon. Netflix does this on Amazon only, Spring never.",
    ),
    acts(
        "eureka.server.use-aws-asg-api",
        Kind::Bool,
        "true",
        "With groups enabled: asks Amazon for their state, if this program was built with the feature aws. Off: only operators set it.",
    ),
    acts("eureka.server.a-s-g-update-interval-ms", POSITIVE, "300000", "How often Amazon is asked."),
    acts(
        "eureka.server.a-s-g-cache-expiry-timeout-ms",
        LONG,
        "600000",
        "A group that no instance names any more is forgotten after that.",
    ),
    acts("eureka.server.a-s-g-query-timeout-ms", COUNT, "300", "Time to connect to Amazon."),
    acts_if_set(
        "eureka.server.a-w-s-access-id",
        Kind::Text,
        "AKIDEXAMPLE",
        "needed to ask Amazon",
        "Key that may call DescribeAutoScalingGroups. There is no other way to name one: instance profiles are not read.",
    ),
    acts_if_set(
        "eureka.server.a-w-s-secret-key",
        Kind::Secret,
        "change-me",
        "needed to ask Amazon",
        "Its secret half.",
    ),
];
