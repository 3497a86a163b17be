//! `heureka snapshot ...` on the folders of real nodes.

use std::io::Write;
use std::process::Stdio;

use serde_json::Value;

use super::node::Home;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_snapshot_is_inspected_verified_and_carried_into_another_folder() {
    let home = Home::new();
    let node = home.start(&[]);
    for id in ["a", "b"] {
        node.client().register("SHOP", id, 5);
    }
    let in_use = home.output(&["snapshot", "verify", "heureka-data"]);
    assert_eq!(in_use.status.code(), Some(1));
    assert!(text(&in_use.stderr).contains(&format!("in use by process {}", node.pid())));
    let before = std::iter::repeat_with(|| node.fetch()).find(|fetched| fetched.0.len() == 2).expect("both");
    node.stop();

    let good = home.output(&["snapshot", "verify", "heureka-data"]);
    assert!(good.status.success() && text(&good.stdout).starts_with("good: 2 instances"), "{good:?}");
    let shown = home.output(&["snapshot", "inspect", "heureka-data"]);
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    assert_eq!((&shown["verdict"]["start"], &shown["instances"]), (&"warm".into(), &2.into()), "{shown}");
    let document = home.output(&["snapshot", "export", "heureka-data"]).stdout;
    assert_eq!(serde_json::from_slice::<Value>(&document).expect("JSON")["instances"][0]["app"], "SHOP");

    let mut import = home
        .command(&["snapshot", "import", "elsewhere"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    import.stdin.take().expect("a pipe").write_all(&document).expect("written");
    let done = import.wait_with_output().expect("ended");
    assert!(done.status.success() && text(&done.stdout).contains("imported 2 instances"), "{done:?}");
    let node = home.start(&["--heureka.snapshots.folder=elsewhere"]);
    assert_eq!(node.fetch(), before);
}

#[test]
fn a_wrong_command_is_refused_with_the_usage() {
    let home = Home::new();
    for args in [&["snapshot"][..], &["snapshot", "burn", "x"], &["snapshot", "inspect"]] {
        let refused = home.output(args);
        assert_eq!(refused.status.code(), Some(2), "{args:?}");
        assert!(text(&refused.stderr).contains("usage: heureka snapshot"), "{args:?}");
    }
    let missing = home.output(&["snapshot", "inspect", "nothing"]);
    assert!(text(&missing.stderr).contains("there is no folder nothing"), "{missing:?}");
}
