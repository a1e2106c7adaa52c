//! Opens and reads one found file, whatever it turns out to be.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use crate::error::Problem;
use crate::import::{
    Doubt, FileContext, FileReport, Format, SkillReport, check_size, is_maestro_text, read_json,
    read_json_lines, read_loose_json, read_maestro, read_skill_file, refuse_loose_json,
};
use crate::intake::advice;
use crate::intake::resources::{self, Budget};
use crate::intake::walk::{Found, Shape, not_a_file, unreadable};
use crate::limits::{JSON_SKILL_BYTES_MAX, SKILL_FILE_BYTES_MAX, SKILL_STREAM_BYTES_MAX};
use crate::tools::ToolRegistry;

/// Bytes that are looked at of a JSON file that is too large to be a workflow.
const HEAD_BYTES: u64 = 64 * 1024;

/// What reading a file needs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    /// The root that the file was found below.
    pub(crate) root: &'a Path,
    /// The tools of the deployment.
    pub(crate) registry: &'a ToolRegistry,
    /// What may be kept of the files beside skills.
    pub(crate) budget: &'a Budget,
    /// False where only the report counts: the texts around the skills are then dropped at once. They count against
    /// the budget all the same, so that the report is that of the import.
    pub(crate) keep_bytes: bool,
    /// Whether lint looks at the skills.
    pub(crate) lint: bool,
}

/// Reads a file into its report; `None` for a YAML file that is no flow after all.
pub(crate) fn read(found: &Found, reader: Reader<'_>) -> Option<FileReport> {
    let Reader { root, registry, budget, .. } = reader;
    let mut report = match found.shape {
        Shape::Markdown => markdown(found, root, registry, budget),
        Shape::Json | Shape::JsonLines => json(found, registry),
        Shape::MaybeWorkflow => maybe_workflow(found, registry),
        Shape::Flow | Shape::MaybeFlow => flow(found, root, registry)?,
    };
    tracing::trace!(path = %found.path, format = ?report.format, skills = report.skills.len(), "read a file");
    if reader.lint {
        advice::alone(&mut report, found, registry);
    }
    for skill in &mut report.skills {
        if let (Ok(entry), false) = (&mut skill.result, reader.keep_bytes) {
            entry.source_text = None;
            entry.resources = Vec::new();
        }
    }
    Some(report)
}

fn markdown(found: &Found, root: &Path, registry: &ToolRegistry, budget: &Budget) -> FileReport {
    let bytes = match open(&found.real).and_then(|(file, size)| whole(file, size)) {
        Ok(bytes) => bytes,
        Err(problem) => return FileReport::refused(&found.path, None, *problem),
    };
    let mut context = FileContext::new(&found.path, &found.directory, &bytes);
    let mut warnings = Vec::new();
    let mut share = None;
    if !found.alone {
        match resources::read(&found.real, root, budget) {
            Ok(read) => {
                context.resources = read.files;
                warnings = read.skipped;
                share = Some(read.share);
            }
            Err(problem) => return FileReport::refused(&found.path, None, *problem),
        }
    }
    let mut report = read_skill_file(&context, registry);
    if let Some(skill) = report.skills.first_mut() {
        skill.warnings.append(&mut warnings);
        // What lies beside a rejected skill is forgotten.
        if let (Some(share), true) = (share, skill.result.is_ok()) {
            share.spend();
        }
    }
    report
}

fn json(found: &Found, registry: &ToolRegistry) -> FileReport {
    let (file, size) = match open(&found.real) {
        Ok(opened) => opened,
        Err(problem) => return FileReport::refused(&found.path, None, *problem),
    };
    if size > SKILL_STREAM_BYTES_MAX {
        let problem = Problem::new("too_large", "", "the file is too large; split it")
            .got(format_args!("{size} bytes"))
            .allowed(format!("at most {SKILL_STREAM_BYTES_MAX} bytes"));
        return FileReport::refused(&found.path, None, problem);
    }
    let mut input = file.take(SKILL_STREAM_BYTES_MAX);
    let mut skills: Vec<SkillReport> = Vec::new();
    let mut sink = |skill| skills.push(skill);
    let read = if found.shape == Shape::JsonLines {
        read_json_lines(&mut input, registry, &mut sink)
    } else {
        read_json(&mut input, registry, &mut sink)
    };
    match read {
        Ok(format) => FileReport::new(&found.path, Some(format), skills),
        Err(refusal) => FileReport::new(&found.path, Some(Format::CanonicalJson), vec![*refusal]),
    }
}

