//! A layer from bytes that somebody made up, with every checksum right: opening it and asking it everything gives answers or
//! errors. For the fuzz target `opener` and the test below; not part of any other build.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use serde_json::{Map, json};

use crate::catalog::build::{build, build_delta};
use crate::catalog::files::{DIRECTORY_SCHEMA, DOCUMENT_BYTES, SEGMENT_SCHEMA};
use crate::catalog::open::OpenLayer;
use crate::catalog::state::{Kept, State};
use crate::catalog::{Filter, Look, SkillRef, visibility};
use crate::entitlement::{LocalStatement, Narrowing, Statement};
use crate::error::Result;
use crate::index::SectionKind;
use crate::model::{Entry, Layer, Skill};
use crate::snapshot::record::PAYLOAD_SHIFT;
use crate::snapshot::sections::{
    AT_GENERATION, AT_GENERATION_CRC, AT_GENERATION_END, AT_HEADER_CRC, AT_SECTION_COUNT, ENTRY_BYTES,
    HEADER_BYTES, KIND_BLOCKS, Section, get_u32, get_u64, head_bytes, put,
};
use crate::snapshot::{Bytes, Denial, Loaded, Manifest, SectionFile, lazy};
use crate::tools::ToolRegistry;

/// Bytes of one edit: file and manner, offset (big-endian), value.
const EDIT_BYTES: usize = 4;
/// Where the rows of the id index begin in its section, their length, and where the place of the record is in one.
const ID_ROWS: (usize, usize, usize) = (64, 64, 24);

/// Changes a good layer as `data` says, mends the checksums, opens what came out and asks it everything. Never panics.
pub fn open(data: &[u8]) {
    let mut files = good().to_vec();
    for edit in data.chunks_exact(EDIT_BYTES) {
        let &[manner, high, low, value] = edit else { continue };
        let count = files.len();
        let Some((_, bytes)) = files.get_mut(usize::from(manner & 0x0f) % count) else { continue };
        let at = usize::from(u16::from_be_bytes([high, low]));
        match (manner >> 4, bytes.get_mut(at)) {
            (0..=7, Some(byte)) => *byte = value,
            (8..=11, Some(byte)) => *byte ^= value,
            (12..=13, Some(_)) => put_word(bytes, at, u32::from(value).wrapping_neg()),
            (14, Some(_)) => bytes.truncate(at),
            _ => bytes.extend_from_slice(&[value; 16]),
        }
    }
    mend(&mut files);
    // An error is a good answer to bytes like these.
    let _ = ask_everything(files);
}

/// Name and bytes of a small layer: a directory over two segments.
fn good() -> &'static [(String, Vec<u8>)] {
    static GOOD: OnceLock<Vec<(String, Vec<u8>)>> = OnceLock::new();
    GOOD.get_or_init(|| build_good().unwrap_or_default())
}

fn build_good() -> Result<Vec<(String, Vec<u8>)>> {
    let registry = ToolRegistry::builtin();
    let skills: Vec<Entry> = (0..6).filter_map(skill).collect();
    let first = build(Layer::Synced, skills, &registry, 1)?;
    let mut files = Vec::new();
    let named =
        |built: &crate::snapshot::Built| (format!("synced-{}.seg", built.content_hash), built.bytes.clone());
    files.extend(first.directory.iter().chain(&first.segment).map(named));
    let open = parse(files.clone(), &registry)?;
    let removes = BTreeSet::from(["skill-1".to_owned()]);
    let next = build_delta(&open, skill(7).into_iter().collect(), &removes, &registry, 2)?;
    files.drain(..1);
    files.splice(0..0, next.directory.iter().map(named));
    files.extend(next.segment.iter().map(named));
    Ok(files)
}

fn skill(number: u8) -> Option<Entry> {
    let flow = number.is_multiple_of(3);
    let mut value = json!({"id": format!("skill-{number}"), "kind": if flow { "flow_template" } else { "knowledge" },
        "name": format!("Camera {number}"), "description": "Takes a picture of the harbour.",
        "aliases": [format!("photo {number}")], "tags": ["camera"], "examples": ["please take a picture"]});
    let members = value.as_object_mut()?;
    if flow {
        members.insert(
            "parameters".to_owned(),
            json!([{"name": "text", "type": "string", "description": "What to type."}]),
        );
        members.insert(
            "steps".to_owned(),
            json!([{"tool": "input_text", "args_template": {"text": "{{text}}"}}, {"tool": "press_home", "args_template": {}}]),
        );
    } else {
        members.insert("content".to_owned(), json!("# Camera\n\nLook again.\n"));
    }
    let mut entry = Entry::new(Skill::from_json(&value).ok()?.skill);
    entry.subscriptions = vec![if number.is_multiple_of(2) { "a" } else { "b" }.to_owned()];
    entry.source_text = Some(Arc::from(&b"source"[..]));
    Some(entry)
}

