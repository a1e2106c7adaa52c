//! What varies inside of texts: parts on word boundaries, with the words around them that stay.

use crate::learn::redact::find_marker;
use crate::learn::words::{self, is_filler, is_word, tokens};
use crate::limits::SPAN_BYTES_MAX;
use crate::model::normalise;

/// One piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// The same in all executions.
    Text(String),
    /// What each execution has here.
    Varies(Vec<String>),
}

/// The pieces of texts that are not all equal.
///
/// The longest part on word boundaries that all goals contain; where they contain none, the fewest words that differ. Where
/// nothing stays, or the texts are very long, the whole text is one piece.
pub(crate) fn pieces(texts: &[&str], goals: &[&str]) -> Vec<Piece> {
    let whole = || vec![Piece::Varies(texts.iter().map(|text| (*text).to_owned()).collect())];
    if texts.iter().any(|text| text.len() > SPAN_BYTES_MAX || find_marker(text).is_some()) {
        return whole();
    }
    let tokens: Vec<Vec<&str>> = texts.iter().map(|text| tokens(text)).collect();
    let Some(window) = Window::differing(&tokens) else { return whole() };
    let grounded = |window: &Window, folded: bool| {
        tokens.iter().zip(goals).all(|(tokens, goal)| in_goal(goal, &window.text(tokens), folded))
    };
    for folded in [false, true] {
        if grounded(&window, folded) {
            let longest = window.extended(&tokens, &|window| grounded(window, folded));
            return longest.pieces(&tokens);
        }
    }
    let several = window.several(&tokens);
    if several.len() > 1 && is_structured(&several, &tokens, goals) {
        return join(&several, &tokens);
    }
    window.pieces(&tokens)
}

/// The texts with one vector inside of all of them, where everything around it is the same and not nothing.
pub(crate) fn around(texts: &[&str], vector: &[String]) -> Option<Vec<Piece>> {
    let (text, part) = (texts.first()?, vector.first()?);
    if texts.iter().any(|text| text.len() > SPAN_BYTES_MAX)
        || vector.iter().any(|part| part.trim().is_empty())
    {
        return None;
    }
    words::places(text, part).find_map(|(start, end)| {
        let (before, after) = (&text[..start], &text[end..]);
        let fits = texts.iter().zip(vector).all(|(text, part)| {
            text.len() == before.len() + part.len() + after.len()
                && text.starts_with(before)
                && text.ends_with(after)
                && text.get(before.len()..before.len() + part.len()) == Some(part.as_str())
                && words::is_apart(text, before.len(), before.len() + part.len())
        });
        let outside = !before.is_empty() || !after.is_empty();
        (fits && outside).then(|| {
            let mut pieces = Vec::new();
            push_text(&mut pieces, before);
            pieces.push(Piece::Varies(vector.to_vec()));
            push_text(&mut pieces, after);
            pieces
        })
    })
}

/// Pieces of which one takes words from beside it, so that it is a vector; `None` if none becomes it.
pub(crate) fn widened(pieces: &[Piece], vector: &[String]) -> Option<Vec<Piece>> {
    (0..pieces.len()).find_map(|index| {
        let Some(Piece::Varies(texts)) = pieces.get(index) else { return None };
        let beside = |at: Option<usize>| match at.and_then(|at| pieces.get(at)) {
            Some(Piece::Text(text)) => text.as_str(),
            _ => "",
        };
        let (left, right) = (beside(index.checked_sub(1)), beside(index.checked_add(1)));
        let (first, wide) = (texts.first()?, vector.first()?);
        let (start, _) = wide
            .match_indices(first.as_str())
            .find(|(at, _)| left.ends_with(&wide[..*at]) && right.starts_with(&wide[*at + first.len()..]))?;
        let (before, after) = (&wide[..start], &wide[start + first.len()..]);
        let fits = texts.iter().zip(vector).all(|(text, wide)| *wide == format!("{before}{text}{after}"));
        if !fits || (before.is_empty() && after.is_empty()) {
            return None;
        }
        let mut out = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Varies(_) if at == index => out.push(Piece::Varies(vector.to_vec())),
                Piece::Text(text) if at + 1 == index => {
                    push_text(&mut out, &text[..text.len() - before.len()]);
                }
                Piece::Text(text) if at == index + 1 => push_text(&mut out, &text[after.len()..]),
                piece => out.push(piece.clone()),
            }
        }
        Some(out)
    })
}

fn push_text(pieces: &mut Vec<Piece>, text: &str) {
    if text.is_empty() {
        return;
    }
    if let Some(Piece::Text(last)) = pieces.last_mut() {
        last.push_str(text);
    } else {
        pieces.push(Piece::Text(text.to_owned()));
    }
}

