//! Bytes that are not what they were: an error or the same answer, and the best state that is left.

use std::sync::OnceLock;

use super::super::manifest::{self, LayerState, Recovery};
use super::super::ring::{RECORD_BYTES, RING_BYTES, Ring, encode};
use super::super::{epoch, names, sections};
use super::*;
use proptest::prelude::*;

/// Every truncation, and every byte with each of the bits in `masks` flipped.
fn broken_twins<'a>(bytes: &'a [u8], masks: &'a [u8]) -> impl Iterator<Item = (String, Vec<u8>)> + 'a {
    let truncated = (0..bytes.len()).map(|len| (format!("truncated to {len}"), bytes[..len].to_vec()));
    let flipped = (0..bytes.len()).flat_map(move |at| {
        masks.iter().map(move |mask| {
            let mut twin = bytes.to_vec();
            twin[at] ^= mask.rotate_left((at % 8).try_into().unwrap());
            (format!("byte {at} changed by {mask:#x}"), twin)
        })
    });
    truncated.chain(flipped)
}

/// The sections of a file after all checks.
fn read_all_sections(bytes: &[u8]) -> Result<Vec<(u32, Vec<u8>)>, StorageError> {
    let file = SectionFile::parse("twin", Bytes::copy_of(bytes), &SCHEMA)?;
    let mut all = Vec::new();
    for section in file.sections() {
        file.verify_section(section)?;
        all.push((section.kind, file.required(section.kind)?.to_vec()));
    }
    Ok(all)
}

#[test]
fn a_broken_segment_is_an_error_or_says_the_same() {
    let built = segment("the text");
    let good = read_all_sections(&built.bytes).unwrap();
    let mut refused = 0;
    for (what, twin) in broken_twins(&built.bytes, &[1, 2, 4, 8, 16, 32, 64, 128, 255]) {
        match read_all_sections(&twin) {
            Ok(sections) => assert_eq!(sections, good, "{what}"),
            Err(_) => refused += 1,
        }
    }
    assert!(refused > built.bytes.len() * 7, "most twins are refused: {refused}");
}

/// A change to the bytes of a segment.
type Change = Box<dyn Fn(&mut Vec<u8>)>;

#[test]
fn a_header_with_right_checksums_but_wrong_contents_is_refused() {
    let good = segment("text").bytes;
    let table = sections::HEADER_BYTES;
    let head = sections::head_bytes(2);
    let put = |at: usize, value: u64| -> Change {
        Box::new(move |b| b[at..at + 8].copy_from_slice(&value.to_le_bytes()))
    };
    let changes: Vec<(&str, Change)> = vec![
        ("offset beyond the end", put(table + 8, 1 << 60)),
        ("length that overflows", put(table + 16, u64::MAX)),
        ("offset inside the header", put(table + 8, 0)),
        ("unaligned offset", put(table + 8, head as u64 + 1)),
        ("overlap", put(table + sections::ENTRY_BYTES + 8, head as u64)),
        ("two of a kind", Box::new(move |b| b[table + sections::ENTRY_BYTES] = 1)),
        (
            "unknown required",
            Box::new(move |b| {
                b[table + sections::ENTRY_BYTES] = 9;
                b[table + sections::ENTRY_BYTES + 4] = 1;
            }),
        ),
        ("another kind of file", Box::new(|b| b[sections::AT_FILE_KIND] ^= 1)),
        ("another endianness", Box::new(|b| b[sections::AT_DESCRIPTOR] ^= 1)),
        ("another size of a type", Box::new(|b| b[sections::AT_DESCRIPTOR + 8] ^= 1)),
        (
            "bytes behind the end",
            Box::new(|b| {
                b.push(0);
                let len = b.len() as u64;
                b[sections::AT_FILE_LEN..sections::AT_FILE_LEN + 8].copy_from_slice(&len.to_le_bytes());
            }),
        ),
        ("too many sections", Box::new(|b| b[sections::AT_SECTION_COUNT + 2] = 1)),
    ];
    for (what, change) in changes {
        let mut twin = good.clone();
        change(&mut twin);
        fix_header(&mut twin);
        let error = SectionFile::parse("twin", Bytes::copy_of(&twin), &SCHEMA).expect_err(what);
        assert!(matches!(error, StorageError::Damaged { .. }), "{what}: {error}");
    }
    let mut newer = good.clone();
    newer[sections::AT_VERSION] = 1;
    fix_header(&mut newer);
    let error = SectionFile::parse("twin", Bytes::copy_of(&newer), &SCHEMA).unwrap_err();
    assert!(matches!(error, StorageError::TooNew { found: 1, supported: 0, .. }), "{error}");
    let mut optional = good;
    optional[table + sections::ENTRY_BYTES] = 9;
    optional[sections::AT_VERSION + 2] = 7;
    fix_header(&mut optional);
    assert_eq!(
        read_all_sections(&optional).unwrap().len(),
        2,
        "an unknown optional section and minor are no reason"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_make_a_reader_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        changes in proptest::collection::vec((0_usize..400, any::<u8>()), 0..6),
        folded in any::<u64>(),
    ) {
        let _ = read_all_sections(&bytes);
        let _ = Manifest::decode("CURRENT", &bytes);
        let _ = Ring::read(&bytes, folded);
        let mut segment = segment("some text").bytes;
        let mut ring = vec![0; RING_BYTES];
        for (record, slot) in encode(3, 1, &bytes).into_iter().flatten().zip(ring.chunks_exact_mut(RECORD_BYTES)) {
            slot.copy_from_slice(&record);
        }
        for (at, value) in changes {
            let len = segment.len();
            segment[at % len] = value;
            ring[at] = value;
        }
        let ring = Ring::read(&ring, folded);
        let _ = ring.place(3, folded);
        fix_header(&mut segment);
        let _ = read_all_sections(&segment);
    }
}

