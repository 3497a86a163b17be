//! Nothing that a client sends becomes mark-up or a harmful link (spec `spring.md` item 50).

use serde_json::json;

use super::client::{Site, encoded};
use super::pages::app_row;

const MARKUP: &str = "<script>alert(1)</script>";

#[test]
fn item_50_markup_is_text_everywhere() {
    let site = Site::start(&[
        ("eureka.environment", "<b>env</b>"),
        ("eureka.datacenter", "dc\" onload=\"x"),
        ("eureka.instance.instance-id", "<u>self</u>"),
    ]);
    let app = "a<b>&\"'";
    let members = json!({
        "statusPageUrl": "http://h/?q=\"><img src=x onerror=alert(1)>",
        "metadata": {"zone": "<i>zone</i>"},
        "hostName": MARKUP,
        "healthCheckUrl": MARKUP,
    });
    site.register(app, MARKUP, &members);
    let amazon = json!({"dataCenterInfo": {
        "@class": "com.netflix.appinfo.AmazonInfo", "name": "Amazon",
        "metadata": {"ami-id": "<s>ami</s>", "availability-zone": "<s>az</s>", "instance-id": "i"},
    }});
    site.register("CLOUD", "c-1", &amazon);
    let path = format!("/eureka/apps/{}/{}", encoded(app), encoded(MARKUP));
    let status = site.page("/");
    assert_eq!(site.send("DELETE", &path, &[], "").status, 200);
    let last_n = site.page("/lastn");
    let raw =
        ["<script>alert", "<img src=x", "<i>zone", "<s>", "<b>env", "<u>self", "A<B>", "onload=\"x", "q=\""];
    for page in [&status, &last_n] {
        for text in raw {
            assert!(!page.contains(text), "{text}");
        }
        assert_eq!(page.matches("<script").count(), 1, "its own script only");
    }
    let row = app_row(&status, "A&#60;B&#62;&#38;&#34;&#39;");
    assert!(row.contains("&#60;script&#62;alert(1)&#60;/script&#62;</a>"), "{row}");
    assert!(row.contains("href=\"http://h/?q=&#34;&#62;&#60;img src=x onerror=alert(1)&#62;\""), "{row}");
}

#[test]
fn what_hides_or_turns_text_round_is_shown() {
    let site = Site::start(&[]);
    let id = "nul\0esc\u{1b}turn\u{202e}isolate\u{2067}end";
    site.register("HIDDEN", id, &json!({}));
    for page in [site.page("/"), site.page("/lastn")] {
        assert!(page.contains("nul\u{fffd}esc\u{fffd}turn\u{fffd}isolate\u{fffd}end"), "shown with marks");
        assert!(!page.contains(['\0', '\u{1b}', '\u{202e}', '\u{2067}']), "and not as sent");
    }
}

#[test]
fn item_50_only_web_addresses_are_links() {
    let site = Site::start(&[]);
    let urls = [
        "javascript:alert(1)",
        "JavaScript://h/%0aalert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "data:text/html,<script>alert(1)</script>",
        "vbscript:x",
        "//evil/",
        "httpjavascript:x",
        "",
    ];
    for (index, url) in urls.iter().enumerate() {
        site.register("BAD", &format!("bad-{index}"), &json!({"statusPageUrl": url, "homePageUrl": url}));
    }
    let page = site.page("/");
    let row = app_row(&page, "BAD");
    assert!(row.contains("bad-0") && row.contains("bad-8"), "{row}");
    assert!(!row.contains("href") && !row.contains("script"), "{row}");
}

#[test]
fn a_host_header_is_text_too() {
    for strategy in ["none", "native", "framework"] {
        let site = Site::start(&[("server.forward-headers-strategy", strategy)]);
        for name in ["X-Forwarded-Host", "X-Forwarded-Proto", "Forwarded"] {
            let answer = site.send("GET", "/", &[(name, "host=\"><script>x</script>")], "");
            assert_eq!(answer.status, 200);
            assert!(!answer.body.contains("<script>x"), "{}", answer.body);
        }
    }
}
