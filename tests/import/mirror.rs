//! A second import: what is added, changed, unchanged, removed, and who keeps which id.

use repertoire::import::{
    FileContext, FileReport, MirrorOptions, Outcome, Plan, RootReading, plan, read_json_lines,
    read_skill_file,
};
use repertoire::model::{Entry, Origin, Skill};
use repertoire::tools::ToolRegistry;

use crate::agent;

/// Reads files (path and text) as the content of a root.
fn root(name: &str, files: &[(&str, String)]) -> RootReading {
    let read = |(path, text): &(&str, String)| -> FileReport {
        let directory = path.rsplit('/').nth(1).unwrap_or(name);
        read_skill_file(&FileContext::new(path, directory, text.as_bytes()), &ToolRegistry::builtin())
    };
    RootReading::new(name, files.iter().map(read).collect())
}

/// Reads lines of canonical JSON, written `id description`, as the one file of a root.
fn many(lines: impl Iterator<Item = String>) -> RootReading {
    let read = |line: String| {
        let (id, description) = line.split_once(' ').expect("id and description");
        format!(
            r#"{{"id":"{id}","kind":"knowledge","name":"N","description":"{description}","content":"x"}}"#
        )
    };
    let text = lines.map(read).collect::<Vec<_>>().join("\n");
    let mut file = root("/r", &[("a/many.skill.jsonl", String::new())]).files.remove(0);
    file.skills.clear();
    read_json_lines(&mut text.as_bytes(), &ToolRegistry::builtin(), &mut |skill| file.skills.push(skill))
        .expect("readable");
    RootReading::new("/r", vec![file])
}

fn mirror(existing: &[Entry], roots: Vec<RootReading>) -> Plan {
    plan(existing.to_vec(), roots, &MirrorOptions::default())
}

/// `path id outcome` of every line.
fn lines(plan: &Plan) -> Vec<String> {
    let line = |o: &repertoire::import::SkillOutcome| {
        format!("{} {} {}", o.path, o.id.as_deref().unwrap_or("-"), o.outcome.name())
    };
    plan.outcomes.iter().map(line).collect()
}

fn ids(plan: &Plan) -> Vec<&str> {
    plan.entries.iter().map(|entry| entry.skill.id.as_str()).collect()
}

#[test]
fn a_second_import_tells_what_became_of_every_skill() {
    let first = mirror(
        &[],
        vec![root(
            "/r",
            &[
                ("a/SKILL.md", agent("a", "A.")),
                ("b/SKILL.md", agent("b", "B.")),
                ("c/SKILL.md", agent("c", "C.")),
            ],
        )],
    );
    assert!(first.changed);
    let files = [
        ("a/SKILL.md", agent("a", "A.")),
        ("b/SKILL.md", agent("b", "New.")),
        ("d/SKILL.md", agent("d", "D.")),
    ];
    let second = mirror(&first.entries, vec![root("/r", &files)]);
    assert_eq!(
        lines(&second),
        ["a/SKILL.md a unchanged", "b/SKILL.md b changed", "d/SKILL.md d added", "c/SKILL.md c removed",]
    );
    let third = mirror(&second.entries, vec![root("/r", &files)]);
    assert!(!third.changed);
    assert_eq!(third.entries, second.entries);
}

#[test]
fn what_vanished_stays_when_asked_for_unread_or_cut_short() {
    let first = mirror(
        &[],
        vec![root("/r", &[("a/x/SKILL.md", agent("x", "X.")), ("b/SKILL.md", agent("b", "B."))])],
    );
    let mut keep = MirrorOptions::default();
    keep.keep = true;
    assert_eq!(ids(&plan(first.entries.clone(), vec![root("/r", &[])], &keep)), ["b", "x"]);
    let mut unread = root("/r", &[]);
    unread.unread = vec!["a".to_owned()];
    assert_eq!(ids(&mirror(&first.entries, vec![unread])), ["x"]);
    let mut cut = root("/r", &[]);
    cut.complete = false;
    assert_eq!(ids(&mirror(&first.entries, vec![cut])), ["b", "x"]);
    assert_eq!(ids(&mirror(&first.entries, vec![root("/other", &[])])), ["b", "x"]);
}

#[test]
fn a_file_that_broke_keeps_the_version_that_was_good() {
    let first = mirror(&[], vec![root("/r", &[("a/SKILL.md", agent("a", "A."))])]);
    let second = mirror(&first.entries, vec![root("/r", &[("a/SKILL.md", "---\nname: a\n".to_owned())])]);
    assert_eq!(lines(&second), ["a/SKILL.md - rejected"]);
    assert_eq!(second.outcomes[0].warnings[0].code, "previous_version_kept");
    assert_eq!(second.entries, first.entries);
    assert!(!second.changed);
}

