//! When the pages warn (spec `spring.md` 2.3, items 45 and 46).

use serde_json::json;

use super::client::Site;
use super::pages::{row, text};

/// Title of the warning, if there is one.
fn banner(page: &str) -> Option<String> {
    let (_, behind) = page.split_once("id=\"uptime\">")?;
    behind.split_once("</div>").map(|(banner, _)| text(banner))
}

/// The banner of a node that must have one. The grace of 0 ms after opening is over after the next tick of the clock.
fn awaited_banner(site: &Site) -> String {
    let pages = std::iter::repeat_with(|| site.page("/")).take(200);
    pages.filter_map(|page| banner(&page)).next().expect("a banner")
}

const SWITCH_OFF: (&str, &str) = ("eureka.server.enable-self-preservation", "false");
const NO_GRACE: (&str, &str) = ("eureka.server.wait-time-in-ms-when-sync-empty", "0");

#[test]
fn item_45_without_protection_a_banner_stands_from_the_first_second() {
    let site = Site::start(&[SWITCH_OFF]);
    site.register("ORDERS", "o-1", &json!({}));
    for path in ["/", "/lastn"] {
        let page = site.page(path);
        let banner = banner(&page).expect("a banner");
        assert!(
            banner.contains("Self-preservation is switched off") && !banner.contains("EMERGENCY"),
            "{banner}"
        );
        assert_eq!(row(&page, "Lease expiration enabled"), "true");
    }
}

#[test]
fn item_45_with_protection_none_stands_until_the_grace_is_over() {
    let site = Site::start(&[]);
    site.register("ORDERS", "o-1", &json!({}));
    let page = site.page("/");
    assert_eq!(banner(&page), None);
    assert!(
        page.contains("renewals are counted by full minutes"),
        "the page still says why nothing is evicted"
    );
}

#[test]
fn item_46_too_few_renewals_are_an_emergency_that_says_why() {
    let site = Site::start(&[NO_GRACE]);
    site.register("ORDERS", "o-1", &json!({}));
    let banner = awaited_banner(&site);
    assert!(
        banner.starts_with("EMERGENCY") && banner.contains("Instances shown as UP may be gone"),
        "{banner}"
    );
    assert_eq!(row(&site.page("/"), "Lease expiration enabled"), "false");
}

#[test]
fn an_empty_registry_in_that_state_says_that_it_is_empty() {
    let banner = awaited_banner(&Site::start(&[NO_GRACE]));
    assert!(banner.starts_with("EMERGENCY") && banner.contains("nothing to protect"), "{banner}");
}

#[test]
fn too_few_renewals_without_protection_have_their_own_words() {
    let site = Site::start(&[NO_GRACE, SWITCH_OFF]);
    site.register("ORDERS", "o-1", &json!({}));
    let pages = std::iter::repeat_with(|| site.page("/")).take(200);
    let banner = pages.filter_map(|page| banner(&page)).find(|banner| banner.contains("below the threshold"));
    let banner = banner.expect("the banner for both");
    assert!(
        banner.contains("expired instances are evicted all the same") && !banner.contains("EMERGENCY"),
        "{banner}"
    );
}