fn fix_header(bytes: &mut [u8]) {
    let count = u32::from_le_bytes(bytes[sections::AT_SECTION_COUNT..][..4].try_into().unwrap());
    let head = sections::head_bytes((count as usize).min(crate::limits::SECTIONS_MAX)).min(bytes.len());
    let crc = crc32c::crc32c(&bytes[..sections::AT_HEADER_CRC]);
    let crc = crc32c::crc32c_append(crc, &bytes[sections::AT_GENERATION_END..head]);
    bytes[sections::AT_HEADER_CRC..][..4].copy_from_slice(&crc.to_le_bytes());
}

/// A directory with two commits, so that there is a manifest before the current one.
fn prepared() -> Arc<MemoryStorage> {
    static ONCE: OnceLock<Arc<MemoryStorage>> = OnceLock::new();
    Arc::new(ONCE.get_or_init(prepare).copy())
}

fn prepare() -> Arc<MemoryStorage> {
    let storage = Arc::new(MemoryStorage::new());
    let dir = open(&storage).unwrap();
    publish(&dir, "local", "one").unwrap();
    dir.append_statement(1, b"-a").unwrap();
    publish(&dir, "local", "two").unwrap();
    dir.append_statement(1, "-b".repeat(60).as_bytes()).unwrap();
    storage
}

#[test]
fn a_broken_current_falls_back_to_the_manifest_before_it_and_loses_no_statement() {
    let storage = prepared();
    let good = look(&open(&process(&storage)).unwrap()).unwrap();
    let mut before = good.clone();
    before.layers.insert("local".to_owned(), "one".to_owned());
    for (what, twin) in broken_twins(&storage.peek(names::CURRENT).unwrap(), &[1]) {
        let copy = Arc::new(storage.copy());
        copy.poke(names::CURRENT, Some(&twin));
        let dir = open(&copy).expect(&what);
        assert_eq!(look(&dir).expect(&what), before, "{what}");
        assert!(copy.peek("CURRENT.bad").is_some(), "{what}: it is kept");
    }
}

#[test]
fn a_current_that_breaks_under_an_open_handle_is_recovered_too() {
    let storage = prepared();
    let dir = open(&storage).unwrap();
    let said = look(&dir).unwrap().said;
    storage.poke(names::CURRENT, Some(b"nonsense"));
    dir.tick();
    let now = look(&dir).unwrap();
    assert_eq!((now.layers["local"].as_str(), now.said), ("one", said));
    let mut read_only = OpenOptions { read_only: true, ..OpenOptions::default() };
    read_only.storage = Some(process(&storage) as Arc<dyn Storage>);
    storage.poke(names::CURRENT, Some(b"nonsense"));
    let reader = DataDir::open(Path::new("memory"), &read_only).unwrap();
    assert_eq!(
        look(&reader).unwrap().layers["local"],
        "one",
        "a reader that may not write looks at the one before"
    );
    assert_eq!(storage.peek(names::CURRENT).unwrap(), b"nonsense", "and leaves everything as it is");
}

