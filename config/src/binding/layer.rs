//! A source as the `config` crate wants it: one tree of tables, lists and texts, each with its origin.

use super::normalise::Value;
use crate::catalogue::Place;
use crate::key;
use crate::sources::split_list;
use config::{ConfigError, Map, Source, ValueKind};
use std::collections::BTreeMap;

/// One source, keyed by canonical names.
#[derive(Clone, Debug)]
pub(super) struct Layer {
    tree: Map<String, config::Value>,
}

/// Values of one list by index.
type Items = BTreeMap<usize, config::Value>;

impl Layer {
    /// Sorts the values of a source into a tree. Spring's names come last so that they win over Netflix' names.
    pub(super) fn new(mut values: Vec<Value>) -> Self {
        values.sort_by_key(|value| !value.by_alias);
        let mut root = config::Value::new(None, ValueKind::Table(Map::new()));
        let mut lists: BTreeMap<Vec<String>, Items> = BTreeMap::new();
        for value in values {
            let mut path: Vec<String> =
                key::elements(value.spec.name).into_iter().map(|e| e.canonical).collect();
            let origin = origin_text(&value);
            let text = config::Value::new(Some(&origin), ValueKind::String(value.text));
            match value.place {
                Place::Whole => set(&mut root, &path, text),
                Place::Item(index) => {
                    lists.entry(path).or_default().insert(index, text);
                }
                Place::Entry(entry) => {
                    path.push(entry);
                    set(&mut root, &path, text);
                }
                Place::EntryItem(entry, index) => {
                    path.push(entry);
                    lists.entry(path).or_default().insert(index, text);
                }
            }
        }
        for (path, items) in lists {
            // a list that is also given as a whole counts as that whole, as in Boot
            if !exists(&root, &path) {
                let items: Vec<config::Value> = items.into_values().flat_map(split_item).collect();
                set(&mut root, &path, config::Value::new(None, ValueKind::Array(items)));
            }
        }
        let tree = match root.kind {
            ValueKind::Table(tree) => tree,
            _ => Map::new(),
        };
        Self { tree }
    }
}

/// Where a value stands; under which name if that is not the key's own.
fn origin_text(value: &Value) -> String {
    let origin = value.property.origin.to_string();
    if value.by_alias { format!("{origin} as {}", value.property.name) } else { origin }
}

/// An item may itself hold commas, as in `defaultZone: [ "a,b", c ]`.
fn split_item(item: config::Value) -> Vec<config::Value> {
    let origin = item.origin().map(str::to_owned);
    match item.kind {
        ValueKind::String(text) => {
            let piece =
                |piece: &str| config::Value::new(origin.as_ref(), ValueKind::String(piece.to_owned()));
            split_list(&text).map(piece).collect()
        }
        kind => vec![config::Value::new(origin.as_ref(), kind)],
    }
}

fn set(root: &mut config::Value, path: &[String], value: config::Value) {
    let mut place = root;
    for element in path {
        if !matches!(place.kind, ValueKind::Table(_)) {
            place.kind = ValueKind::Table(Map::new());
        }
        let ValueKind::Table(table) = &mut place.kind else { return };
        place = table.entry(element.clone()).or_insert_with(|| config::Value::new(None, ValueKind::Nil));
    }
    *place = value;
}

fn exists(root: &config::Value, path: &[String]) -> bool {
    let mut place = root;
    for element in path {
        let ValueKind::Table(table) = &place.kind else { return false };
        let Some(next) = table.get(element) else { return false };
        place = next;
    }
    true
}

impl Source for Layer {
    fn clone_into_box(&self) -> Box<dyn Source + Send + Sync> {
        Box::new(self.clone())
    }

    fn collect(&self) -> Result<Map<String, config::Value>, ConfigError> {
        Ok(self.tree.clone())
    }
}
