//! Health, info, exposure and place of the actuator (spec `spring.md` 1.6, items 65, 66 and 68).

use std::collections::BTreeSet;

use heureka_config::settings::Exposure;
use serde_json::json;

use super::client::Site;

const SHOW: (&str, &str) = ("management.endpoint.health.show-details", "always");
const BOOT_TYPE: &str = "application/vnd.spring-boot.actuator.v3+json";

#[test]
fn item_65_health_is_up_and_tells_no_more_by_default() {
    let site = Site::start(&[]);
    for path in ["/actuator/health", "/actuator/health/"] {
        let answer = site.get(path);
        assert_eq!((answer.status, answer.header("content-type")), (200, Some(BOOT_TYPE)), "{path}");
        assert_eq!(answer.json(), json!({"groups": ["liveness", "readiness"], "status": "UP"}));
    }
    let json_type = site.send("GET", "/actuator/health", &[("Accept", "application/json")], "");
    assert_eq!(json_type.header("content-type"), Some("application/json"));
    for accept in ["text/html", "application/xml"] {
        let answer = site.send("GET", "/actuator/health", &[("Accept", accept)], "");
        assert_eq!((answer.status, answer.body.as_str()), (406, ""), "{accept}");
    }
    for path in ["/actuator/health/nope", "/actuator/health/ping", "/actuator/health/liveness/x"] {
        let answer = site.get(path);
        assert_eq!((answer.status, answer.body.as_str()), (404, ""), "{path}");
    }
    assert_eq!(site.send("HEAD", "/actuator/health", &[], "").status, 200);
    let post = site.send("POST", "/actuator/health", &[], "");
    assert_eq!((post.status, post.header("allow")), (405, Some("GET,HEAD,OPTIONS")));
}

#[test]
fn item_65_components_are_shown_on_demand() {
    let site = Site::start(&[
        SHOW,
        ("eureka.client.register-with-eureka", "false"),
        ("eureka.client.fetch-registry", "false"),
    ]);
    site.register("ORDERS", "o-1", &json!({}));
    let health = site.get("/actuator/health").json();
    for name in ["discoveryComposite", "ping", "livenessState", "readinessState"] {
        assert_eq!(health["components"][name]["status"], "UP", "{name}");
    }
    let eureka = json!({
        "details": {"applications": {}}, "description": "Remote status from Eureka server", "status": "UNKNOWN",
    });
    assert_eq!(
        health["components"]["discoveryComposite"]["components"]["eureka"], eureka,
        "as of a server that does not fetch"
    );
    assert_eq!(site.get("/actuator/health/discoveryComposite/eureka").json(), eureka);
    assert_eq!(site.get("/actuator/health/ping").json(), json!({"status": "UP"}));
    assert_eq!(
        site.get("/actuator/health/discoveryComposite").json()["groups"],
        json!(["liveness", "readiness"])
    );
}

#[test]
fn a_server_that_fetches_counts_its_applications() {
    let site = Site::start(&[SHOW]);
    site.register("ORDERS", "o-1", &json!({}));
    site.register("ORDERS", "o-2", &json!({}));
    site.get("/eureka/apps");
    let eureka = site.get("/actuator/health/discoveryComposite/eureka").json();
    assert_eq!(eureka["details"]["applications"]["ORDERS"], 2);
}

#[test]
fn details_for_the_authorised_are_for_nobody_else() {
    let site = Site::start(&[
        ("management.endpoint.health.show-details", "when-authorized"),
        ("spring.security.user.name", "admin"),
        ("spring.security.user.password", "secret"),
    ]);
    let open = site.get("/actuator/health");
    assert_eq!((open.status, open.json().get("components")), (200, None));
    let known = site.send("GET", "/actuator/health", &[("Authorization", "Basic YWRtaW46c2VjcmV0")], "");
    assert!(known.json()["components"].is_object());
    for path in ["/", "/lastn", "/actuator", "/actuator/info", "/actuator/prometheus"] {
        let answer = site.get(path);
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.header("www-authenticate").is_some_and(|challenge| challenge.starts_with("Basic")));
    }
}

#[test]
fn components_can_be_shown_without_their_details() {
    let site = Site::start(&[("management.endpoint.health.show-components", "always")]);
    let eureka =
        &site.get("/actuator/health").json()["components"]["discoveryComposite"]["components"]["eureka"];
    assert!(eureka.get("status").is_some() && eureka.get("details").is_none(), "{eureka}");
}

#[test]
fn item_66_probes_answer_unless_switched_off() {
    let site = Site::start(&[]);
    for probe in ["liveness", "readiness"] {
        let answer = site.get(&format!("/actuator/health/{probe}"));
        assert_eq!((answer.status, answer.json()), (200, json!({"status": "UP"})), "{probe}");
    }
    let site = Site::start(&[("management.endpoint.health.probes.enabled", "false")]);
    assert_eq!(site.get("/actuator/health").json(), json!({"status": "UP"}));
    assert_eq!(site.get("/actuator/health/readiness").status, 404);
}

