//! What the tour shows, in order.

use std::path::Path;
use std::process::{Command, Stdio};

use repertoire::error::counted;
use repertoire::intake::{self, ImportOptions};
use repertoire::{Catalog, Filter, LocalStatement, Narrowing, Pin, View};
use serde_json::{Map, Value};

use super::samples;
use super::stage::Stage;
use crate::cli::command::import::sums;
use crate::cli::exit::{Exit, Failure};
use crate::cli::folder::Folder;

/// "coffee shop" in Chinese.
const COFFEE_SHOP: &str = "\u{5496}\u{5561}\u{5e97}";
/// Skills that a step shows.
const SHOWN: usize = 3;

/// Shows everything.
pub(super) fn show(stage: &mut Stage<'_>, folder: &Folder, program: &Path) -> Result<(), Failure> {
    let data = folder.path().join("data");
    let skills = folder.path().join("skills");
    samples::write(&skills)?;
    let catalog = open(stage, &data)?;
    import(stage, &catalog, &skills)?;
    let mut view = catalog.view(Narrowing::default());
    search(stage, &mut view)?;
    resolve(stage, &mut view)?;
    hide(stage, &catalog, &mut view, &data, program)
}

fn open(stage: &mut Stage<'_>, data: &Path) -> Result<Catalog, Failure> {
    let mut opened = None;
    stage.step("Open an empty catalog: the starter skills of the binary are there", "list", || {
        let catalog = Catalog::open(data)?;
        let mut view = catalog.view(Narrowing::default());
        let lines = listed(&view.pin()?)?;
        opened = Some(catalog);
        Ok(lines)
    })?;
    opened
        .ok_or_else(|| Failure::new(Exit::Data, "storage_failed", "the catalog was not opened", "try again"))
}

fn import(stage: &mut Stage<'_>, catalog: &Catalog, skills: &Path) -> Result<(), Failure> {
    stage.step("Import a folder with skills in three formats", "import ./skills", || {
        let paths = [skills.to_owned()];
        let report = intake::import_paths(catalog, &paths, &ImportOptions::default(), &|_| ())?;
        let mut lines = vec![sums(report.counts)];
        lines.extend(report.skills.iter().map(|line| {
            let id = line.id.as_deref().unwrap_or("");
            format!("{} {id}  {}", line.outcome.name(), line.path)
        }));
        Ok(lines)
    })
}

fn search(stage: &mut Stage<'_>, view: &mut View) -> Result<(), Failure> {
    stage.step("List: your own skills take the place of the starter set", "list", || listed(&view.pin()?))?;
    for (title, query) in [
        ("Search", "photos of my last journey"),
        ("Search in Chinese: the same index, no setting", COFFEE_SHOP),
    ] {
        stage.step(title, &format!("search \"{query}\""), || found(&view.pin()?, query))?;
    }
    for (title, request) in [
        ("Match: the one skill that should handle a request", "connect to my home wifi"),
        ("Match: a plain device command needs no skill", "go home"),
    ] {
        stage.step(title, &format!("match \"{request}\""), || matched(&view.pin()?, request))?;
    }
    Ok(())
}

fn resolve(stage: &mut Stage<'_>, view: &mut View) -> Result<(), Failure> {
    let command = format!("resolve note-search -p query={COFFEE_SHOP}");
    stage.step("Resolve a flow: checked steps, all or nothing, nothing executed", &command, || {
        let mut values = Map::new();
        values.insert("query".to_owned(), Value::from(COFFEE_SHOP));
        let steps = view.pin()?.resolve("note-search", &values)?;
        Ok(steps.iter().map(|step| format!("{} {}", step.tool, step.args)).collect())
    })?;
    stage.step(
        "Resolve with wrong values: every problem at once",
        "resolve note-search -p wait_ms=0 -p q=1",
        || {
            let values = [("wait_ms", "0"), ("q", "1")];
            let values =
                values.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value))).collect();
            Ok(match view.pin()?.resolve("note-search", &values) {
                Ok(steps) => vec![counted(steps.len() as u64, "step")],
                Err(error) => vec![error.to_string()],
            })
        },
    )
}

