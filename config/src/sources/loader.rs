//! Finds, reads and orders configuration files (`spec/spring.md` 3.2; order checked against Boot 4.0.7).
//!
//! Per group of locations: plain files in order, then files of profiles. What a document imports stands directly above it;
//! files of profiles that an import brings stand above all plain ones. A later group beats an earlier one as a whole.

use super::activation::{Circumstances, cloud_platform, is_active, named_profiles};
use super::config_tree::read_tree;
use super::disk::{is_folder, is_there, read_text, sub_folders};
use super::files::Files;
use super::location::{Location, Target};
use super::stack::{Stack, list_in, split_list};
use crate::error::ConfigError;
use crate::property::{Property, PropertySource, SourceKind};
use crate::readers::{Document, read_properties, read_yaml};
use crate::report::Notice;
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

/// In this order, so that `.properties` beats `.yml` beats `.yaml`.
pub(super) const EXTENSIONS: [&str; 3] = ["yaml", "yml", "properties"];
/// Deepest chain of imports.
const MAX_IMPORT_DEPTH: usize = 16;
/// Most files of one start.
const MAX_FILES: usize = 512;

/// How a file is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Yaml,
    Properties,
}

/// A file that may exist.
struct Candidate {
    path: PathBuf,
    format: Format,
}

impl Candidate {
    /// The format follows from the extension, its own or the one that was named for it.
    fn new(path: PathBuf, named: Option<&str>) -> Self {
        let format = format_of(&path, named).unwrap_or(Format::Yaml);
        Self { path, format }
    }
}

/// `None` for an extension that no reader is for.
fn format_of(path: &Path, named: Option<&str>) -> Option<Format> {
    let own = path.extension().and_then(|extension| extension.to_str());
    match named.or(own)?.to_ascii_lowercase().as_str() {
        "yml" | "yaml" => Some(Format::Yaml),
        "properties" => Some(Format::Properties),
        _ => None,
    }
}

/// Reads locations; keeps what it has read for the next round.
pub(super) struct Loader<'a> {
    outside: &'a Stack,
    working_dir: &'a Path,
    names: Vec<String>,
    platform: Option<String>,
    ignore_missing: bool,
    cache: HashMap<PathBuf, Rc<Vec<Document>>>,
    /// Profiles that a file or a condition is for.
    pub(super) profiles_with_settings: HashSet<String>,
}

/// The two layers of a group and what was seen on the way.
#[derive(Default)]
struct Pass {
    plain: Vec<PropertySource>,
    of_profiles: Vec<PropertySource>,
    names: Vec<String>,
    notices: Vec<Notice>,
    seen: HashSet<PathBuf>,
    depth: usize,
}

impl<'a> Loader<'a> {
    pub(super) fn new(outside: &'a Stack, working_dir: &'a Path) -> Result<Self, ConfigError> {
        let names = outside.list("spring.config.name")?;
        let mut names: Vec<String> = names.into_iter().map(|p| p.value).collect();
        if names.is_empty() {
            names.push("application".into());
        }
        let ignore_missing =
            outside.find("spring.config.on-not-found").is_some_and(|p| p.value.trim() == "ignore");
        let platform = cloud_platform(outside);
        let (cache, profiles_with_settings) = (HashMap::new(), HashSet::new());
        Ok(Self { outside, working_dir, names, platform, ignore_missing, cache, profiles_with_settings })
    }

    /// Reads all groups, lowest precedence first.
    pub(super) fn load(
        &mut self,
        groups: &[Vec<Location>],
        profiles: Option<&[String]>,
    ) -> Result<Files, ConfigError> {
        let mut files = Files::default();
        let mut pass = Pass::default();
        for group in groups {
            self.load_group(group, self.working_dir, profiles, &mut pass)?;
            files.sources.append(&mut pass.plain);
            files.sources.append(&mut pass.of_profiles);
        }
        files.names = pass.names;
        files.notices = pass.notices;
        Ok(files)
    }

    /// Plain files of all locations, then for each profile its files of all locations.
    fn load_group(
        &mut self,
        group: &[Location],
        base: &Path,
        profiles: Option<&[String]>,
        pass: &mut Pass,
    ) -> Result<(), ConfigError> {
        for location in group {
            let target = location.target(self.working_dir, base);
            self.load_plain(location, &target, profiles, pass)?;
        }
        for profile in profiles.unwrap_or_default() {
            for location in group {
                let target = location.target(self.working_dir, base);
                for candidate in self.candidates(&target, Some(profile)) {
                    if self.load_file(&candidate, profiles, true, pass)? {
                        self.profiles_with_settings.insert(profile.clone());
                    }
                }
            }
        }
        Ok(())
    }

