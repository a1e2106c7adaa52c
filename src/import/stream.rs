//! JSON text taken apart into values without reading them: the one of a document, those of its array, or one a line,
//! each with the place where it begins. Memory: one value.

use std::io::{self, BufRead, BufReader, Read};

use crate::error::Problem;
use crate::import::excerpt::Excerpt;
use crate::import::report::SkillReport;
use crate::import::text::{Position, saturate};
use crate::limits::JSON_SKILL_BYTES_MAX;
use crate::model::Broken;

/// Bytes read from a file at once.
const CHUNK_BYTES: usize = 64 * 1024;

/// The text of one value.
#[derive(Debug)]
pub(crate) struct Piece<'p> {
    /// Its text, possibly with white space around it.
    pub(crate) text: &'p str,
    /// Where `text` begins in the file.
    pub(crate) start: Position,
}

impl Piece<'_> {
    /// The places in the file of bytes of the text, in the order that they are asked in. Cost: one pass and a sort.
    pub(crate) fn places(&self, offsets: &[usize]) -> Vec<Position> {
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        order.sort_unstable_by_key(|&index| offsets[index]);
        let mut places = vec![self.start; offsets.len()];
        let (mut at, mut place) = (0, self.start);
        for index in order {
            let next = offsets[index].clamp(at, self.text.len());
            place = after(place, &self.text.as_bytes()[at..next]);
            at = next;
            places[index] = place;
        }
        places
    }

    /// The line around a byte of the text.
    pub(crate) fn excerpt(&self, offset: usize, place: Position) -> Excerpt {
        Excerpt::cut(self.text, offset, place)
    }

    /// The fault of a text that is no JSON.
    pub(crate) fn fault(&self, broken: &Broken) -> Fault {
        let place = self.start.and(Position::of(self.text, broken.offset));
        let excerpt = Some(self.excerpt(broken.offset, place));
        Fault { problem: place.mark(broken.problem()), excerpt }
    }
}

/// Why a text cannot be taken apart, with the line where that was noticed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) problem: Problem,
    pub(crate) excerpt: Option<Excerpt>,
}

impl Fault {
    /// As the report of a skill that cannot be read.
    pub(crate) fn refusal(self) -> Box<SkillReport> {
        let mut report = SkillReport::refused(None, vec![self.problem]);
        report.excerpts.extend(self.excerpt);
        Box::new(report)
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        Self { problem, excerpt: None }
    }
}

