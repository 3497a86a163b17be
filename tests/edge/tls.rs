//! TLS settings that cannot be used stop the start; a node never serves plain HTTP instead.

use heureka::tls::server_config;
use heureka_config::Settings;

fn settings(pairs: &[(&str, &str)]) -> Settings {
    Settings::from_properties(pairs).expect("settings that can be read")
}

#[test]
fn a_missing_store_is_named() {
    let settings = settings(&[
        ("server.ssl.key-store", "file:/nowhere/node.p12"),
        ("server.ssl.key-store-password", "hunter2"),
    ]);
    let tls = settings.server.tls.expect("TLS is on as soon as a store is named");
    let error = format!("{:#}", server_config(&tls).expect_err("there is no such file"));
    assert!(error.contains("/nowhere/node.p12"), "{error}");
    assert!(!error.contains("hunter2"), "{error}");
}

#[test]
fn a_java_store_is_refused_with_the_way_out() {
    let settings = settings(&[
        ("server.ssl.key-store", "file:/nowhere/node.jks"),
        ("server.ssl.key-store-password", "x"),
    ]);
    let tls = settings.server.tls.expect("TLS is on");
    let error = format!("{:#}", server_config(&tls).expect_err("JKS is not supported"));
    assert!(error.contains("keytool -importkeystore"), "{error}");
}