#[test]
fn item_68_only_what_is_exposed_exists() {
    // The Java server's default.
    let site = Site::start(&[("management.endpoints.web.exposure.include", "health")]);
    for path in ["info", "prometheus", "metrics", "metrics/x", "env", "beans", "refresh", "shutdown"] {
        let answer = site.get(&format!("/actuator/{path}"));
        assert_eq!((answer.status, answer.body.as_str()), (404, ""), "{path}");
    }
    let base = format!("http://localhost:{}/actuator", site.port());
    assert_eq!(
        site.get("/actuator").json(),
        json!({"_links": {
            "self": {"href": base, "templated": false},
            "health": {"href": format!("{base}/health"), "templated": false},
            "health-path": {"href": format!("{base}/health/{{*path}}"), "templated": true},
        }})
    );
    assert_eq!(site.get("/actuator/").status, 404);
    let site = Site::start(&[
        ("management.endpoints.web.exposure.include", "*"),
        ("management.endpoints.web.exposure.exclude", "info,metrics"),
    ]);
    let statuses =
        ["health", "info", "prometheus", "metrics"].map(|path| site.get(&format!("/actuator/{path}")).status);
    assert_eq!(statuses, [200, 404, 200, 404]);
}

#[test]
fn the_end_points_that_settings_know_are_those_that_answer() {
    let site = Site::start(&[("management.endpoints.web.exposure.include", "*")]);
    for id in Exposure::IDS {
        assert_eq!(site.send("OPTIONS", &format!("/actuator/{id}"), &[], "").status, 200, "{id}");
    }
    let links = site.get("/actuator").json();
    let names = links["_links"].as_object().expect("links").keys().filter(|name| !name.contains('-'));
    let names: BTreeSet<&str> = names.map(String::as_str).filter(|name| *name != "self").collect();
    assert_eq!(names, BTreeSet::from(Exposure::IDS));
}

#[test]
fn info_says_which_program_it_is() {
    let site = Site::start(&[("spring.application.name", "registry")]);
    let info = site.get("/actuator/info").json();
    assert_eq!(info["app"]["name"], "registry");
    assert_eq!(info["build"]["name"], "heureka");
    assert_eq!(info["build"]["version"], env!("CARGO_PKG_VERSION"));
    assert!(info["uptime"]["seconds"].is_u64());
}

#[test]
fn base_path_and_context_path_are_honoured() {
    let context = ("server.servlet.context-path", "/ctx");
    let site = Site::start(&[context, ("management.endpoints.web.base-path", "/manage/it")]);
    assert_eq!(site.get("/ctx/manage/it/health").status, 200);
    let link = site.get("/ctx/manage/it").json()["_links"]["health"]["href"].to_string();
    assert!(link.ends_with("/ctx/manage/it/health\""), "{link}");
    for path in ["/ctx/actuator/health", "/manage/it/health", "/actuator/health"] {
        assert_eq!(site.get(path).status, 404, "{path}");
    }
    let site = Site::start(&[context, ("management.endpoints.web.base-path", "/")]);
    assert_eq!(site.get("/ctx/health").status, 200);
    assert!(site.page("/ctx/").contains("System Status"), "the root is the page's");
}

#[test]
fn a_listener_of_its_own_has_the_actuator_and_nothing_else() {
    let site = Site::start(&[
        ("management.server.port", "0"),
        ("management.server.base-path", "/m"),
        ("server.servlet.context-path", "/ctx"),
    ]);
    let management = site.management();
    assert_eq!(management.get("/m/actuator/health/readiness").status, 200);
    let link = management.get("/m/actuator").json()["_links"]["self"]["href"].to_string();
    assert_eq!(link, format!("\"http://localhost:{}/m/actuator\"", management.port()));
    for path in ["/", "/m/", "/m/eureka/apps", "/eureka/apps", "/actuator/health", "/ctx/actuator/health"] {
        assert_eq!(management.get(path).status, 404, "{path}");
    }
    for path in ["/ctx/actuator/health", "/actuator/health", "/m/actuator/health"] {
        assert_eq!(site.get(path).status, 404, "{path}");
    }
    assert_eq!(site.get("/ctx/eureka/apps").status, 200);
}

#[test]
fn without_a_listener_there_is_no_actuator() {
    let site = Site::start(&[("management.server.port", "-1")]);
    assert_eq!(site.get("/actuator/health").status, 404);
    assert_eq!(site.get("/eureka/apps").status, 200);
}

#[test]
fn what_a_proxy_says_of_the_address_counts_as_the_strategy_has_it() {
    let x_headers =
        [("X-Forwarded-Proto", "https"), ("X-Forwarded-Host", "r.example"), ("X-Forwarded-Port", "8443")];
    let forwarded = [("Forwarded", "proto=https;host=f.example"), x_headers[1]];
    let told = |site: &Site, headers: &[(&str, &str)]| {
        let links = site.send("GET", "/actuator", headers, "").json();
        let page = site.send("GET", "/", headers, "").body;
        let base = links["_links"]["self"]["href"]
            .as_str()
            .expect("a link")
            .trim_end_matches("/actuator")
            .to_owned();
        assert!(
            page.contains(&format!("<code>{base}/eureka/</code>")),
            "the page says something else than {base}"
        );
        base
    };
    for (strategy, by_x, by_forwarded) in [
        ("", None, None),
        ("none", None, None),
        ("native", Some("https://r.example:8443"), Some("http://r.example")),
        ("framework", Some("https://r.example:8443"), Some("https://f.example")),
    ] {
        let site = Site::start(&[("server.forward-headers-strategy", strategy)]);
        let own = format!("http://localhost:{}", site.port());
        assert_eq!(told(&site, &[]), own, "{strategy}");
        assert_eq!(told(&site, &x_headers), by_x.unwrap_or(&own), "{strategy}");
        assert_eq!(told(&site, &forwarded), by_forwarded.unwrap_or(&own), "{strategy}");
    }
}
