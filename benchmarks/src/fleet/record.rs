//! What one instance says of itself.

use std::fmt::Write as _;

use super::App;
use crate::random::Random;

const ZONES: [&str; 3] = ["eu-west-1a", "eu-west-1b", "eu-west-1c"];
const TEAMS: [&str; 6] = ["checkout", "platform", "core-domain", "growth", "finance-systems", "data"];
/// One in so many applications runs on Amazon and says so in its data centre.
const AMAZON_EVERY: u64 = 10;
/// Dirty timestamps start here, so that they repeat with the seed: 2026-11-30.
const EPOCH_MS: u64 = 1_796_000_000_000;

/// An instance: short values that decide everything, and texts made from them.
#[derive(Clone, Debug)]
pub struct Record<'a> {
    /// Application name, lower case.
    pub app: &'a str,
    /// Host name.
    pub host: String,
    /// IP address.
    pub ip: String,
    /// Plain port.
    pub port: u64,
    /// Instance id: host, application and port, as Spring makes it.
    pub id: String,
    /// When it last changed itself.
    pub dirty_ms: u64,
    /// Zone.
    pub zone: &'static str,
    /// True if its data centre is Amazon.
    pub is_amazon: bool,
    /// Metadata entries.
    pub metadata: Vec<(&'static str, String)>,
}

impl<'a> Record<'a> {
    pub(super) fn new(seed: u64, app: &'a App, instance: usize, generation: u32) -> Self {
        let mut random = Random::for_item(seed, instance as u64);
        let mut of_app = Random::for_item(seed ^ 0xA99, app.first as u64);
        let [_, b, c, d] = (instance as u32).to_be_bytes();
        let host = format!("ip-10-{b}-{c}-{d}.eu-west-1.compute.internal");
        let port = *of_app.pick(&[8080, 8080, 8080, 8081, 8443, 9000, 9090, 80]);
        let zone = random.pick(&ZONES);
        let metadata = metadata(&mut of_app, &mut random, port, zone, generation);
        Self {
            id: format!("{host}:{}:{port}", app.name),
            app: &app.name,
            ip: format!("10.{b}.{c}.{d}"),
            host,
            port,
            dirty_ms: EPOCH_MS + random.below(3_600_000) + u64::from(generation) * 3_600_000,
            zone,
            is_amazon: of_app.below(AMAZON_EVERY) == 0,
            metadata,
        }
    }
}

/// Entries that frameworks and platforms add: some of them the same all over an application, some different for every
/// instance, and not the same set in every application.
fn metadata(
    of_app: &mut Random,
    random: &mut Random,
    port: u64,
    zone: &str,
    generation: u32,
) -> Vec<(&'static str, String)> {
    let version = format!("{}.{}.{}", 1 + of_app.below(5), of_app.below(30), of_app.below(12));
    let commit = hex(of_app, 40);
    let mut entries = vec![
        ("management.port", port.to_string()),
        ("zone", zone.to_owned()),
        ("version", version),
        ("deployment", generation.to_string()),
        ("instance.uuid", hex(random, 32)),
    ];
    let mut maybe = |percent: u64, entry: (&'static str, String)| {
        if of_app.below(100) < percent {
            entries.push(entry);
        }
    };
    maybe(70, ("git.commit.id", commit));
    maybe(60, ("team", (*random.pick(&TEAMS)).to_owned()));
    maybe(
        50,
        (
            "build.time",
            format!("2026-11-{:02}T{:02}:17:0{}Z", 1 + random.below(28), random.below(24), random.below(10)),
        ),
    );
    maybe(50, ("k8s.pod", format!("deployment-{}-{}", hex(random, 10), hex(random, 5))));
    maybe(40, ("k8s.node", format!("worker-{}", random.below(400))));
    maybe(40, ("jmx.port", (9000 + random.below(999)).to_string()));
    maybe(30, ("weight", random.below(100).to_string()));
    maybe(30, ("profiles", "production,cloud,metrics".to_owned()));
    maybe(20, ("configPath", "/v2/api-docs".to_owned()));
    maybe(20, ("startup", (1_795_000_000_000 + random.below(900_000_000)).to_string()));
    entries
}

fn hex(random: &mut Random, digits: usize) -> String {
    let mut text = String::with_capacity(digits + 16);
    while text.len() < digits {
        // Writing to a string cannot fail.
        let _ = write!(text, "{:016x}", random.next());
    }
    text.truncate(digits);
    text
}
