//! Which profiles are active: `spring.profiles.active`, `include`, `group.*`, `default` (`spec/spring.md` 3.2).

use super::stack::{Stack, list_in};
use crate::error::ConfigError;

/// Most profiles, so that groups that name each other stay small.
const MAX_PROFILES: usize = 256;

/// Chosen by `spring.profiles.active`; only documents without a condition may choose.
pub(super) fn chosen(stack: &Stack) -> Result<Vec<String>, ConfigError> {
    values(stack, "spring.profiles.active")
}

/// All active profiles, lowest precedence first: included ones, then the chosen ones, each followed by its group.
/// `spring.profiles.default`, or `default`, if there are none.
pub(super) fn active(stack: &Stack, chosen: &[String]) -> Result<Vec<String>, ConfigError> {
    let included = stack.sources.iter().rev().filter_map(|source| list_in(source, "spring.profiles.include"));
    let included = stack.resolve_all(included.flatten().collect())?;
    let mut profiles = Vec::new();
    for name in included.into_iter().map(|p| p.value).chain(chosen.iter().cloned()) {
        expand(stack, name, &mut profiles)?;
    }
    if !profiles.is_empty() {
        return Ok(profiles);
    }
    let mut defaults = values(stack, "spring.profiles.default")?;
    if defaults.is_empty() {
        defaults.push("default".into());
    }
    for name in defaults {
        expand(stack, name, &mut profiles)?;
    }
    Ok(profiles)
}

fn expand(stack: &Stack, first: String, into: &mut Vec<String>) -> Result<(), ConfigError> {
    let mut waiting = vec![first];
    while let Some(name) = waiting.pop() {
        if into.contains(&name) || into.len() >= MAX_PROFILES {
            continue;
        }
        let members = values(stack, &format!("spring.profiles.group.{name}"))?;
        into.push(name);
        waiting.extend(members.into_iter().rev());
    }
    Ok(())
}

fn values(stack: &Stack, name: &str) -> Result<Vec<String>, ConfigError> {
    Ok(stack.list(name)?.into_iter().map(|property| property.value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::{Origin, Property, PropertySource, SourceKind};

    fn stack(sources: &[&[(&str, &str)]]) -> Stack {
        let property = |(name, value): &(&str, &str)| Property {
            name: (*name).into(),
            value: (*value).into(),
            origin: Origin::Given,
        };
        let source = |pairs: &&[(&str, &str)]| {
            PropertySource::new(SourceKind::Plain, pairs.iter().map(property).collect())
        };
        Stack::new(sources.iter().map(source).collect())
    }

    #[test]
    fn includes_come_first_and_groups_follow_their_name() {
        let stack = stack(&[
            &[("spring.profiles.include", "inc"), ("spring.profiles.group.prod", "g1,g2")],
            &[("spring.profiles.active", "prod, p1"), ("spring.profiles.include", "e1")],
        ]);
        assert_eq!(
            active(&stack, &chosen(&stack).unwrap()).unwrap(),
            ["e1", "inc", "prod", "g1", "g2", "p1"]
        );
    }

    #[test]
    fn without_a_choice_the_default_profile_is_active() {
        let none = stack(&[&[("spring.profiles.active", "")]]);
        assert_eq!(active(&none, &chosen(&none).unwrap()).unwrap(), ["default"]);
        let named = stack(&[&[("spring.profiles.default", "dev")]]);
        assert_eq!(active(&named, &[]).unwrap(), ["dev"]);
    }

    #[test]
    fn groups_that_name_each_other_end() {
        let stack = stack(&[&[("spring.profiles.group.a", "b"), ("spring.profiles.group.b", "a")]]);
        assert_eq!(active(&stack, &["a".to_owned()]).unwrap(), ["a", "b"]);
    }
}
