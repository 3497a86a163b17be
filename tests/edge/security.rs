//! Basic authentication (spec `spring.md` 1.5, checklist 61 and 62).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::support::{call, instance, node};

const USER: [(&str, &str); 2] =
    [("spring.security.user.name", "discovery"), ("spring.security.user.password", "p@ss:word")];

#[test]
fn c61_everything_but_health_asks_for_credentials_and_nothing_for_a_csrf_token() {
    let node = node(&USER);
    let port = node.port();
    for path in [
        "/eureka/apps",
        "/eureka/v2/apps/X/i",
        "/",
        "/lastn",
        "/actuator/info",
        "/actuator/prometheus",
        "/nosuch",
    ] {
        let answer = call(port, "GET", path, &[], b"");
        assert_eq!(answer.status, 401, "{path}");
        assert!(answer.header("www-authenticate").is_some_and(|value| value.starts_with("Basic")), "{path}");
    }
    for path in ["/actuator/health", "/actuator/health/liveness", "/actuator/health/readiness"] {
        assert_eq!(call(port, "GET", path, &[], b"").status, 200, "{path}");
    }
    let good = format!("Basic {}", STANDARD.encode("discovery:p@ss:word"));
    let headers = [("Authorization", good.as_str()), ("Content-Type", "application/json")];
    assert_eq!(
        call(port, "POST", "/eureka/apps/ORDERS", &headers, instance("ORDERS", "i").as_bytes()).status,
        204
    );
    let bad = format!("Basic {}", STANDARD.encode("discovery:wrong"));
    for path in ["/eureka/apps", "/actuator/health"] {
        assert_eq!(call(port, "GET", path, &[("Authorization", bad.as_str())], b"").status, 401, "{path}");
    }
    for header in ["Basic", "Basic !!!", "Bearer x", "Basic eA=="] {
        assert_eq!(
            call(port, "GET", "/eureka/apps", &[("Authorization", header)], b"").status,
            401,
            "{header}"
        );
    }
}

#[test]
fn paths_that_only_look_like_health_are_not_open() {
    let node = node(&USER);
    for path in [
        "/eureka/apps/actuator/health",
        "/actuator/healthy",
        "/actuator",
        "/actuator/../eureka/apps",
        "/x/actuator/health",
    ] {
        assert_eq!(call(node.port(), "GET", path, &[], b"").status, 401, "{path}");
    }
}
