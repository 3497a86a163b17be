//! The merged values, still as written: the first stage of the configuration.

use super::layer::Layer;
use crate::catalogue;
use crate::sources::split_list;
use config::{Config, ValueKind};

/// A text with its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawItem {
    pub text: String,
    pub origin: String,
}

/// All values by canonical key.
#[derive(Debug)]
pub(crate) struct Raw {
    root: config::Value,
}

impl Default for Raw {
    fn default() -> Self {
        Self { root: config::Value::new(None, ValueKind::Nil) }
    }
}

impl Raw {
    /// Puts layers on top of each other, lowest precedence first.
    pub(super) fn merge(layers: Vec<Layer>) -> Self {
        let builder = layers.into_iter().fold(Config::builder(), |builder, layer| builder.add_source(layer));
        // collecting a layer cannot fail, so neither can this
        builder.build().map(|config| Self { root: config.cache }).unwrap_or_default()
    }

    /// What stands under the documented name of a key.
    fn at(&self, name: &str) -> Option<&config::Value> {
        let path = catalogue::path(name);
        if path.is_empty() {
            return None;
        }
        let mut place = &self.root;
        for element in path {
            let ValueKind::Table(table) = &place.kind else { return None };
            place = table.get(element)?;
        }
        Some(place)
    }

    /// The text of a key.
    pub(crate) fn text(&self, name: &str) -> Option<RawItem> {
        self.at(name).and_then(item)
    }

    /// The items of a list; `None` if nothing was written, an empty list if an empty text was.
    pub(crate) fn list(&self, name: &str) -> Option<Vec<RawItem>> {
        self.at(name).and_then(items)
    }

    /// The entries of a map in order of their keys, each with its items.
    pub(crate) fn map(&self, name: &str) -> Vec<(String, Vec<RawItem>)> {
        let Some(ValueKind::Table(table)) = self.at(name).map(|value| &value.kind) else { return Vec::new() };
        let mut entries: Vec<(String, Vec<RawItem>)> =
            table.iter().filter_map(|(key, value)| Some((key.clone(), items(value)?))).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries
    }

    /// The entries of a map in order of their keys, each as one text.
    pub(crate) fn texts(&self, name: &str) -> Vec<(String, RawItem)> {
        let Some(ValueKind::Table(table)) = self.at(name).map(|value| &value.kind) else { return Vec::new() };
        let mut entries: Vec<(String, RawItem)> =
            table.iter().filter_map(|(key, value)| Some((key.clone(), item(value)?))).collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        entries
    }
}

fn item(value: &config::Value) -> Option<RawItem> {
    match &value.kind {
        ValueKind::String(text) => {
            Some(RawItem { text: text.clone(), origin: value.origin().unwrap_or_default().to_owned() })
        }
        _ => None,
    }
}