/// Any other JSON file is looked into once.
fn maybe_workflow(found: &Found, registry: &ToolRegistry) -> FileReport {
    let unclear = |problem: Box<Problem>| FileReport::doubtful(&found.path, Doubt::Unclear, *problem);
    let (file, size) = match open(&found.real) {
        Ok(opened) => opened,
        Err(problem) => return unclear(problem),
    };
    if let Err(problem) = check_size(size) {
        return match read_at_most(file, HEAD_BYTES, HEAD_BYTES) {
            Ok(head) => refuse_loose_json(&found.path, &head, problem),
            Err(error) => unclear(Box::new(unreadable(&error))),
        };
    }
    match whole(file, size) {
        Ok(bytes) => read_loose_json(&found.path, &bytes, registry),
        Err(problem) => unclear(problem),
    }
}

/// A Maestro flow; a YAML file that does not look like one is forgotten, unless it was named itself.
fn flow(found: &Found, root: &Path, registry: &ToolRegistry) -> Option<FileReport> {
    let maybe = found.shape == Shape::MaybeFlow;
    let bytes = match open(&found.real).and_then(|(file, size)| whole(file, size)) {
        Ok(bytes) => bytes,
        Err(_) if maybe => return None,
        Err(problem) => return Some(FileReport::refused(&found.path, None, *problem)),
    };
    if maybe && !is_maestro_text(&bytes) {
        return None;
    }
    // A file that is a root of its own runs what lies in its folder and below.
    let base = if root.is_file() { root.parent().unwrap_or(root) } else { root };
    let load = |path: &str| beside(base, path);
    Some(read_maestro(&FileContext::new(&found.path, &found.directory, &bytes), &load, registry))
}

/// A flow that another one runs, by its path below the root.
fn beside(base: &Path, path: &str) -> Result<Arc<[u8]>, Box<Problem>> {
    let real = fs::canonicalize(base.join(path)).map_err(|error| Box::new(unreadable(&error)))?;
    if !real.starts_with(base) {
        let message = "a symbolic link leads out of the imported folder and is not followed";
        return Err(Box::new(Problem::new("symlink_outside_root", "", message)));
    }
    let (file, size) = open(&real)?;
    Ok(whole(file, size)?.into())
}

/// Whether the first line that is not blank is a whole JSON object, so that JSON lines may follow.
pub(crate) fn begins_with_line(path: &Path) -> bool {
    let Ok((file, _)) = open(path) else { return false };
    let mut input = BufReader::new(file.take(JSON_SKILL_BYTES_MAX as u64));
    let mut line = Vec::new();
    while line.trim_ascii().is_empty() {
        line.clear();
        if input.read_until(b'\n', &mut line).unwrap_or(0) == 0 {
            return false;
        }
    }
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&line).trim_ascii();
    line.first() == Some(&b'{') && serde_json::from_slice::<serde::de::IgnoredAny>(line).is_ok()
}

/// Opens a regular file and answers its size; never waits for the other end of a pipe.
pub(crate) fn open(path: &Path) -> Result<(File, u64), Box<Problem>> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let failed = |error: io::Error| Box::new(unreadable(&error));
    let file = options.open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(Box::new(not_a_file())) }
}

/// The bytes of a one-skill file within its limit.
fn whole(file: File, size: u64) -> Result<Vec<u8>, Box<Problem>> {
    check_size(size).map_err(Box::new)?;
    read_at_most(file, size, SKILL_FILE_BYTES_MAX).map_err(|error| Box::new(unreadable(&error)))
}

/// Reads a file that had `size` bytes a moment ago; one more than `limit` at most, so that growth is noticed.
pub(crate) fn read_at_most(file: File, size: u64, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(limit)).unwrap_or_default() + 1);
    file.take(limit + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
