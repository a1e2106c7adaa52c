//! Texts of skills to the bytes of a text section.

use super::analysis::Analyzer;
use super::features::{Class, features, only_grammar};
use super::layout::{HEADER_BYTES, MAGIC, PAGE_DOCS, PAGE_ENTRY_BYTES, put, put_len};
use super::page::PageBuilder;
use super::weights;

/// The searchable text of one skill.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Fields<'a> {
    /// Id: decides ties, is not searched.
    pub(crate) id: &'a str,
    /// Deprecated skills rank behind active ones.
    pub(crate) deprecated: bool,
    /// Name.
    pub(crate) name: &'a str,
    /// Description.
    pub(crate) description: &'a str,
    /// Tags.
    pub(crate) tags: &'a [&'a str],
    /// Aliases.
    pub(crate) aliases: &'a [&'a str],
    /// Examples.
    pub(crate) examples: &'a [&'a str],
    /// Body, or whatever else is worth finding but says little: step notes, parameters.
    pub(crate) body: &'a str,
}

/// Collects documents in order and writes their section.
#[derive(Debug)]
pub(crate) struct TextBuilder {
    analyzer: Analyzer,
    ids: Vec<String>,
    pages: Vec<Vec<u8>>,
    page: PageBuilder,
}

impl Default for TextBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl TextBuilder {
    /// An empty section.
    #[must_use]
    pub(crate) fn new() -> Self {
        Self {
            analyzer: Analyzer::remembering(),
            ids: Vec::new(),
            pages: Vec::new(),
            page: PageBuilder::default(),
        }
    }

    /// Adds the next document; its number is how many were added before.
    pub(crate) fn add(&mut self, fields: &Fields<'_>) {
        if self.page.docs() == PAGE_DOCS {
            let full = std::mem::take(&mut self.page);
            self.pages.push(full.finish());
        }
        self.ids.push(fields.id.to_owned());
        let page = &mut self.page;
        // The body first: what it adds is worked out from counts, which then make room for the other fields.
        let mut words = 0;
        features(&mut self.analyzer, fields.body, false, &mut |feature| {
            words += u32::from(feature.counts);
            if feature.class != Class::Function {
                page.count(feature.term, 1);
            }
        });
        page.reweigh(|count| weights::body_frequency(count, words));
        let grammar = only_grammar(&mut self.analyzer, fields.name);
        let mut length = 0_u32;
        let mut field = |text: &str, weight: u32, functions: bool| {
            features(&mut self.analyzer, text, true, &mut |feature| {
                if feature.class == Class::Function && !functions {
                    return;
                }
                if feature.counts {
                    length = length.saturating_add(weight);
                }
                page.count(feature.term, weight);
            });
        };
        field(fields.name, weights::NAME, grammar);
        field(fields.description, weights::DESCRIPTION, false);
        for tag in fields.tags {
            field(tag, weights::TAG, false);
        }
        for alias in fields.aliases {
            field(alias, weights::ALIAS, true);
        }
        for example in fields.examples {
            field(example, weights::EXAMPLE, true);
        }
        page.end_doc(length, fields.deprecated);
    }

    /// The section's bytes: the same for the same documents in the same order.
    #[must_use]
    pub(crate) fn finish(mut self) -> Vec<u8> {
        if self.page.docs() > 0 {
            let last = std::mem::take(&mut self.page);
            self.pages.push(last.finish());
        }
        let docs = self.ids.len();
        let ranks = ranks(&self.ids);
        let mut out = Vec::new();
        put(&mut out, MAGIC);
        put_len(&mut out, docs);
        put_len(&mut out, self.pages.len());
        put(&mut out, 0);
        let mut offset = HEADER_BYTES + self.pages.len() * PAGE_ENTRY_BYTES;
        for (page, at) in self.pages.iter().zip((0..).step_by(PAGE_DOCS as usize)) {
            let docs = (docs - at).min(PAGE_DOCS as usize);
            let length = page.len() + docs * 4;
            out.extend((offset as u64).to_le_bytes());
            out.extend((length as u64).to_le_bytes());
            offset += length.next_multiple_of(8);
        }
        for (page, ranks) in self.pages.iter().zip(ranks.chunks(PAGE_DOCS as usize)) {
            out.extend(page);
            for &rank in ranks {
                put(&mut out, rank);
            }
            out.resize(out.len().next_multiple_of(8), 0);
        }
        out
    }
}

/// The place of each id among all of them.
fn ranks(ids: &[String]) -> Vec<u32> {
    let mut order: Vec<u32> = (0u32..).take(ids.len()).collect();
    order.sort_by(|&a, &b| ids[a as usize].cmp(&ids[b as usize]));
    let mut ranks = vec![0; ids.len()];
    for (rank, &doc) in (0u32..).zip(&order) {
        ranks[doc as usize] = rank;
    }
    ranks
}