/// Whether a goal contains a part, as it is written or folded.
fn in_goal(goal: &str, part: &str, folded: bool) -> bool {
    if folded { words::contains(&normalise(goal), &normalise(part)) } else { words::contains(goal, part) }
}

/// What lies between so many tokens at the beginning and so many at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Window {
    before: usize,
    after: usize,
}

impl Window {
    /// The smallest window outside of which all are the same, with a word in each; `None` if it is the whole of one.
    fn differing(tokens: &[Vec<&str>]) -> Option<Self> {
        let first = tokens.first()?;
        let shortest = tokens.iter().map(Vec::len).min()?;
        let same = |at: &dyn Fn(&Vec<&str>) -> Option<String>| {
            let wanted = at(first);
            wanted.is_some() && tokens.iter().all(|other| at(other) == wanted)
        };
        let from_start =
            |index: usize| move |tokens: &Vec<&str>| tokens.get(index).map(|token| (*token).to_owned());
        let from_end = |index: usize| {
            move |tokens: &Vec<&str>| tokens.iter().rev().nth(index).map(|token| (*token).to_owned())
        };
        let mut before = 0;
        while before < shortest && same(&from_start(before)) {
            before += 1;
        }
        let mut after = 0;
        while before + after < shortest && same(&from_end(after)) {
            after += 1;
        }
        let mut window = Self { before, after };
        // Something is put in everywhere: a part that is empty somewhere takes a word from beside it.
        while !tokens.iter().all(|tokens| window.inner(tokens).iter().any(|token| is_word(token))) {
            if window.before > 0 {
                window.before -= 1;
            } else if window.after > 0 {
                window.after -= 1;
            } else {
                return None;
            }
        }
        window.trimmed(tokens, Self { before, after });
        Some(window)
    }

    /// Gives spaces at the ends back to what is around, as long as they are the same in all.
    fn trimmed(&mut self, tokens: &[Vec<&str>], limit: Self) {
        while self.before < limit.before && self.all_at_start(tokens, &|token| !is_word(token)) {
            self.before += 1;
        }
        while self.after < limit.after && self.all_at_end(tokens, &|token| !is_word(token)) {
            self.after += 1;
        }
    }

    fn all_at_start(&self, tokens: &[Vec<&str>], test: &dyn Fn(&str) -> bool) -> bool {
        tokens.iter().all(|tokens| self.inner(tokens).first().is_some_and(|token| test(token)))
    }

    fn all_at_end(&self, tokens: &[Vec<&str>], test: &dyn Fn(&str) -> bool) -> bool {
        tokens.iter().all(|tokens| self.inner(tokens).last().is_some_and(|token| test(token)))
    }

    fn inner<'a, 't>(&self, tokens: &'a [&'t str]) -> &'a [&'t str] {
        tokens.get(self.before..tokens.len().saturating_sub(self.after)).unwrap_or_default()
    }

    fn text(&self, tokens: &[&str]) -> String {
        self.inner(tokens).concat()
    }

    /// As far as a test holds, without words of grammar at ends that are the same in all; the whole is the whole.
    fn extended(self, tokens: &[Vec<&str>], holds: &dyn Fn(&Self) -> bool) -> Self {
        let grow = |mut window: Self, left_first: bool| {
            for left in [left_first, !left_first] {
                let mut best = window;
                loop {
                    let side = if left { &mut window.before } else { &mut window.after };
                    if *side == 0 {
                        break;
                    }
                    *side -= 1;
                    // A space alone adds nothing that could be missed, so that the next word is tried as well.
                    if holds(&window) {
                        best = window;
                    } else {
                        break;
                    }
                }
                window = best;
            }
            window
        };
        let (left, right) = (grow(self, true), grow(self, false));
        let size = |window: &Self| tokens.iter().map(|tokens| window.text(tokens).len()).sum::<usize>();
        let mut longest = if size(&right) > size(&left) { right } else { left };
        if longest.before == 0 && longest.after == 0 {
            return longest;
        }
        while longest.before < self.before && longest.all_at_start(tokens, &is_filler) {
            longest.before += 1;
        }
        while longest.after < self.after && longest.all_at_end(tokens, &is_filler) {
            longest.after += 1;
        }
        longest
    }

    fn pieces(&self, tokens: &[Vec<&str>]) -> Vec<Piece> {
        join(&vec![tokens.iter().map(|tokens| (self.before, tokens.len() - self.after)).collect()], tokens)
    }

    /// Splits the window at words that stand once in every text, in the same order: the ranges of tokens between them.
    fn several(&self, tokens: &[Vec<&str>]) -> Vec<Vec<(usize, usize)>> {
        let whole: Vec<(usize, usize)> =
            tokens.iter().map(|tokens| (self.before, tokens.len() - self.after)).collect();
        let mut out = Vec::new();
        split(whole, tokens, &mut out);
        out
    }
}

