//! Looking at the files: status, inspect, verify.

use std::collections::BTreeSet;
use std::path::Path;

use crate::catalog::open::OpenLayer;
use crate::catalog::report::{
    EntitlementsReport, FileReport, LayerStatus, SectionReport, Status, SubscriptionReport,
};
use crate::catalog::state::State;
use crate::catalog::{Catalog, source};
use crate::error::{Result, StorageError};
use crate::index::SectionKind;
use crate::model::Layer;
use crate::snapshot::names::{NameKind, classify};
use crate::snapshot::{Bytes, FileRef, Recovery, SectionFile, fixed};

impl Catalog {
    /// The entitlements as they stand: folded statements and those of the ring.
    ///
    /// # Errors
    /// The state cannot be opened.
    pub fn entitlements(&self) -> Result<EntitlementsReport> {
        let state = self.current()?;
        Ok(entitlements_of(&state))
    }

    /// Layers, generations, sizes, entitlements.
    ///
    /// # Errors
    /// The state cannot be opened.
    pub fn status(&self) -> Result<Status> {
        let state = self.current()?;
        let layers = state.layers.iter().map(|open| layer_status(&state, open)).collect();
        let sync = self.sync_status(&state)?;
        let recovered = state.base.recovered.map(said);
        Ok(Status { layers, sync, entitlements: entitlements_of(&state), recovered })
    }

    /// Sections of every file that the manifest reaches, or of one file, from their headers alone.
    ///
    /// # Errors
    /// The named file cannot be read; damage is part of the report.
    pub fn inspect(&self, file: Option<&Path>) -> Result<Vec<FileReport>> {
        self.each_file(file, &|report, table| {
            report.sections = sections(table);
        })
    }

    /// Checks every byte of every file that the manifest reaches, or of one file: checksums of all sections, every
    /// record, every index against itself.
    ///
    /// # Errors
    /// The named file cannot be read; damage is part of the report.
    pub fn verify(&self, file: Option<&Path>) -> Result<Vec<FileReport>> {
        // Before anything else: reading the state mends what it can.
        let fixed = if file.is_none() { self.inner.dir.fixed_files() } else { Vec::new() };
        let mut reports = self.each_file(file, &|report, table| {
            report.sections = sections(table);
            for section in table.sections() {
                if let Err(error) = table.verify_section(section) {
                    report.problems.push(error.to_string());
                }
            }
        })?;
        if file.is_none() {
            self.verify_layers(&mut reports)?;
        }
        reports.extend(fixed.into_iter().map(|found| FileReport {
            name: found.name.to_owned(),
            ok: true,
            sections: Vec::new(),
            problems: found.problem.into_iter().collect(),
        }));
        for report in &mut reports {
            report.problems.sort();
            report.problems.dedup();
            report.ok = report.problems.is_empty();
        }
        Ok(reports)
    }

    /// Opens every layer anew and walks through it; adds what is wrong to the directory's report.
    fn verify_layers(&self, reports: &mut [FileReport]) -> Result<()> {
        let loaded = self.inner.dir.load()?;
        for (name, known) in &loaded.manifest.layers {
            let (Some(layer), Some(first)) = (Layer::from_name(name), known.current.files.first()) else {
                continue;
            };
            let generation = known.current.generation;
            let checked =
                self.open_layer(layer, generation, &known.current.files).and_then(|open| open.check_all());
            if let (Err(error), Some(report)) =
                (checked, reports.iter_mut().find(|report| report.name == first.name))
            {
                report.problems.push(error.to_string());
            }
        }
        Ok(())
    }