fn put_word(bytes: &mut [u8], at: usize, value: u32) {
    if at + 4 <= bytes.len() {
        put(bytes, at, &value.to_le_bytes());
    }
}

/// Makes every checksum fit what is there: those of records, blocks, sections and headers.
fn mend(files: &mut [(String, Vec<u8>)]) {
    let records: Vec<Vec<u8>> = files
        .iter()
        .skip(1)
        .map(|(_, bytes)| part(bytes, SectionKind::Records.code()).map(<[u8]>::to_vec).unwrap_or_default())
        .collect();
    for (index, (_, bytes)) in files.iter_mut().enumerate() {
        if index == 0 {
            mend_rows(bytes, SectionKind::Ids.code(), ID_ROWS, &records);
        } else {
            let own = records.get(index - 1).cloned().unwrap_or_default();
            mend_rows(bytes, SectionKind::Documents.code(), (0, DOCUMENT_BYTES, 0), &[own]);
        }
        mend_file(bytes);
    }
}

/// The checksums in rows that say where a record is.
fn mend_rows(bytes: &mut [u8], kind: u32, (first, stride, at): (usize, usize, usize), records: &[Vec<u8>]) {
    let Some(section) = table(bytes).into_iter().find(|section| section.kind == kind) else { return };
    let (Ok(start), Ok(length)) = (usize::try_from(section.offset), usize::try_from(section.length)) else {
        return;
    };
    let end = start.saturating_add(length).min(bytes.len());
    for row in (start.saturating_add(first)..end.saturating_sub(stride)).step_by(stride) {
        let (Some(place), Some(length)) = (get_u64(bytes, row + at), get_u32(bytes, row + at + 8)) else {
            return;
        };
        let payload = usize::try_from(place >> PAYLOAD_SHIFT).ok().and_then(|number| records.get(number));
        let offset = usize::try_from(place & ((1 << PAYLOAD_SHIFT) - 1)).ok();
        let record = payload.zip(offset).and_then(|(payload, offset)| {
            payload.get(offset..offset.checked_add(usize::try_from(length).ok()?)?)
        });
        if let Some(record) = record {
            put_word(bytes, row + at + 12, crc32c::crc32c(record));
        }
    }
}

fn mend_file(bytes: &mut [u8]) {
    let sections = table(bytes);
    let sums: Vec<u8> = sections
        .iter()
        .filter(|section| section.has_blocks())
        .flat_map(|section| lazy::checksums(slice(bytes, section).unwrap_or_default()))
        .collect();
    if let Some(blocks) = sections.iter().find(|section| section.kind == KIND_BLOCKS)
        && let Ok(at) = usize::try_from(blocks.offset)
        && at.checked_add(sums.len()).is_some_and(|end| end <= bytes.len())
    {
        put(bytes, at, &sums);
    }
    for (index, section) in sections.iter().enumerate() {
        if let Some(crc) = slice(bytes, section).map(crc32c::crc32c) {
            let entry = Section { crc32c: crc, ..*section }.encode();
            put(bytes, HEADER_BYTES + index * ENTRY_BYTES, &entry);
        }
    }
    let Some(count) = get_u32(bytes, AT_SECTION_COUNT) else { return };
    let head = head_bytes(usize::try_from(count).unwrap_or_default().min(crate::limits::SECTIONS_MAX));
    let (Some(generation), Some(before), Some(after)) =
        (get_u64(bytes, AT_GENERATION), bytes.get(..AT_HEADER_CRC), bytes.get(AT_GENERATION_END..head))
    else {
        return;
    };
    let crc = crc32c::crc32c_append(crc32c::crc32c(before), after);
    put_word(bytes, AT_HEADER_CRC, crc);
    put_word(bytes, AT_GENERATION_CRC, crc32c::crc32c(&generation.to_le_bytes()));
}

/// The entries of a table, as far as there are any.
fn table(bytes: &[u8]) -> Vec<Section> {
    let count = get_u32(bytes, AT_SECTION_COUNT).and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let each = (0..count.min(crate::limits::SECTIONS_MAX))
        .map_while(|index| Section::decode(bytes, HEADER_BYTES + index * ENTRY_BYTES));
    each.filter(|section| section.offset <= bytes.len() as u64).collect()
}

fn slice<'a>(bytes: &'a [u8], section: &Section) -> Option<&'a [u8]> {
    let start = usize::try_from(section.offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(section.length).ok()?)?)
}

fn part(bytes: &[u8], kind: u32) -> Option<&[u8]> {
    let section = table(bytes).into_iter().find(|section| section.kind == kind)?;
    slice(bytes, &section)
}

fn parse(files: Vec<(String, Vec<u8>)>, registry: &ToolRegistry) -> Result<OpenLayer> {
    let mut open = Vec::new();
    for (index, (name, bytes)) in files.into_iter().enumerate() {
        let schema = if index == 0 { &DIRECTORY_SCHEMA } else { &SEGMENT_SCHEMA };
        open.push(Arc::new(SectionFile::parse(&name, Bytes::copy_of(&bytes), schema)?));
    }
    OpenLayer::new(Layer::Synced, 2, open, registry)
}

