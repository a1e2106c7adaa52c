//! The rules of the house that a compiler does not check: what may import what, how long a file may be, which words
//! may stand where. A failing test names every place at once.

#![expect(clippy::unwrap_used, reason = "a rule that cannot be checked should say where")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Longest source file.
const LINES_MAX: usize = 600;

/// The only two files with `unsafe` code.
const UNSAFE_FILES: [&str; 2] = ["src/snapshot/map.rs", "src/snapshot/record.rs"];

/// Files that are tables of words in many scripts, where escapes would hide what they hold.
const WORD_TABLES: [&str; 1] = ["src/index/text/function_words.rs"];

/// Every top-level module with its layer; a longer path wins. A module never imports one of a higher layer.
const LAYERS: [(&str, u8); 32] = [
    ("limits", 0),
    ("error", 0),
    ("observe", 0),
    ("model", 1),
    ("tools", 1),
    ("snapshot", 2),
    ("index", 3),
    ("entitlement", 3),
    ("flow", 3),
    ("bundled", 3),
    ("catalog", 4),
    ("import", 5),
    ("learn", 5),
    ("intake", 6),
    ("authoring", 6),
    ("lint", 6),
    ("sync", 6),
    ("device", 6),
    ("policy", 6),
    ("guard", 6),
    ("sync/http", 7),
    ("sync/webhook", 7),
    ("sync/objects", 7),
    ("device/adb", 7),
    ("platform", 7),
    ("mcp", 7),
    ("console", 7),
    ("cli", 8),
    ("main", 8),
    ("lib", 9),
    ("eval", 7),
    ("bench", 7),
];

/// Layer of what `lib.rs` re-exports at the root.
fn layer_of_root_name(name: &str) -> u8 {
    match name {
        "Error" | "Problem" | "Result" => 0,
        "Entry" | "Layer" | "Skill" => 1,
        "Narrowing" => 3,
        _ => 4,
    }
}

#[test]
fn no_module_imports_a_higher_layer() {
    let mut faults = Vec::new();
    for file in rust_files("src") {
        let path = file.path.strip_prefix("src/").unwrap_or(&file.path).trim_end_matches(".rs");
        let path = path.trim_end_matches("/mod");
        let Some(own) = layer_of(path) else {
            faults.push(format!("{}: give the module a layer in LAYERS of this test", file.path));
            continue;
        };
        for import in imports(&file.code) {
            let imported = if import.starts_with(char::is_uppercase) {
                Some(layer_of_root_name(import.split('/').next().unwrap_or_default()))
            } else {
                layer_of(&import)
            };
            match imported {
                Some(layer) if layer > own => {
                    faults.push(format!("{}: layer {own} imports {import} of layer {layer}", file.path));
                }
                Some(_) => {}
                None => faults.push(format!("{}: imports {import}, which has no layer", file.path)),
            }
        }
    }
    assert_none("a lower layer never imports a higher one", &faults);
}

/// The layer of a module path such as `sync/http/client`.
fn layer_of(path: &str) -> Option<u8> {
    let fits =
        |module: &str| path == module || path.strip_prefix(module).is_some_and(|rest| rest.starts_with('/'));
    LAYERS
        .iter()
        .filter(|(module, _)| fits(module))
        .max_by_key(|(module, _)| module.len())
        .map(|&(_, layer)| layer)
}

/// Paths after `crate::` in code, `use` groups opened one level: `model/text`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let before = code[..at].chars().next_back().unwrap_or(' ');
        if before == '$' || before == '_' || before.is_alphanumeric() {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        if let Some(group) = rest.strip_prefix('{') {
            out.extend(group_members(group).into_iter().filter_map(|member| path_at(&member)));
        } else {
            out.extend(path_at(rest));
        }
    }
    out
}

/// The first two segments of a path, joined by `/`.
fn path_at(text: &str) -> Option<String> {
    let word = |text: &str| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let first = word(text);
    let rest = text.trim_start().strip_prefix(first.as_str())?;
    let second = rest.strip_prefix("::").map(word).unwrap_or_default();
    if first.is_empty() || first == "self" {
        return None;
    }
    let module = !second.is_empty() && second.starts_with(char::is_lowercase);
    Some(if module { format!("{first}/{second}") } else { first })
}