/// Hands on every value of a document that is one object or an array. Fails where the document is broken.
pub(crate) fn document(
    input: &mut dyn Read,
    each: &mut dyn FnMut(&Piece<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut source = Source::new(input)?;
    match source.peek()? {
        Some(b'{') => source.value(each)?,
        Some(b'[') => {
            source.skip(1)?;
            source.items(each)?;
        }
        _ => return Err(source.unexpected("a skill or an array of skills is expected")),
    }
    match source.peek()? {
        None => Ok(()),
        Some(_) => Err(source.unexpected("the text goes on after its end")),
    }
}

/// Hands on every line that is not blank, or the problem that it has as a line. Fails where the file cannot be read on.
pub(crate) fn lines(
    input: &mut dyn Read,
    each: &mut dyn FnMut(Result<Piece<'_>, Fault>),
) -> Result<(), Fault> {
    let mut source = Source::new(input)?;
    for number in 1_usize.. {
        let start = Position { line: saturate(number), column: 1 };
        source.taken.clear();
        match source.line()? {
            Line::End => break,
            Line::TooLong => each(Err(start.mark(too_large()).into())),
            Line::Whole if source.taken.trim_ascii().is_empty() => {}
            Line::Whole => each(piece(&source.taken, start)),
        }
    }
    Ok(())
}

/// What was found of a line.
enum Line {
    /// All of it.
    Whole,
    /// More than one skill may have; it was passed over.
    TooLong,
    /// Nothing: the file is at its end.
    End,
}

struct Source<'r> {
    input: BufReader<&'r mut dyn Read>,
    /// Where the next byte stands.
    at: Position,
    /// The value that is being taken.
    taken: Vec<u8>,
}

impl<'r> Source<'r> {
    fn new(input: &'r mut dyn Read) -> Result<Self, Fault> {
        let mut input = BufReader::with_capacity(CHUNK_BYTES, input);
        let head = input.fill_buf().map_err(|error| unreadable(&error))?;
        if head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF") {
            let message = "the file is not UTF-8; it looks like UTF-16: save the file as UTF-8";
            return Err(Position::START.mark(Problem::new("not_utf8", "", message)).into());
        }
        if head.starts_with(b"\xEF\xBB\xBF") {
            input.consume(3);
        }
        Ok(Self { input, at: Position::START, taken: Vec::new() })
    }

    fn chunk(&mut self) -> Result<&[u8], Fault> {
        self.input.fill_buf().map_err(|error| unreadable(&error))
    }

    /// The next byte that is no white space; it stays.
    fn peek(&mut self) -> Result<Option<u8>, Fault> {
        loop {
            let chunk = self.chunk()?;
            let blank = chunk.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            match chunk.get(blank) {
                None if chunk.is_empty() => return Ok(None),
                next => {
                    let next = next.copied();
                    self.skip(blank)?;
                    if next.is_some() {
                        return Ok(next);
                    }
                }
            }
        }
    }

    /// Passes over bytes of the chunk.
    fn skip(&mut self, bytes: usize) -> Result<(), Fault> {
        let chunk = self.input.fill_buf().map_err(|error| unreadable(&error))?;
        self.at = after(self.at, &chunk[..bytes]);
        self.input.consume(bytes);
        Ok(())
    }

    /// The items of an array whose bracket is taken.
    fn items(&mut self, each: &mut dyn FnMut(&Piece<'_>) -> Result<(), Fault>) -> Result<(), Fault> {
        if self.peek()? == Some(b']') {
            return self.skip(1);
        }
        loop {
            match self.peek()? {
                None => return Err(self.unexpected("the array is not closed")),
                Some(b',' | b']') => return Err(self.unexpected("a value is expected")),
                Some(_) => self.value(each)?,
            }
            match self.peek()? {
                Some(b',') => self.skip(1)?,
                Some(b']') => return self.skip(1),
                None => return Err(self.unexpected("the array is not closed")),
                Some(_) => return Err(self.unexpected("a comma or the end of the array is expected")),
            }
        }
    }

    /// Takes the value that begins here and hands it on.
    fn value(&mut self, each: &mut dyn FnMut(&Piece<'_>) -> Result<(), Fault>) -> Result<(), Fault> {
        let start = self.at;
        self.taken.clear();
        let mut extent = Extent::default();
        loop {
            let chunk = self.input.fill_buf().map_err(|error| unreadable(&error))?;
            if chunk.is_empty() {
                break;
            }
            let end = extent.end(chunk);
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if self.taken.len() + part.len() > JSON_SKILL_BYTES_MAX {
                return Err(start.mark(too_large()).into());
            }
            self.taken.extend_from_slice(part);
            self.at = after(self.at, part);
            let length = part.len();
            self.input.consume(length);
            if end.is_some() {
                break;
            }
        }
        each(&piece(&self.taken, start)?)
    }

    /// Takes a line without its end.
    fn line(&mut self) -> Result<Line, Fault> {
        let mut any = false;
        loop {
            let chunk = self.input.fill_buf().map_err(|error| unreadable(&error))?;
            if chunk.is_empty() {
                return Ok(if any { Line::Whole } else { Line::End });
            }
            any = true;
            let end = chunk.iter().position(|&byte| byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if part.contains(&0) {
                // No text has one, and a file of nothing else must not be read to its end.
                let message = "the file holds a NUL byte; save it as plain text";
                return Err(self.at.mark(Problem::new("control_character", "", message)).into());
            }
            if self.taken.len() + part.len() > JSON_SKILL_BYTES_MAX {
                self.input.skip_until(b'\n').map_err(|error| unreadable(&error))?;
                self.at.line = self.at.line.saturating_add(1);
                return Ok(Line::TooLong);
            }
            self.taken.extend_from_slice(part);
            let length = part.len() + usize::from(end.is_some());
            self.input.consume(length);
            if end.is_some() {
                self.at.line = self.at.line.saturating_add(1);
                return Ok(Line::Whole);
            }
        }
    }

    /// The fault of what comes next; its line is shown from there on.
    fn unexpected(&self, what: &str) -> Fault {
        let rest = self.input.buffer();
        let rest = std::str::from_utf8(rest)
            .unwrap_or_else(|error| std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default());
        Fault { problem: self.at.mark(invalid(what)), excerpt: Some(Excerpt::cut(rest, 0, self.at)) }
    }
}

/// How far a value goes: brackets are counted outside of strings. Whether they match is for the reader of the value.
#[derive(Default)]
struct Extent {
    depth: usize,
    string: bool,
    escaped: bool,
    begun: bool,
}

impl Extent {
    /// How many bytes of the chunk belong to the value, if it ends in it.
    fn end(&mut self, chunk: &[u8]) -> Option<usize> {
        for (index, byte) in chunk.iter().enumerate() {
            if self.string {
                match byte {
                    _ if self.escaped => self.escaped = false,
                    b'\\' => self.escaped = true,
                    b'"' => self.string = false,
                    _ => {}
                }
                if !self.string && self.depth == 0 {
                    return Some(index + 1);
                }
                continue;
            }
            match byte {
                b'"' => self.string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' | b',' if self.depth == 0 => return Some(index),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return Some(index + 1);
                    }
                }
                byte if self.depth == 0 && self.begun && byte.is_ascii_whitespace() => return Some(index),
                _ => {}
            }
            self.begun = true;
        }
        None
    }
}

/// A value's bytes as text.
fn piece(bytes: &[u8], start: Position) -> Result<Piece<'_>, Fault> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(Piece { text, start }),
        Err(error) => {
            let place = after(start, &bytes[..error.valid_up_to()]);
            let message = "a byte here is not UTF-8; save the file as UTF-8";
            Err(place.mark(Problem::new("not_utf8", "", message)).into())
        }
    }
}

