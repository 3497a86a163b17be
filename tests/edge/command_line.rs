//! The real binary: its commands, its exit codes, its start and its stop.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use super::support::{call, get};

fn heureka(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_heureka"));
    command.args(args).current_dir(folder).env_clear();
    command
}

fn output(folder: &Path, args: &[&str]) -> Output {
    heureka(folder, args).output().expect("the binary runs")
}

/// An empty folder that goes with the test.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder")
}

#[test]
fn commands_answer_with_text_and_exit_codes() {
    let folder = folder();
    let version = output(folder.path(), &["--version"]);
    assert!(version.status.success() && String::from_utf8_lossy(&version.stdout).starts_with("heureka "));
    assert_eq!(output(folder.path(), &["dance"]).status.code(), Some(2));
    let check = output(folder.path(), &["check"]);
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stderr));
}

#[test]
fn a_wrong_value_stops_the_start_and_says_key_value_and_source() {
    let folder = folder();
    std::fs::write(
        folder.path().join("application.yml"),
        "eureka:\n  server:\n    renewal-percent-threshold: lots\n",
    )
    .expect("written");
    for command in ["run", "check"] {
        let refused = output(folder.path(), &[command]);
        assert_eq!(refused.status.code(), Some(1), "{command}");
        let text = String::from_utf8_lossy(&refused.stderr).into_owned();
        for part in ["renewal-percent-threshold", "lots", "application.yml"] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }
}

#[test]
fn config_prints_values_with_sources_and_masks_secrets() {
    let folder = folder();
    std::fs::write(
        folder.path().join("application.properties"),
        "server.port=1234\nspring.security.user.name=u\nspring.security.user.password=hunter2\n\
         eureka.client.service-url.defaultZone=http://u:hunter2@peer:8761/eureka/\n",
    )
    .expect("written");
    let printed = output(folder.path(), &["config", "--eureka.environment=prod"]);
    let text = String::from_utf8_lossy(&printed.stdout).into_owned();
    assert!(text.contains("server.port = 1234") && text.contains("application.properties"), "{text}");
    assert!(text.contains("eureka.environment = prod"), "{text}");
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn check_says_what_it_read_and_how_much_each_remark_matters() {
    let folder = folder();
    let text = "eureka.server.enable-self-preservtion: false\nserver.http2.enabled: true\n";
    std::fs::write(folder.path().join("application.yml"), text).expect("written");
    let checked = output(folder.path(), &["check"]);
    let lines = String::from_utf8_lossy(&checked.stdout).into_owned();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.first(), Some(&"configuration files: application.yml; profiles: default"));
    assert_eq!(lines.last(), Some(&"the configuration is valid"));
    let has = |start: &str| lines.iter().any(|line| line.starts_with(start));
    assert!(has("warning: eureka.server.enable-self-preservtion (application.yml:1): "), "{lines:#?}");
    assert!(has("note: server.http2.enabled (application.yml:2): has no effect here: "), "{lines:#?}");
    let printed = output(folder.path(), &["config"]);
    let warned = String::from_utf8_lossy(&printed.stderr).into_owned();
    assert!(warned.starts_with("warning: eureka.server.enable-self-preservtion"), "{warned}");
    assert_eq!(warned.lines().count(), 1, "{warned}");
}

#[test]
fn a_node_that_cannot_listen_says_so_in_its_log() {
    let folder = folder();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = format!("--server.port={}", taken.local_addr().expect("an address").port());
    let args = ["--server.address=127.0.0.1", &port, "--heureka.log.format=json"];
    let ended = output(folder.path(), &args);
    assert_eq!(ended.status.code(), Some(1));
    let log = String::from_utf8_lossy(&ended.stderr).into_owned();
    let last: serde_json::Value = serde_json::from_str(log.lines().last().expect("a line")).expect("JSON");
    let message = last["message"].as_str().expect("a message");
    assert_eq!(last["level"], "ERROR");
    assert!(message.starts_with("the node ends: cannot listen on 127.0.0.1:"), "{message}");
    assert_eq!(message.matches("os error").count(), 1, "{message}");
}

