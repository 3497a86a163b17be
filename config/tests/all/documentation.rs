//! `docs/configuration.md` against the code.

use heureka_config::known_keys;

const PAGE: &str = include_str!("../../../docs/configuration.md");

#[test]
fn every_own_key_stands_in_the_table_with_its_default() {
    for key in known_keys().filter(|key| key.name.starts_with("heureka.")) {
        let default = key.default.map_or_else(|| "none".to_owned(), |default| format!("`{default}`"));
        let row = format!("| `{}` | {default} |", key.name);
        assert!(PAGE.contains(&row), "{row} is missing");
    }
}

#[test]
fn every_own_key_of_the_page_is_known() {
    let named = PAGE.split('`').filter(|text| text.starts_with("heureka.") && !text.contains(['*', ' ']));
    for name in named {
        assert!(known_keys().any(|key| key.name == name), "{name} is unknown");
    }
}