    fn load_plain(
        &mut self,
        location: &Location,
        target: &Target,
        profiles: Option<&[String]>,
        pass: &mut Pass,
    ) -> Result<(), ConfigError> {
        match target {
            Target::ClassPath => {
                let reason = "there is no class path here; name the file with file: instead";
                pass.notices.push(Notice::warning(location.shown(), &location.named_by, reason));
                Ok(())
            }
            Target::Foreign(scheme) => foreign(location, scheme, pass),
            Target::Tree(folder) => self.load_tree(location, folder, pass),
            Target::SubTrees(parent) => {
                sub_folders(parent).iter().try_for_each(|folder| self.load_tree(location, folder, pass))
            }
            Target::File { path, extension } if format_of(path, extension.as_deref()).is_none() => {
                Err(unknown(location, path))
            }
            Target::Folder(_) | Target::SubFolders(_) | Target::File { .. } => {
                let mut exists = self.folder_exists(target)?;
                for candidate in self.candidates(target, None) {
                    exists |= self.load_file(&candidate, profiles, false, pass)?;
                }
                if exists || location.optional || self.ignore_missing {
                    Ok(())
                } else {
                    Err(missing(location))
                }
            }
        }
    }

    /// Files that may exist for a target, lowest precedence first.
    fn candidates(&self, target: &Target, profile: Option<&str>) -> Vec<Candidate> {
        let suffix = profile.map(|p| format!("-{p}")).unwrap_or_default();
        let in_folder = |folder: &Path| -> Vec<Candidate> {
            let named = |name: &String| {
                EXTENSIONS
                    .map(|extension| Candidate::new(folder.join(format!("{name}{suffix}.{extension}")), None))
            };
            self.names.iter().flat_map(named).collect()
        };
        match target {
            Target::Folder(folder) => in_folder(folder),
            Target::SubFolders(parent) => {
                sub_folders(parent).iter().flat_map(|folder| in_folder(folder)).collect()
            }
            Target::File { path, extension } => {
                let path = with_suffix(path, &suffix, extension.is_some());
                vec![Candidate::new(path, extension.as_deref())]
            }
            Target::Tree(_) | Target::SubTrees(_) | Target::ClassPath | Target::Foreign(_) => Vec::new(),
        }
    }

    /// Reads one file if it exists and was not read before. Returns whether it exists.
    fn load_file(
        &mut self,
        candidate: &Candidate,
        profiles: Option<&[String]>,
        of_profile: bool,
        pass: &mut Pass,
    ) -> Result<bool, ConfigError> {
        let path = candidate.path.as_path();
        let shown = self.shown(path);
        if !is_there(path, &shown)? {
            return Ok(false);
        }
        if !pass.seen.insert(path.to_owned()) {
            return Ok(true);
        }
        if pass.seen.len() > MAX_FILES {
            return Err(ConfigError::TooMuch { place: shown, what: format!("more than {MAX_FILES} files") });
        }
        let documents = self.documents(candidate, &shown)?;
        pass.names.push(shown);
        for document in documents.iter() {
            let document = PropertySource::new(SourceKind::Plain, document.clone());
            self.profiles_with_settings.extend(named_profiles(&document));
            let circumstances = Circumstances { profiles, platform: self.platform.as_deref() };
            if is_active(&document, &circumstances)? {
                let imports = list_in(&document, "spring.config.import").unwrap_or_default();
                if of_profile { &mut pass.of_profiles } else { &mut pass.plain }.push(document);
                self.load_imports(&imports, path, profiles, of_profile, pass)?;
            }
        }
        Ok(true)
    }

    fn load_imports(
        &mut self,
        imports: &[Property],
        path: &Path,
        profiles: Option<&[String]>,
        of_profile: bool,
        pass: &mut Pass,
    ) -> Result<(), ConfigError> {
        if imports.is_empty() {
            return Ok(());
        }
        if pass.depth >= MAX_IMPORT_DEPTH {
            let what = format!("imports are more than {MAX_IMPORT_DEPTH} levels deep");
            return Err(ConfigError::TooMuch { place: self.shown(path), what });
        }
        pass.depth += 1;
        let base = path.parent().unwrap_or(self.working_dir).to_owned();
        for import in imports {
            let text = self.outside.resolve(import)?;
            for part in split_list(&text) {
                let location = Location::new(part, format!("spring.config.import, {}", import.origin));
                let (plain, of_profiles) = (pass.plain.len(), pass.of_profiles.len());
                self.load_group(&[location], &base, profiles, pass)?;
                if of_profile {
                    // what the file of a profile imports belongs to the profile, below its own variants
                    let variants = pass.of_profiles.split_off(of_profiles);
                    let imported = pass.plain.split_off(plain);
                    pass.of_profiles.extend(imported.into_iter().chain(variants));
                }
            }
        }
        pass.depth -= 1;
        Ok(())
    }

