//! The JSON that tools build on.

use serde_json::{Value, json};

use crate::program::{Program, members};

const LISTED: [&str; 8] = ["description", "effective_risk", "id", "kind", "layer", "name", "risk", "tags"];

#[test]
fn list_pages_through_all_skills_without_the_unavailable_ones() {
    let program = Program::filled();
    let all = program.json(&["list"], 0);
    assert_eq!(members(&all), ["skills", "total"]);
    let skills = all["skills"].as_array().expect("skills");
    let ids: Vec<&str> = skills.iter().map(|skill| skill["id"].as_str().expect("an id")).collect();
    assert_eq!(ids, ["hostile", "web/page", "wifi"]);
    assert_eq!(all["total"], 3);
    assert_eq!(members(&skills[0]), LISTED);
    let flow = &skills[1];
    assert_eq!((&flow["kind"], &flow["layer"]), (&json!("flow_template"), &json!("local")));
    let mut seen = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut words = vec!["list", "--limit", "1"];
        if let Some(cursor) = &cursor {
            words.extend(["--cursor", cursor]);
        }
        let page = program.json(&words, 0);
        assert_eq!(page["total"], 3);
        seen.extend(page["skills"].as_array().expect("skills").clone());
        match page["next_cursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(&Value::from(seen), &all["skills"]);
}

#[test]
fn list_filters() {
    let program = Program::filled();
    let rows: [(&[&str], &[&str]); 6] = [
        (&["--kind", "knowledge"], &["hostile", "wifi"]),
        (&["--kind", "flow_template"], &["web/page"]),
        (&["--tag", "Browser"], &["web/page"]),
        (&["--app", "com.android.chrome"], &["web/page"]),
        (&["--layer", "synced"], &[]),
        (&["--subscriptions", "none"], &["hostile", "web/page", "wifi"]),
    ];
    for (words, expect) in rows {
        let all: Vec<&str> = [&["list"], words].concat();
        let answer = program.json(&all, 0);
        let ids: Vec<&str> =
            answer["skills"].as_array().expect("skills").iter().filter_map(|s| s["id"].as_str()).collect();
        assert_eq!(ids, expect, "{words:?}");
    }
}

#[test]
fn search_adds_score_and_why() {
    let answer = Program::filled().json(&["search", "wifi", "network"], 0);
    assert_eq!(members(&answer), ["skills", "total"]);
    let first = &answer["skills"][0];
    assert_eq!(first["id"], "wifi");
    let mut expect = LISTED.to_vec();
    expect.extend(["score", "why"]);
    expect.sort_unstable();
    assert_eq!(members(first), expect);
    assert_eq!(members(&first["why"][0]), ["field", "words"]);
}

#[test]
fn match_answers_a_skill_or_a_command_or_none() {
    let program = Program::filled();
    let found = program.json(&["match", "--", "turn on the wifi"], 0);
    assert_eq!(found["skill"]["id"], "wifi");
    assert!(found["confidence"].is_number() && found["reason"].is_string());
    assert!(found.get("exact_command").is_none());
    let command = program.json(&["match", "go home"], 0);
    assert_eq!(command["skill"], Value::Null);
    assert_eq!(command["exact_command"], json!({"tool": "press_key", "arguments": {"key": "home"}}));
    let none = program.json(&["match", "zzzz qqqq"], 1);
    assert_eq!(none["skill"], Value::Null);
}

#[test]
fn get_is_the_canonical_skill_with_layer_and_digest() {
    let program = Program::filled();
    let skill = &program.json(&["get", "web/page"], 0)["skill"];
    assert_eq!(skill["layer"], "local");
    let digest = skill["digest"].as_str().expect("a digest");
    assert!(digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit()), "{digest}");
    assert_eq!(skill["steps"][0]["tool"], "open_url");
    for absent in ["subscriptions", "source", "effective_risk"] {
        assert!(skill.get(absent).is_none(), "{absent}");
    }
    let text = program.run(&["get", "wifi"]).code(0).stdout;
    for part in ["wifi", "Wi-Fi settings", "medium", "wireless network", "tap the network"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn resolve_gives_ordered_steps_or_every_problem() {
    let program = Program::filled();
    let answer = program.json(&["resolve", "web/page", "-p", "address=https://a", "-p", "wait_ms=700"], 0);
    assert_eq!(
        answer,
        json!({"steps": [
            {"tool": "open_url", "args": {"url": "https://a"}},
            {"tool": "wait_for_idle", "args": {"timeout_ms": 700}, "note": "until it is quiet"},
        ]})
    );
    let same = program.run_with_input(
        &["resolve", "web/page", "--json", "--params", "@-", "-p", "wait_ms=700"],
        r#"{"address": "https://a", "wait_ms": 200}"#,
    );
    assert_eq!(same.json(), answer);
    let wrong = program.json(&["resolve", "web/page", "-p", "wait_ms=1", "-p", "other=2"], 1);
    assert_eq!(wrong["error"]["skill"], "web/page");
    assert_eq!(wrong["error"]["problems"].as_array().expect("problems").len(), 3, "{wrong}");
}

#[test]
fn what_came_from_a_folder_that_is_gone_is_forgotten_on_demand() {
    let program = Program::new();
    let skill = program
        .write("in/note/SKILL.md", "---\nname: note\ndescription: Take a note.\n---\nWrite it down.\n");
    program.write("other/wifi/SKILL.md", crate::program::WIFI);
    let (folder, other) =
        (program.path("in").display().to_string(), program.path("other").display().to_string());
    program.json(&["import", &folder, &other], 0);
    let single = skill;
    program.json(&["import", &single], 0);
    std::fs::remove_dir_all(program.path("in")).expect("the folder goes");
    let missing = program.run(&["import", &folder]).code(1);
    assert!(missing.stderr.contains("--forget"), "{}", missing.stderr);
    let total = program.json(&["list", "--layer", "local"], 0)["total"].clone();
    let check = program.json(&["import", "--forget", "--check", &folder], 0);
    assert_eq!(check["counts"]["removed"], 1, "{check}");
    assert_eq!(program.json(&["list", "--layer", "local"], 0)["total"], total, "--check changes nothing");
    assert_eq!(program.json(&["import", "--forget", &folder], 0)["counts"]["removed"], 1);
    let _ = program.json(&["import", "--forget", &single], 0);
    let left = program.json(&["list", "--layer", "local"], 0);
    assert_eq!((&left["total"], &left["skills"][0]["id"]), (&json!(1), &json!("wifi")), "{left}");
    let nothing = program.run(&["import", "--forget", &folder]).code(0);
    assert!(nothing.stderr.contains("nothing was imported from there"), "{}", nothing.stderr);
}

#[test]
fn import_reports_every_skill_and_mirrors_a_folder() {
    let program = Program::new();
    program.write("in/wifi/SKILL.md", crate::program::WIFI);
    let gone = program
        .write("in/note/SKILL.md", "---\nname: note\ndescription: Take a note.\n---\nWrite it down.\n");
    let folder = program.path("in").display().to_string();
    let check = program.json(&["import", "--check", &folder], 0);
    assert_eq!(check["skills"][0]["skill"]["id"], "note", "{check}");
    assert_eq!(program.json(&["list", "--layer", "local"], 0)["total"], 0);
    let report = program.json(&["import", &folder], 0);
    assert_eq!(members(&report), ["counts", "skills"]);
    let first = &report["skills"][0];
    assert_eq!((&first["path"], &first["id"]), (&json!("note/SKILL.md"), &json!("note")));
    assert_eq!(first["outcome"], "added");
    assert!(first["warnings"].is_array() && first.get("skill").is_none(), "{first}");
    assert_eq!(
        report["counts"],
        json!({"added": 2, "changed": 0, "unchanged": 0, "removed": 0, "rejected": 0})
    );
    std::fs::remove_file(gone).expect("the file goes");
    let keep = program.json(&["import", "--keep", &folder], 0);
    assert_eq!((&keep["counts"]["removed"], &keep["counts"]["unchanged"]), (&json!(0), &json!(1)));
    let mirror = program.json(&["import", &folder], 0);
    assert_eq!(mirror["counts"]["removed"], 1);
    let prefixed = program.json(&["import", "--namespace", "mine", &folder], 0);
    assert!(prefixed["skills"].to_string().contains("mine/wifi"), "{prefixed}");
}

#[test]
fn entitlements_are_said_and_shown() {
    let program = Program::new();
    assert_eq!(program.json(&["entitlements", "show"], 0), json!({"subscriptions": [], "hidden": []}));
    program.json(&["entitlements", "grant", "sub_7"], 0);
    program.json(&["entitlements", "revoke", "sub_8"], 0);
    let report = program.json(&["entitlements", "hide", "a/b"], 0);
    assert_eq!(report["hidden"], json!(["a/b"]));
    assert_eq!(
        report["subscriptions"],
        json!([{"id": "sub_7", "active": true, "by": "local"}, {"id": "sub_8", "active": false, "by": "local"}])
    );
    assert_eq!(program.json(&["entitlements", "unhide", "a/b"], 0)["hidden"], json!([]));
}

#[test]
fn status_inspect_verify_rollback_and_compact() {
    let program = Program::filled();
    let status = program.json(&["status"], 0);
    assert_eq!(members(&status), ["entitlements", "layers", "sync"]);
    let local = status["layers"].as_array().expect("layers").iter().find(|l| l["layer"] == "local");
    let local = local.expect("the local layer");
    assert_eq!(members(local), ["bytes", "digest", "generation", "layer", "skills"]);
    assert_eq!(local["skills"], 4);
    assert_eq!(members(&status["sync"]), ["age_s", "ent_seq", "last_error", "seq", "state"]);
    for command in ["inspect", "verify"] {
        let answer = program.json(&[command], 0);
        let files = answer["files"].as_array().expect("files");
        assert!(!files.is_empty());
        for file in files {
            assert_eq!(members(file), ["name", "ok", "problems", "sections"]);
        }
    }
    program.write("in/wifi/SKILL.md", &crate::program::WIFI.replace("tap the network", "tap the other"));
    let folder = program.path("in").display().to_string();
    assert_eq!(program.json(&["import", &folder], 0)["counts"]["changed"], 1);
    let back = program.json(&["rollback", "local"], 0);
    assert_eq!(members(&back), ["changed", "generation", "layer"]);
    assert_eq!(back["changed"], true);
    assert!(program.run(&["get", "wifi"]).code(0).stdout.contains("tap the network"));
    assert!(program.json(&["compact"], 0)["bytes_freed"].is_u64());
}

#[test]
fn tools_scripts_and_pages() {
    let program = Program::new();
    let tools = program.json(&["tools"], 0);
    let tools = tools["tools"].as_array().expect("tools");
    assert!(tools.iter().any(|tool| tool["name"] == "tap" && tool["effect"] == "mutate"));
    assert!(program.run(&["tools"]).code(0).stdout.contains("launch_app"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(program.run(&["completions", shell]).code(0).stdout.contains("entitlements"), "{shell}");
        assert_eq!(program.json(&["completions", shell], 0)["shell"], shell);
    }
    let page = program.run(&["man"]).code(0).stdout;
    assert!(page.contains(".TH repertoire") && page.contains("COMMAND RESOLVE"), "{page}");
    assert_eq!(program.json(&["man"], 0)["page"], page);
}

#[test]
fn export_writes_what_import_reads_back() {
    let program = Program::filled();
    let out = program.path("out").display().to_string();
    let report = program.json(&["export", "--format", "json", &out], 0);
    assert_eq!(members(&report), ["skills"]);
    let lines = report["skills"].as_array().expect("skills");
    assert_eq!(lines.len(), 4);
    assert!(lines.iter().all(|line| line["path"].is_string() && line["lost"] == json!([])), "{report}");
    assert_eq!(program.run(&["export", &out]).code(0).stderr, "", "nothing is lost");
    let other = Program::new();
    other.json(&["import", &out], 0);
    for id in ["wifi", "web/page", "hostile"] {
        let (mine, theirs) = (program.json(&["get", id], 0), other.json(&["get", id], 0));
        assert_eq!(mine["skill"]["digest"], theirs["skill"]["digest"], "{id}");
    }
}

#[test]
fn an_export_names_for_each_skill_what_its_format_cannot_hold() {
    let program = Program::new();
    program.write("in/note/SKILL.md", "---\nname: note\ndescription: Take a note.\n---\nWrite it down.\n");
    program.write("in/note/references/how.md", "Like this.\n");
    program.write("in/wifi/SKILL.md", crate::program::WIFI);
    let old = json!({"id": "old", "kind": "knowledge", "name": "Old", "description": "Was used.", "risk": "high",
        "apps": [{"package": "a.b"}], "updated_at": "2026-01-01T00:00:00Z", "allowed_tools": ["tap"], "locale": "en",
        "status": {"state": "deprecated", "reason": "old"}, "content": "Text.\n"});
    program.write("in/old.skill.json", &old.to_string());
    program.write(
        "in/page.skill.json",
        &json!({"id": "page", "kind": "flow_template", "name": "Page",
        "description": "Opens.", "steps": [{"tool": "open_url", "args_template": {"url": "https://a"}}]})
        .to_string(),
    );
    program.json(&["import", &program.path("in").display().to_string()], 0);
    let (none, gone) = (&[][..], None);
    let beyond = &["apps", "status", "updated_at"][..];
    let rows = [
        (
            "json",
            0,
            1,
            [
                ("note", Some(&["resources"][..])),
                ("old", Some(none)),
                ("page", Some(none)),
                ("wifi", Some(none)),
            ],
        ),
        (
            "agent-skills",
            1,
            2,
            [
                ("note", Some(none)),
                ("old", Some(&["apps", "risk", "status", "updated_at"])),
                ("page", gone),
                ("wifi", Some(&["name", "risk"])),
            ],
        ),
        ("skills-v2", 1, 1, [("note", gone), ("old", Some(beyond)), ("page", gone), ("wifi", Some(none))]),
    ];
    for (format, code, losses, expect) in rows {
        let out = program.path(format).display().to_string();
        let report = program.json(&["export", "--format", format, &out], code);
        for ((id, lost), line) in expect.iter().zip(report["skills"].as_array().expect("skills")) {
            assert_eq!(line["id"], *id);
            assert_eq!(line["path"].is_string(), lost.is_some(), "{format}: {line}");
            assert_eq!(line.get("problems").is_none(), lost.is_some(), "{format}: {line}");
            assert_eq!(line["lost"], json!(lost.unwrap_or_default()), "{format} {id}");
            // What is not named as lost comes back as it was.
            let Some(lost) = lost else { continue };
            let other = Program::new();
            let (folder, file) =
                (program.path(format).join(id), program.path(format).join(format!("{id}.skill.json")));
            let path = if file.exists() { file } else { folder };
            other.json(&["import", &path.display().to_string()], 0);
            let (mut mine, theirs) = (program.json(&["get", id], 0), other.json(&["get", id], 0));
            let mut theirs = theirs["skill"].clone();
            for field in lost.iter().chain(&["digest"]) {
                mine["skill"].as_object_mut().expect("a skill").remove(*field);
                theirs.as_object_mut().expect("a skill").remove(*field);
            }
            assert_eq!(mine["skill"], theirs, "{format} {id}");
        }
        let said = program.run(&["export", "--format", format, &out]).code(code);
        assert!(said.stderr.contains(&format!("warning: {losses} skill")), "{format}: {}", said.stderr);
    }
}