    fn each_file(
        &self,
        file: Option<&Path>,
        look: &dyn Fn(&mut FileReport, &SectionFile),
    ) -> Result<Vec<FileReport>> {
        if let Some(path) = file {
            let name = path
                .file_name()
                .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into());
            let failed = |error| StorageError::io("read", path, error);
            // A device or a pipe has no end, and waits.
            if !std::fs::metadata(path).map_err(failed)?.is_file() {
                return Err(failed(std::io::Error::other("it is no regular file")).into());
            }
            let bytes = std::fs::read(path).map_err(failed)?;
            return Ok(vec![single(&name, &bytes, look)]);
        }
        let loaded = self.inner.dir.load()?;
        let mut seen = BTreeSet::new();
        let files: Vec<&FileRef> =
            loaded.manifest.files().filter(|file| seen.insert(file.name.clone())).collect();
        let mut reports = Vec::with_capacity(files.len());
        for file in files {
            if Path::new(&file.name).extension().is_some_and(|extension| extension == "jsonl") {
                let read = self.inner.dir.read_source(file).map_err(Into::into);
                let problems = match read.and_then(|bytes| source::read(&file.name, &bytes)) {
                    Ok(_) => Vec::new(),
                    Err(error) => vec![error.to_string()],
                };
                let ok = problems.is_empty();
                reports.push(FileReport { name: file.name.clone(), ok, sections: Vec::new(), problems });
            } else {
                reports.push(report(&file.name, self.inner.dir.open_bytes(file), look));
            }
        }
        Ok(reports)
    }
}

/// The report of one named file, whichever kind of ours it is.
fn single(name: &str, bytes: &[u8], look: &dyn Fn(&mut FileReport, &SectionFile)) -> FileReport {
    let checked = match fixed::check(name, bytes) {
        Some(checked) => checked.map_err(Into::into),
        None if classify(name) == NameKind::Source => source::check(name, bytes),
        None => return report(name, Ok(Bytes::copy_of(bytes)), look),
    };
    let problems: Vec<String> = checked.err().iter().map(ToString::to_string).collect();
    FileReport { name: name.to_owned(), ok: problems.is_empty(), sections: Vec::new(), problems }
}

fn report(
    name: &str,
    bytes: Result<Bytes, StorageError>,
    look: &dyn Fn(&mut FileReport, &SectionFile),
) -> FileReport {
    let mut report =
        FileReport { name: name.to_owned(), ok: true, sections: Vec::new(), problems: Vec::new() };
    match bytes.and_then(|bytes| SectionFile::parse_table(name, bytes)) {
        Ok(table) => look(&mut report, &table),
        Err(error) => report.problems.push(error.to_string()),
    }
    report.ok = report.problems.is_empty();
    report
}

fn sections(table: &SectionFile) -> Vec<SectionReport> {
    let name = |kind| {
        SectionKind::from_code(kind).map_or_else(|| format!("{kind:#x}"), |kind| kind.name().to_owned())
    };
    let each = table.sections().iter().map(|section| SectionReport {
        kind: name(section.kind),
        offset: section.offset,
        length: section.length,
        crc32c: format!("{:08x}", section.crc32c),
        required: section.is_required(),
    });
    each.collect()
}

/// What a recovery means for the operator.
fn said(recovery: Recovery) -> String {
    match recovery {
        Recovery::Previous => {
            "CURRENT was damaged, and the state before the last commit was taken; import or sync again what changed last"
        }
        Recovery::Empty => {
            "CURRENT and PREVIOUS were lost; local and learned skills were rebuilt from their sources, statements about \
             entitlements are to be made again, and synced skills to be synced"
        }
    }
    .to_owned()
}

fn layer_status(state: &State, open: &OpenLayer) -> LayerStatus {
    let generation = state.generation(open.layer);
    LayerStatus {
        layer: open.layer,
        generation: open.generation,
        skills: open.live.count(),
        bytes: generation.map_or_else(
            || open.bytes(),
            |known| known.files.iter().chain(&known.sources).map(|file| file.length).sum(),
        ),
        digest: generation.map_or_else(String::new, |known| known.digest.clone()),
    }
}

fn entitlements_of(state: &State) -> EntitlementsReport {
    let subscriptions = state
        .statements
        .subscriptions()
        .into_iter()
        .map(|(id, active, by)| SubscriptionReport { id: id.to_owned(), active, by })
        .collect();
    EntitlementsReport { subscriptions, hidden: state.statements.hidden.iter().cloned().collect() }
}
