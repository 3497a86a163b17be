//! Which value wins. The cases marked [V] give what Spring Boot 4.0.7 gives for the same files.

use crate::support::Start;

/// `eureka.environment` is a free text: a good witness.
fn environment(start: Start) -> String {
    start.settings().environment
}

fn text(value: &str) -> String {
    format!("eureka.environment: {value}\n")
}

/// All sources from lowest to highest; each must beat all before it.
#[test]
fn the_order_of_sources() {
    type Add = fn(Start) -> Start;
    let steps: [(&str, Add); 16] = [
        ("yaml", |s| s.file("application.yaml", "eureka.environment: yaml")),
        ("yml", |s| s.file("application.yml", "eureka.environment: yml")),
        ("properties", |s| s.file("application.properties", "eureka.environment=properties")),
        ("config-yml", |s| s.file("config/application.yml", "eureka.environment: config-yml")),
        ("sub-a", |s| s.file("config/a/application.yml", "eureka.environment: sub-a")),
        ("sub-b", |s| s.file("config/b/application.yml", "eureka.environment: sub-b")),
        ("p1", |s| s.file("application-p1.yml", "eureka.environment: p1")),
        ("config-p1", |s| s.file("config/application-p1.properties", "eureka.environment=config-p1")),
        ("p2", |s| s.file("application-p2.yml", "eureka.environment: p2")),
        ("additional", |s| {
            s.file("extra/application.yml", "eureka.environment: additional")
                .env("SPRING_CONFIG_ADDITIONALLOCATION", "optional:extra/")
        }),
        ("import", |s| {
            s.file("imported.yml", "eureka.environment: import")
                .env("SPRING_CONFIG_IMPORT", "file:./imported.yml")
        }),
        ("variable", |s| s.env("EUREKA_ENVIRONMENT", "variable")),
        ("jvm", |s| s.env("JAVA_OPTS", "-Xmx1g -Deureka.environment=jvm")),
        ("-D", |s| s.arg("-Deureka.environment=-D")),
        ("json", |s| s.env("SPRING_APPLICATION_JSON", "{\"eureka\":{\"environment\":\"json\"}}")),
        ("argument", |s| s.arg("--eureka.environment=argument")),
    ];
    for upto in 1..=steps.len() {
        let start = Start::new().arg("--spring.profiles.active=p1,p2");
        let start = steps[..upto].iter().fold(start, |start, (_, add)| add(start));
        assert_eq!(environment(start), steps[upto - 1].0);
    }
}

#[test]
fn a_later_document_wins_but_not_over_a_profile_file() {
    let two = "eureka.environment: one\n---\neureka.environment: two\n";
    assert_eq!(environment(Start::new().yml(two)), "two");
    let guarded =
        "eureka.environment: one\n---\nspring.config.activate.on-profile: p\neureka.environment: doc\n";
    let start = || Start::new().yml(guarded).arg("--spring.profiles.active=p");
    assert_eq!(environment(start()), "doc");
    assert_eq!(environment(start().file("application-p.yml", &text("file"))), "file", "[V]");
}

#[test]
fn imports_beat_the_document_that_names_them() {
    let start = || {
        Start::new()
            .yml("spring.config.import: [sub/one.yml, 'optional:two.properties', 'file:sub/three[.yaml]']\neureka.environment: base\n---\nspring.config.activate.on-profile: p1\nspring.config.import: sub/p1only.yml\neureka.datacenter: doc\n")
            .file("sub/one.yml", "spring.config.import: inner.properties\neureka.environment: one\nserver.port: 1\n")
            .file("sub/inner.properties", "server.port=2\n")
    };
    assert_eq!(environment(start().file("sub/three", "server.address: 127.0.0.1")), "one", "[V]");
    let all = || start().file("two.properties", "eureka.environment=two").file("sub/three", &text("three"));
    assert_eq!(environment(all()), "three", "[V]");
    assert_eq!(all().settings().server.port, 2, "[V] relative to the importing file");
    let profile = || {
        all()
            .arg("--spring.profiles.active=p1")
            .file("sub/p1only.yml", "eureka.datacenter: p1only\neureka.environment: p1only\n")
            .file("sub/one-p1.yml", &text("one-p1"))
    };
    assert_eq!(environment(profile()), "one-p1", "[V] the variant of an import stands above all plain files");
    assert_eq!(profile().settings().datacenter, "p1only", "[V]");
    let missing = start().error();
    assert!(missing.contains("sub/three") && missing.contains("application.yml:1"), "{missing}");
}