/// Opens the files as a layer and reads all of it in every way there is; the first error that opening gives. Answers how
/// many skills a list shows.
fn ask_everything(files: Vec<(String, Vec<u8>)>) -> Result<usize> {
    let registry = ToolRegistry::builtin();
    let layer = Arc::new(parse(files, &registry)?);
    // Each of these may find damage; none may depend on another having found it.
    let _ = layer.check_all();
    let _ = layer.entries();
    let removes = BTreeSet::from(["skill-2".to_owned()]);
    let _ = build_delta(&layer, skill(3).into_iter().collect(), &removes, &registry, 3);
    let mut kept = Kept::default();
    for subscription in ["a", "b"] {
        kept.statements.apply(&Statement::Local(LocalStatement::Grant(subscription.to_owned())));
    }
    kept.statements.apply(&Statement::Local(LocalStatement::Hide("skill-4".to_owned())));
    let state = serde_json::to_value(&kept).unwrap_or_default();
    let loaded = Loaded {
        epoch: 0,
        manifest: Arc::new(Manifest { state, ..Manifest::default() }),
        statements: Vec::new(),
        deny_all: Denial::No,
        ring_damage: None,
        ring_used: 0,
        last_seq: 0,
    };
    let state = State::new(loaded, vec![layer], None, Arc::default())?;
    let seen = visibility::seen(&state, &Narrowing::default(), true)?;
    let look = Look::new(Arc::new(state), seen, registry);
    Ok(ask(&look))
}

fn ask(look: &Look) -> usize {
    let values = Map::from_iter([("text".to_owned(), json!("hello"))]);
    for number in 0..9 {
        let id = format!("skill-{number}");
        if let Ok(Some(skill)) = look.get(&id) {
            read(&skill);
        }
        if let Ok(Some(handle)) = look.find(&id) {
            let _ = (handle.kind(), handle.risk(), handle.effective_risk(), handle.is_available());
            let _ = handle.open(&id);
        }
        let _ = look.resolve(&id, &values);
    }
    let mut shown = 0;
    for filter in [Filter::default(), Filter::default().tag("camera")] {
        if let Ok(page) = look.list(&filter, 50, None) {
            page.skills.iter().for_each(read);
            shown += page.skills.len();
        }
    }
    for text in ["camera", "photo 2", "camera 7", "please take a picture", "skill-5", "c"] {
        let _ = look.lookup(text).map(|found| found.iter().for_each(read));
        let _ = look.prefix(text, 20).map(|found| found.iter().for_each(read));
        let _ = look.fuzzy(text, 20).map(|found| found.iter().for_each(read));
        let _ = look.search(text, &Filter::default(), 20).map(|page| {
            for hit in &page.hits {
                read(&hit.skill);
                let _ = hit.skill.why(text);
            }
        });
        let _ = look.match_request(text);
    }
    shown
}

fn read(skill: &SkillRef<'_>) {
    let _ = (skill.id(), skill.kind(), skill.name(), skill.description(), skill.version(), skill.status());
    let _ = (skill.tags().count(), skill.aliases().count(), skill.examples().count());
    let _ = (skill.risk(), skill.effective_risk(), skill.unavailable(), skill.effective_tools());
    let _ = (skill.content(), skill.source_text(), skill.to_skill());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_good_layer_is_good_and_stays_so_when_its_checksums_are_mended() {
        let mut files = good().to_vec();
        assert_eq!(files.len(), 3, "a directory and two segments");
        let before = files.clone();
        assert_eq!(ask_everything(files.clone()).unwrap(), 10, "five visible skills, in two lists");
        mend(&mut files);
        assert_eq!(files, before);
    }

    #[test]
    fn a_changed_section_with_right_checksums_gets_behind_the_checks() {
        let mut files = good().to_vec();
        let records = table(&files[1].1)
            .into_iter()
            .find(|section| section.kind == SectionKind::Records.code())
            .map(|section| usize::try_from(section.offset).unwrap());
        files[1].1[records.unwrap()] ^= 0x20;
        let broken = ask_everything(files.clone());
        mend(&mut files);
        let mended = parse(files, &ToolRegistry::builtin()).unwrap();
        assert!(mended.entries().is_ok(), "the record is believed");
        assert_ne!(broken.unwrap_or_default(), 10, "without mending it is not");
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: crate::catalog::tests::amount(2_000, 20_000, 200_000), failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn no_layer_with_right_checksums_makes_a_query_panic(
            edits in prop::collection::vec((any::<u8>(), 0..12_000_u16, any::<u8>()), 1..6)
        ) {
            let bytes = edits.into_iter().flat_map(|(manner, at, value)| {
                let [high, low] = at.to_be_bytes();
                [manner, high, low, value]
            });
            open(&bytes.collect::<Vec<u8>>());
        }
    }
}