#[test]
fn the_later_path_is_qualified_and_keeps_its_id_for_ever() {
    let wifi = [
        ("WiFi/SKILL.md", agent("WiFi", "Upper.")),
        ("other/wifi/SKILL.md", agent("wifi", "Lower.")),
        ("third/wifi/SKILL.md", agent("wifi", "Lower.")),
    ];
    let first = mirror(&[], vec![root("/r", &wifi)]);
    assert_eq!(
        lines(&first),
        [
            "WiFi/SKILL.md wifi added",
            "other/wifi/SKILL.md other/wifi added",
            "third/wifi/SKILL.md third/wifi added",
        ]
    );
    let warned = |o: &repertoire::import::SkillOutcome| {
        o.warnings.iter().any(|w| w.code == "duplicate_id" && w.field == "wifi")
    };
    assert!(!warned(&first.outcomes[0]) && warned(&first.outcomes[1]));
    let second = mirror(&first.entries, vec![root("/r", &wifi[1..])]);
    assert_eq!(ids(&second), ["other/wifi", "third/wifi"]);
    let earlier = [("a/wifi/SKILL.md", agent("wifi", "Earlier.")), wifi[1].clone()];
    let third = mirror(&second.entries, vec![root("/r", &earlier)]);
    assert_eq!(ids(&third), ["other/wifi", "wifi"]);
    let fourth =
        mirror(&third.entries, vec![root("/r", &[("Z/SKILL.md", agent("wifi", "Z.")), earlier[0].clone()])]);
    assert_eq!(lines(&fourth)[..2], ["Z/SKILL.md z/wifi added", "a/wifi/SKILL.md wifi unchanged"]);
}

#[test]
fn identical_skills_fold_into_the_first() {
    let files = [("code/SKILL.md", agent("code", "Same.")), ("mirror/code/SKILL.md", agent("code", "Same."))];
    let plan = mirror(&[], vec![root("/r", &files)]);
    assert_eq!(ids(&plan), ["code"]);
    assert_eq!(
        (plan.outcomes[1].outcome, plan.outcomes[1].folded_into.as_deref()),
        (Outcome::Unchanged, Some("code/SKILL.md"))
    );
    let moved = mirror(&plan.entries, vec![root("/r", &files[1..])]);
    assert_eq!(lines(&moved), ["mirror/code/SKILL.md code unchanged"]);
    assert!(moved.changed);
}

#[test]
fn the_root_that_came_first_wins_whatever_is_imported_later() {
    let first = mirror(&[], vec![root("/one", &[("wifi/SKILL.md", agent("wifi", "One."))])]);
    let second = mirror(&first.entries, vec![root("/two", &[("wifi/SKILL.md", agent("wifi", "Two."))])]);
    assert_eq!(ids(&second), ["wifi", "wifi/wifi"]);
    let again = mirror(
        &second.entries,
        vec![
            root("/two", &[("wifi/SKILL.md", agent("wifi", "Two, changed."))]),
            root("/one", &[("wifi/SKILL.md", agent("wifi", "One."))]),
        ],
    );
    assert_eq!(lines(&again), ["wifi/SKILL.md wifi/wifi changed", "wifi/SKILL.md wifi unchanged"]);
}

#[test]
fn a_file_imported_by_name_updates_the_skill_of_its_folder() {
    let first = mirror(&[], vec![root("/r", &[("a/SKILL.md", agent("a", "A."))])]);
    let mut file = root("/r/a/SKILL.md", &[]);
    let text = agent("a", "Newer.");
    file.files =
        vec![read_skill_file(&FileContext::new("SKILL.md", "a", text.as_bytes()), &ToolRegistry::builtin())];
    let second = mirror(&first.entries, vec![file]);
    assert_eq!(lines(&second), ["SKILL.md a changed"]);
    assert_eq!(second.entries[0].origin, Some(Origin::new("/r", "a/SKILL.md")));
}

#[test]
fn promoted_skills_belong_to_no_mirror() {
    let promoted = Entry::new(Skill::new("a", repertoire::model::Kind::Knowledge, "A", "Promoted."));
    let plan = mirror(&[promoted], vec![root("/r", &[("a/SKILL.md", agent("a", "A."))])]);
    assert_eq!(ids(&plan), ["a", "a/a"]);
    assert_eq!(ids(&mirror(&plan.entries, vec![root("/r", &[])])), ["a"]);
}

#[test]
fn a_namespace_goes_before_every_id() {
    let mut options = MirrorOptions::default();
    options.namespace = Some("team".to_owned());
    let files = [("a/SKILL.md", agent("x", "1.")), ("q/b/SKILL.md", agent("x", "2."))];
    let plan = plan(Vec::new(), vec![root("/r", &files)], &options);
    assert_eq!(ids(&plan), ["team/q/x", "team/x"]);
}

#[test]
fn a_large_file_of_many_skills_is_unchanged_when_it_is_imported_again() {
    const LINES: usize = 5_000;
    let own = |n: usize| format!("skill-{n} Skill.");
    let one = |n: usize| format!("x Skill {n}.");
    for (scenario, line) in [
        ("an id of its own each", own as fn(usize) -> String),
        ("one id for all", one as fn(usize) -> String),
    ] {
        let first = mirror(&[], vec![many((0..LINES).map(line))]);
        assert_eq!(first.entries.len(), LINES, "{scenario}");
        let second = mirror(&first.entries, vec![many((0..LINES).map(line))]);
        assert!(!second.changed, "{scenario}");
        assert!(second.outcomes.iter().all(|o| o.outcome == Outcome::Unchanged), "{scenario}");
        let mut broken = many((0..LINES).map(|n| line(n).replace(' ', " \\u0000")));
        assert!(broken.files[0].skills.iter().all(|skill| skill.result.is_err()), "{scenario}");
        broken.unread = (0..LINES).map(|n| format!("unread-{n}")).collect();
        let third = mirror(&first.entries, vec![broken]);
        assert!(!third.changed && third.entries == first.entries, "{scenario}");
    }
}