/// The skill that the tour hides.
const HIDDEN: &str = "trip-photos";

fn hide(
    stage: &mut Stage<'_>,
    catalog: &Catalog,
    view: &mut View,
    data: &Path,
    program: &Path,
) -> Result<(), Failure> {
    let hide = format!("entitlements hide {HIDDEN}");
    stage.step("Hide a skill: durable before this answers", &hide, || {
        catalog.declare(LocalStatement::Hide(HIDDEN.to_owned()))?;
        Ok(vec![format!("hidden {HIDDEN}")])
    })?;
    let get = format!("get {HIDDEN}");
    stage.step("The next query does not see it", &get, || Ok(vec![presence(&view.pin()?)?]))?;
    stage.step("Nor does another process", &get, || {
        let code = other_process(program, data, &["get", HIDDEN])?;
        Ok(vec![format!("exit code {code}: {}", if code == 1 { "not found" } else { "unexpected" })])
    })?;
    let unhide = format!("entitlements unhide {HIDDEN}");
    stage.step("That other process ends the hiding", &unhide, || {
        let code = other_process(program, data, &["entitlements", "unhide", HIDDEN])?;
        Ok(vec![format!("exit code {code}")])
    })?;
    stage.step("And the next query here sees it again", &get, || Ok(vec![presence(&view.pin()?)?]))
}

/// Runs this program on the catalog as another process; answers its exit code.
fn other_process(program: &Path, data: &Path, words: &[&str]) -> Result<i32, Failure> {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        // Settings of the deployment are none of the tour's business.
        if name.to_string_lossy().starts_with("REPERTOIRE_") {
            command.env_remove(name);
        }
    }
    let done = command
        .arg("--data")
        .arg(data)
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let done = done.map_err(|cause| Failure::file(Exit::Negative, "start", program, &cause))?;
    Ok(done.code().unwrap_or(-1))
}

fn presence(pin: &Pin<'_>) -> Result<String, Failure> {
    Ok(match pin.get(HIDDEN)? {
        Some(skill) => format!("{}  {}", skill.id(), skill.name()),
        None => format!("no skill {HIDDEN:?}"),
    })
}

fn listed(pin: &Pin<'_>) -> Result<Vec<String>, Failure> {
    let page = pin.list(&Filter::default(), SHOWN, None)?;
    let mut lines = vec![counted(page.total, "skill")];
    lines.extend(page.skills.iter().map(|skill| format!("{}  {}", skill.id(), skill.name())));
    if page.next_cursor.is_some() {
        lines.push("...".to_owned());
    }
    Ok(lines)
}

fn found(pin: &Pin<'_>, query: &str) -> Result<Vec<String>, Failure> {
    let page = pin.search(query, &Filter::default(), SHOWN)?;
    let lines: Vec<String> = page
        .hits
        .iter()
        .map(|hit| {
            let why = hit.skill.why(query)?;
            let why: Vec<&str> = why.iter().map(|why| why.field).collect();
            let why = if why.is_empty() { String::new() } else { format!("  (by {})", why.join(", ")) };
            Ok(format!("{}  {}{why}", hit.skill.id(), hit.skill.name()))
        })
        .collect::<Result<_, Failure>>()?;
    Ok(if lines.is_empty() { vec!["nothing found".to_owned()] } else { lines })
}

fn matched(pin: &Pin<'_>, request: &str) -> Result<Vec<String>, Failure> {
    let found = pin.match_request(request)?;
    let what = match (&found.exact_command, &found.skill) {
        (Some(command), _) => {
            let arguments = serde_json::to_string(&command.arguments).unwrap_or_default();
            format!("exact command {} {arguments}", command.tool)
        }
        (None, Some(skill)) => format!("{}  {}", skill.id(), skill.name()),
        (None, None) => "no skill".to_owned(),
    };
    Ok(vec![what, found.reason])
}
