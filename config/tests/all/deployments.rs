//! The deployments of `spec/spring.md` section 5, as users write them, unchanged.

use crate::support::{Start, peers};
use heureka_config::settings::{ClientAuth, PasswordForm, TlsIdentity, TlsTrust};

const SINGLE: &str = include_str!("deployments/single.yml");
const PAIR: &str = include_str!("deployments/pair.yml");
const ZONES: &str = include_str!("deployments/zones.yml");
const SECURED: &str = include_str!("deployments/secured.yml");

#[test]
fn single_node_for_development() {
    let start = Start::new().yml(SINGLE);
    let settings = start.settings();
    assert_eq!((settings.server.port, settings.application_name.as_str()), (8761, "registry"));
    assert_eq!(settings.instance.hostname, "localhost");
    assert_eq!(settings.instance.instance_id, "localhost:registry:8761");
    assert!(!settings.client.register_with_eureka && !settings.client.fetch_registry);
    assert_eq!(peers(&settings), ["http://localhost:8761/eureka/"]);
    assert!(!settings.registry.self_preservation.enabled);
    assert_eq!((settings.registry.eviction_interval_ms, settings.registry.sync.retries), (5_000, 0));
    assert_eq!(start.notices(), "");
}

#[test]
fn single_node_as_the_documentation_writes_it_in_camel_case() {
    let text = SINGLE
        .replace("register-with-eureka", "registerWithEureka")
        .replace("fetch-registry", "fetchRegistry")
        .replace("service-url", "serviceUrl")
        .replace("enable-self-preservation", "enableSelfPreservation")
        .replace("eviction-interval-timer-in-ms", "evictionIntervalTimerInMs");
    let mut settings = Start::new().yml(&text).settings();
    let expected = Start::new().yml(SINGLE).settings();
    settings.snapshots = expected.snapshots.clone(); // its folder is that of the test
    assert_eq!(settings, expected);
}

#[test]
fn two_peers_in_one_file() {
    for text in [PAIR.to_owned(), with_old_profiles(PAIR)] {
        for (profile, port, peer) in
            [("peer1", 8761, "http://peer2:8762/eureka/"), ("peer2", 8762, "http://peer1:8761/eureka/")]
        {
            let start = Start::new().yml(&text).arg(&format!("--spring.profiles.active={profile}"));
            let settings = start.settings();
            assert_eq!((settings.server.port, settings.instance.hostname.as_str()), (port, profile));
            assert_eq!(peers(&settings), [peer]);
            assert_eq!(settings.instance.instance_id, format!("{profile}:registry:{port}"));
            assert_eq!(settings.registry.sync.retries, 5, "it registers with a peer");
            assert_eq!(start.notices(), "");
        }
    }
}

fn with_old_profiles(text: &str) -> String {
    let old = text.replace("spring:\n  config:\n    activate:\n      on-profile: ", "spring:\n  profiles: ");
    assert_ne!(old, text);
    old
}

#[test]
fn three_zones() {
    let settings = Start::new().yml(ZONES).arg("--spring.profiles.active=b").settings();
    assert_eq!(settings.client.zones, ["zone-b", "zone-c", "zone-a"]);
    assert_eq!(
        peers(&settings),
        ["http://eureka-b:8761/eureka/", "http://eureka-c:8761/eureka/", "http://eureka-a:8761/eureka/"]
    );
    assert_eq!(settings.instance.hostname, "eureka-b");
    let first = Start::new().yml(ZONES).arg("--spring.profiles.active=a").settings();
    assert_eq!(first.client.own_zone(), "zone-a");
    assert_eq!(first.instance.metadata["zone"], "zone-a");
}

#[test]
fn the_pitfalls_of_zones_are_remarked() {
    let forgotten_region = ZONES.replace("    region: eu\n", "");
    let start = Start::new().yml(&forgotten_region).arg("--spring.profiles.active=a");
    let notices = start.notices();
    assert!(notices.contains("has no zones for eureka.client.region, which is us-east-1"), "{notices}");
    assert!(notices.contains("has URLs for zone-b"), "{notices}");
    assert!(peers(&start.settings()).is_empty());
    let missing = ZONES.replace("      zone-b: http://eureka-b:8761/eureka/\n", "");
    let notices = Start::new().yml(&missing).arg("--spring.profiles.active=a").notices();
    assert!(notices.contains("has no URLs for the zone zone-b; and there is no defaultZone"), "{notices}");
    assert_eq!(Start::new().yml(ZONES).arg("--spring.profiles.active=a").notices(), "");
}

