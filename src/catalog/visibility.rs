//! From rights to bits: which ordinals of each layer one caller sees.
//!
//! A group of skills with the same subscriptions is a range of documents, so that the usual rule sets ranges; only
//! ids that somebody spoke of by name are decided one by one. The losers among copies of one id are cleared last.

use crate::catalog::open::OpenLayer;
use crate::catalog::record::status;
use crate::catalog::segment::damaged;
use crate::catalog::state::{State, ordinal_of};
use crate::entitlement::{Narrowing, Rights};
use crate::error::Result;
use crate::index::bits::Bits;
use crate::model::Layer;

/// What a caller sees of a layer.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Skills that `get` answers.
    pub(crate) visible: Bits,
    /// Those of them that can be used: in lists, searches and matches.
    pub(crate) listed: Bits,
}

/// The bits of every layer of a state for one caller.
///
/// Cost: a few range fills a group, one look-up for each id that a statement names, one test for each id that stands
/// in several layers.
///
/// # Errors
/// A section contradicts itself.
pub(crate) fn seen(state: &State, narrowing: &Narrowing, learned_shows: bool) -> Result<Vec<Seen>> {
    let rights = Rights::new(&state.statements, narrowing);
    let mut all = Vec::with_capacity(state.layers.len());
    for layer in &state.layers {
        let shows = rights.sees_layer(layer.layer)
            && match layer.layer {
                Layer::Synced => !state.suspended,
                Layer::Learned => learned_shows,
                Layer::Local | Layer::Bundled => true,
            };
        let visible = match (shows, layer.layer) {
            (false, _) => Bits::new(layer.ordinals()),
            (true, Layer::Synced) => synced(layer, &rights)?,
            (true, _) => masked(state, layer, &rights)?,
        };
        all.push(visible);
    }
    mask_derived(state, &mut all, &rights)?;
    clear_losers(state, &mut all);
    Ok(all
        .into_iter()
        .zip(&state.layers)
        .map(|(visible, layer)| {
            let mut listed = visible.clone();
            listed.and(&layer.available);
            Seen { visible, listed }
        })
        .collect())
}

fn synced(layer: &OpenLayer, rights: &Rights<'_>) -> Result<Bits> {
    let mut bits = Bits::new(layer.ordinals());
    for (segment, span) in layer.segments() {
        segment
            .groups()?
            .visible(&mut bits, span.base, |subscriptions| rights.grants_all(subscriptions.iter().copied()))
            .map_err(|damage| damaged(segment.name(), damage))?;
    }
    bits.and(&layer.live);
    for id in rights.special_ids() {
        if let Some(ordinal) = ordinal_of(layer, id)? {
            if rights.grants(layer.subscriptions(ordinal)?.into_iter(), id) {
                bits.set(ordinal);
            } else {
                bits.clear(ordinal);
            }
        }
    }
    Ok(bits)
}

fn masked(state: &State, layer: &OpenLayer, rights: &Rights<'_>) -> Result<Bits> {
    let mut bits = layer.live.clone();
    for id in rights.special_ids() {
        if let Some(ordinal) = ordinal_of(layer, id)?
            && is_masked(state, rights, id)?
        {
            bits.clear(ordinal);
        }
    }
    Ok(bits)
}

/// Whether an id is masked in every layer.
fn is_masked(state: &State, rights: &Rights<'_>, id: &str) -> Result<bool> {
    let subscriptions = match state.layer(Layer::Synced) {
        Some(synced) => match ordinal_of(synced, id)? {
            Some(ordinal) => synced.subscriptions(ordinal)?,
            None => Vec::new(),
        },
        None => Vec::new(),
    };
    Ok(rights.masks(subscriptions.into_iter(), id))
}

/// Hides skills that were made from a masked one, or from a synced one that the caller does not see.
fn mask_derived(state: &State, all: &mut [Bits], rights: &Rights<'_>) -> Result<()> {
    let sees = |all: &[Bits], id: &str| -> Result<bool> {
        let mut exists = false;
        for (layer, bits) in state.layers.iter().zip(all) {
            if let Some(ordinal) = ordinal_of(layer, id)? {
                exists |= matches!(layer.layer, Layer::Synced | Layer::Learned);
                if bits.test(ordinal) {
                    return Ok(true);
                }
            }
        }
        Ok(!exists && !is_masked(state, rights, id)?)
    };
    for (index, layer) in state.layers.iter().enumerate().filter(|(_, open)| open.layer == Layer::Learned) {
        // Repeated until nothing changes: a skill may be made from one that is masked only now.
        loop {
            let mut gone = Vec::new();
            for ordinal in all[index].iter() {
                if layer.status(ordinal)? & status::DERIVED == 0 {
                    continue;
                }
                for id in layer.record(ordinal)?.derived_from.iter() {
                    if !sees(all, id)? {
                        gone.push(ordinal);
                        break;
                    }
                }
            }
            if gone.is_empty() {
                break;
            }
            for ordinal in gone {
                all[index].clear(ordinal);
            }
        }
    }
    Ok(())
}

/// Among the visible copies of an id the first layer wins; a copy that cannot be used never hides one that can.
fn clear_losers(state: &State, all: &mut [Bits]) {
    for places in state.shared_ids.iter() {
        let visible: Vec<(usize, u32)> =
            places.iter().copied().filter(|(layer, ordinal)| all[*layer].test(*ordinal)).collect();
        let usable =
            visible.iter().position(|(layer, ordinal)| state.layers[*layer].available.test(*ordinal));
        let winner = usable.unwrap_or(0);
        for (index, (layer, ordinal)) in visible.iter().enumerate() {
            if index != winner {
                all[*layer].clear(*ordinal);
            }
        }
    }
}
