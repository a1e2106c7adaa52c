//! The revocation ring: 64 KiB that are written at creation, so that the kill switch works on a full disk.
//!
//! A statement is one or more consecutive records of one sequence number. Numbers follow each other without a gap.
//! A record lies inside one disk sector, so a torn append leaves whole old or whole new records: a statement of which
//! records are missing, while no record is broken, was never acknowledged and is ignored. Broken records and numbers
//! without a trace are damage, and said to be so: a revocation may be lost in them.

use smallvec::SmallVec;

use super::sections::{get_u32, get_u64, put};
use crate::limits::STATEMENT_BYTES_MAX;

/// Bytes of the file.
pub(crate) const RING_BYTES: usize = 64 * 1024;
/// Bytes of a record.
pub(crate) const RECORD_BYTES: usize = 64;
/// Records in the file.
pub(crate) const SLOTS: usize = RING_BYTES / RECORD_BYTES;
/// Payload bytes of a record.
pub(crate) const PAYLOAD_BYTES: usize = 48;
/// u32 crc32c of the rest of the record.
pub(crate) const AT_CRC: usize = 0;
/// u8 kind of the statement.
pub(crate) const AT_KIND: usize = 4;
/// u8 number of this part.
#[cfg(test)]
pub(crate) const AT_PART: usize = 5;
/// u8 number of parts.
#[cfg(test)]
pub(crate) const AT_PARTS: usize = 6;
/// u8 payload bytes in this part.
#[cfg(test)]
pub(crate) const AT_LEN: usize = 7;
/// u64 sequence number, from 1.
pub(crate) const AT_SEQ: usize = 8;
/// The payload, padded with zeros.
pub(crate) const AT_PAYLOAD: usize = 16;
/// Most parts of a statement.
pub(crate) const PARTS_MAX: usize = STATEMENT_BYTES_MAX.div_ceil(PAYLOAD_BYTES);

const _: () = assert!(AT_PAYLOAD + PAYLOAD_BYTES == RECORD_BYTES && PARTS_MAX <= 16);

/// One durable statement. Kind and payload belong to the layer that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RingStatement {
    /// Its number; later statements have higher ones.
    pub(crate) seq: u64,
    /// What it says.
    pub(crate) kind: u8,
    /// About what; most fit one record.
    pub(crate) payload: SmallVec<[u8; PAYLOAD_BYTES]>,
}

/// The ring as it was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Ring {
    /// Complete statements that are not folded, by number.
    pub(crate) statements: Vec<RingStatement>,
    /// What is wrong, if a statement may be lost.
    pub(crate) damage: Option<String>,
    /// Whether an append was torn; its records must be durable before a higher number is.
    pub(crate) torn: bool,
    /// The slot behind the last record.
    head: usize,
    /// The highest number seen.
    seq_max: u64,
    /// Number in each slot; 0 = empty, [`BROKEN`] = broken.
    slots: Vec<u64>,
}

/// Marks a slot whose record does not match its checksum.
const BROKEN: u64 = u64::MAX;

/// A record that holds.
struct Record<'a> {
    kind: u8,
    part: u8,
    parts: u8,
    seq: u64,
    payload: &'a [u8],
}