/// Members of a `{...}` group whose brace is already open.
fn group_members(text: &str) -> Vec<String> {
    let mut depth = 0;
    let mut members = vec![String::new()];
    for c in text.chars() {
        match c {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => members.push(String::new()),
            _ => {}
        }
        if let Some(last) = members.last_mut()
            && (c != ',' || depth > 0)
        {
            last.push(c);
        }
    }
    members
}

#[test]
fn no_source_file_is_longer_than_six_hundred_lines() {
    let faults: Vec<String> = all_rust_files()
        .into_iter()
        .filter_map(|file| {
            let lines = file.text.lines().count();
            (lines > LINES_MAX).then(|| format!("{}: {lines} lines", file.path))
        })
        .collect();
    assert_none("split by nouns", &faults);
}

#[test]
fn unsafe_code_stands_in_two_files_only() {
    let mut faults = Vec::new();
    for file in all_rust_files() {
        let used = words(&file.code).any(|word| word == "unsafe");
        if used && !UNSAFE_FILES.contains(&file.path.as_str()) && file.path.starts_with("src/") {
            faults.push(file.path);
        }
    }
    assert_none("only the mapping and the record accessor may be unsafe", &faults);
}

#[test]
fn code_and_comments_are_ascii_and_so_are_the_texts_of_the_program() {
    let mut faults = Vec::new();
    for file in all_rust_files() {
        let shipped = if file.path.starts_with("src/") && !is_test_file(&file.path) {
            file.text.find("#[cfg(test)]").unwrap_or(file.text.len())
        } else {
            0
        };
        for (number, (text, code)) in file.text.lines().zip(file.code_and_comments.lines()).enumerate() {
            if !code.is_ascii() {
                faults.push(format!("{}:{}: {text}", file.path, number + 1));
            }
        }
        if !file.text[..shipped].is_ascii() && !WORD_TABLES.contains(&file.path.as_str()) {
            faults.push(format!(
                "{}: a literal before the tests is not ASCII; write it as an escape",
                file.path
            ));
        }
    }
    assert_none("other scripts belong into tests, fixtures and data files", &faults);
}

/// Files that are compiled for tests only.
fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name == "tests.rs" || name == "strategy.rs" || name.ends_with("_tests.rs") || path.contains("/tests/")
}

#[test]
fn every_link_in_the_documents_leads_somewhere() {
    let mut faults = Vec::new();
    for (path, text) in documents() {
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            let (file, anchor) = link.split_once('#').unwrap_or((link.as_str(), ""));
            let folder = Path::new(&path).parent().unwrap_or(Path::new(""));
            let target = if file.is_empty() { root().join(&path) } else { root().join(folder).join(file) };
            if !target.exists() {
                faults.push(format!("{path}: {link} does not exist"));
            } else if !anchor.is_empty() && target.extension().is_some_and(|extension| extension == "md") {
                let headings = fs::read_to_string(&target).unwrap();
                if !headings
                    .lines()
                    .filter(|line| line.starts_with('#'))
                    .any(|line| anchor_of(line) == anchor)
                {
                    faults.push(format!("{path}: {link} names no heading"));
                }
            }
        }
    }
    assert_none("links must resolve", &faults);
}

/// Targets of `[text](target)` outside of code.
fn links(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect::<Vec<_>>().join("code");
        for part in prose.split("](").skip(1) {
            out.extend(part.split(')').next().map(str::to_owned));
        }
    }
    out
}

/// The anchor of a heading: lower case, no punctuation, spaces as hyphens.
fn anchor_of(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    text.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn every_feature_and_dependency_is_explained_in_the_architecture() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let page = fs::read_to_string(root().join("docs/architecture.md")).unwrap();
    let mut faults = Vec::new();
    let mut section = String::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            section = line.trim_matches(['[', ']']).to_owned();
        }
        let Some((name, _)) = line.split_once('=') else { continue };
        let name = name.trim();
        let named = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'));
        let wanted = section == "features" || section.ends_with("dependencies");
        if named && wanted && !line.starts_with(' ') && !page.contains(&format!("`{name}`")) {
            faults.push(format!("{section}: {name}"));
        }
    }
    assert_none("add a line to docs/architecture.md", &faults);
}

