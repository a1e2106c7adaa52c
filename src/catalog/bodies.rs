//! The bodies of a segment: markdown, source texts and resources, outside of the archives.

use std::collections::HashMap;
use std::sync::Arc;

use crate::catalog::record::{Span, Spans};
use crate::error::{Result, StorageError};
use crate::model::Entry;

/// Collects the byte ranges of a segment; equal resources are kept once.
#[derive(Debug, Default)]
pub(crate) struct BodiesWriter {
    bytes: Vec<u8>,
    known: HashMap<Arc<[u8]>, Span>,
}

impl BodiesWriter {
    /// Appends what an entry keeps outside of its record.
    ///
    /// A body that ends its source text (the usual SKILL.md) is a part of the same bytes.
    ///
    /// # Errors
    /// A range of 4 GiB or more.
    pub(crate) fn add(&mut self, entry: &Entry) -> Result<Spans> {
        let content = entry.skill.content.as_bytes();
        let mut spans = Spans::default();
        if let Some(source) = &entry.source_text {
            let span = self.append(source)?;
            spans.source = Some(span);
            if source.ends_with(content) {
                let before = source.len() - content.len();
                spans.body = Span { offset: span.offset + before as u64, ..span_of(content)? };
            }
        }
        if spans.body.length == 0 && !content.is_empty() {
            spans.body = self.append(content)?;
        }
        for resource in &entry.resources {
            let span = if let Some(span) = self.known.get(resource) {
                *span
            } else {
                let span = self.append(resource)?;
                self.known.insert(Arc::clone(resource), span);
                span
            };
            spans.resources.push(span);
        }
        Ok(spans)
    }

    /// The section.
    pub(crate) fn finish(self) -> Vec<u8> {
        self.bytes
    }

    fn append(&mut self, bytes: &[u8]) -> Result<Span> {
        let span = Span { offset: self.bytes.len() as u64, ..span_of(bytes)? };
        self.bytes.extend_from_slice(bytes);
        Ok(span)
    }
}

fn span_of(bytes: &[u8]) -> Result<Span> {
    let length = u32::try_from(bytes.len()).map_err(|_| StorageError::TooLarge {
        what: "a body or resource",
        got: bytes.len() as u64,
        limit: u64::from(u32::MAX),
    })?;
    Ok(Span { offset: 0, length, crc32c: crc32c::crc32c(bytes) })
}
