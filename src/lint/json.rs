//! Places in a JSON file, found by its text: the skill's object, a member of it, a text in that member.

/// Whether a text is JSON, and no front matter or YAML.
pub(crate) fn is_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '['])
}

/// Where a field of a skill stands, or a text in it; the offset of the skill itself for a field that is not written out.
/// `None` where the file has no object with that id.
pub(crate) fn find(text: &str, id: &str, field: &str, value: Option<&str>) -> Option<usize> {
    let (start, end) = objects(text).find(|&(start, end)| {
        let object = &text[start..end];
        member(object, "id").is_some_and(|at| object[at..].starts_with(&quoted(id)))
    })?;
    let object = &text[start..end];
    let Some(at) = member(object, field) else { return Some(start) };
    let inside = value.and_then(|value| object[at..].find(&quoted(value)));
    Some(start + at + inside.unwrap_or(0))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The outermost objects of a document: the document itself, the items of an array, one a line.
fn objects(text: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut scan = Scan::new(text);
    std::iter::from_fn(move || {
        let mut start = None;
        while let Some((at, byte, depth)) = scan.next() {
            match byte {
                b'{' if start.is_none() => start = Some((at, depth)),
                b'}' if start.is_some_and(|(_, open)| open == depth) => return Some((start?.0, at + 1)),
                _ => {}
            }
        }
        None
    })
}

/// Where the value of a member of an object begins.
fn member(object: &str, name: &str) -> Option<usize> {
    let key = quoted(name);
    let mut scan = Scan::new(object);
    while let Some((at, byte, depth)) = scan.next() {
        if byte == b'"' && depth == 1 && object[at..].starts_with(&key) {
            let rest = &object[at + key.len()..];
            // Without a colon it is a value that says the same.
            if let Some(value) = rest.trim_start().strip_prefix(':') {
                return Some(object.len() - value.trim_start().len());
            }
        }
    }
    None
}

/// The brackets of a JSON text and the beginnings of its texts, each with the depth around it.
struct Scan<'t> {
    bytes: &'t [u8],
    at: usize,
    depth: usize,
}

impl<'t> Scan<'t> {
    fn new(text: &'t str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, depth: 0 }
    }

    fn next(&mut self) -> Option<(usize, u8, usize)> {
        while let Some(&byte) = self.bytes.get(self.at) {
            let at = self.at;
            self.at += 1;
            match byte {
                b'{' | b'[' => {
                    self.depth += 1;
                    return Some((at, byte, self.depth - 1));
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    return Some((at, byte, self.depth));
                }
                b'"' => {
                    while let Some(&inner) = self.bytes.get(self.at) {
                        self.at += if inner == b'\\' { 2 } else { 1 };
                        if inner == b'"' {
                            break;
                        }
                    }
                    return Some((at, byte, self.depth));
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_in_the_object_of_their_skill() {
        let text = "[{\"name\": \"aliases\", \"id\": \"a\", \"aliases\": [\"x\"], \"metadata\": {\"id\": \"b\"}},\n {\"aliases\" : [ \"}\", \"x \\\"y\\\"\"], \"id\":\"b\"}]";
        let at =
            |id: &str, field: &str, value: Option<&str>| find(text, id, field, value).map(|at| &text[at..]);
        assert!(at("a", "aliases", Some("x")).is_some_and(|rest| rest.starts_with("\"x\"], \"meta")));
        assert!(at("b", "aliases", Some("x \"y\"")).is_some_and(|rest| rest.starts_with("\"x \\\"y")));
        assert!(at("b", "aliases", None).is_some_and(|rest| rest.starts_with("[ \"}\"")));
        assert!(at("b", "risk", None).is_some_and(|rest| rest.starts_with("{\"aliases\" :")));
        assert_eq!(at("c", "id", None), None);
        let lines = "{\"id\":\"a\"}\n{\"id\":\"b\"}\n";
        assert_eq!(find(lines, "b", "id", None), Some(lines.len() - 5));
        for broken in ["", "{", "[{\"id\"", "{\"id\":\"a\\", "}}]]{\"id\":\"a\"}"] {
            find(broken, "a", "id", Some("x"));
        }
    }
}