fn items(value: &config::Value) -> Option<Vec<RawItem>> {
    match &value.kind {
        ValueKind::Array(array) => Some(array.iter().filter_map(item).collect()),
        _ => {
            let whole = item(value)?;
            let piece = |text: &str| RawItem { text: text.to_owned(), origin: whole.origin.clone() };
            Some(split_list(&whole.text).map(piece).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::binding::bind;
    use crate::property::{Origin, Property, PropertySource, SourceKind};
    use crate::sources::Stack;

    fn source(kind: SourceKind, pairs: &[(&str, &str)]) -> PropertySource {
        let property = |(name, value): &(&str, &str)| Property {
            name: (*name).into(),
            value: (*value).into(),
            origin: Origin::Given,
        };
        PropertySource::new(kind, pairs.iter().map(property).collect())
    }

    fn texts(items: Vec<super::RawItem>) -> Vec<String> {
        items.into_iter().map(|item| item.text).collect()
    }

    #[test]
    fn texts_and_lists_are_replaced_and_maps_merged() {
        let low = source(
            SourceKind::Plain,
            &[
                ("server.port", "1"),
                ("server.compression.mime-types[0]", "a"),
                ("server.compression.mime-types[1]", "b"),
                ("eureka.instance.metadata-map.x", "1"),
                ("eureka.instance.metadataMap.My.Key", "2"),
            ],
        );
        let high = source(
            SourceKind::Plain,
            &[
                ("server.PORT", "2"),
                ("server.compression.mime-types", "z"),
                ("eureka.instance.metadata_map.x", "9"),
                ("eureka.instance.metadata-map.new", "3"),
            ],
        );
        let raw = bind(&Stack::new(vec![low, high])).raw;
        assert_eq!(raw.text("server.port").unwrap().text, "2");
        assert_eq!(texts(raw.list("server.compression.mime-types").unwrap()), ["z"]);
        let map = raw.texts("eureka.instance.metadata-map");
        let map: Vec<_> = map.iter().map(|(key, item)| (key.as_str(), item.text.as_str())).collect();
        assert_eq!(map, [("My.Key", "2"), ("new", "3"), ("x", "9")]);
        assert_eq!(raw.text("server.address"), None);
    }

    #[test]
    fn spring_s_name_wins_over_netflix_in_one_source_only() {
        let both =
            source(SourceKind::Plain, &[("eureka.server.disable-delta", "a"), ("eureka.disableDelta", "b")]);
        let later = source(SourceKind::Plain, &[("eureka.disableDelta", "c")]);
        assert_eq!(
            bind(&Stack::new(vec![both.clone()])).raw.text("eureka.server.disable-delta").unwrap().text,
            "a"
        );
        assert_eq!(
            bind(&Stack::new(vec![both, later])).raw.text("eureka.server.disable-delta").unwrap().text,
            "c"
        );
    }

    #[test]
    fn the_zones_of_the_trap_table_become_one() {
        let key = "eureka.client.service-url";
        let file = |name: &str| source(SourceKind::Plain, &[(name, "file")]);
        let variable = |name: &str| source(SourceKind::Environment, &[(name, "env")]);
        let names = [
            "EUREKA_CLIENT_SERVICEURL_DEFAULTZONE",
            "EUREKA_CLIENT_SERVICE_URL_DEFAULTZONE",
            "EUREKA_CLIENT_SERVICE-URL_DEFAULTZONE",
            "eureka.client.serviceUrl.defaultZone",
        ];
        for name in names {
            for file_name in
                ["eureka.client.service-url.defaultZone", "eureka.client.serviceUrl.default-zone"]
            {
                let raw = bind(&Stack::new(vec![file(file_name), variable(name)])).raw;
                let zones = raw.texts(key);
                assert_eq!(zones.len(), 1, "{file_name} {name}");
                assert_eq!((zones[0].0.as_str(), zones[0].1.text.as_str()), ("defaultZone", "env"), "{name}");
            }
            assert_eq!(bind(&Stack::new(vec![variable(name)])).raw.texts(key)[0].0, "defaultZone", "{name}");
        }
        let misspelt = bind(&Stack::new(vec![file("eureka.client.service-url.default-zone")])).misspelt_zones;
        assert_eq!(misspelt[0].1, "defaultZone");
    }

    #[test]
    fn zones_are_compared_exactly_first() {
        let zones = source(
            SourceKind::Plain,
            &[
                ("eureka.client.availability-zones.eu", "zone-a,zonea"),
                ("eureka.client.service-url.zone-a", "1"),
                ("eureka.client.service-url.zonea", "2"),
            ],
        );
        let variable = source(SourceKind::Environment, &[("EUREKA_CLIENT_SERVICEURL_ZONE_B", "3")]);
        let raw = bind(&Stack::new(vec![zones, variable])).raw;
        let names: Vec<_> =
            raw.texts("eureka.client.service-url").into_iter().map(|(zone, _)| zone).collect();
        assert_eq!(names, ["zone-a", "zone.b", "zonea"]);
    }

    #[test]
    fn metadata_variables_meet_the_spelling_of_the_file() {
        let file = source(SourceKind::Plain, &[("eureka.instance.metadata-map.myKey", "file")]);
        let variables = source(
            SourceKind::Environment,
            &[("EUREKA_INSTANCE_METADATAMAP_MYKEY", "env"), ("EUREKA_INSTANCE_METADATA_MAP_ZONE", "z")],
        );
        let map = bind(&Stack::new(vec![file, variables])).raw.texts("eureka.instance.metadata-map");
        let map: Vec<_> = map.iter().map(|(key, item)| (key.as_str(), item.text.as_str())).collect();
        assert_eq!(map, [("myKey", "env"), ("zone", "z")]);
    }
}
