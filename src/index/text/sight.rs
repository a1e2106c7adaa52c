//! What a caller sees of one index, prepared once per view.

/// Visible documents of one index as runs of neighbours, made from the caller's bits.
///
/// Documents of one entitlement group are neighbours, so a sight has few runs, and counting a term's visible
/// documents is two binary searches a run instead of a look at each posting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sight {
    runs: Vec<(u32, u32)>,
    visible: u32,
}

impl Sight {
    /// Reads the bits of `docs` documents, 64 a word; missing words count as hidden. Cost: one pass over the words.
    #[must_use]
    pub(crate) fn new(visible: &[u64], docs: u32) -> Self {
        let mut sight = Self::default();
        let mut doc = 0;
        while let Some(start) = next(visible, doc, docs, true) {
            let end = next(visible, start, docs, false).unwrap_or(docs);
            sight.runs.push((start, end));
            sight.visible += end - start;
            doc = end;
        }
        sight
    }

    /// How many documents are visible.
    #[must_use]
    pub(crate) fn visible(&self) -> u32 {
        self.visible
    }

    /// The runs that touch documents `from..to`, half open, ascending.
    pub(super) fn runs_between(&self, from: u32, to: u32) -> &[(u32, u32)] {
        let first = self.runs.partition_point(|run| run.1 <= from);
        let last = self.runs.partition_point(|run| run.0 < to);
        self.runs.get(first..last).unwrap_or(&[])
    }
}

/// The first document from `from` on whose bit is `wanted`.
fn next(bits: &[u64], from: u32, docs: u32, wanted: bool) -> Option<u32> {
    let mut doc = from;
    while doc < docs {
        let word = bits.get(doc as usize / 64).copied().unwrap_or(0);
        let word = if wanted { word } else { !word } >> (doc % 64);
        if word != 0 {
            let found = doc + word.trailing_zeros();
            return (found < docs).then_some(found);
        }
        doc += 64 - doc % 64;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_the_stretches_of_set_bits() {
        let mut bits = vec![0u64; 3];
        for doc in [0, 1, 2, 63, 64, 65, 130] {
            bits[doc / 64] |= 1 << (doc % 64);
        }
        let sight = Sight::new(&bits, 140);
        assert_eq!(sight.runs_between(0, 140), [(0, 3), (63, 66), (130, 131)]);
        assert_eq!(sight.visible(), 7);
        assert_eq!(Sight::new(&bits, 65).runs_between(0, 65), [(0, 3), (63, 65)]);
        assert_eq!(
            Sight::new(&[u64::MAX; 2], 200).runs_between(0, 200),
            [(0, 128)],
            "documents without a word are hidden"
        );
        assert_eq!(Sight::new(&[], 10).visible(), 0);
    }
}
