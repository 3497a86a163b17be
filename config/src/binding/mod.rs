//! From names as written to keys that are known, source by source, and the merging of sources.
//!
//! Each source becomes a layer of canonical keys (`normalise`); zones and other map keys that are only spelled differently are
//! made equal (`map_keys`); the `config` crate puts the layers on top of each other: a later text or list replaces an earlier
//! one, maps are merged. What the values mean is not decided here.

mod layer;
mod map_keys;
mod misshapen;
mod normalise;
mod raw;

pub(crate) use misshapen::{Misshapen, problems as problems_of_form};
pub(crate) use raw::{Raw, RawItem};

use crate::error::Problem;
use crate::property::Property;
use crate::sources::Stack;

/// The merged values and what did not fit.
pub(crate) struct Bound {
    pub raw: Raw,
    /// Names that no key, family or Netflix name fits.
    pub unknown: Vec<Property>,
    /// Values that cannot be right whatever they mean, such as a text where a map belongs.
    pub problems: Vec<Problem>,
    /// Properties of known keys that have no meaning here, with the reason.
    pub inert: Vec<(Property, &'static str)>,
    /// Values whose form does not fit their key.
    pub misshapen: Vec<Misshapen>,
    /// Zones that were spelled in an unusual way: the name as written, where, and the zone that was meant.
    pub misspelt_zones: Vec<(Property, String)>,
    /// Map keys that lost signs, and what is left of them.
    pub shortened: Vec<(Property, String)>,
}

/// Binds all sources, lowest precedence first.
pub(crate) fn bind(stack: &Stack) -> Bound {
    let mut normalised: Vec<normalise::Normalised> = stack.sources.iter().map(normalise::normalise).collect();
    let misspelt_zones = map_keys::unify(&mut normalised);
    let mut bound = Bound {
        raw: Raw::default(),
        unknown: Vec::new(),
        problems: Vec::new(),
        inert: Vec::new(),
        misshapen: Vec::new(),
        misspelt_zones,
        shortened: Vec::new(),
    };
    let mut layers = Vec::new();
    for source in normalised {
        bound.unknown.extend(source.unknown);
        bound.problems.extend(source.problems);
        bound.inert.extend(source.inert);
        bound.misshapen.extend(source.misshapen);
        bound.shortened.extend(source.shortened);
        layers.push(layer::Layer::new(source.values));
    }
    bound.raw = Raw::merge(layers);
    bound
}