    fn load_tree(&mut self, location: &Location, folder: &Path, pass: &mut Pass) -> Result<(), ConfigError> {
        if !is_folder(folder, &self.shown(folder))? {
            return if location.optional || self.ignore_missing { Ok(()) } else { Err(missing(location)) };
        }
        if pass.seen.insert(folder.to_owned()) {
            pass.names.push(self.shown(folder));
            pass.plain.push(PropertySource::new(SourceKind::Plain, read_tree(folder)?));
        }
        Ok(())
    }

    fn documents(&mut self, candidate: &Candidate, shown: &str) -> Result<Rc<Vec<Document>>, ConfigError> {
        if let Some(documents) = self.cache.get(&candidate.path) {
            return Ok(Rc::clone(documents));
        }
        let text = read_text(&candidate.path, shown, candidate.format == Format::Properties)?;
        let read = match candidate.format {
            Format::Properties => read_properties(&text, shown),
            Format::Yaml => read_yaml(&text, shown),
        };
        let documents = read.map_err(|e| ConfigError::Syntax {
            place: shown.to_owned(),
            line: e.line,
            message: e.message,
        })?;
        let documents = Rc::new(documents);
        self.cache.insert(candidate.path.clone(), Rc::clone(&documents));
        Ok(documents)
    }

    /// A folder may be empty, it must only exist.
    fn folder_exists(&self, target: &Target) -> Result<bool, ConfigError> {
        match target {
            Target::Folder(folder) | Target::SubFolders(folder) => is_folder(folder, &self.shown(folder)),
            _ => Ok(false),
        }
    }

    /// A path as an operator would write it.
    fn shown(&self, path: &Path) -> String {
        let inside = path.strip_prefix(self.working_dir).unwrap_or(path);
        inside.components().filter(|c| *c != Component::CurDir).collect::<PathBuf>().display().to_string()
    }
}

/// Kinds of locations that need a Spring application; an optional one is only remarked.
fn foreign(location: &Location, scheme: &str, pass: &mut Pass) -> Result<(), ConfigError> {
    let reason = format!("{scheme}: locations need a Spring application");
    if location.optional {
        pass.notices.push(Notice::warning(
            location.shown(),
            &location.named_by,
            format!("left out: {reason}"),
        ));
        return Ok(());
    }
    Err(ConfigError::Unsupported { location: location.shown(), named_by: location.named_by.clone(), reason })
}

fn missing(location: &Location) -> ConfigError {
    ConfigError::Missing { location: location.shown(), named_by: location.named_by.clone() }
}

/// Boot asks for an extension that it knows before it looks for the file, so `optional:` does not help either.
fn unknown(location: &Location, path: &Path) -> ConfigError {
    let text = location.shown();
    let is_xml = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("xml"));
    let reason = if path.is_dir() {
        format!("it is a folder; {text}/ with a slash at the end means the files in it")
    } else if is_xml {
        "XML is not read; write the settings as .properties or .yml".to_owned()
    } else {
        format!(
            "a file must end in .yml, .yaml or .properties, a folder in a slash; {text}[.yml] means a file without ending"
        )
    };
    ConfigError::Unknown { location: text, named_by: location.named_by.clone(), reason }
}

/// `one.yml` and `p1` make `one-p1.yml`; a file without an extension of its own gets the suffix at its end.
fn with_suffix(path: &Path, suffix: &str, no_extension: bool) -> PathBuf {
    match (path.file_stem().and_then(|s| s.to_str()), path.extension().and_then(|e| e.to_str())) {
        _ if suffix.is_empty() => path.to_owned(),
        (Some(stem), Some(extension)) if !no_extension => {
            path.with_file_name(format!("{stem}{suffix}.{extension}"))
        }
        (_, _) => {
            let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
            path.with_file_name(format!("{name}{suffix}"))
        }
    }
}
