//! Findings as SARIF 2.1.0, which code review tools read.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::lint::Finding;
use crate::lint::rules::RULES;

/// The address under which the schema is published.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// A SARIF log with one run. Paths are taken as relative to the folder that is reviewed.
///
/// Cost: linear in the findings.
#[must_use]
pub fn sarif(findings: &[Finding]) -> Value {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            json!({
                "id": rule.code,
                "shortDescription": {"text": rule.summary},
                "defaultConfiguration": {"level": rule.severity.name()},
            })
        })
        .collect();
    let results: Vec<Value> = findings.iter().map(result).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": {
                "name": "repertoire",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            }},
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let mut result = json!({
        "ruleId": finding.code,
        "level": finding.severity.name(),
        "message": {"text": finding.message},
    });
    if let Some(index) = RULES.iter().position(|rule| rule.code == finding.code) {
        result["ruleIndex"] = json!(index);
    }
    let mut location = Map::new();
    if let Some(path) = &finding.path {
        let mut physical = json!({"artifactLocation": {"uri": uri(path)}});
        if let Some(line) = finding.line {
            physical["region"] = json!({"startLine": line, "startColumn": finding.column.unwrap_or(1)});
        }
        location.insert("physicalLocation".to_owned(), physical);
    }
    if let Some(id) = &finding.id {
        let mut logical = json!({"name": id, "kind": "object"});
        if !finding.field.is_empty() {
            logical["fullyQualifiedName"] = json!(format!("{id}#{}", finding.field));
        }
        location.insert("logicalLocations".to_owned(), json!([logical]));
    }
    if !location.is_empty() {
        result["locations"] = json!([location]);
    }
    result
}

/// A path as a URI reference: what a URI does not hold is escaped.
fn uri(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    if path.starts_with('/') {
        out.push_str("file://");
    }
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'.' | b'-' | b'_' | b'~') {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
