//! `docs/mcp.md` says what the tool table says.

use std::fmt::Write as _;
use std::path::PathBuf;

use repertoire::mcp::{ArgumentKind, ERRORS, QueryTool, TOOLS};
use serde_json::Value;

/// Everything behind this line of the document is written by this test.
const MARK: &str = "<!-- generated from the tool table by tests/mcp; UPDATE_GOLDEN=1 writes it anew -->\n";

#[test]
fn the_document_describes_every_tool_and_error_of_the_table() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/mcp.md");
    let document = std::fs::read_to_string(&path).expect("docs/mcp.md");
    let (written, generated) = document.split_once(MARK).expect("the mark is in the document");
    let wanted = generate();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, format!("{written}{MARK}{wanted}")).expect("writes");
        return;
    }
    assert!(generated == wanted, "docs/mcp.md differs from the tool table; UPDATE_GOLDEN=1 writes it anew");
}

fn generate() -> String {
    let mut text = String::from("\n### Codes\n\n| code | meaning | hint |\n| --- | --- | --- |\n");
    for entry in ERRORS {
        let _ = writeln!(text, "| `{}` | {} | {} |", entry.code, entry.meaning, entry.hint);
    }
    text.push_str("\n## Tools\n");
    for tool in TOOLS {
        describe(&mut text, tool);
    }
    text
}

fn describe(text: &mut String, tool: &QueryTool) {
    let _ = write!(
        text,
        "\n### {}\n\n{}\n\n| argument | takes | |\n| --- | --- | --- |\n",
        tool.name, tool.description
    );
    for argument in tool.arguments {
        let takes = match argument.kind {
            ArgumentKind::Text { max_bytes: Some(max) } => format!("text, at most {max} bytes"),
            ArgumentKind::Text { max_bytes: None } => "text".to_owned(),
            ArgumentKind::Choice { allowed } => format!("`{}`", allowed.join("` or `")),
            ArgumentKind::Count { minimum, maximum, default } => {
                format!("{minimum} to {maximum}, {default} if left out")
            }
            ArgumentKind::Object => "object".to_owned(),
            _ => panic!("a kind of argument that the document does not know: {argument:?}"),
        };
        let required = if argument.required { " (required)" } else { "" };
        let _ = writeln!(text, "| `{}`{required} | {takes} | {} |", argument.name, argument.description);
    }
    let _ =
        write!(text, "\nErrors: `{}`, and those of the server's own trouble.\n", tool.errors.join("`, `"));
    for (title, schema) in [("Input schema", tool.input_schema()), ("Output schema", tool.output_schema())] {
        let shown = serde_json::to_string(&Value::Object(schema)).expect("serialises");
        let _ = write!(text, "\n{title}:\n\n```json\n{shown}\n```\n");
    }
}

#[test]
fn the_packaging_names_this_version_and_every_tool() {
    let read = |name: &str| -> Value {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("docs/packaging").join(name);
        serde_json::from_str(&std::fs::read_to_string(path).expect("reads")).expect("JSON")
    };
    let (server, manifest) = (read("server.json"), read("manifest.json"));
    for version in [&server["version"], &server["packages"][0]["version"], &manifest["version"]] {
        assert_eq!(version, env!("CARGO_PKG_VERSION"));
    }
    let named: Vec<_> =
        manifest["tools"].as_array().expect("tools").iter().map(|tool| tool["name"].clone()).collect();
    let offered: Vec<_> = TOOLS.iter().map(|tool| Value::from(tool.name)).collect();
    assert_eq!(named, offered);
    let described = server["description"].as_str().expect("a text");
    assert!(described.len() <= 100, "registries take at most 100 characters: {}", described.len());
}
