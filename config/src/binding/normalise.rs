//! One source: every property is recognised by the rules of its source and put under the canonical name of its key.

use super::misshapen::Misshapen;
use crate::catalogue::{self, Effect, KeySpec, Kind, Place, Transform};
use crate::error::Problem;
use crate::key;
use crate::property::{Property, PropertySource, SourceKind, is_service_link};
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// First elements of all known keys: a cheap test before a variable is compared with every key.
static FIRST_WORDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let mut words: Vec<String> =
        catalogue::all().filter_map(|spec| spec.name.split('.').next()).map(str::to_owned).collect();
    words.sort_unstable();
    words.dedup();
    words
});

/// Canonical elements of every key, for the comparison with variables.
static PATHS: LazyLock<Vec<(Vec<&'static str>, &'static KeySpec)>> = LazyLock::new(|| {
    let known = catalogue::all().filter(|spec| spec.kind != Kind::Family);
    known.map(|spec| (catalogue::path(spec.name).iter().map(String::as_str).collect(), spec)).collect()
});

/// A value that has found its key.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub spec: &'static KeySpec,
    pub place: Place,
    pub text: String,
    pub property: Property,
    /// Came under Netflix' name: Spring's name in the same source wins.
    pub by_alias: bool,
    /// Came from an upper-case variable: the map key has lost its case.
    pub from_variable: bool,
}

/// What a source says, key by key.
#[derive(Debug, Default)]
pub(super) struct Normalised {
    pub values: Vec<Value>,
    pub unknown: Vec<Property>,
    pub problems: Vec<Problem>,
    pub inert: Vec<(Property, &'static str)>,
    pub misshapen: Vec<Misshapen>,
    /// Map keys that lost signs, and what is left of them.
    pub shortened: Vec<(Property, String)>,
}

/// Recognises the properties of a source.
pub(super) fn normalise(source: &PropertySource) -> Normalised {
    let mut normalised = Normalised::default();
    for property in &source.properties {
        let is_variable = source.kind == SourceKind::Environment && !property.name.contains('.');
        if is_variable { normalised.variable(property) } else { normalised.named(property) }
    }
    if source.kind == SourceKind::Arguments {
        join_repeated(&mut normalised.values);
    }
    normalised
}

impl Normalised {
    fn named(&mut self, property: &Property) {
        let elements = key::elements(&property.name);
        if let Some((spec, place)) = catalogue::locate(&elements) {
            if let Place::Entry(name) | Place::EntryItem(name, _) = &place
                && key::loses_signs(&elements)
            {
                self.shortened.push((property.clone(), name.clone()));
            }
            self.add(spec, place, property, Transform::Same, false);
            return;
        }
        if let Some(alias) = catalogue::find_alias(&elements)
            && let Some(spec) = catalogue::find(alias.name)
        {
            self.add(spec, alias.place, property, alias.transform, true);
            return;
        }
        if let Some((spec, form)) = catalogue::find_misshapen(&elements) {
            match spec.effect {
                Effect::Inert => self.inert.push((property.clone(), spec.about)),
                Effect::Acts | Effect::Loads => {
                    self.misshapen.push(Misshapen { spec, form, property: property.clone() });
                }
            }
            return;
        }
        match catalogue::find_family(&key::join(&elements)) {
            Some(family) => self.inert.push((property.clone(), family.about)),
            None => self.unknown.push(property.clone()),
        }
    }

    fn variable(&mut self, property: &Property) {
        let first = property.name.split(['_', '-']).next().unwrap_or_default().to_lowercase();
        if FIRST_WORDS.binary_search(&first).is_err() {
            return;
        }
        let matched = PATHS.iter().filter_map(|(elements, spec)| {
            let rest = key::match_variable(&property.name, elements)?;
            Some((rest.len(), place_of(spec.kind, &rest)?, *spec))
        });
        match matched.min_by_key(|(rest, _, _)| *rest) {
            Some((_, Place::Whole, _)) if is_service_link(&property.name, &property.value) => {
                self.inert.push((
                    property.clone(),
                    "The platform tells where a service is; this is not a setting.",
                ));
            }
            _ if is_service_link(&property.name, &property.value) => {}
            Some((_, place, spec)) => {
                let before = self.values.len();
                self.add(spec, place, property, Transform::Same, false);
                self.values[before..].iter_mut().for_each(|value| value.from_variable = true);
            }
            None => self.unknown.push(property.clone()),
        }
    }