#[test]
fn docker_compose() {
    let start = Start::new()
        .env("SPRING_APPLICATION_NAME", "registry")
        .env("SERVER_PORT", "8761")
        .env("EUREKA_INSTANCE_HOSTNAME", "eureka-a")
        .env("EUREKA_CLIENT_SERVICEURL_DEFAULTZONE", "http://eureka-b:8761/eureka/")
        .env("PATH", "/usr/bin");
    let settings = start.settings();
    assert_eq!(settings.instance.instance_id, "eureka-a:registry:8761");
    assert_eq!(peers(&settings), ["http://eureka-b:8761/eureka/"]);
    assert_eq!(start.notices(), "");
}

#[test]
fn kubernetes_stateful_set_with_service_links() {
    let list = "http://eureka-0.eureka:8761/eureka/,http://eureka-1.eureka:8761/eureka/,http://eureka-2.eureka:8761/eureka/";
    let start = Start::new()
        .env("POD_NAME", "eureka-1")
        .env("SPRING_APPLICATION_NAME", "registry")
        .env("EUREKA_INSTANCE_HOSTNAME", "eureka-1.eureka")
        .env("EUREKA_CLIENT_SERVICEURL_DEFAULTZONE", list)
        .env("EUREKA_PORT", "tcp://10.0.0.1:8761")
        .env("EUREKA_PORT_8761_TCP", "tcp://10.0.0.1:8761")
        .env("EUREKA_PORT_8761_TCP_PROTO", "tcp")
        .env("EUREKA_SERVICE_HOST", "10.0.0.1")
        .env("EUREKA_SERVICE_PORT_HTTP", "8761")
        .env("EUREKA_SERVER_SERVICE_HOST", "10.0.0.2")
        .env("EUREKA_SERVER_PORT_8761_TCP_ADDR", "10.0.0.2");
    let settings = start.settings();
    assert_eq!(peers(&settings).len(), 3);
    assert_eq!((settings.server.port, settings.instance.port), (8761, 8761));
    assert_eq!(start.notices(), "");
}

#[test]
fn secured_pair() {
    let start = Start::new().yml(SECURED).env("EUREKA_PASSWORD", "p%40ss").env("STORE_PASSWORD", "store");
    let settings = start.settings();
    let basic = settings.security.basic.clone().unwrap();
    assert_eq!(
        (basic.user.as_str(), basic.form, basic.password.expose()),
        ("discovery", PasswordForm::Plain, "p%40ss")
    );
    let peer = &settings.client.peer_urls()[0];
    assert_eq!(peer.to_string(), "https://peer2:8761/eureka/");
    let (user, password) = peer.credentials().unwrap();
    assert_eq!((user.as_str(), password.expose()), ("discovery", "p@ss"));
    let tls = settings.server.tls.unwrap();
    assert_eq!(tls.client_auth, ClientAuth::Want);
    let TlsIdentity::Store(store) = tls.identity else { panic!("not a store") };
    assert_eq!((store.path.to_str(), store.password.expose()), (Some("/tls/node.p12"), "store"));
    let client = settings.client.tls.unwrap();
    assert!(matches!(client.trust, Some(TlsTrust::Store(trust)) if trust.path.ends_with("ca.p12")));
    assert!(settings.instance.secure_port_enabled && !settings.instance.port_enabled);
    assert_eq!(settings.instance.secure_port, 8761);
    assert_eq!(settings.instance.home_page_url, "https://localhost:8761/");
    assert_eq!(start.notices(), "");
}