#[test]
fn groups_of_locations() {
    let start = |locations: &str| {
        Start::new()
            .arg("--spring.profiles.active=p1")
            .arg(&format!("--spring.config.location={locations}"))
            .file("a/application-p1.yml", &text("a-p1"))
            .file("b/application.yml", &text("b"))
    };
    assert_eq!(environment(start("file:a/,file:b/")), "b", "[V] groups as a whole");
    assert_eq!(environment(start("file:a/;file:b/")), "a-p1", "[V] one group");
}

#[test]
fn names_and_locations_can_be_changed() {
    let named = Start::new()
        .arg("--spring.config.name=registry")
        .yml(&text("plain"))
        .file("registry.yml", &text("named"));
    assert_eq!(environment(named), "named");
    let one_file = Start::new().arg("--spring.config.location=conf/x.yml").file("conf/x.yml", &text("x"));
    assert_eq!(environment(one_file), "x");
    let hint = Start::new()
        .arg("--spring.config.location=conf/x[.properties]")
        .file("conf/x", "eureka.environment=p");
    assert_eq!(environment(hint), "p");
    let wild =
        Start::new().arg("--spring.config.location=conf/*/").file("conf/m/application.yml", &text("wild"));
    assert_eq!(environment(wild), "wild");
    let absolute = Start::new().file("abs/application.yml", &text("abs"));
    let path = format!("--spring.config.location=file://{}/abs/", absolute.folder().display());
    assert_eq!(environment(absolute.arg(&path)), "abs");
}

#[test]
fn missing_and_foreign_locations() {
    for location in ["nope/", "nope.yml", "configtree:nope/"] {
        let error = Start::new().arg(&format!("--spring.config.location={location}")).error();
        assert!(error.contains(location) && error.contains("optional:"), "{error}");
        Start::new().arg(&format!("--spring.config.location=optional:{location}")).loaded();
        let ignored = Start::new().arg(&format!("--spring.config.location={location}"));
        ignored.arg("--spring.config.on-not-found=ignore").loaded();
    }
    let empty = Start::new().file("empty/other.txt", "").arg("--spring.config.location=empty/");
    empty.loaded();
    let foreign = Start::new().yml("spring.config.import: 'configserver:http://u:secret@x'\n").error();
    assert!(foreign.contains("configserver") && !foreign.contains("secret"), "{foreign}");
    let optional = Start::new().yml("spring.config.import: 'optional:configserver:'\n");
    assert!(
        optional.notices().contains("needs a Spring application")
            || optional.notices().contains("need a Spring")
    );
    let class_path = Start::new().arg("--spring.config.location=classpath:/x/");
    assert!(class_path.notices().contains("class path"));
}

#[test]
fn profiles_are_chosen_included_and_grouped() {
    let profiles = |start: Start| start.loaded().report.profiles;
    let groups = "spring.profiles.group.prod: g1,g2\nspring.profiles.include: inc\n";
    assert_eq!(profiles(Start::new()), ["default"]);
    let chosen = Start::new().yml(groups).arg("--spring.profiles.active=prod,p1");
    assert_eq!(profiles(chosen), ["inc", "prod", "g1", "g2", "p1"], "[V]");
    let from_file = Start::new().yml("spring.profiles.active: p1\nspring.profiles.include: inc\n");
    assert_eq!(profiles(from_file), ["inc", "p1"], "[V]");
    let both = Start::new().yml("spring.profiles.include: inc\nspring.profiles.active: p1\n");
    let both = both.env("SPRING_PROFILES_INCLUDE", "e1").env("SPRING_PROFILES_ACTIVE", "p7");
    assert_eq!(profiles(both), ["e1", "inc", "p7"], "[V]");
    let default =
        Start::new().yml("a: 1\n---\nspring.config.activate.on-profile: default\neureka.environment: d\n");
    assert_eq!(environment(default), "d", "[V]");
    let nested = Start::new()
        .arg("--spring.profiles.active=a")
        .file("application-a.yml", "spring.profiles.include: b\n")
        .file("application-b.yml", &text("included"));
    assert_eq!(environment(nested), "included", "old Boot allowed an include in a profile's file");
    let in_profile =
        Start::new().yml("a: 1\n---\nspring.config.activate.on-profile: p\nspring.profiles.active: x\n");
    let in_profile = in_profile.arg("--spring.profiles.active=p");
    assert!(in_profile.notices().contains("cannot choose profiles"));
}