/// The place behind some bytes. A character that is cut in two is counted with its first byte.
fn after(place: Position, bytes: &[u8]) -> Position {
    let lines = bytes.iter().copied().filter(|&byte| byte == b'\n').count();
    let rest = bytes.iter().rposition(|&byte| byte == b'\n').map_or(bytes, |at| &bytes[at + 1..]);
    let chars = saturate(rest.iter().filter(|&&byte| byte & 0xC0 != 0x80).count());
    let column = if lines == 0 { place.column } else { 1 };
    Position { line: place.line.saturating_add(saturate(lines)), column: column.saturating_add(chars) }
}

/// The problem of a frame that is no JSON.
fn invalid(cause: &str) -> Problem {
    Broken { cause: cause.to_owned(), offset: 0, too_large: false }.problem()
}

fn too_large() -> Problem {
    let message = "one skill is too large; move long material out of it";
    Problem::new("too_large", "", message).allowed(format!("at most {JSON_SKILL_BYTES_MAX} bytes a skill"))
}

fn unreadable(error: &io::Error) -> Fault {
    Problem::new("unreadable", "", format!("the file cannot be read: {error}; check its permissions")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with their places, read in chunks of a few bytes.
    fn values(text: &str) -> Result<Vec<String>, Fault> {
        struct Slow<'t>(&'t [u8]);
        impl Read for Slow<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                let some = buffer.len().min(3);
                self.0.read(&mut buffer[..some])
            }
        }
        let mut found = Vec::new();
        document(&mut Slow(text.as_bytes()), &mut |piece| {
            found.push(format!("{}:{} {}", piece.start.line, piece.start.column, piece.text));
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn a_document_is_one_value_or_those_of_its_array() {
        for (text, expected) in [
            (" {\"a\": [1]}\n", vec!["1:2 {\"a\": [1]}"]),
            ("[]", vec![]),
            ("[ ]", vec![]),
            (
                "[1, \"\u{e9},]\",\n {\"]\": \"\\\"}\"} , x]",
                vec!["1:2 1", "1:5 \"\u{e9},]\"", "2:2 {\"]\": \"\\\"}\"}", "2:17 x"],
            ),
            ("\u{FEFF}[\"a\"]", vec!["1:2 \"a\""]),
        ] {
            assert_eq!(values(text).expect(text), expected, "{text}");
        }
    }

    #[test]
    fn a_broken_frame_is_refused_with_its_place() {
        for (text, line, column) in [
            ("", 1, 1),
            ("\n nonsense", 2, 2),
            ("[1\n 2]", 2, 2),
            ("[1,", 1, 4),
            ("[,1]", 1, 2),
            ("[1,]", 1, 4),
            ("{} x", 1, 4),
        ] {
            let problem = values(text).expect_err(text).problem;
            assert_eq!(
                (problem.code.as_str(), problem.line, problem.column),
                ("json_invalid", Some(line), Some(column)),
                "{text}"
            );
        }
        let utf16 = document(&mut &b"\xFF\xFE{\0}\0"[..], &mut |_| Ok(())).expect_err("UTF-16").problem;
        assert_eq!(utf16.code, "not_utf8");
        let latin = document(&mut &b"[\"\n\xE9\"]"[..], &mut |_| Ok(())).expect_err("Latin-1").problem;
        assert_eq!((latin.code.as_str(), latin.line, latin.column), ("not_utf8", Some(2), Some(1)));
    }

    #[test]
    fn a_line_of_nothing_but_nul_is_refused_before_it_is_read() {
        struct Nothing(u64);
        impl Read for Nothing {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                self.0 += buffer.len() as u64;
                buffer.fill(0);
                Ok(buffer.len())
            }
        }
        let mut endless = Nothing(0);
        assert_eq!(lines(&mut endless, &mut |_| ()).expect_err("NUL").problem.code, "control_character");
        assert!(endless.0 <= CHUNK_BYTES as u64);
    }
}
