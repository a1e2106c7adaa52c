//! Problems of files as people see them: message, code, place, and the line with carets below it.

use std::fs;
use std::path::Path;

use crate::program::Program;

#[test]
fn problems_are_shown_in_their_lines() {
    let program = Program::new();
    let long = "long ".repeat(400);
    let files = [
        (
            "a.skill.json",
            "{\n\t\"id\": \"a\", \"kind\": \"flow_template\", \"name\": \"\u{6253}\u{5f00}\", \"descripton\": \"x\",\n  \
             \"risk\": \"low\", \"risk\": \"none\",\n  \"steps\": [{\"tool\": \"no_such_tool\", \"args_template\": {\"x\": \
             \"{gone}\"}}]\n}\n",
        ),
        ("broken.skill.json", "{\"id\": \"b\",\n \"kind\" \"knowledge\"}"),
        (
            "long.skill.json",
            &format!(
                "{{\"id\":\"l\",\"kind\":\"knowledge\",\"name\":\"L\",\"description\":\"{long}\",\"content\":\"\",\"tagz\":\"{long}\"}}"
            ),
        ),
        (
            "unavailable.skill.json",
            "{\"id\":\"u\",\"kind\":\"knowledge\",\"name\":\"U\",\"description\":\"D.\",\"content\":\"x\",\n\
             \"allowed_tools\":[\"tap\", \"fly\"]}",
        ),
        (
            "lint/SKILL.md",
            // The key is written in two parts, so that no scanner takes this file for a leak.
            &format!(
                "---\nname: lint\ndescription: Opens the lamp.\naliases:\n  - lamp\n---\nTap\u{200b} it.\nkey: AKIA{}\n",
                "QYLPMN5HHHFPZAM2"
            ),
        ),
        ("settings.json", "{\n  // \u{1b}[31mred \u{202e}\n  \"a\": 1\n}\n"),
        (
            "s/SKILL.md",
            "---\nname: s\ndescription: Does: this\nname: t\nextra: \u{9b}\u{200b}x\n---\nBody.\n",
        ),
    ];
    for (path, text) in files {
        program.write(&format!("in/{path}"), text);
    }
    let answer = program.run_inside(&["import", "--check", "in"]).code(1);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden/diagnostics.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&golden, &answer.stdout).expect("the golden file is written");
    }
    let expected = fs::read_to_string(&golden).unwrap_or_default();
    assert!(answer.stdout == expected, "diagnostics.txt differs; look at it\n{}", answer.stdout);
    assert!(
        answer.stdout.is_ascii() || !answer.stdout.contains(['\u{1b}', '\u{202e}', '\u{9b}', '\u{200b}'])
    );
    let painted = program.run_inside(&["--color", "always", "import", "--check", "in"]).code(1).stdout;
    let bare = strip(&painted);
    assert_eq!(bare, expected, "colour changes nothing else");
}

/// Takes out colour sequences of our own; an escape character that came from a file would stay.
fn strip(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("\u{1b}[") {
        out.push_str(&rest[..at]);
        let sequence = &rest[at + 2..];
        let end = sequence.find(|c: char| !c.is_ascii_digit() && c != ';').expect("a whole sequence");
        assert!(sequence[end..].starts_with('m'), "only colours");
        rest = &sequence[end + 1..];
    }
    out.push_str(rest);
    out
}