#[test]
fn without_any_manifest_the_sources_are_named_and_generations_go_on() {
    for poke in [Some(&b"broken"[..]), None] {
        let storage = prepared();
        storage.poke(names::CURRENT, poke);
        storage.poke(names::PREVIOUS, poke);
        let dir = open(&storage).unwrap();
        let loaded = dir.load().unwrap();
        assert_eq!(loaded.manifest.recovered, Some(Recovery::Empty));
        assert_eq!(loaded.manifest.generation_floor, 1);
        assert_eq!(look(&dir).unwrap().said.len(), 2, "statements that were folded already count again");
        let sources = dir.sources().unwrap();
        let texts: Vec<_> = sources.iter().map(|source| dir.read_source(source).unwrap()).collect();
        assert_eq!(texts.len(), 2);
        assert!(texts.contains(&b"\"one\"\n".to_vec()) && texts.contains(&b"\"two\"\n".to_vec()));
        publish(&dir, "local", "two").unwrap();
        assert_eq!(dir.load().unwrap().manifest.layers["local"].current.generation, 2);
    }
}

#[test]
fn a_newer_manifest_is_never_touched() {
    let storage = prepared();
    let mut newer = storage.peek(names::CURRENT).unwrap();
    newer[manifest::AT_VERSION] = 1;
    fix_manifest(&mut newer);
    storage.poke(names::CURRENT, Some(&newer));
    let dir = open(&process(&storage)).unwrap();
    let errors = [
        dir.load().map(drop).unwrap_err().to_string(),
        publish(&dir, "local", "x").map(drop).unwrap_err().to_string(),
        dir.append_statement(1, b"x").unwrap_err().to_string(),
        dir.collect().unwrap_err().to_string(),
    ];
    for error in errors {
        assert!(error.contains("format 1"), "{error}");
    }
    assert_eq!(storage.peek(names::CURRENT).unwrap(), newer);

    let storage = prepared();
    let mut minor = storage.peek(names::CURRENT).unwrap();
    minor[manifest::AT_VERSION + 2] = 1;
    fix_manifest(&mut minor);
    storage.poke(names::CURRENT, Some(&minor));
    let dir = open(&process(&storage)).unwrap();
    assert_eq!(look(&dir).unwrap().layers["local"], "two", "a newer minor version is read");
    publish(&dir, "local", "x").unwrap_err();
    assert_eq!(storage.peek(names::CURRENT).unwrap(), minor, "and not replaced");
}

#[test]
fn a_newer_manifest_before_the_current_one_stops_recovery_and_garbage_collection() {
    let storage = prepared();
    let mut newer = storage.peek(names::PREVIOUS).unwrap();
    newer[manifest::AT_VERSION] = 1;
    fix_manifest(&mut newer);
    storage.poke(names::PREVIOUS, Some(&newer));
    let dir = open(&storage).unwrap();
    storage.advance_clock(10_000_000);
    assert_eq!(dir.collect().unwrap(), 0);
    storage.poke(names::CURRENT, Some(b"broken"));
    assert!(matches!(dir.load(), Err(StorageError::TooNew { .. })));
    assert_eq!(storage.peek(names::PREVIOUS).unwrap(), newer);
}

fn fix_manifest(bytes: &mut [u8]) {
    let crc =
        crc32c::crc32c_append(crc32c::crc32c(&bytes[..manifest::AT_CRC]), &bytes[manifest::AT_CRC + 4..]);
    bytes[manifest::AT_CRC..manifest::AT_CRC + 4].copy_from_slice(&crc.to_le_bytes());
}

#[test]
fn a_manifest_with_right_checksum_cannot_name_foreign_files() {
    for name in ["../../etc/passwd", "/etc/passwd", "CURRENT", "", "local-xyz.seg", "epoch"] {
        let mut manifest = Manifest::default();
        let files = vec![FileRef { name: name.to_owned(), length: 1, crc32c: 0 }];
        let current = Generation { files: files.clone(), generation: 1, ..Generation::default() };
        manifest.layers.insert("local".to_owned(), LayerState { current, ..LayerState::default() });
        assert!(manifest.encode().is_err(), "{name}");
        let text = serde_json::to_vec(&manifest).unwrap();
        let mut bytes = Manifest::default().encode().unwrap();
        bytes.truncate(manifest::HEADER_BYTES);
        bytes.extend_from_slice(&text);
        bytes[manifest::AT_LENGTH..manifest::AT_LENGTH + 8]
            .copy_from_slice(&(text.len() as u64).to_le_bytes());
        fix_manifest(&mut bytes);
        let error = Manifest::decode("CURRENT", &bytes).unwrap_err().to_string();
        assert!(error.contains("is not the name"), "{name}: {error}");
    }
}

