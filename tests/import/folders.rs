//! Which files of a folder are read, and what becomes of those that cannot be.

use std::fs;

use crate::{agent, check, lines, write};

#[test]
fn a_folder_is_searched_down_to_its_skills_and_no_further() {
    let folder = tempfile::tempdir().expect("folder");
    write(
        folder.path(),
        &[
            ("a/SKILL.md", &agent("a", "One.")),
            ("a/assets/SKILL.md", &agent("inner", "No skill.")),
            (".claude/skills/b/SKILL.md", &agent("b", "Two.")),
            ("node_modules/c/SKILL.md", &agent("c", "No.")),
            (".git/d/SKILL.md", &agent("d", "No.")),
            ("e/skill.md", &agent("e", "No.")),
            (
                "f.skill.json",
                r#"[{"id":"f","kind":"knowledge","name":"F","description":"Four.","content":"x"}]"#,
            ),
            ("package.json", r#"{"version":1}"#),
        ],
    );
    assert_eq!(
        lines(&check(&[folder.path()])),
        [".claude/skills/b/SKILL.md b added", "a/SKILL.md a added", "f.skill.json f added",]
    );
}

#[test]
fn files_beside_a_skill_are_kept_with_digest_and_type() {
    let folder = tempfile::tempdir().expect("folder");
    write(
        folder.path(),
        &[
            ("a/SKILL.md", &agent("a", "One.")),
            ("a/references/more.md", "# More\n"),
            ("a/scripts/run.sh", "echo\n"),
            ("a/.env", "SECRET=1\n"),
        ],
    );
    let report = check(&[folder.path()]);
    let skill = report.skills[0].skill.as_ref().expect("skill");
    let seen: Vec<_> =
        skill.resources.iter().map(|r| (r.path.as_str(), r.media_type.as_str(), r.bytes)).collect();
    assert_eq!(
        seen,
        [("references/more.md", "text/markdown", 7), ("scripts/run.sh", "text/x-shellscript", 5)]
    );
    assert_eq!(skill.resources[1].sha256.len(), 64);
}

#[test]
fn too_much_beside_a_skill_is_refused_with_the_limit() {
    let folder = tempfile::tempdir().expect("folder");
    write(folder.path(), &[("a/SKILL.md", &agent("a", "One.")), ("b/SKILL.md", &agent("b", "Two."))]);
    for number in 0..513 {
        write(folder.path(), &[(&format!("a/assets/{number}"), "x")]);
    }
    let report = check(&[folder.path()]);
    assert_eq!(lines(&report), ["a/SKILL.md - rejected", "b/SKILL.md b added"]);
    assert_eq!(report.skills[0].error.as_ref().expect("error").code, "too_large");
}

#[test]
fn a_file_named_itself_is_a_root_and_other_names_are_refused() {
    let folder = tempfile::tempdir().expect("folder");
    write(folder.path(), &[("a/SKILL.md", &agent("a", "One.")), ("a/skill.md", "x"), ("notes.txt", "x")]);
    let report = check(&[
        &folder.path().join("a/SKILL.md"),
        &folder.path().join("notes.txt"),
        &folder.path().join("gone"),
    ]);
    let outcomes: Vec<_> =
        report.skills.iter().map(|line| line.error.as_ref().map(|error| error.code.clone())).collect();
    assert_eq!(outcomes, [Some("unknown_format".to_owned()), Some("unreadable".to_owned()), None]);
    assert_eq!(report.skills[2].path, "SKILL.md");
    assert_eq!(report.counts.rejected, 2);
}

#[test]
fn an_empty_text_is_no_reason_to_lose_a_skill_but_no_text_is() {
    let folder = tempfile::tempdir().expect("folder");
    let file =
        |description: &str, body: &str| format!("---\nname: A\ndescription: {description}\n---\n{body}");
    write(
        folder.path(),
        &[
            ("1/SKILL.md", &file("\"\"", "# A\n\nOpens\nthings.\n\n## More\nNo.\n")),
            ("2/SKILL.md", &file("''", "# A\n\n## More\nNo.\n")),
            ("3/SKILL.md", &file("~", "# A\n\nOpens things.\n")),
        ],
    );
    let report = check(&[folder.path()]);
    let described: Vec<_> =
        report.skills.iter().map(|line| line.skill.as_ref().map(|s| s.description.as_str())).collect();
    assert_eq!(described, [Some("Opens things."), Some("A"), None]);
    assert!(report.skills[0].warnings.iter().any(|warning| warning.code == "description_defaulted"));
    assert_eq!(report.skills[2].error.as_ref().expect("error").code, "missing_description");
}

#[test]
fn a_safety_field_that_stands_twice_does_not_hide_what_else_is_wrong() {
    let folder = tempfile::tempdir().expect("folder");
    let text = "---\nid: a\ntitle: A\nrisk: low\nrisk: extreme\nallowed_tools: [no_such_tool]\nid: a\n---\n";
    write(folder.path(), &[("a/SKILL.md", text)]);
    let report = check(&[folder.path()]);
    assert_eq!(lines(&report), ["a/SKILL.md - rejected"]);
    let problems = &report.skills[0].error.as_ref().expect("error").problems;
    let found: Vec<_> =
        problems.iter().map(|p| (p.line.unwrap_or(0), p.code.as_str(), p.field.as_str())).collect();
    assert_eq!(
        found,
        [
            (5, "duplicate_key", "risk"),
            (7, "duplicate_key", "id"),
            (2, "missing_description", "description"),
            (5, "invalid_risk", "risk"),
            (6, "unknown_tool", "allowed_tools"),
        ]
    );
}

#[test]
fn folders_beyond_the_depth_are_told() {
    let folder = tempfile::tempdir().expect("folder");
    let deep = |levels: usize| format!("{}SKILL.md", "d/".repeat(levels));
    write(folder.path(), &[(&deep(16), &agent("d", "Deep."))]);
    assert_eq!(check(&[folder.path()]).counts.added, 1);
    fs::remove_file(folder.path().join(deep(16))).expect("remove");
    write(folder.path(), &[(&deep(17), &agent("d", "Too deep."))]);
    let report = check(&[folder.path()]);
    assert_eq!(report.skills[0].error.as_ref().expect("error").code, "folder_too_deep");
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn links_stay_inside_the_root_and_every_real_path_is_read_once() {
        let outside = tempfile::tempdir().expect("outside");
        write(outside.path(), &[("o/SKILL.md", &agent("o", "Out."))]);
        let folder = tempfile::tempdir().expect("folder");
        write(folder.path(), &[("real/a/SKILL.md", &agent("a", "One."))]);
        symlink(folder.path(), folder.path().join("loop")).expect("link");
        symlink("real/a", folder.path().join("again")).expect("link");
        symlink(outside.path().join("o"), folder.path().join("out")).expect("link");
        fs::create_dir(folder.path().join("file")).expect("folder");
        symlink(outside.path().join("o/SKILL.md"), folder.path().join("file/SKILL.md")).expect("link");
        let report = check(&[folder.path()]);
        assert_eq!(lines(&report), ["file/SKILL.md - rejected", "out - rejected", "real/a/SKILL.md a added"]);
        let codes: Vec<_> =
            report.skills.iter().filter_map(|line| Some(line.error.as_ref()?.code.clone())).collect();
        assert_eq!(codes, ["symlink_outside_root", "symlink_outside_root"]);
    }

    #[test]
    fn pipes_huge_and_unreadable_files_are_errors_of_their_own() {
        let folder = tempfile::tempdir().expect("folder");
        write(
            folder.path(),
            &[("good/SKILL.md", &agent("good", "Good.")), ("huge/x", ""), ("pipe/x", ""), ("deep/x", "")],
        );
        let huge = fs::File::create(folder.path().join("huge/SKILL.md")).expect("file");
        huge.set_len(1 << 30).expect("sparse");
        let sparse = fs::File::create(folder.path().join("sparse.skill.json")).expect("file");
        sparse.set_len(1 << 30).expect("sparse");
        let pipe = folder.path().join("pipe/SKILL.md");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("pipe");
        write(
            folder.path(),
            &[("deep/SKILL.md", &format!("---\nname: deep\ndescription: {}\n---\n", "[".repeat(10_000)))],
        );
        let start = Instant::now();
        let report = check(&[folder.path()]);
        assert!(start.elapsed() < Duration::from_secs(5));
        let mut codes: Vec<_> = report
            .skills
            .iter()
            .map(|line| format!("{} {}", line.path, line.error.as_ref().map_or("fine", |error| &error.code)))
            .collect();
        codes.sort();
        assert_eq!(
            codes,
            [
                "deep/SKILL.md yaml_budget_exceeded",
                "good/SKILL.md fine",
                "huge/SKILL.md too_large",
                "pipe/SKILL.md not_a_file",
                "sparse.skill.json json_invalid",
            ]
        );
    }
}
