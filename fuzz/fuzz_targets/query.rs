//! Arbitrary text put to every query of a small catalog of many languages: an answer that keeps its promises, the same one
//! each time; never a panic, never a skill that the caller may not see.
#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use repertoire::catalog::{BundledMode, SkillRef};
use repertoire::model::{Kind, Skill, normalise};
use repertoire::{Catalog, Entry, Filter, Layer, LocalStatement, Narrowing, Options};

/// Name, alias and example of each skill.
const SKILLS: [[&str; 3]; 10] = [
    ["Take a photo", "selfie", "take a picture of my dog"],
    ["Wi-Fi settings", "wireless network", "connect to my home wifi"],
    ["sendSMSMessage", "text message", "tell Ana that I am late"],
    ["\u{6253}\u{5f00}\u{76f8}\u{673a}", "\u{62cd}\u{7167}", "\u{5e2e}\u{6211}\u{62cd}\u{5f20}\u{7167}"],
    ["\u{30ab}\u{30e1}\u{30e9}\u{3092}\u{958b}\u{304f}", "\u{5199}\u{771f}", "\u{5199}\u{771f}\u{3092}\u{64ae}\u{308b}"],
    ["\u{ce74}\u{ba54}\u{b77c} \u{c5f4}\u{ae30}", "\u{c0ac}\u{c9c4}", "\u{c0ac}\u{c9c4} \u{cc0d}\u{ae30}"],
    ["Stra\u{df}enkarte \u{f6}ffnen", "Landkarte", "zeig mir die Karte"],
    ["\u{641}\u{62a}\u{62d} \u{627}\u{644}\u{643}\u{627}\u{645}\u{64a}\u{631}\u{627}", "\u{635}\u{648}\u{631}\u{629}", "x"],
    ["\u{41e}\u{442}\u{43a}\u{440}\u{44b}\u{442}\u{44c} \u{43a}\u{430}\u{43c}\u{435}\u{440}\u{443}", "\u{444}\u{43e}\u{442}\u{43e}", "y"],
    ["Caf\u{e9} na\u{ef}f \u{e01}\u{e25}\u{e49}\u{e2d}\u{e07}", "\u{1f4f7}", "z"],
];
/// A skill that nobody sees.
const HIDDEN: &str = "hidden-skill";

fn catalog() -> &'static Catalog {
    static CATALOG: OnceLock<Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let folder = std::env::temp_dir().join(format!("repertoire-fuzz-query-{}", std::process::id()));
        let catalog = Catalog::open_with(folder, Options::default().bundled(BundledMode::Always)).unwrap();
        let entry = |id: String, [name, alias, example]: [&str; 3]| {
            let mut skill = Skill::new(id, Kind::Knowledge, name, format!("About {name}."));
            skill.aliases = vec![alias.to_owned()];
            skill.examples = vec![example.to_owned()];
            skill.tags = vec!["phone".to_owned()];
            skill.content = format!("# {name}\n\n{example}\n");
            Entry::new(skill)
        };
        let mut all: Vec<Entry> =
            SKILLS.iter().enumerate().map(|(number, texts)| entry(format!("s{number}"), *texts)).collect();
        all.push(entry(HIDDEN.to_owned(), ["Secret vault", "vault", "open the vault"]));
        catalog.update(Layer::Local, &mut |_| Ok(Some(all.clone()))).unwrap();
        catalog.declare(LocalStatement::Hide(HIDDEN.to_owned())).unwrap();
        catalog
    })
}

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let mut view = catalog().view(Narrowing::default());
    let pin = view.pin().unwrap();
    let seen = |skills: &[SkillRef<'_>]| assert!(skills.iter().all(|skill| skill.id() != HIDDEN));
    let ids = |skills: &[SkillRef<'_>]| skills.iter().map(|skill| skill.id().to_owned()).collect::<Vec<_>>();

    let page = pin.search(&text, &Filter::default(), 7).unwrap();
    assert!(page.hits.len() <= 7 && page.hits.len() as u64 <= page.total);
    assert!((0.0..=1.0).contains(&page.confidence));
    assert!(page.hits.is_sorted_by(|a, b| a.score >= b.score));
    for hit in &page.hits {
        assert!(hit.skill.id() != HIDDEN && hit.score > 0.0);
        hit.skill.why(&text).unwrap();
    }
    let again = pin.search(&text, &Filter::default(), 7).unwrap();
    assert!(page.hits.iter().zip(&again.hits).all(|(a, b)| a.skill.id() == b.skill.id()));
    // The tag is on the local skills alone.
    let tagged = pin.search(&text, &Filter::default().tag("phone"), 7).unwrap();
    assert!(tagged.hits.iter().all(|hit| hit.skill.layer() == Layer::Local) && tagged.total <= page.total);

    let answer = pin.match_request(&text).unwrap();
    assert!(!answer.reason.is_empty() && (0.0..=1.0).contains(&answer.confidence));
    assert!(answer.skill.is_none() || answer.exact_command.is_none());
    seen(answer.skill.as_slice());
    seen(&answer.candidates);

    let found = pin.lookup(&text).unwrap();
    seen(&found);
    let normal = pin.lookup(&normalise(&text)).unwrap();
    // The exact id comes first, and is not normalised.
    assert!(found.len() >= normal.len() || normal.iter().any(|skill| skill.id() == normalise(&text)));
    let completed = pin.prefix(&text, 5).unwrap();
    assert!(completed.len() <= 5);
    assert_eq!(ids(&completed), ids(&pin.prefix(&text, 5).unwrap()));
    seen(&completed);
    let near = pin.fuzzy(&text, 5).unwrap();
    assert!(near.len() <= 5);
    seen(&near);
    assert!(pin.get(&text).unwrap().is_none_or(|skill| skill.id() == text));
});
