//! The documents of SPP/1 as the platform writes them: pages of a catalog, entitlements.
//!
//! They are made of plain JSON values, not of the types that the client reads, so that a mistake in those does not
//! agree with itself here.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use crate::catalog::hex;
use crate::import::hex_sha256;
use crate::limits::{PLATFORM_BLOB_BYTES_MIN, PLATFORM_PAGE_BYTES_MAX, PLATFORM_PAGE_ITEMS_MAX};
use crate::platform::fault::{FaultKind, Switches};
use crate::platform::store::{History, Item, Store, Subscription};

/// What a client asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Question {
    pub(crate) since: Option<String>,
    pub(crate) limit: Option<usize>,
    pub(crate) page: Option<String>,
}

/// Why there is no page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The page is none of ours.
    UnknownPage,
    /// The catalog changed since the page was handed out.
    PageExpired,
    /// The cursor is none of this history, or from before what is still known.
    SinceTooOld,
}

/// A place between two pages: `{random}.{seq}.{since}.{offset}`; `since` is empty for a full catalog.
#[derive(Debug)]
struct Place {
    random: String,
    seq: u64,
    since: Option<u64>,
    offset: usize,
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let place = Self {
            random: parts.next()?.to_owned(),
            seq: parts.next()?.parse().ok()?,
            since: match parts.next()? {
                "" => None,
                since => Some(since.parse().ok()?),
            },
            offset: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(place)
    }

    fn text(&self) -> String {
        let since = self.since.map(|since| since.to_string()).unwrap_or_default();
        format!("{}.{}.{since}.{}", self.random, self.seq, self.offset)
    }
}

/// The cursor of a state, which is also its `ETag`.
pub(crate) fn cursor(history: &History, seq: u64) -> String {
    format!("{}.{seq}", history.random)
}

/// The counter of a cursor of this history.
fn seq_of(cursor: &str, history: &History) -> Option<u64> {
    cursor.strip_prefix(history.random.as_str())?.strip_prefix('.')?.parse().ok()
}

/// The place of the first page of what a page is a part of.
pub(crate) fn first_place(page: &Map<String, Value>) -> String {
    let text = |key: &str| page.get(key).and_then(Value::as_str).unwrap_or_default();
    let (random, seq) = text("cursor").split_once('.').unwrap_or_default();
    let since = text("base").split_once('.').unwrap_or_default().1;
    format!("{random}.{seq}.{since}.0")
}

/// One page of a catalog, not signed yet.
pub(crate) fn catalog(
    store: &Store,
    name: &str,
    subscription: &Subscription,
    question: &Question,
    switches: &Switches,
) -> Result<Map<String, Value>, Refusal> {
    let history = &store.history;
    let full_only = [FaultKind::FullOnly, FaultKind::EmptyFull, FaultKind::HalvedFull]
        .into_iter()
        .any(|kind| switches.on(kind));
    let since = question.since.as_deref().filter(|since| !since.is_empty() && !full_only);
    let since = match since.map(|since| seq_of(since, history)) {
        Some(Some(seq)) if seq <= subscription.seq && seq >= subscription.floor => Some(seq),
        Some(_) => return Err(Refusal::SinceTooOld),
        None => None,
    };
    let offset = match question.page.as_deref().map(Place::parse) {
        None => 0,
        Some(None) => return Err(Refusal::UnknownPage),
        Some(Some(place)) if place.random != history.random || place.seq != subscription.seq => {
            return Err(Refusal::PageExpired);
        }
        Some(Some(place)) if place.since != since => return Err(Refusal::UnknownPage),
        Some(Some(place)) => place.offset,
    };
    let items = chosen(subscription, since, switches);
    let removed: Vec<(&String, u64)> = subscription
        .removed
        .iter()
        .filter(|(_, seq)| since.is_some_and(|since| **seq > since))
        .map(|(id, seq)| (id, *seq))
        .collect();
    let limit = question.limit.unwrap_or(PLATFORM_PAGE_ITEMS_MAX).clamp(1, PLATFORM_PAGE_ITEMS_MAX);
    let page = cut(&items, offset, limit, switches);
    let left = limit - page.len();
    let from = offset.saturating_sub(items.len());
    let tombstones = removed.iter().skip(from).take(if offset + page.len() < items.len() { 0 } else { left });
    let tombstones: Vec<Value> = tombstones.map(|(id, seq)| json!({"id": id, "seq": seq})).collect();
    let end = offset + page.len() + tombstones.len();
    let more = end < items.len() + removed.len();
    let place = Place { random: history.random.clone(), seq: subscription.seq, since, offset: end };
    let whole = chosen(subscription, None, switches);
    let document = json!({
        "spp": 1,
        "subscription": name,
        "history": history.text(),
        "kind": if since.is_some() { "delta" } else { "full" },
        "base": since.map(|seq| cursor(history, seq)),
        "cursor": cursor(history, subscription.seq),
        "seq": subscription.seq,
        "ent_seq": subscription.ent_seq,
        "items": page,
        "removed": tombstones,
        "next_page": more.then(|| place.text()),
        "generated_at": timestamp(),
        "count_total": whole.len(),
        "content_root": format!("sha256:{}", root(&whole)),
    });
    Ok(document.as_object().cloned().unwrap_or_default())
}

