//! `TouchPilot` v1: a SKILL.md without front matter, whose prose names its tools.

use crate::error::Problem;
use crate::import::fields::Written;
use crate::import::identity::one_line;
use crate::import::skill_md::{Draft, texts, unknown_tools};
use crate::import::text::{Position, saturate};
use crate::limits::DESCRIPTION_CHARS_ADVISED;
use crate::model::{Kind, Risk, Skill, slug};
use crate::tools::ToolRegistry;

/// The line that makes prose a v1 skill.
const TOOLS_HEADING: &str = "allowed initial tools:";

/// Whether a text without front matter is a v1 skill: a title first, and the tools heading somewhere.
pub(crate) fn is_legacy(text: &str) -> bool {
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| line.starts_with("# ")) && text.lines().any(|line| tools_on(line).is_some())
}

/// Reads a v1 skill: the folder's name is the id, the title the name, the first paragraph the description; the risk
/// is high unless the text states another.
pub(crate) fn read(text: &str, directory: &str, registry: &ToolRegistry) -> Draft {
    let title_line = text.lines().position(|line| line.starts_with("# ")).unwrap_or(0);
    let title = one_line(text.lines().nth(title_line).unwrap_or_default().trim_start_matches('#').trim());
    let title = if title.is_empty() { directory.to_owned() } else { title };
    let description = first_paragraph(text.lines().skip(title_line + 1)).unwrap_or_else(|| title.clone());
    let mut skill = Skill::new(slug(directory), Kind::Knowledge, title, description);
    let tools = tools(text);
    let problems = unknown_tools(&tools, registry);
    skill.allowed_tools = Some(texts(Some(tools)));
    let message =
        "the file has no front matter; write it as Skills v2 (`repertoire export --format skills-v2`)";
    let mut warnings = vec![Problem::new("legacy_v1_format", "", message).at(1, 1)];
    skill.risk = text.lines().find_map(stated_risk);
    if skill.risk.is_none() {
        skill.risk = Some(Risk::High);
        let message = "the file states no risk; high is assumed: state it in Skills v2 front matter";
        warnings.push(Problem::new("risk_defaulted", "risk", message).at(1, 1));
    }
    text.trim_start_matches('\n').clone_into(&mut skill.content);
    let place = Position { line: saturate(title_line + 1), column: 1 };
    Draft {
        skill,
        problems,
        warnings,
        places: vec![("id", Position::START), ("name", place), ("description", place)],
        nameless: false,
    }
}

/// What stands behind the tools heading on its own line, if the line is one.
fn tools_on(line: &str) -> Option<&str> {
    let line = line.trim().trim_start_matches(['#', '*', ' ']);
    let head = line.get(..TOOLS_HEADING.len())?;
    head.eq_ignore_ascii_case(TOOLS_HEADING).then(|| line[TOOLS_HEADING.len()..].trim_matches(['*', ' ']))
}

/// The tools of the heading's line and of the list below it.
fn tools(text: &str) -> Vec<Written> {
    let mut found = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let position = Position { line: saturate(number + 1), column: 1 };
        if let Some(rest) = tools_on(line) {
            inside = true;
            found.extend(rest.split([',', ' ']).filter_map(|word| tool(word, position)));
        } else if inside {
            match line.trim().strip_prefix(['-', '*', '+']) {
                Some(item) => {
                    found.extend(tool(item.split_whitespace().next().unwrap_or_default(), position));
                }
                None if line.trim().is_empty() => {}
                None => inside = false,
            }
        }
    }
    found
}

fn tool(word: &str, position: Position) -> Option<Written> {
    let name = word.trim().trim_matches(['`', '*', ',', '.', ':', '"']);
    (!name.is_empty()).then(|| Written { text: name.to_owned(), position })
}

/// `Risk: low` on a line of its own, in bold or not.
fn stated_risk(line: &str) -> Option<Risk> {
    let plain: String = line.chars().filter(|c| !matches!(c, '*' | '`' | '#')).collect();
    let (key, value) = plain.trim().trim_start_matches("- ").split_once(':')?;
    let is_risk = key.trim().eq_ignore_ascii_case("risk");
    is_risk
        .then(|| Risk::from_name(value.trim().trim_end_matches('.').to_ascii_lowercase().as_str()))
        .flatten()
}

/// The first lines of prose, joined; headings, lists, tables and code are none.
pub(crate) fn first_paragraph<'t>(lines: impl Iterator<Item = &'t str>) -> Option<String> {
    let prose = |line: &&str| {
        let line = line.trim();
        !line.is_empty()
            && !line.starts_with(['#', '-', '*', '+', '>', '|', '`', '<'])
            && tools_on(line).is_none()
            && stated_risk(line).is_none()
    };
    let lines: Vec<&str> = lines.skip_while(|line| !prose(line)).take_while(prose).collect();
    let paragraph: String = one_line(&lines.join(" ")).chars().take(DESCRIPTION_CHARS_ADVISED).collect();
    (!paragraph.is_empty()).then_some(paragraph)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_with_a_title_and_the_heading_is_a_v1_skill() {
        assert!(is_legacy("\n# Browser\n\nAllowed initial tools:\n- `tap`\n"));
        assert!(is_legacy("# B\n**Allowed initial tools:** tap"));
        assert!(!is_legacy("# Browser\n\nTools: tap\n"));
        assert!(!is_legacy("Allowed initial tools:\n- tap\n"));
    }

    #[test]
    fn tools_are_found_on_the_line_and_in_the_list() {
        let names = |text: &str| texts(Some(tools(text)));
        assert_eq!(
            names("Allowed initial tools:\n\n- `open_app`\n- `tap` to press\n\nThen - stop.\n- `swipe`"),
            ["open_app", "tap"]
        );
        assert_eq!(names("## Allowed initial tools: `tap`, open_app"), ["tap", "open_app"]);
        assert_eq!(names("Allowed initial tools:\n\nNone."), Vec::<String>::new());
    }

    #[test]
    fn the_risk_is_read_where_it_is_stated() {
        assert_eq!(stated_risk("**Risk:** Low"), Some(Risk::Low));
        assert_eq!(stated_risk("- Risk: medium."), Some(Risk::Medium));
        assert_eq!(stated_risk("Risk: none"), None);
        assert_eq!(stated_risk("The risk: high"), None);
    }

    #[test]
    fn the_first_paragraph_describes() {
        let text = "# T\n\nAllowed initial tools:\n- `tap`\n\nOpen the\nbrowser.\n\nMore.";
        assert_eq!(first_paragraph(text.lines()).as_deref(), Some("Open the browser."));
        assert_eq!(first_paragraph("# T\n- a\n".lines()), None);
    }
}