#[test]
fn a_netflix_server_s_properties() {
    let text = "eureka.region=default\neureka.name=eureka\neureka.port=8080\neureka.vipAddress=eureka.mydomain.net\n\
                eureka.serviceUrl.default=http://eureka-b:8080/eureka/v2/,http://eureka-c:8080/eureka/v2/\n\
                eureka.shouldFilterOnlyUpInstances=false\neureka.preferSameZone=false\neureka.shouldUseDns=false\n\
                eureka.default.availabilityZones=default\neureka.numberRegistrySyncRetries=2\n\
                eureka.peerNodeReadTimeoutMs=5000\neureka.registration.enabled=true\neureka.metadata.owner=me\n\
                eureka.awsSecretKey=x\n";
    let start =
        Start::new().file("eureka.properties", text).arg("--spring.config.import=file:eureka.properties");
    let settings = start.settings();
    assert_eq!((settings.client.region.as_str(), settings.client.prefer_same_zone), ("default", false));
    assert_eq!(peers(&settings), ["http://eureka-b:8080/eureka/v2/", "http://eureka-c:8080/eureka/v2/"]);
    assert_eq!((settings.instance.app_name.as_str(), settings.instance.port), ("eureka", 8080));
    assert_eq!(settings.instance.vip_address, "eureka.mydomain.net");
    assert_eq!((settings.registry.sync.retries, settings.registry.peers.read_timeout_ms), (2, 5_000));
    assert_eq!(settings.instance.metadata["owner"], "me");
    assert_eq!(start.loaded().report.warnings().count(), 0);
}

#[test]
fn other_regions_in_springs_and_in_netflix_words() {
    let spring = "
eureka.server:
  remote-region-urls-with-name:
    EU-West: http://u:p@eu.example.org:8761/eureka
    asia: http://asia.example.org/eureka/
  remote-region-app-whitelist:
    eu-west: Orders, PAYMENTS
    global: MAIL
  disable-transparent-fallback-to-other-region: true
";
    let netflix = "
eureka.remoteRegionUrlsWithName=EU-West;http://u:p@eu.example.org:8761/eureka,asia;http://asia.example.org/eureka/
eureka.remoteRegion.eu-west.appWhiteList=Orders, PAYMENTS
eureka.remoteRegion.global.appWhiteList=MAIL
eureka.remoteRegion.disable.transparent.fallback=true
";
    for start in [Start::new().yml(spring), Start::new().file("application.properties", netflix)] {
        let regions = start.settings().registry.regions;
        let found: Vec<_> =
            regions.regions.iter().map(|region| (&*region.name, region.url.to_string())).collect();
        let urls =
            [("asia", "http://asia.example.org/eureka/"), ("eu-west", "http://eu.example.org:8761/eureka/")];
        assert_eq!(found, urls.map(|(name, url)| (name, url.to_owned())));
        let lists: Vec<_> = regions.regions.iter().map(|region| region.whitelist.clone().unwrap()).collect();
        assert_eq!(
            lists,
            [["MAIL"].map(String::from).into(), ["ORDERS", "PAYMENTS"].map(String::from).into()]
        );
        assert!(regions.fallback_disabled && regions.fetch_interval_secs == 30);
    }
    let twice =
        Start::new().yml("eureka.server.remote-region-urls-with-name: {eu: 'http://a/', EU: 'http://b/'}");
    assert!(twice.load().unwrap_err().to_string().contains("names a region twice"));
    for wrong in ["{eu: ['http://a/']}", "['http://a/']", "{eu: 'http://a/,http://b/'}"] {
        let start = Start::new().yml(&format!("eureka.server.remote-region-urls-with-name: {wrong}"));
        assert!(start.load().is_err(), "{wrong}");
    }
    for (name, part) in
        [("'[a b]'", "letters, digits"), ("'[a/b]'", "letters, digits"), ("''", "a name with")]
    {
        let start =
            Start::new().yml(&format!("eureka.server.remote-region-urls-with-name: {{{name}: 'http://a/'}}"));
        assert!(start.error().contains(part), "{}", start.error());
    }
    for (urls, part) in
        [("a b;http://a/", "letters, digits"), (";http://a/", "a name with"), ("http://a/", "a name with")]
    {
        let start =
            Start::new().file("application.properties", &format!("eureka.remoteRegionUrlsWithName={urls}"));
        assert!(start.error().contains(part), "{}", start.error());
    }
    let leak = Start::new().yml("eureka.server.remote-region-urls-with-name: {eu: 'htp//u:HUSH@h/'}");
    assert!(!leak.load().unwrap_err().to_string().contains("HUSH"));
    let stray = Start::new().yml("eureka.server.remote-region-app-whitelist: {eux: A}");
    assert!(stray.notices().contains("which has no URL"));
}
