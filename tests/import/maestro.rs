//! Maestro flows in folders: which YAML files are flows, and where the flows that they run may come from.

use std::fs;
use std::path::PathBuf;

use crate::{check, lines, write};

const FLOW: &str = "appId: org.notes\n---\n- launchApp\n- runFlow: ../parts/save.yaml\n";
const PART: &str = "env:\n  TITLE: Milk\n---\n- inputText: ${TITLE}\n- tapOn: Save\n";

/// The tools of the skill with an id.
fn tools(report: &repertoire::intake::ImportReport, id: &str) -> Vec<String> {
    let line = report.skills.iter().find(|line| line.id.as_deref() == Some(id)).expect(id);
    let skill = line.skill.as_ref().expect("a skill");
    skill.steps.iter().map(|step| step.tool.clone()).collect()
}

#[test]
fn flows_of_a_folder_are_found_among_other_yaml_and_run_each_other() {
    let folder = tempfile::tempdir().expect("folder");
    write(
        folder.path(),
        &[
            ("flows/write.yaml", FLOW),
            ("parts/save.yaml", PART),
            ("bad/loop.yml", "appId: a\n---\n- repeat: {times: 2}\n"),
            ("bad/broken.yaml", "appId: a\n---\n- tapOn: [\n"),
            ("ci.yaml", "name: CI\non: push\n"),
            ("build.yml", "appId: a\nproductName: b\n"),
            ("latin.yaml", "appId: a\n"),
        ],
    );
    fs::write(folder.path().join("latin.yaml"), b"appId: \xe9\n---\n- back\n").expect("file");
    let report = check(&[folder.path()]);
    assert_eq!(
        lines(&report),
        [
            "bad/broken.yaml - rejected",
            "bad/loop.yml loop rejected",
            "flows/write.yaml write added",
            "parts/save.yaml save added"
        ]
    );
    assert_eq!(tools(&report, "write"), ["launch_app", "input_text", "tap"]);
    let error = report.skills[1].error.as_ref().expect("an error");
    assert_eq!((error.code.as_str(), error.problems[0].line), ("not_linear", Some(3)));
}

#[test]
fn a_flow_named_itself_runs_what_lies_in_its_folder_only() {
    let folder = tempfile::tempdir().expect("folder");
    let inside = "appId: org.notes\n---\n- runFlow: parts/save.yaml\n";
    write(
        folder.path(),
        &[
            ("a/in.yaml", inside),
            ("a/parts/save.yaml", PART),
            ("a/out.yaml", FLOW),
            ("parts/save.yaml", PART),
            ("a/ci.yml", "on: push\n"),
        ],
    );
    let report = check(
        &["a/in.yaml", "a/out.yaml", "a/ci.yml"]
            .map(|path| folder.path().join(path))
            .each_ref()
            .map(PathBuf::as_path),
    );
    let codes: Vec<_> =
        report.skills.iter().map(|line| line.error.as_ref().map(|error| error.code.as_str())).collect();
    assert_eq!(codes, [None, Some("flow_outside_root"), Some("invalid_flow")]);
    assert_eq!(tools(&report, "in"), ["input_text", "tap"]);
}

#[cfg(unix)]
#[test]
fn flows_that_are_run_are_regular_files_inside_of_the_root() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().expect("outside");
    write(outside.path(), &[("save.yaml", PART)]);
    let folder = tempfile::tempdir().expect("folder");
    let runs = |file: &str| format!("appId: org.notes\n---\n- back\n- runFlow: {file}\n");
    write(
        folder.path(),
        &[
            ("link.yaml", &runs("out.part")),
            ("pipe.yaml", &runs("pipe.part")),
            ("folder.yaml", &runs("sub")),
            ("huge.yaml", &runs("huge.part")),
            ("fine.yaml", &runs("in.part")),
            ("sub/x.part", PART),
        ],
    );
    symlink(outside.path().join("save.yaml"), folder.path().join("out.part")).expect("link");
    symlink("sub/x.part", folder.path().join("in.part")).expect("link");
    let pipe = folder.path().join("pipe.part");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).expect("pipe");
    fs::File::create(folder.path().join("huge.part")).expect("file").set_len(1 << 30).expect("sparse");
    let report = check(&[folder.path()]);
    for line in &report.skills {
        let problem = line.error.as_ref().map(|error| (error.code.as_str(), error.problems[0].line));
        let want = (line.path != "fine.yaml").then_some(("flow_unreadable", Some(4)));
        assert_eq!(problem, want, "{}", line.path);
    }
    assert_eq!(report.skills.len(), 5);
}