    fn add(
        &mut self,
        spec: &'static KeySpec,
        place: Place,
        property: &Property,
        transform: Transform,
        by_alias: bool,
    ) {
        if spec.effect == Effect::Inert {
            self.inert.push((property.clone(), spec.about));
        }
        let value = |place, text: String| Value {
            spec,
            place,
            text,
            property: property.clone(),
            by_alias,
            from_variable: false,
        };
        match (transform, &place) {
            (Transform::NamedUrls, _) => {
                // A URL without a name is told as one.
                let pairs = crate::sources::split_list(&property.value)
                    .map(|pair| pair.split_once(';').unwrap_or(("", pair)));
                self.values.extend(pairs.map(|(region, url)| {
                    value(Place::Entry(region.trim().to_owned()), url.trim().to_owned())
                }));
            }
            (Transform::MillisToSecs, _) => match property.value.trim().parse::<u64>() {
                Ok(ms) => self.values.push(value(place, ms.div_ceil(1_000).to_string())),
                Err(_) => self.values.push(value(place, property.value.clone())),
            },
            (Transform::Same, Place::Whole) if spec.kind.is_map() => {
                // `service-url:` with nothing below it is an empty map
                if !property.value.trim().is_empty() && spec.effect != Effect::Inert {
                    self.problems.push(not_a_map(spec, property));
                }
            }
            (Transform::Same, _) => self.values.push(value(place, property.value.clone())),
        }
    }
}

/// What the rest of a variable's name says about a key of this kind; `None` if the variable is another one.
fn place_of(kind: Kind, rest: &[String]) -> Option<Place> {
    let index = rest.last().and_then(|part| part.parse::<usize>().ok());
    match (kind, rest, index) {
        (_, [], _) => Some(Place::Whole),
        (Kind::List, [_], Some(index)) => Some(Place::Item(index)),
        (Kind::MapOfLists, [name @ .., _], Some(index)) if !name.is_empty() => {
            Some(Place::EntryItem(name.join("."), index))
        }
        (Kind::Map | Kind::MapOfLists, name, _) => Some(Place::Entry(name.join("."))),
        _ => None,
    }
}

fn not_a_map(spec: &KeySpec, property: &Property) -> Problem {
    Problem {
        key: spec.name.into(),
        found: crate::secret::mask_credentials(&property.value),
        origin: property.origin.to_string(),
        expected: format!("must be {}, such as {}.NAME", spec.kind.allowed(), spec.name),
    }
}

/// An argument given several times is a list, as in Boot.
fn join_repeated(values: &mut [Value]) {
    let mut joined: BTreeMap<&'static str, String> = BTreeMap::new();
    for value in values.iter().filter(|v| v.spec.kind == Kind::List && v.place == Place::Whole) {
        let text = joined.entry(value.spec.name).or_default();
        if !text.is_empty() {
            text.push(',');
        }
        text.push_str(&value.text);
    }
    for value in values.iter_mut().filter(|v| v.place == Place::Whole) {
        if let Some(text) = joined.get(value.spec.name) {
            value.text.clone_from(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::Origin;

    fn normalised(kind: SourceKind, pairs: &[(&str, &str)]) -> Normalised {
        let property = |(name, value): &(&str, &str)| Property {
            name: (*name).into(),
            value: (*value).into(),
            origin: Origin::Given,
        };
        normalise(&PropertySource::new(kind, pairs.iter().map(property).collect()))
    }

    fn shown(kind: SourceKind, pairs: &[(&str, &str)]) -> Vec<(&'static str, Place, String)> {
        normalised(kind, pairs).values.into_iter().map(|v| (v.spec.name, v.place, v.text)).collect()
    }

    #[test]
    fn variables_find_their_key_index_or_entry() {
        let env = SourceKind::Environment;
        let url = "eureka.client.service-url";
        let rows = [
            ("SERVER_PORT", ("server.port", Place::Whole)),
            (
                "EUREKA_SERVER_RENEWAL_PERCENT_THRESHOLD",
                ("eureka.server.renewal-percent-threshold", Place::Whole),
            ),
            ("EUREKA_CLIENT_SERVICEURL_DEFAULTZONE", (url, Place::Entry("defaultzone".into()))),
            ("EUREKA_CLIENT_SERVICE_URL_ZONE_A", (url, Place::Entry("zone.a".into()))),
            ("EUREKA_CLIENT_SERVICE-URL_DEFAULTZONE_1", (url, Place::EntryItem("defaultzone".into(), 1))),
            ("SERVER_COMPRESSION_MIMETYPES_0", ("server.compression.mime-types", Place::Item(0))),
            ("LOGGING_LEVEL_COM_NETFLIX", ("logging.level", Place::Entry("com.netflix".into()))),
            ("eureka.client.serviceUrl.defaultZone", (url, Place::Entry("defaultZone".into()))),
        ];
        for (name, (key, place)) in rows {
            assert_eq!(shown(env, &[(name, "x")]), [(key, place, "x".to_owned())], "{name}");
        }
        assert!(shown(env, &[("PATH", "x"), ("EUREKA_PORT", "tcp://10.0.0.1:8761")]).is_empty());
    }

    #[test]
    fn netflix_names_are_translated() {
        let rows = shown(
            SourceKind::Plain,
            &[
                ("eureka.shouldUseReadOnlyResponseCache", "false"),
                ("eureka.serviceUrlPollIntervalMs", "60500"),
                ("eureka.remoteRegionUrlsWithName", "eu;http://a/x;y, us;http://b/"),
                ("eureka.serviceUrl.default", "http://p/"),
            ],
        );
        let regions = "eureka.server.remote-region-urls-with-name";
        let expected = [
            ("eureka.server.use-read-only-response-cache", Place::Whole, "false".to_owned()),
            ("eureka.client.eureka-service-url-poll-interval-seconds", Place::Whole, "61".to_owned()),
            (regions, Place::Entry("eu".into()), "http://a/x;y".to_owned()),
            (regions, Place::Entry("us".into()), "http://b/".to_owned()),
            ("eureka.client.service-url", Place::Entry("defaultZone".into()), "http://p/".to_owned()),
        ];
        assert_eq!(rows, expected);
    }

    #[test]
    fn what_fits_nothing_is_kept_apart() {
        let result = normalised(
            SourceKind::Plain,
            &[
                ("eureka.server.foo", "1"),
                ("server.tomcat.x", "1"),
                ("eureka.client.service-url", "http://a/"),
            ],
        );
        assert_eq!(result.unknown[0].name, "eureka.server.foo");
        assert_eq!(result.inert[0].0.name, "server.tomcat.x");
        assert_eq!(result.problems[0].key, "eureka.client.service-url");
        assert!(result.values.is_empty());
    }

    #[test]
    fn repeated_arguments_are_a_list() {
        let key = "server.compression.mime-types";
        let rows = shown(SourceKind::Arguments, &[(key, "a"), (key, "b")]);
        assert!(rows.iter().all(|(_, _, text)| text == "a,b"), "{rows:?}");
    }
}