#[test]
fn every_decision_is_listed_and_has_a_number_of_its_own() {
    let folder = root().join("docs/decisions");
    let index = fs::read_to_string(folder.join("README.md")).unwrap();
    let mut names: Vec<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "README.md")
        .collect();
    names.sort();
    let mut faults = Vec::new();
    let mut numbers = BTreeSet::new();
    for name in &names {
        // Numbers are given out before records are written, so that some may be missing.
        let number = name.split_once('-').map(|(number, _)| number).filter(|number| number.len() == 4);
        let number = number.and_then(|number| number.parse::<u32>().ok());
        if number.is_none_or(|number| !numbers.insert(number)) {
            faults.push(format!("{name} has no number of its own"));
        }
        if !index.contains(&format!("]({name})")) {
            faults.push(format!("{name} is not in the list"));
        }
    }
    assert_none("docs/decisions/README.md lists every record", &faults);
}

#[test]
fn no_file_names_a_path_of_somebodys_machine() {
    // Written in two parts each, so that this file passes its own test.
    let roots = [["/wo", "rk/"], ["/ro", "ot/"], ["/ho", "me/"], ["/Use", "rs/"]].map(|parts| parts.concat());
    let mut faults = Vec::new();
    for path in tracked_files() {
        let Ok(text) = fs::read_to_string(root().join(&path)) else { continue };
        for (number, line) in text.lines().enumerate() {
            for root in &roots {
                let found = line.match_indices(root.as_str()).any(|(at, _)| {
                    let before = line[..at].chars().next_back().unwrap_or(' ');
                    !before.is_alphanumeric() && !matches!(before, '.' | '-' | '_' | '}' | '/' | '~' | '$')
                });
                if found {
                    faults.push(format!("{path}:{}: {}", number + 1, line.trim()));
                }
            }
        }
    }
    assert_none("use a relative path or a temporary folder", &faults);
}

#[test]
fn nothing_is_left_to_be_done_later() {
    let marks = [["TO", "DO"], ["FIX", "ME"], ["X", "XX"]].map(|parts| parts.concat());
    let macros = [["todo", "!"], ["unimplemented", "!"], ["dbg", "!"]].map(|parts| parts.concat());
    let mut faults = Vec::new();
    for file in all_rust_files() {
        for (number, line) in file.code_and_comments.lines().enumerate() {
            let marked = marks.iter().any(|mark| words(line).any(|word| word == mark));
            if marked || macros.iter().any(|name| line.contains(name.as_str())) {
                faults.push(format!("{}:{}: {}", file.path, number + 1, line.trim()));
            }
        }
    }
    assert_none("do it, or write a record in docs/decisions", &faults);
}

#[test]
fn scripts_are_executable() {
    #[cfg(unix)]
    for script in ["tests/run", ".ci/run"] {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::metadata(root().join(script)).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{script}");
    }
}

/// A Rust file, whole and with parts of it blanked; lines stay where they are.
struct RustFile {
    path: String,
    text: String,
    code: String,
    code_and_comments: String,
}

fn all_rust_files() -> Vec<RustFile> {
    let folders = ["src", "tests", "benches", "fuzz/fuzz_targets", "examples"];
    folders.into_iter().flat_map(rust_files).collect()
}

fn rust_files(folder: &str) -> Vec<RustFile> {
    let mut files = Vec::new();
    for path in files_below(&root().join(folder)) {
        if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let (code, code_and_comments) = blank(&text);
            files.push(RustFile { path: relative(&path), text, code, code_and_comments });
        }
    }
    files
}

/// The text with literals and comments blanked, and with literals alone blanked.
fn blank(text: &str) -> (String, String) {
    let chars: Vec<char> = text.chars().collect();
    let (mut code, mut commented) = (String::new(), String::new());
    let mut at = 0;
    while at < chars.len() {
        let (end, kind) = token(&chars, at);
        for &c in &chars[at..end] {
            let gap = if c == '\n' { '\n' } else { ' ' };
            code.push(if kind == Token::Code { c } else { gap });
            commented.push(if kind == Token::Literal { gap } else { c });
        }
        at = end;
    }
    (code, commented)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Code,
    Comment,
    Literal,
}