/// Parts of texts: the range of tokens in each.
type Ranges = Vec<(usize, usize)>;

/// Splits ranges at the first token that is in each of them once, and again behind it.
fn split(ranges: Ranges, tokens: &[Vec<&str>], out: &mut Vec<Ranges>) {
    let inner = |index: usize| -> &[&str] {
        let range = ranges.get(index).copied().unwrap_or_default();
        tokens.get(index).and_then(|tokens| tokens.get(range.0..range.1)).unwrap_or_default()
    };
    let once = |index: usize, token: &str| {
        let mut places = inner(index).iter().enumerate().filter(|(_, known)| **known == token);
        let place = places.next().map(|(at, _)| at);
        place.filter(|_| places.next().is_none())
    };
    for token in inner(0).iter().filter(|token| is_word(token)) {
        let places: Option<Vec<usize>> = (0..tokens.len()).map(|index| once(index, token)).collect();
        let Some(places) = places else { continue };
        let mut left: Ranges = Vec::with_capacity(tokens.len());
        let mut right: Ranges = Vec::with_capacity(tokens.len());
        for ((start, end), at) in ranges.iter().zip(&places) {
            left.push((*start, start + at));
            right.push((start + at + 1, *end));
        }
        narrow(&mut left, tokens);
        narrow(&mut right, tokens);
        let full = |part: &Ranges| part.iter().all(|(start, end)| start < end);
        if full(&left) && full(&right) {
            out.push(left);
            split(right, tokens, out);
            return;
        }
    }
    out.push(ranges);
}

/// Takes tokens off both ends as long as they are the same in all texts.
fn narrow(ranges: &mut Ranges, tokens: &[Vec<&str>]) {
    let at = |index: usize, place: usize| tokens.get(index).and_then(|tokens| tokens.get(place)).copied();
    let same = |found: Vec<Option<&str>>| found.windows(2).all(|pair| pair.first() == pair.last());
    let full = |ranges: &Ranges| ranges.iter().all(|(start, end)| start < end);
    while full(ranges)
        && same(ranges.iter().enumerate().map(|(index, (start, _))| at(index, *start)).collect())
    {
        for (start, _) in ranges.iter_mut() {
            *start += 1;
        }
    }
    while full(ranges)
        && same(ranges.iter().enumerate().map(|(index, (_, end))| at(index, *end - 1)).collect())
    {
        for (_, end) in ranges.iter_mut() {
            *end -= 1;
        }
    }
}

/// Whether several parts are likelier than one: each is in its goal, or they are held apart by signs as in an address.
fn is_structured(parts: &[Ranges], tokens: &[Vec<&str>], goals: &[&str]) -> bool {
    let text = |index: usize, (start, end): (usize, usize)| -> String {
        tokens.get(index).and_then(|tokens| tokens.get(start..end)).unwrap_or_default().concat()
    };
    let grounded = parts.iter().all(|part| {
        part.iter().enumerate().all(|(index, range)| {
            goals.get(index).is_some_and(|goal| in_goal(goal, &text(index, *range), true))
        })
    });
    let sign = |token: Option<&&str>| {
        token.is_some_and(|token| matches!(*token, "=" | "&" | "/" | "?" | ":" | ";" | "#" | "|"))
    };
    let bounded = parts.iter().all(|part| {
        part.iter().enumerate().all(|(index, (start, _))| {
            tokens
                .get(index)
                .is_some_and(|tokens| start.checked_sub(1).is_none_or(|before| sign(tokens.get(before))))
        })
    });
    grounded || bounded
}

/// The pieces of texts with some ranges that vary.
fn join(parts: &Vec<Ranges>, tokens: &[Vec<&str>]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut done = 0;
    let Some(first) = tokens.first() else { return pieces };
    for part in parts {
        let Some((start, end)) = part.first().copied() else { continue };
        push_text(&mut pieces, &first.get(done..start).unwrap_or_default().concat());
        let values = part
            .iter()
            .zip(tokens)
            .map(|((start, end), tokens)| tokens.get(*start..*end).unwrap_or_default().concat());
        pieces.push(Piece::Varies(values.collect()));
        done = end;
    }
    push_text(&mut pieces, &first.get(done..).unwrap_or_default().concat());
    pieces
}
