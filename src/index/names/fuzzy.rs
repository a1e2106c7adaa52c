//! Keys within a small edit distance: a walk over the transducer that carries one band of the distance table.
//!
//! The band of a key prefix of `i` characters holds the distances to the request's prefixes of `i - 2` to `i + 2`
//! characters; nothing further away can end within distance 2. A prefix whose band has no value within the distance
//! is not followed. Distances count characters, not bytes: insertion, deletion, replacement.

use crate::index::names::fst::Fst;

/// Largest distance.
pub(crate) const DISTANCE_MAX: u8 = 2;
/// Longest request, in characters: no key that people type is longer.
const REQUEST_CHARS_MAX: usize = 256;
/// Width of the band.
const BAND: usize = 2 * DISTANCE_MAX as usize + 1;
/// Half of it: where the diagonal lies.
const MIDDLE: usize = DISTANCE_MAX as usize;
/// Stands for "too far".
const FAR: u8 = 100;

/// What the walk knows of a key prefix.
#[derive(Clone, Copy, Debug)]
struct State {
    band: [u8; BAND],
    /// Characters read.
    read: usize,
    /// Bits of a character whose bytes are not complete.
    partial: u32,
    /// Bytes that it still needs.
    missing: u8,
    /// The smallest value of the band.
    best: u8,
}

/// The request, as the walk needs it.
struct Request {
    chars: Vec<u32>,
    /// First byte of each character.
    first_bytes: Vec<u8>,
    distance: u8,
}

/// Value and distance of every key within `distance` (at most [`DISTANCE_MAX`]) of a text, in no useful order.
///
/// `None` if the transducer is damaged or holds more prefixes than `prefixes_max`: each is visited at most once, so
/// an honest one never does. Cost: visits prefixes that are within the distance of some prefix of the text.
pub(super) fn near(fst: &Fst<'_>, text: &str, distance: u8, prefixes_max: usize) -> Option<Vec<(u64, u8)>> {
    let chars: Vec<u32> = text.chars().take(REQUEST_CHARS_MAX + 1).map(u32::from).collect();
    if chars.len() > REQUEST_CHARS_MAX {
        return Some(Vec::new());
    }
    let first_bytes = text.char_indices().filter_map(|(at, _)| text.as_bytes().get(at).copied()).collect();
    let request = Request { chars, first_bytes, distance: distance.min(DISTANCE_MAX) };
    let mut found = Vec::new();
    let mut stack = vec![(fst.root(), 0_u64, request.start())];
    let mut visited = 0_usize;
    while let Some((at, sum, state)) = stack.pop() {
        visited += 1;
        if visited > prefixes_max {
            return None;
        }
        let node = fst.node(at)?;
        if let (Some(last), Some(distance)) = (node.last, request.distance_at_end(&state)) {
            found.push((sum.checked_add(last)?, distance));
        }
        let only = request.only(&state);
        for i in 0..node.count {
            let input = node.input(i)?;
            if only.is_some_and(|bytes| !bytes.contains(&input)) {
                continue;
            }
            if let Some(state) = request.step(&state, input) {
                let way = node.transition(i)?;
                stack.push((way.target, sum.checked_add(way.output)?, state));
            }
        }
    }
    Some(found)
}

impl Request {
    /// The state of the empty prefix.
    fn start(&self) -> State {
        let mut band = [FAR; BAND];
        for (extra, place) in (0_u8..).zip(band[MIDDLE..].iter_mut()) {
            if usize::from(extra) <= self.chars.len() {
                *place = extra;
            }
        }
        State { band, read: 0, partial: 0, missing: 0, best: 0 }
    }

    /// Once every edit is spent, the few bytes with which the key can go on; `None` before. A place without one
    /// holds a byte that begins no character.
    #[inline]
    fn only(&self, state: &State) -> Option<[u8; BAND]> {
        if state.best < self.distance || state.missing > 0 {
            return None;
        }
        let mut bytes = [0xff; BAND];
        for (k, (place, value)) in bytes.iter_mut().zip(state.band).enumerate() {
            if value == self.distance
                && let Some(next) = (state.read + k).checked_sub(MIDDLE)
                && let Some(byte) = self.first_bytes.get(next)
            {
                *place = *byte;
            }
        }
        Some(bytes)
    }

    /// The state after one more byte; `None` if no key from here on can be near.
    #[inline]
    fn step(&self, state: &State, byte: u8) -> Option<State> {
        if state.missing > 0 {
            if byte & 0xc0 != 0x80 {
                return None;
            }
            let partial = (state.partial << 6) | u32::from(byte & 0x3f);
            if state.missing > 1 {
                return Some(State { partial, missing: state.missing - 1, ..*state });
            }
            return self.step_char(state, partial);
        }
        let (partial, missing) = match byte {
            0..0x80 => return self.step_char(state, u32::from(byte)),
            0xc2..0xe0 => (byte & 0x1f, 1),
            0xe0..0xf0 => (byte & 0x0f, 2),
            0xf0..0xf5 => (byte & 0x07, 3),
            _ => return None,
        };
        Some(State { partial: u32::from(partial), missing, ..*state })
    }

    /// The state after one more character. Place `k` of a band is the distance to the request's first
    /// `read + k - 2` characters.
    #[inline]
    fn step_char(&self, state: &State, char: u32) -> Option<State> {
        let read = state.read + 1;
        let mut band = [FAR; BAND];
        let mut left = FAR;
        let mut best = FAR;
        for (k, place) in band.iter_mut().enumerate() {
            let Some(taken) = (read + k).checked_sub(MIDDLE) else { continue };
            if taken > self.chars.len() {
                break;
            }
            let same = taken > 0 && self.chars.get(taken - 1) == Some(&char);
            let replaced = state.band[k] + u8::from(!same);
            let added = state.band.get(k + 1).map_or(FAR, |above| above + 1);
            let value = replaced.min(added).min(left + 1).min(FAR);
            *place = value;
            left = value;
            best = best.min(value);
        }
        (best <= self.distance).then_some(State { band, read, partial: 0, missing: 0, best })
    }

    /// The distance of a key that ends here, if it is near.
    fn distance_at_end(&self, state: &State) -> Option<u8> {
        if state.missing > 0 {
            return None;
        }
        let place = (self.chars.len() + MIDDLE).checked_sub(state.read)?;
        state.band.get(place).copied().filter(|distance| *distance <= self.distance)
    }
}
