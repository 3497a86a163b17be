//! Which files count: the default places or what was named, once without profiles and again with the ones that the files choose
//! (`spec/spring.md` 3.2). How a file is found and read stands in `loader`.

use super::activation::is_conditional;
use super::loader::{EXTENSIONS, Loader};
use super::location::Location;
use super::profiles;
use super::stack::Stack;
use crate::error::ConfigError;
use crate::property::PropertySource;
use crate::report::Notice;
use std::collections::HashSet;
use std::path::Path;

/// One group, so that files of profiles in any of these places beat plain files in all of them.
const DEFAULT_LOCATIONS: &str = "optional:file:./;optional:file:./config/;optional:file:./config/*/";
/// How often profiles that are included by profiles are followed.
const MAX_ROUNDS: usize = 8;

/// What the files say.
#[derive(Debug, Default)]
pub(crate) struct Files {
    /// Documents that count, lowest precedence first.
    pub sources: Vec<PropertySource>,
    /// Files that were read, in the same order.
    pub names: Vec<String>,
    /// Active profiles.
    pub profiles: Vec<String>,
    /// Remarks.
    pub notices: Vec<Notice>,
}

/// Reads all files that the outside sources and the files themselves name.
pub(crate) fn collect_files(outside: &Stack, working_dir: &Path) -> Result<Files, ConfigError> {
    let mut loader = Loader::new(outside, working_dir)?;
    let groups = initial_groups(outside)?;
    let plain = loader.load(&groups, None)?;
    let whole = |files: &[PropertySource]| Stack::new([files, &outside.sources].concat());
    let chosen = profiles::chosen(&whole(&plain.sources))?;
    let mut active = profiles::active(&whole(&plain.sources), &chosen)?;
    for _ in 0..MAX_ROUNDS {
        let mut files = loader.load(&groups, Some(&active))?;
        let again = profiles::active(&whole(&files.sources), &chosen)?;
        if again == active {
            let stack = whole(&files.sources);
            files.notices.extend(profiles_without_settings(&chosen, &loader.profiles_with_settings, &stack));
            files.profiles = active;
            files.notices.extend(ignored_choices(&files.sources));
            files.notices.extend(ignored_places(&files.sources));
            files.notices.extend(bootstrap_files(working_dir));
            return Ok(files);
        }
        active = again;
    }
    let what = format!("profiles include each other more than {MAX_ROUNDS} levels deep");
    Err(ConfigError::TooMuch { place: "spring.profiles.include".into(), what })
}

/// A document with a condition cannot choose profiles: which ones are active decides whether it counts.
fn ignored_choices(sources: &[PropertySource]) -> Vec<Notice> {
    let conditional = sources.iter().filter(|source| is_conditional(source));
    let choices = conditional.filter_map(|source| source.find("spring.profiles.active"));
    let reason = "ignored: a document that depends on a profile cannot choose profiles";
    choices.map(|p| Notice::warning(&p.name, &p.origin, reason)).collect()
}

/// A profile that was chosen and that nothing is for: probably misspelt. One that only brings others is for something.
fn profiles_without_settings(
    chosen: &[String],
    with_settings: &HashSet<String>,
    stack: &Stack,
) -> Vec<Notice> {
    let key = "spring.profiles.active";
    let is_group = |profile: &str| {
        let group = format!("spring.profiles.group.{profile}");
        stack.list(&group).is_ok_and(|members| !members.is_empty())
    };
    let is_for_nothing = |profile: &&String| !with_settings.contains(*profile) && !is_group(profile);
    let origin = stack.find(key).map_or_else(String::new, |property| property.origin.to_string());
    let remark = |profile: &String| {
        Notice::warning(key, &origin, format!("no file and no document is for the profile {profile}"))
    };
    chosen.iter().filter(|profile| *profile != "default").filter(is_for_nothing).map(remark).collect()
}

/// Where to look cannot stand in what was found by looking.
fn ignored_places(sources: &[PropertySource]) -> Vec<Notice> {
    let names = ["location", "additional-location", "name", "on-not-found"]
        .map(|name| format!("spring.config.{name}"));
    let written = names.iter().flat_map(|name| sources.iter().filter_map(move |source| source.find(name)));
    let reason =
        "ignored: it only counts as an argument, a variable or -D; a file can use spring.config.import";
    written.map(|p| Notice::warning(&p.name, &p.origin, reason)).collect()
}

/// `bootstrap.*` belongs to Spring Cloud Config; Boot itself does not read it either.
fn bootstrap_files(working_dir: &Path) -> Vec<Notice> {
    let files = EXTENSIONS.iter().map(|extension| format!("bootstrap.{extension}"));
    let present = files.filter(|file| working_dir.join(file).is_file());
    let reason =
        "not read: bootstrap files belong to Spring Cloud Config; move what is needed to application.yml";
    present.map(|file| Notice::warning(file.clone(), &file, reason)).collect()
}

/// Where to look first, lowest precedence first.
fn initial_groups(outside: &Stack) -> Result<Vec<Vec<Location>>, ConfigError> {
    let group = |text: &str, named_by: &str| -> Vec<Location> {
        text.split(';').map(|part| Location::new(part, named_by)).filter(|l| !l.text.is_empty()).collect()
    };
    let named = |name: &str| -> Result<Vec<Vec<Location>>, ConfigError> {
        let locations = outside.list(name)?;
        Ok(locations.iter().map(|p| group(&p.value, &format!("{name}, {}", p.origin))).collect())
    };
    let mut groups = named("spring.config.location")?;
    if groups.is_empty() {
        groups.push(group(DEFAULT_LOCATIONS, "the default"));
    }
    groups.extend(named("spring.config.additional-location")?);
    groups.extend(named("spring.config.import")?);
    Ok(groups)
}
