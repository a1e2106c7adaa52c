//! Help texts, as golden files.

use std::fs;
use std::path::Path;

use crate::program::bare;

#[test]
fn help_is_as_it_was_agreed() {
    let mut words: Vec<Vec<&str>> = vec![vec![]];
    words.extend(COMMANDS.iter().map(|command| vec![*command]));
    words.push(vec!["entitlements", "grant"]);
    words.push(vec!["platform", "check"]);
    for command in words {
        let done = bare().args(&command).arg("--help").output().expect("it runs");
        assert_eq!(done.status.code(), Some(0), "{command:?}");
        let text = String::from_utf8(done.stdout).expect("text");
        let name = if command.is_empty() { "repertoire".to_owned() } else { command.join("-") };
        compare(&format!("help-{name}.txt"), &text);
    }
}

/// All commands, in the order of the help.
pub(crate) const COMMANDS: [&str; 24] = [
    "demo",
    "serve",
    "sync",
    "list",
    "search",
    "match",
    "get",
    "resolve",
    "import",
    "export",
    "lint",
    "entitlements",
    "status",
    "inspect",
    "verify",
    "rollback",
    "compact",
    "tools",
    "config",
    "eval",
    "bench",
    "platform",
    "completions",
    "man",
];

/// Compares with a golden file, or writes it.
fn compare(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, text).expect("the golden file is written");
        return;
    }
    let golden = fs::read_to_string(&path).unwrap_or_default();
    assert!(golden == text, "{name} differs; look at it and run with UPDATE_GOLDEN=1\n{text}");
}