#[test]
fn profiles_and_locations_may_be_placeholders() {
    let start = || {
        Start::new().yml("spring.profiles.active: ${STAGE:dev}\n").file("application-prod.yml", &text("prod"))
    };
    assert_eq!(start().loaded().report.profiles, ["dev"]);
    assert_eq!(environment(start().env("STAGE", "prod")), "prod");
    let located = Start::new().env("WHERE", "conf").arg("--spring.config.location=file:${WHERE}/");
    assert_eq!(environment(located.file("conf/application.yml", &text("there"))), "there");
    let imported = Start::new().env("WHERE", "conf").yml("spring.config.import: 'file:./${WHERE}/x.yml'\n");
    assert_eq!(environment(imported.file("conf/x.yml", &text("imported"))), "imported");
    let error = Start::new().yml("spring.profiles.active: ${STAGE}\n").error();
    assert!(error.contains("${STAGE}") && error.contains("application.yml:1"), "{error}");
}

#[test]
fn repeated_and_empty_arguments() {
    let twice = Start::new().arg("--spring.profiles.active=a").arg("--spring.profiles.active=b");
    assert_eq!(twice.loaded().report.profiles, ["a", "b"]);
    let emptied = Start::new().yml("spring.profiles.active: a\n").arg("--spring.profiles.active=");
    assert_eq!(emptied.loaded().report.profiles, ["default"]);
}

#[test]
fn where_to_look_cannot_stand_in_a_file() {
    let start = Start::new().yml("spring.config.additional-location: extra/\n");
    assert!(start.notices().contains("spring.config.additional-location (application.yml:1): ignored"));
}

#[test]
fn documents_for_a_cloud_platform() {
    let yml = "a: 1\n---\nspring.config.activate.on-cloud-platform: kubernetes\neureka.environment: k8s\n";
    assert_eq!(environment(Start::new().yml(yml)), "test");
    let cluster =
        Start::new().yml(yml).env("KUBERNETES_SERVICE_HOST", "h").env("KUBERNETES_SERVICE_PORT", "1");
    assert_eq!(environment(cluster), "k8s");
}

#[test]
fn bootstrap_files_are_left_alone_with_a_remark() {
    let start = Start::new().file("bootstrap.yml", &text("bootstrap"));
    assert!(start.notices().contains("bootstrap.yml"));
    assert_eq!(environment(start), "test");
}

#[test]
fn the_report_names_files_and_sources() {
    let start = Start::new()
        .yml("server.port: 1\n")
        .file("config/application.properties", "\neureka.environment=x\n")
        .env("EUREKA_DATACENTER", "dc")
        .env("JAVA_TOOL_OPTIONS", "-Dserver.address=127.0.0.1")
        .arg("--eureka.dashboard.path=/d");
    let report = start.loaded().report;
    assert_eq!(report.files, ["application.yml", "config/application.properties"]);
    let line = |key: &str| {
        let found = report.effective().iter().find(|line| line.key == key).unwrap();
        (found.value.clone(), found.source.clone())
    };
    let rows = [
        ("server.port", "1", "application.yml:1"),
        ("eureka.environment", "x", "config/application.properties:2"),
        ("eureka.datacenter", "dc", "environment variable EUREKA_DATACENTER"),
        ("server.address", "127.0.0.1", "-D in JAVA_TOOL_OPTIONS"),
        ("eureka.dashboard.path", "/d", "command line"),
        ("eureka.client.region", "us-east-1", "default"),
        ("eureka.instance.hostname", "localhost", "guessed: the name of the machine"),
    ];
    for (key, value, source) in rows {
        assert_eq!(line(key), (value.to_owned(), source.to_owned()), "{key}");
    }
}