#[test]
fn a_broken_ring_says_the_same_or_says_that_it_is_broken() {
    let storage = prepared();
    let good = storage.peek(names::RING).unwrap();
    for folded in [0, 1, 2] {
        let intact = Ring::read(&good, folded);
        assert_eq!((intact.statements.len() as u64, intact.damage.as_ref()), (2 - folded, None));
        let used = 6 * RECORD_BYTES;
        let places = (0..used).chain((used..RING_BYTES).step_by(61));
        for at in places {
            for mask in [1_u8, 16, 128, 255] {
                let mut twin = good.clone();
                twin[at] ^= mask;
                let ring = Ring::read(&twin, folded);
                assert!(ring.damage.is_some() || ring.statements == intact.statements, "byte {at}, {mask}");
                assert!(ring.damage.is_some(), "byte {at}: every flip is noticed");
            }
        }
        for len in (0..used).chain((used..RING_BYTES).step_by(61)) {
            assert!(Ring::read(&good[..len], folded).damage.is_some(), "{len} bytes");
        }
    }
}

#[test]
fn a_damaged_ring_suspends_until_it_is_repaired_and_still_takes_statements() {
    let storage = prepared();
    let mut ring = storage.peek(names::RING).unwrap();
    ring[RECORD_BYTES + 20] ^= 4;
    for twin in [ring.clone(), ring[..1000].to_vec(), Vec::new()] {
        storage.poke(names::RING, Some(&twin));
        let dir = open(&storage).unwrap();
        assert!(look(&dir).unwrap().denied);
        match dir.append_statement(1, b"-new") {
            Ok(_) => assert!(look(&dir).unwrap().said.contains(&"-new".to_owned())),
            Err(error) => {
                assert!(matches!(error, StorageError::RingFull { .. }) && twin.is_empty(), "{error}");
            }
        }
        assert!(look(&dir).unwrap().denied, "the trace of the damage is still there");
        publish(&dir, "local", "folded").unwrap();
        dir.repair_ring().unwrap();
        dir.set_deny_all(Denial::No).unwrap();
        assert!(!look(&dir).unwrap().denied, "{} bytes", twin.len());
        dir.append_statement(1, b"-later").unwrap();
        assert_eq!(look(&dir).unwrap().said.last().unwrap(), "-later");
    }
}

#[test]
fn a_removed_ring_suspends_the_synced_layer() {
    let storage = prepared();
    storage.poke(names::RING, None);
    let dir = open(&storage).unwrap();
    let now = look(&dir).unwrap();
    assert!(now.denied && now.layers["local"] == "two");
}

#[test]
fn a_broken_or_removed_epoch_page_is_made_anew_and_followed() {
    let good = epoch::new_page();
    let mut twins: Vec<Option<Vec<u8>>> = vec![None, Some(Vec::new()), Some(good[..100].to_vec())];
    twins.extend((0..8).map(|at| {
        let mut twin = good.clone();
        twin[at] ^= 1;
        Some(twin)
    }));
    for twin in twins {
        let storage = prepared();
        let bystander = open(&process(&storage)).unwrap();
        let old = bystander.load().unwrap().epoch;
        storage.poke(names::EPOCH, twin.as_deref());
        let dir = open(&process(&storage)).unwrap();
        assert_eq!(look(&dir).unwrap().layers["local"], "two");
        bystander.tick();
        assert_ne!(bystander.epoch(), old);
        publish(&dir, "local", "three").unwrap();
        assert_eq!(look(&bystander).unwrap().layers["local"], "three");
        let now = bystander.epoch();
        dir.announce().unwrap();
        assert_ne!(bystander.epoch(), now, "the new page is followed");
    }
}

#[test]
fn a_damaged_segment_is_an_error_that_writing_it_again_heals() {
    let storage = prepared();
    let dir = open(&storage).unwrap();
    let file = dir.load().unwrap().manifest.layers["local"].current.files[0].clone();
    let good = storage.peek(&file.name).unwrap();
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    // The content hash leaves the generation out: what is broken there is not the same file.
    let mut generation = good.clone();
    generation[sections::AT_GENERATION] ^= 1;
    for twin in [&good[..good.len() - 1], b"", b"foreign", &flipped, &generation] {
        storage.poke(&file.name, Some(twin));
        let healthy = dir.open_file(&file, &SCHEMA).and_then(|open| open.verify_section(&open.sections()[1]));
        assert!(matches!(healthy, Err(StorageError::Damaged { .. })), "{healthy:?}");
        assert!(!dir.quarantine(&file.name).unwrap(), "what the manifest reaches is not moved");
        dir.write_file("local", &segment("two")).unwrap();
        assert_eq!(look(&dir).unwrap().layers["local"], "two");
    }
    storage.poke(&file.name, None);
    assert!(matches!(dir.open_file(&file, &SCHEMA), Err(StorageError::Io { .. })));
}