/// Where the token that begins at `at` ends; code goes character by character.
fn token(chars: &[char], at: usize) -> (usize, Token) {
    let peek = |offset: usize| chars.get(at + offset).copied().unwrap_or('\0');
    let find = |from: usize, fits: &dyn Fn(usize) -> bool| {
        (from..chars.len()).find(|&i| fits(i)).unwrap_or(chars.len())
    };
    let in_word = at > 0 && (chars[at - 1].is_alphanumeric() || chars[at - 1] == '_');
    match chars[at] {
        '/' if peek(1) == '/' => (find(at, &|i| chars[i] == '\n'), Token::Comment),
        '/' if peek(1) == '*' => {
            (find(at + 2, &|i| chars[i] == '*' && chars.get(i + 1) == Some(&'/')) + 2, Token::Comment)
        }
        'r' if !in_word || chars[at - 1] == 'b' => {
            let hashes = chars[at + 1..].iter().take_while(|&&c| c == '#').count();
            if peek(1 + hashes) != '"' {
                return (at + 1, Token::Code);
            }
            let closed = |i: usize| chars[i] == '"' && (1..=hashes).all(|n| chars.get(i + n) == Some(&'#'));
            ((find(at + 2 + hashes, &closed) + 1 + hashes).min(chars.len()), Token::Literal)
        }
        '"' => {
            let mut i = at + 1;
            while i < chars.len() && chars[i] != '"' {
                i += if chars[i] == '\\' { 2 } else { 1 };
            }
            ((i + 1).min(chars.len()), Token::Literal)
        }
        '\'' if peek(1) == '\\' => {
            ((find(at + 3, &|i| chars[i] == '\'') + 1).min(chars.len()), Token::Literal)
        }
        '\'' if peek(2) == '\'' => (at + 3, Token::Literal),
        _ => (at + 1, Token::Code),
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
}

/// Markdown files of the project.
fn documents() -> Vec<(String, String)> {
    let kept = |path: &String| {
        path == "README.md"
            || (path.starts_with("docs/")
                && Path::new(path).extension().is_some_and(|extension| extension == "md"))
    };
    let paths = tracked_files().into_iter().filter(kept);
    paths.map(|path| (path.clone(), fs::read_to_string(root().join(path)).unwrap())).collect()
}

/// Files that belong to the project: what git tracks, or without git what lies here apart from what builds leave.
fn tracked_files() -> Vec<String> {
    let answer = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output();
    if let Ok(answer) = answer
        && answer.status.success()
    {
        let paths = String::from_utf8_lossy(&answer.stdout).lines().map(str::to_owned).collect::<Vec<_>>();
        return paths.into_iter().filter(|path| root().join(path).is_file()).collect();
    }
    files_below(&root()).iter().map(|path| relative(path)).collect()
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let left = |path: &PathBuf| {
        !path
            .file_name()
            .is_some_and(|name| ["target", ".git", ".venv", "artifacts"].iter().any(|left| name == *left))
    };
    let below = |path: PathBuf| if path.is_dir() { files_below(&path) } else { vec![path] };
    paths.into_iter().filter(left).flat_map(below).collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/")
}

fn assert_none(rule: &str, faults: &[String]) {
    assert!(faults.is_empty(), "{rule}:\n{}", faults.join("\n"));
}

#[test]
fn the_reader_of_this_test_tells_code_from_comments_and_literals() {
    let text = "let a = \"crate::x \\\" //\"; // crate::y\nlet b = r#\"crate::z\"#; let c = '\"'; crate::model::text::f();";
    let (code, commented) = blank(text);
    assert_eq!(imports(&code), BTreeSet::from(["model/text".to_owned()]));
    assert!(commented.contains("crate::y") && !commented.contains("crate::z"));
    let group = "use crate::{model::{Kind, Skill}, Error, tools::ToolSpec};";
    assert_eq!(imports(group), BTreeSet::from(["Error", "model", "tools"].map(str::to_owned)));
    let life = "fn f<'a>(x: &'a str) -> &'a str { crate::limits::x(x) }";
    assert_eq!(imports(&blank(life).0), BTreeSet::from(["limits/x".to_owned()]));
}