impl Ring {
    /// Reads a ring; statements up to `folded_seq` are in the manifest already and left out.
    pub(crate) fn read(bytes: &[u8], folded_seq: u64) -> Self {
        let mut ring = Self { slots: vec![0; SLOTS], ..Self::default() };
        let mut records: Vec<(usize, Record<'_>)> = Vec::new();
        let mut broken = 0_usize;
        for (index, (bytes, slot)) in bytes.chunks_exact(RECORD_BYTES).zip(&mut ring.slots).enumerate() {
            if *bytes == [0; RECORD_BYTES] {
                continue;
            }
            let Some(record) = decode(bytes) else {
                *slot = BROKEN;
                broken += 1;
                continue;
            };
            *slot = record.seq;
            if record.seq >= ring.seq_max {
                ring.seq_max = record.seq;
            }
            if record.seq > folded_seq {
                records.push((index, record));
            }
        }
        let whole = bytes.len() / RECORD_BYTES;
        for slot in ring.slots.iter_mut().skip(whole) {
            *slot = BROKEN;
        }
        ring.head = ring.find_head();
        if bytes.len() != RING_BYTES {
            ring.damage = Some(format!("{} bytes, expected {RING_BYTES}", bytes.len()));
        } else if broken > 0 {
            let what = if broken == 1 { "1 record does" } else { &format!("{broken} records do") };
            ring.damage =
                Some(format!("{what} not match {} checksum", if broken == 1 { "its" } else { "their" }));
        }
        // In order already, unless the ring went around.
        records.sort_by_key(|(_, record)| (record.seq, record.part));
        ring.collect(&records, folded_seq);
        ring
    }

    /// Joins the parts of statements, sorted by number and part, and looks for gaps.
    fn collect(&mut self, records: &[(usize, Record<'_>)], folded_seq: u64) {
        let mut expected = folded_seq.saturating_add(1);
        for parts in records.chunk_by(|(_, a), (_, b)| a.seq == b.seq) {
            let Some((_, Record { seq, .. })) = parts.first() else { continue };
            match join(*seq, parts) {
                Some(statement) => self.statements.push(statement),
                // Either a torn append or, if records are broken, a damage that is noted already.
                None => self.torn = true,
            }
            if *seq != expected {
                self.damage.get_or_insert_with(|| format!("statement {expected} is missing"));
            }
            expected = seq.saturating_add(1);
        }
    }

    /// The slot behind the last part of the highest number.
    fn find_head(&self) -> usize {
        let is_last = |slot: &usize| self.seq_max != 0 && self.slots.get(*slot) == Some(&self.seq_max);
        let next = |slot: usize| (slot + 1) % SLOTS;
        (0..SLOTS).find(|slot| is_last(slot) && !is_last(&next(*slot))).map_or(0, next)
    }

    /// The number that the next statement gets.
    pub(crate) fn next_seq(&self, folded_seq: u64) -> u64 {
        self.seq_max.max(folded_seq).saturating_add(1)
    }

    /// Slots that a statement cannot take now: neither empty nor folded into both manifests.
    pub(crate) fn used(&self, folded_in_both: u64) -> usize {
        self.slots.iter().filter(|seq| !is_free(**seq, folded_in_both)).count()
    }

    /// Where `parts` records can go: the first run of free slots from the head on, around the end if need be.
    pub(crate) fn place(&self, parts: usize, folded_in_both: u64) -> Option<Vec<usize>> {
        let free = |slot: usize| self.slots.get(slot).is_some_and(|seq| is_free(*seq, folded_in_both));
        (0..SLOTS)
            .map(|skip| (0..parts).map(|part| (self.head + skip + part) % SLOTS).collect::<Vec<_>>())
            .find(|run| run.iter().all(|slot| free(*slot)))
    }

    /// Slots whose record is broken.
    pub(crate) fn broken(&self) -> impl Iterator<Item = usize> + '_ {
        self.slots.iter().enumerate().filter(|(_, seq)| **seq == BROKEN).map(|(slot, _)| slot)
    }
}

/// Whether a slot can be written: it is empty, or its statement is contained in both manifests. A broken one is the
/// only trace of what was lost, and stays until it is repaired.
fn is_free(seq: u64, folded_in_both: u64) -> bool {
    seq != BROKEN && seq <= folded_in_both
}

/// The records of a statement; `None` if the payload is beyond the limit.
pub(crate) fn encode(seq: u64, kind: u8, payload: &[u8]) -> Option<Vec<[u8; RECORD_BYTES]>> {
    if payload.len() > STATEMENT_BYTES_MAX {
        return None;
    }
    let parts = u8::try_from(payload.len().div_ceil(PAYLOAD_BYTES).max(1)).ok()?;
    let mut chunks = payload.chunks(PAYLOAD_BYTES);
    let records = (0..parts).map(|part| {
        let chunk = chunks.next().unwrap_or_default();
        let mut record = [0; RECORD_BYTES];
        let len = u8::try_from(chunk.len()).unwrap_or_default();
        put(&mut record, AT_KIND, &[kind, part, parts, len]);
        put(&mut record, AT_SEQ, &seq.to_le_bytes());
        put(&mut record, AT_PAYLOAD, chunk);
        let crc = crc32c::crc32c(record.get(AT_KIND..).unwrap_or_default());
        put(&mut record, AT_CRC, &crc.to_le_bytes());
        record
    });
    Some(records.collect())
}

/// A record, if checksum and fields hold.
fn decode(bytes: &[u8]) -> Option<Record<'_>> {
    let crc = crc32c::crc32c(bytes.get(AT_KIND..)?);
    let &[kind, part, parts, len] = bytes.get(AT_KIND..)?.first_chunk()?;
    let seq = get_u64(bytes, AT_SEQ)?;
    let payload = bytes.get(AT_PAYLOAD..)?.get(..usize::from(len))?;
    let holds = get_u32(bytes, AT_CRC)? == crc && part < parts && seq != 0 && seq != BROKEN;
    holds.then_some(Record { kind, part, parts, seq, payload })
}

/// The statement of complete, consecutive parts.
fn join(seq: u64, parts: &[(usize, Record<'_>)]) -> Option<RingStatement> {
    let (first_slot, first) = parts.first()?;
    let complete = parts.len() == usize::from(first.parts)
        && parts.iter().enumerate().all(|(index, (slot, record))| {
            usize::from(record.part) == index
                && record.parts == first.parts
                && record.kind == first.kind
                && *slot == (first_slot + index) % SLOTS
        });
    complete.then(|| {
        let mut payload = SmallVec::new();
        for (_, record) in parts {
            payload.extend_from_slice(record.payload);
        }
        RingStatement { seq, kind: first.kind, payload }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes statements one behind the other into a fresh ring.
    fn ring_of(payloads: &[&[u8]]) -> Vec<u8> {
        let mut bytes = vec![0; RING_BYTES];
        for payload in payloads {
            append(&mut bytes, payload, 0);
        }
        bytes
    }

    fn append(bytes: &mut [u8], payload: &[u8], folded: u64) -> Vec<usize> {
        let ring = Ring::read(bytes, folded);
        let records = encode(ring.next_seq(folded), 9, payload).unwrap();
        let slots = ring.place(records.len(), folded).unwrap();
        for (slot, record) in slots.iter().zip(records) {
            bytes[slot * RECORD_BYTES..][..RECORD_BYTES].copy_from_slice(&record);
        }
        slots
    }

    #[test]
    fn statements_of_every_length_come_back_in_order() {
        let long = vec![7; STATEMENT_BYTES_MAX];
        let payloads: Vec<&[u8]> = (0..=STATEMENT_BYTES_MAX).map(|len| &long[..len]).collect();
        assert!(encode(1, 1, &vec![0; STATEMENT_BYTES_MAX + 1]).is_none());
        for chunk in payloads.chunks(64) {
            let ring = Ring::read(&ring_of(chunk), 0);
            assert_eq!(ring.damage, None);
            let found: Vec<&[u8]> = ring.statements.iter().map(|statement| &statement.payload[..]).collect();
            assert_eq!(found, chunk);
            assert!(
                ring.statements
                    .iter()
                    .zip(1..)
                    .all(|(statement, seq)| statement.seq == seq && statement.kind == 9)
            );
        }
    }

    #[test]
    fn a_torn_append_is_ignored_and_its_successor_is_not() {
        let whole = ring_of(&[b"first", &[5; 200]]);
        for lost in 1_u32..32 {
            // Any of the five records of the second statement may be missing.
            let mut torn = whole.clone();
            for part in (0..5).filter(|part| lost & (1 << part) != 0) {
                torn[(1 + part) * RECORD_BYTES..][..RECORD_BYTES].fill(0);
            }
            let ring = Ring::read(&torn, 0);
            assert_eq!((ring.statements.len(), ring.damage.as_ref()), (1, None), "{lost:b}");
            append(&mut torn, b"next", 0);
            let ring = Ring::read(&torn, 0);
            assert_eq!((ring.statements.len(), ring.damage.as_ref()), (2, None), "{lost:b}");
            assert_eq!(ring.statements[1].payload[..], *b"next");
        }
    }

    #[test]
    fn a_statement_that_vanished_without_a_trace_is_damage() {
        let mut bytes = ring_of(&[b"first", b"second", b"third"]);
        bytes[RECORD_BYTES..][..RECORD_BYTES].fill(0);
        assert!(Ring::read(&bytes, 0).damage.is_some());
        assert!(Ring::read(&bytes, 1).damage.is_some());
        assert!(Ring::read(&bytes, 2).damage.is_none(), "it is contained in the manifest");
    }

    #[test]
    fn the_ring_goes_around_and_takes_only_what_is_folded() {
        let mut bytes = vec![0; RING_BYTES];
        let mut folded = 0;
        let mut around = 0;
        for number in 1..=2_000_u64 {
            let payload = vec![u8::try_from(number % 251).unwrap(); 100];
            let slots = append(&mut bytes, &payload, folded);
            around += usize::from(slots.windows(2).any(|pair| pair[1] != pair[0] + 1));
            let ring = Ring::read(&bytes, folded);
            assert_eq!((ring.statements.len() as u64, ring.damage), (number - folded, None));
            assert_eq!(ring.statements.last().unwrap().payload[..], payload);
            if number % 100 == 0 {
                folded = number - 50;
            }
        }
        assert!(around > 0, "a statement lay around the end");
    }

    #[test]
    fn a_broken_record_is_neither_overwritten_nor_forgotten() {
        let mut bytes = ring_of(&[b"first"]);
        bytes[RECORD_BYTES + 3] = 1;
        let slots = append(&mut bytes, b"second", 0);
        assert_eq!(slots, [2]);
        let ring = Ring::read(&bytes, 0);
        assert_eq!((ring.statements.len(), ring.broken().collect::<Vec<_>>()), (2, vec![1]));
        assert!(ring.damage.is_some());
    }
}