/// The skills that count since then, by id.
fn chosen<'s>(
    subscription: &'s Subscription,
    since: Option<u64>,
    switches: &Switches,
) -> Vec<(&'s String, &'s Item)> {
    let (empty, halved) = (switches.on(FaultKind::EmptyFull), switches.on(FaultKind::HalvedFull));
    subscription
        .items
        .iter()
        .filter(|(_, item)| since.is_none_or(|since| item.seq > since))
        .enumerate()
        .filter(|(index, _)| !empty && (!halved || index % 2 == 0))
        .map(|(_, item)| item)
        .collect()
}

/// The items of a page: as many as asked for, and no more bytes than a page may have.
fn cut(items: &[(&String, &Item)], offset: usize, limit: usize, switches: &Switches) -> Vec<Value> {
    let mut bytes = 0;
    let all_blobs = switches.on(FaultKind::Blobs);
    let mut page = Vec::new();
    for (id, item) in items.iter().skip(offset).take(limit) {
        let digest = format!("sha256:{}", item.digest);
        let blob = all_blobs || item.bytes >= PLATFORM_BLOB_BYTES_MIN;
        bytes += if blob { 0 } else { item.bytes };
        if bytes > PLATFORM_PAGE_BYTES_MAX && !page.is_empty() {
            break;
        }
        page.push(if blob {
            json!({"id": id, "seq": item.seq, "digest": digest, "size": item.bytes, "blob": true})
        } else {
            json!({"seq": item.seq, "digest": digest, "skill": item.skill})
        });
    }
    page
}

/// The content root of items in the order of their ids.
fn root(items: &[(&String, &Item)]) -> String {
    let mut hash = Sha256::new();
    for (id, item) in items {
        let length = u32::try_from(id.len()).unwrap_or(u32::MAX);
        hash.update(length.to_be_bytes());
        hash.update(id.as_bytes());
        hash.update(item.seq.to_be_bytes());
        hash.update(bytes_of(&item.digest));
    }
    let digest: [u8; 32] = hash.finalize().into();
    hex(&digest)
}

/// The bytes of a digest that was made here.
fn bytes_of(digest: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    for (index, byte) in bytes.iter_mut().enumerate() {
        *byte = digest
            .get(2 * index..2 * index + 2)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok())
            .unwrap_or(0);
    }
    bytes
}

/// The moment as RFC 3339 in UTC, to the second.
fn timestamp() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    rfc3339(now.as_secs())
}

/// Civil date of a Unix time, by the days-from-civil arithmetic of the proleptic Gregorian calendar.
pub(crate) fn rfc3339(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The bytes of a skill as a blob: its RFC 8785 form, if that is the digest.
pub(crate) fn blob(store: &Store, digest: &str) -> Option<Vec<u8>> {
    let items = store.subscriptions.values().flat_map(|subscription| subscription.items.values());
    let item = items.into_iter().find(|item| item.digest == digest)?;
    let bytes = serde_json_canonicalizer::to_vec(&item.skill).ok()?;
    (hex_sha256(&bytes) == digest).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_civil() {
        for (seconds, expect) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_796_169_599, "2026-12-01T23:59:59Z"),
            (4_102_444_800, "2100-01-01T00:00:00Z"),
        ] {
            assert_eq!(rfc3339(seconds), expect);
        }
    }

    #[test]
    fn a_place_is_read_back_and_nothing_else_is_one() {
        for text in ["r.7..0", "r.7.3.12"] {
            assert_eq!(Place::parse(text).unwrap().text(), text);
        }
        for text in ["", "r", "r.7.x.0", "r.7.3", "r.7.3.1.1", "r.-1..0"] {
            assert!(Place::parse(text).is_none(), "{text}");
        }
    }
}
