//! A SKILL.md of any bytes: a skill that keeps every rule of the model, or problems with their codes and places; never a
//! panic, and never both.
#![no_main]

use std::sync::{Arc, OnceLock};

use libfuzzer_sys::fuzz_target;
use repertoire::Problem;
use repertoire::import::{FileContext, read_skill_file};
use repertoire::tools::ToolRegistry;

fn registry() -> &'static Arc<ToolRegistry> {
    static REGISTRY: OnceLock<Arc<ToolRegistry>> = OnceLock::new();
    REGISTRY.get_or_init(ToolRegistry::builtin)
}

/// Fields that are never guessed at.
const SAFETY_FIELDS: [&str; 5] = ["id", "name", "risk", "allowed_tools", "allowed-tools"];

fuzz_target!(|bytes: &[u8]| {
    let report = read_skill_file(&FileContext::new("a/SKILL.md", "a", bytes), registry());
    assert_eq!(report.skills.len(), 1, "one file is one line of the report");
    let skill = &report.skills[0];
    let text = String::from_utf8_lossy(bytes);
    let lines = text.replace("\r\n", "\n").replace('\r', "\n").split('\n').count();
    let check = |problem: &Problem| {
        assert!(!problem.code.is_empty() && !problem.message.is_empty());
        assert!(problem.line.is_none_or(|line| line >= 1 && line as usize <= lines), "{problem:?}");
    };
    skill.warnings.iter().for_each(check);
    for excerpt in &skill.excerpts {
        assert!(excerpt.first_column <= excerpt.column && !excerpt.text.contains('\n'));
    }
    match &skill.result {
        Ok(entry) => {
            assert_eq!(entry.skill.problems(), vec![], "what is accepted keeps the rules");
            assert_eq!(entry.source_text.as_deref(), Some(bytes));
            for warning in &skill.warnings {
                let repaired = warning.code == "yaml_repaired" || warning.code == "duplicate_key";
                assert!(!repaired || !SAFETY_FIELDS.contains(&warning.field.as_str()), "{warning:?}");
            }
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            problems.iter().for_each(check);
        }
    }
});
