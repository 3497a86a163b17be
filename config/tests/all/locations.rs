//! Named places: what is not there, what is something else than it should be, and what Boot says to it.

use crate::support::Start;

fn start() -> Start {
    Start::new().file("place/application.yml", "server.port: 2\n").file("place/none", "server.port: 3\n")
}

#[test]
fn a_folder_needs_its_slash_as_in_boot() {
    let located = |place: &str| start().arg(&format!("--spring.config.location={place}"));
    for place in ["place/", "file:place/", "file:./place/"] {
        assert_eq!(located(place).settings().server.port, 2, "{place}");
    }
    for place in ["place", "file:place", "optional:file:place"] {
        let error = located(place).error();
        assert!(error.contains("it is a folder") && error.contains("place/ with a slash"), "{error}");
        assert!(error.contains("spring.config.location, command line"), "{error}");
    }
    let absolute = start();
    let folder = absolute.folder().join("place").display().to_string();
    assert!(absolute.env("SPRING_CONFIG_LOCATION", &folder).error().contains("it is a folder"));
}

#[test]
fn a_file_needs_an_ending_that_is_read() {
    let error =
        |place: &str| start().file("x.xml", "").arg(&format!("--spring.config.import={place}")).error();
    assert!(
        error("place/none").contains("must end in .yml, .yaml or .properties"),
        "{}",
        error("place/none")
    );
    assert!(error("optional:nowhere.conf").contains("must end in"), "as in Boot, optional or not");
    assert!(error("x.xml").contains("XML is not read"), "{}", error("x.xml"));
    assert!(error("place/none[.conf]").contains("must end in"));
    let hinted = start().arg("--spring.config.import=place/none[.yml]");
    assert_eq!(hinted.settings().server.port, 3);
    let loud = start().file("LOUD.PROPERTIES", "server.port=4").arg("--spring.config.import=LOUD.PROPERTIES");
    assert_eq!(loud.settings().server.port, 4);
}

#[test]
fn a_place_that_is_named_and_not_there_stops_the_start() {
    for place in ["nowhere.yml", "file:/nowhere/application.yml", "nowhere/", "configtree:nowhere/"] {
        for start in [
            start().env("SPRING_CONFIG_LOCATION", place),
            start().arg(&format!("--spring.config.additional-location={place}")),
            start().yml(&format!("spring.config.import: {place}")),
        ] {
            let error = start.error();
            assert!(error.contains(&format!("{place} does not exist (named by spring.config.")), "{error}");
            assert!(error.contains(&format!("write optional:{place}")), "{error}");
        }
        start().env("SPRING_CONFIG_LOCATION", &format!("optional:{place}")).loaded();
    }
}

#[test]
fn a_folder_in_the_place_of_a_file_is_not_passed_over() {
    // What a container gets if the file that is mounted into it does not exist.
    for name in ["application.yml", "application.properties", "config/application.yaml"] {
        let error = Start::new().file(&format!("{name}/x"), "").error();
        assert_eq!(error, format!("{name} is a folder where a file with settings belongs"));
    }
    let imported = Start::new().yml("spring.config.import: more.yml").file("more.yml/x", "").error();
    assert!(imported.contains("more.yml is a folder"), "{imported}");
    let tree = Start::new().file("secret", "").arg("--spring.config.import=configtree:secret").error();
    assert!(tree.contains("secret: it is no folder"), "{tree}");
}

#[test]
fn a_config_server_s_password_is_not_shown() {
    let place = "configserver:http://u:s3cr3t@h:8888/";
    let error = start().arg(&format!("--spring.config.import={place}")).error();
    let optional = start().arg(&format!("--spring.config.import=optional:{place}"));
    let notices = optional.notices();
    assert!(error.contains("configserver") && notices.contains("configserver"), "{error} {notices}");
    assert!(!error.contains("s3cr3t") && !notices.contains("s3cr3t"), "{error} {notices}");
    let report = format!("{:?}", optional.loaded().report);
    assert!(!report.contains("s3cr3t"), "{report}");
}

#[test]
fn a_device_without_an_end_is_too_large() {
    let error = Start::new().arg("--spring.config.import=/dev/zero[.yml]").error();
    assert!(error.contains("larger than"), "{error}");
}

#[test]
fn causes_are_said_once() {
    let start = Start::new().file("application.yml", "");
    std::fs::write(start.folder().join("application.yml"), [0xff, 0xfe]).unwrap();
    let error = start.load().unwrap_err();
    assert!(error.to_string().contains("not UTF-8"), "{error}");
    assert!(std::error::Error::source(&error).is_none(), "the chain would say it again");
}
