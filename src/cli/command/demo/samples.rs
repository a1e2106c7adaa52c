//! The skills of the tour, one for each format that people write.

use std::fs;
use std::path::Path;

use crate::cli::exit::{Exit, Failure};

/// Path below the folder, and text.
const FILES: [(&str, &str); 4] = [
    ("wifi-panel/SKILL.md", include_str!("skills/wifi-panel/SKILL.md")),
    ("trip-photos/SKILL.md", include_str!("skills/trip-photos/SKILL.md")),
    ("note-search.skill.json", include_str!("skills/note-search.skill.json")),
    ("web-page.skill.json", include_str!("skills/web-page.skill.json")),
];

/// Writes the files below a folder.
pub(super) fn write(folder: &Path) -> Result<(), Failure> {
    for (name, text) in FILES {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::write(&path, text))
            .map_err(|cause| Failure::file(Exit::Data, "write", &path, &cause))?;
    }
    Ok(())
}
