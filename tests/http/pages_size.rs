//! The start page of a large registry (issue: right and readable with 0 and with 5,000 instances).

use serde_json::json;

use super::client::Site;
use super::pages::{app_row, text};

#[test]
fn five_thousand_instances_are_all_there_and_mostly_folded() {
    let site = Site::start(&[]);
    for app in 0..50 {
        for index in 0..100 {
            let status = if index % 50 == 7 { "DOWN" } else { "UP" };
            let id = format!("app-{app}-{index:03}");
            let members = json!({"status": status, "statusPageUrl": format!("http://{id}:8080/info")});
            site.register(&format!("APP-{app}"), &id, &members);
        }
    }
    let page = site.page("/");
    assert_eq!(page.matches(" rel=\"noopener\">app-").count(), 5_000);
    assert_eq!(page.matches("<tr><td><b>APP-").count(), 50);
    assert!(
        page.contains("<b>5,000</b> <span>instances</span>")
            && page.contains("<b>50</b> <span>applications</span>")
    );
    assert!(page.contains("<b>4,900</b> <span>UP</span>") && page.contains("<b>100</b> <span>DOWN</span>"));
    let row = app_row(&page, "APP-7");
    let (visible, folded) = row.split_once("<details>").expect("a fold");
    assert!(
        text(visible).contains("DOWN (2) - app-7-007, app-7-057"),
        "what needs attention is never folded: {visible}"
    );
    assert_eq!(visible.matches("<a ").count(), 5);
    assert!(folded.starts_with("<summary>95 more</summary>"), "{folded}");
    assert!(page.len() < 1_000_000, "{} bytes", page.len());
}

#[test]
fn one_huge_application_is_cut_with_a_count_and_a_link() {
    let site = Site::start(&[]);
    for index in 0..1_010 {
        site.register("A/B", &format!("i-{index:04}"), &json!({}));
    }
    let page = site.page("/");
    let row = app_row(&page, "A/B");
    assert!(row.contains("UP (1010)") && row.contains("1007 more"), "counts are exact");
    assert!(row.contains("i-0999") && !row.contains("i-1000"), "a thousand are listed");
    assert!(row.contains("<a href=\"/eureka/apps/A%2FB\">10 more in the registry</a>"));
    assert_eq!(site.get("/eureka/apps/A%2FB").status, 200, "the link works");
}
