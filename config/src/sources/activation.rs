//! Whether a document counts: `spring.config.activate.*`, and the older `spring.profiles` (`spec/spring.md` 3.2).

use super::stack::{Stack, list_in};
use crate::error::ConfigError;
use crate::profile_expression;
use crate::property::{Property, PropertySource};

/// What activation depends on.
pub(super) struct Circumstances<'a> {
    /// Active profiles; `None` before they are known.
    pub profiles: Option<&'a [String]>,
    /// The cloud platform, if one was recognised.
    pub platform: Option<&'a str>,
}

/// Says whether a document counts. Before the profiles are known, one with a condition on them does not.
pub(super) fn is_active(
    document: &PropertySource,
    circumstances: &Circumstances<'_>,
) -> Result<bool, ConfigError> {
    let platform = document.find("spring.config.activate.on-cloud-platform");
    let wrong_platform =
        |wanted: &Property| !circumstances.platform.is_some_and(|p| same_platform(p, wanted.value.trim()));
    if platform.is_some_and(wrong_platform) {
        return Ok(false);
    }
    let conditions = profile_conditions(document);
    if conditions.is_empty() {
        return Ok(true);
    }
    let Some(profiles) = circumstances.profiles else { return Ok(false) };
    for condition in conditions {
        let holds = profile_expression::matches(&condition.value, profiles).map_err(|reason| {
            ConfigError::Condition {
                origin: condition.origin.to_string(),
                expression: condition.value.clone(),
                reason,
            }
        })?;
        if holds {
            return Ok(true);
        }
    }
    Ok(false)
}

/// True if the document only counts for some profiles.
pub(super) fn is_conditional(document: &PropertySource) -> bool {
    !profile_conditions(document).is_empty()
}

/// Names of profiles in the conditions of a document.
pub(super) fn named_profiles(document: &PropertySource) -> Vec<String> {
    let is_operator = |c: char| c.is_whitespace() || matches!(c, '(' | ')' | '!' | '&' | '|');
    let conditions = profile_conditions(document).into_iter().map(|condition| condition.value);
    let names = |text: String| text.split(is_operator).map(str::to_owned).collect::<Vec<_>>();
    conditions.flat_map(names).filter(|name| !name.is_empty()).collect()
}

/// Both spellings; any one of several expressions is enough.
fn profile_conditions(document: &PropertySource) -> Vec<Property> {
    let keys = ["spring.config.activate.on-profile", "spring.profiles"];
    keys.iter().filter_map(|key| list_in(document, key)).flatten().collect()
}

fn same_platform(platform: &str, wanted: &str) -> bool {
    crate::key::canonical_element(platform) == crate::key::canonical_element(wanted)
}

/// Recognises the platform as Boot does: from the variables that it sets, or `spring.main.cloud-platform`, where an empty
/// text counts as not set. Of a text whose placeholders stand for nothing it takes the text.
pub(crate) fn cloud_platform(outside: &Stack) -> Option<String> {
    if let Some(chosen) = outside.find("spring.main.cloud-platform") {
        let text = outside.resolve(chosen).unwrap_or_else(|_| chosen.value.clone());
        if !text.trim().is_empty() {
            return Some(text.trim().to_owned());
        }
    }
    let has = |names: &[&str]| names.iter().all(|name| outside.find(name).is_some());
    let platforms: [(&str, &[&str]); 5] = [
        ("cloud-foundry", &["VCAP_APPLICATION"]),
        ("heroku", &["DYNO"]),
        ("nomad", &["NOMAD_ALLOC_ID"]),
        ("kubernetes", &["KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"]),
        (
            "azure-app-service",
            &["WEBSITE_SITE_NAME", "WEBSITE_INSTANCE_ID", "WEBSITE_RESOURCE_GROUP", "WEBSITE_SKU"],
        ),
    ];
    platforms.into_iter().find(|(_, variables)| has(variables)).map(|(name, _)| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::{Origin, SourceKind};

    fn document(pairs: &[(&str, &str)]) -> PropertySource {
        let property = |(name, value): &(&str, &str)| Property {
            name: (*name).into(),
            value: (*value).into(),
            origin: Origin::Given,
        };
        PropertySource::new(SourceKind::Plain, pairs.iter().map(property).collect())
    }

    fn active(pairs: &[(&str, &str)], profiles: Option<&[&str]>, platform: Option<&str>) -> bool {
        let profiles: Option<Vec<String>> = profiles.map(|p| p.iter().map(|s| (*s).to_owned()).collect());
        is_active(&document(pairs), &Circumstances { profiles: profiles.as_deref(), platform }).unwrap()
    }

    #[test]
    fn old_and_new_conditions_work() {
        for key in
            ["spring.config.activate.on-profile", "spring.config.activate.onProfile", "spring.profiles"]
        {
            assert!(active(&[(key, "p1 | p2")], Some(&["p2"]), None), "{key}");
            assert!(!active(&[(key, "p1,!p2")], Some(&["p2"]), None), "{key}");
            assert!(!active(&[(key, "p1")], None, None), "{key}");
        }
        assert!(active(&[("spring.profiles[0]", "x"), ("spring.profiles[1]", "p1")], Some(&["p1"]), None));
        assert!(active(&[("spring.profiles.active", "p1")], Some(&[]), None), "no condition");
    }

    #[test]
    fn platforms_are_recognised() {
        let key = "spring.config.activate.on-cloud-platform";
        assert!(active(&[(key, "Kubernetes")], None, Some("kubernetes")));
        assert!(!active(&[(key, "kubernetes")], None, None));
        let variables = document(&[("KUBERNETES_SERVICE_HOST", "h"), ("KUBERNETES_SERVICE_PORT", "1")]);
        assert_eq!(cloud_platform(&Stack::new(vec![variables])).as_deref(), Some("kubernetes"));
        assert_eq!(cloud_platform(&Stack::default()), None);
    }
}