/// A running binary; killed if the test fails.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a node in a folder, with this level of its log, which goes on behind the line that says where it listens.
fn started(folder: &Path, level: &str) -> (Running, impl Iterator<Item = String>, u16) {
    let level = format!("--logging.level.root={level}");
    let child = heureka(folder, &["--server.port=0", "--server.address=127.0.0.1", &level])
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    let mut running = Running(child);
    let log = BufReader::new(running.0.stderr.take().expect("a pipe"));
    let mut lines = log.lines().map_while(Result::ok);
    let line = lines.find(|line| line.contains("listening on")).expect("the node says where it listens");
    let port = line
        .split("127.0.0.1:")
        .nth(1)
        .map(|rest| rest.chars().take_while(char::is_ascii_digit).collect::<String>())
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_else(|| panic!("no port in {line}"));
    (running, lines, port)
}

/// Asks a node to stop, waits for its end and returns the rest of its log.
fn stopped(mut running: Running, lines: impl Iterator<Item = String>) -> Vec<String> {
    let killed =
        Command::new("kill").args(["-TERM", &running.0.id().to_string()]).status().expect("kill runs");
    assert!(killed.success());
    let rest = lines.collect();
    assert_eq!(running.0.wait().expect("ended").code(), Some(0));
    rest
}

#[test]
fn a_node_starts_without_any_file_says_where_it_is_and_stops_cleanly() {
    let folder = folder();
    let (running, lines, port) = started(folder.path(), "info");
    assert_eq!(get(port, "/eureka/apps").status, 200);
    let rest = stopped(running, lines);
    assert!(rest.iter().any(|line| line.contains("stopped")), "{rest:#?}");
}

#[test]
fn nobody_writes_a_line_of_the_log_from_outside() {
    let folder = folder();
    let (running, lines, port) = started(folder.path(), "info");
    let forged = r"x\r\nFORGED line\u001b[31m";
    let item = format!(
        r#"{{"appName":"A","id":"{forged}","action":"Register","instanceInfo":{{"instanceId":"{forged}","app":"{forged}"}}}}"#
    );
    let body =
        format!(r#"{{"replicationList":[{item},{{"appName":"{forged}","id":"{forged}","action":"x"}}]}}"#);
    let json = [("Content-Type", "application/json")];
    assert_eq!(call(port, "POST", "/eureka/peerreplication/batch", &json, body.as_bytes()).status, 200);
    let rest = stopped(running, lines);
    assert!(rest.iter().any(|line| line.contains("FORGED")), "the test tests something: {rest:#?}");
    assert!(rest.iter().all(|line| !line.starts_with("FORGED") && !line.contains('\u{1b}')), "{rest:#?}");
}

#[test]
fn requests_are_logged_at_debug_only_and_each_on_one_line() {
    for (level, count) in [("debug", 2), ("info", 0)] {
        let folder = folder();
        let (running, lines, port) = started(folder.path(), level);
        assert_eq!(call(port, "PUT", "/eureka/apps/SHOP/x%0AFORGED", &[], b"").status, 404);
        assert_eq!(get(port, "/eureka/apps").status, 200);
        let rest = stopped(running, lines);
        let answered: Vec<_> = rest.iter().filter(|line| line.contains("request answered")).collect();
        assert_eq!(answered.len(), count, "{rest:#?}");
        assert!(rest.iter().all(|line| !line.starts_with("FORGED")), "{rest:#?}");
        if let [first, second] = answered[..] {
            assert!(
                ["PUT", "/eureka/apps/SHOP/x%0AFORGED", "404"].iter().all(|part| first.contains(part)),
                "{first}"
            );
            assert!(["GET", "/eureka/apps", "200"].iter().all(|part| second.contains(part)), "{second}");
        }
    }
}
