//! `docs/lint.md` lists every rule, and no other.

use std::fmt::Write as _;
use std::path::PathBuf;

use repertoire::lint::RULES;

/// What stands between these is written by this test.
const BEGIN: &str =
    "<!-- from the table of rules; UPDATE_GOLDEN=1 cargo test --test lint writes it anew -->\n";
const END: &str = "<!-- end -->\n";

#[test]
fn the_document_lists_every_rule_with_its_severity() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/lint.md");
    let document = std::fs::read_to_string(&path).expect("docs/lint.md");
    let (before, rest) = document.split_once(BEGIN).expect("the table begins");
    let (table, after) = rest.split_once(END).expect("the table ends");
    let mut wanted = String::from("\n| code | severity | finds |\n| --- | --- | --- |\n");
    for rule in RULES {
        writeln!(wanted, "| `{}` | {} | {} |", rule.code, rule.severity.name(), rule.summary)
            .expect("a string");
    }
    wanted.push('\n');
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{wanted}{END}{after}")).expect("writes");
        return;
    }
    assert!(table == wanted, "docs/lint.md differs from the rules; UPDATE_GOLDEN=1 writes the table anew");
    let mut codes: Vec<&str> = RULES.iter().map(|rule| rule.code).collect();
    assert!(codes.iter().all(|code| code.starts_with("lint_")));
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), RULES.len(), "every code once");
    for code in document.split('`').filter(|word| word.starts_with("lint_")) {
        assert!(codes.contains(&code), "{code} is in the document and no rule");
    }
    for rule in RULES {
        assert!(
            after.contains(&format!("`{}`", rule.code)),
            "{} is not explained below the table",
            rule.code
        );
    }
}
