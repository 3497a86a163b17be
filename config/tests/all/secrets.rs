//! No secret comes out anywhere.

use crate::support::Start;

const SECRETS: &[&str] =
    &["s3cr3t-user", "s3cr3t-url", "s3cr3t-store", "s3cr3t-env", "s3cr3t-meta", "s3cr3t-aws"];

fn start() -> Start {
    Start::new().env("EUREKA_PASSWORD", "s3cr3t-env").arg("--server.ssl.key-store-password=s3cr3t-store").yml(
        "spring.security.user: {name: u, password: s3cr3t-user}\n\
             eureka.client.service-url.defaultZone: http://u:s3cr3t-url@a/,http://u:${EUREKA_PASSWORD}@b/\n\
             eureka.instance.metadata-map: {api-token: s3cr3t-meta, note: 'with ${EUREKA_PASSWORD}'}\n\
             eureka.server.a-w-s-secret-key: s3cr3t-aws\n\
             eureka.server.my-url: http://u:s3cr3t-url@me/\n",
    )
}

#[test]
fn debug_output_and_report_hide_every_secret() {
    let loaded = start().loaded();
    // metadata is what every client of the registry reads; only the report hides what looks secret in it
    let mut settings = loaded.settings.clone();
    settings.instance.metadata.clear();
    let text = format!("{settings:?}\n{:?}", loaded.report);
    for secret in SECRETS {
        assert!(!text.contains(secret), "{secret} is shown");
    }
    assert_eq!(loaded.settings.security.basic.unwrap().password.expose(), "s3cr3t-user");
    assert_eq!(loaded.settings.instance.metadata["note"], "with s3cr3t-env");
}

#[test]
fn errors_hide_every_secret() {
    let error = start()
        .arg("--spring.security.user.password={pbkdf2}s3cr3t-user")
        .arg("--eureka.client.service-url.defaultZone=ftp://u:s3cr3t-url@a/,http://u:s3cr3t-url@:99999999/")
        .arg("--eureka.server.my-url=http://u:s3cr3t-url@ x/")
        .error();
    for secret in SECRETS {
        assert!(!error.contains(secret), "{secret} in {error}");
    }
    assert!(error.contains("spring.security.user.password"), "{error}");
}

#[test]
fn a_password_that_is_no_hash_stops_the_start_and_stays_hidden() {
    let error = Start::new().yml("\nspring.security.user.password: '{bcrypt}s3cr3t-user'\n").error();
    for part in ["spring.security.user.password", "application.yml:2", "$2a$, $2b$ or $2y$"] {
        assert!(error.contains(part), "{part} is missing in: {error}");
    }
    assert!(!error.contains("s3cr3t-user"), "{error}");
}

#[test]
fn an_inline_key_is_a_secret_too() {
    let key = "-----BEGIN PRIVATE KEY-----s3cr3t-user-----END PRIVATE KEY-----";
    let loaded = Start::new()
        .arg("--server.ssl.certificate=file:/c.pem")
        .arg(&format!("--server.ssl.certificate-private-key={key}"))
        .loaded();
    let text = format!("{:?} {:?}", loaded.settings, loaded.report);
    assert!(!text.contains("s3cr3t-user"), "the key is shown");
}
