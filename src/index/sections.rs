//! The kinds of sections: one number each, for ever.
//!
//! A file of a layer is a table of sections; the layer below knows them as plain numbers. A number is never used
//! again for another form: a form that changes gets a new number.

use std::fmt;

/// What a section of a snapshot file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub(crate) enum SectionKind {
    /// Directory: skill id to ordinal and record place ([`crate::index::ids`]).
    Ids,
    /// Directory: segments' ordinal ranges and which documents are alive ([`crate::index::live`]).
    Live,
    /// Directory: exact names, aliases and ids ([`crate::index::exact`]).
    Exact,
    /// Directory: what only the catalog reads, such as the list of segments.
    Directory,
    /// Directory: live ordinals in the order of their ids, u32 each.
    Order,
    /// Journal of the sync: where each subscription stopped, JSON.
    Journal,
    /// Journal of the sync: every item that a platform counts.
    Items,
    /// Journal of the sync: contents that another subscription's copy hides.
    Shadows,
    /// Segment: entitlement groups and their ranges of documents ([`crate::index::groups`]).
    Groups,
    /// Segment: sorted keys and their fst ([`crate::index::names`]).
    Names,
    /// Segment: kind, risk and status of each document, postings of tags and apps ([`crate::index::facets`]).
    Facets,
    /// Segment: the full-text index ([`crate::index::text`]).
    Text,
    /// Segment: place, length and checksum of each document's record.
    Documents,
    /// Segment: records, one archive each.
    Records,
    /// Segment: bodies, source texts and resources.
    Bodies,
}

impl SectionKind {
    /// Every kind, in the order of the numbers.
    pub(crate) const ALL: [Self; 15] = [
        Self::Ids,
        Self::Live,
        Self::Exact,
        Self::Directory,
        Self::Order,
        Self::Journal,
        Self::Items,
        Self::Shadows,
        Self::Groups,
        Self::Names,
        Self::Facets,
        Self::Text,
        Self::Documents,
        Self::Records,
        Self::Bodies,
    ];

    /// The number in the section table. 1-15 stand in directories and journals, 16-31 index documents, 32-47 index text, 48-63
    /// hold payload.
    pub(crate) const fn code(self) -> u32 {
        match self {
            Self::Ids => 1,
            Self::Live => 2,
            Self::Exact => 3,
            Self::Directory => 4,
            Self::Order => 5,
            Self::Journal => 6,
            Self::Items => 7,
            Self::Shadows => 8,
            Self::Groups => 16,
            Self::Names => 17,
            Self::Facets => 18,
            Self::Text => 32,
            Self::Documents => 48,
            Self::Records => 49,
            Self::Bodies => 50,
        }
    }

    /// The kind of that number; `None` for a number that this version does not know.
    pub(crate) fn from_code(code: u32) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }

    /// Name as `inspect` prints it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ids => "ids",
            Self::Live => "live",
            Self::Exact => "exact",
            Self::Directory => "directory",
            Self::Order => "order",
            Self::Journal => "journal",
            Self::Items => "items",
            Self::Shadows => "shadows",
            Self::Groups => "groups",
            Self::Names => "names",
            Self::Facets => "facets",
            Self::Text => "text",
            Self::Documents => "documents",
            Self::Records => "records",
            Self::Bodies => "bodies",
        }
    }
}

impl fmt::Display for SectionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A section whose bytes contradict themselves. The reader of the file adds the file's name and the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("section {section}: {detail}")]
pub(crate) struct Damaged {
    /// The section.
    pub(crate) section: SectionKind,
    /// What does not hold.
    pub(crate) detail: &'static str,
}

impl Damaged {
    /// Damage in a section.
    pub(crate) const fn new(section: SectionKind, detail: &'static str) -> Self {
        Self { section, detail }
    }
}

/// A section that cannot be built: its content is beyond what the form can hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum BuildError {
    /// Two items have the same 128-bit hash; their positions in what the builder was given.
    #[error("items {first} and {second} are the same or have the same hash; leave one of them out")]
    SameHash {
        /// Position of the earlier item.
        first: usize,
        /// Position of the later item.
        second: usize,
    },
    /// No perfect hash was found within the bounded search.
    #[error("no perfect hash of {items} items within the bounded search; report the input")]
    NoPerfectHash {
        /// How many there are.
        items: usize,
    },
    /// More than 32-bit numbers, or 24-bit document numbers, can count.
    #[error("{what} is too large for one section: {found}, at most {limit}; split the layer")]
    TooLarge {
        /// What is counted.
        what: &'static str,
        /// How much there is.
        found: usize,
        /// How much there may be.
        limit: usize,
    },
}

#[cfg(test)]
mod tests {
    use super::SectionKind;

    #[test]
    fn every_kind_has_its_own_number_and_name() {
        for (i, a) in SectionKind::ALL.iter().enumerate() {
            assert_eq!(SectionKind::from_code(a.code()), Some(*a));
            for b in &SectionKind::ALL[i + 1..] {
                assert!(a.code() < b.code(), "{a} and {b} are not in order");
                assert_ne!(a.name(), b.name());
            }
        }
    }

    #[test]
    fn a_number_of_a_later_version_is_no_kind() {
        assert_eq!(SectionKind::from_code(0), None);
        assert_eq!(SectionKind::from_code(u32::MAX), None);
    }
}
