//! YAML as a tree whose scalars stay source text: nothing is resolved to a number, a boolean or a date.
//!
//! Built from the parser's events in one pass, under the budgets of [`crate::limits`]: depth, nodes, and what aliases
//! may expand to. Custom tags are refused; the core ones (`!!str`, `!!int`) change nothing.

use std::collections::HashMap;
use std::ops::Range;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, ScanError, Span, StructureStyle, Tag};

use crate::error::Problem;
use crate::import::text::{Position, saturate};
use crate::limits::{YAML_ALIAS_BYTES_MAX, YAML_ALIAS_EXPANSION_MAX, YAML_DEPTH_MAX, YAML_NODES_MAX};

/// One value with the place where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// What it is.
    pub(crate) value: Value,
    /// Bytes of the source that it spans.
    pub(crate) span: Range<usize>,
    /// Line and column in the YAML text, both from 1.
    pub(crate) position: Position,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    /// Text after YAML's own escapes; `plain` if it was written without quotes on no block header.
    Scalar {
        /// The text.
        text: String,
        /// Written without quotes.
        plain: bool,
    },
    /// A list.
    Sequence(Vec<Node>),
    /// Pairs in the order of the file, duplicates included.
    Mapping(Vec<(Node, Node)>),
}

impl Node {
    /// The text of a scalar.
    pub(crate) fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar { text, .. } => Some(text),
            _ => None,
        }
    }

    /// Whether it counts as "no value": nothing, `~` or `null` without quotes.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(&self.value, Value::Scalar { text, plain: true }
            if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The source text of the node, white space folded; for values that were meant as text.
    pub(crate) fn folded_source(&self, source: &str) -> String {
        let text = source.get(self.span.clone()).unwrap_or_default();
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Nodes in it, itself included, and bytes of their scalars.
    fn weight(&self) -> (usize, usize) {
        match &self.value {
            Value::Scalar { text, .. } => (1, text.len()),
            Value::Sequence(items) => items.iter().fold((1, 0), |sum, item| add(sum, item.weight())),
            Value::Mapping(pairs) => {
                pairs.iter().fold((1, 0), |sum, (key, value)| add(add(sum, key.weight()), value.weight()))
            }
        }
    }

    /// Levels of collections in it: 0 for a scalar.
    fn depth(&self) -> usize {
        match &self.value {
            Value::Scalar { .. } => 0,
            Value::Sequence(items) => 1 + items.iter().map(Self::depth).max().unwrap_or(0),
            Value::Mapping(pairs) => {
                1 + pairs.iter().map(|(key, value)| key.depth().max(value.depth())).max().unwrap_or(0)
            }
        }
    }
}

fn add(a: (usize, usize), b: (usize, usize)) -> (usize, usize) {
    (a.0 + b.0, a.1 + b.1)
}

/// Why YAML was refused. Only `Invalid` can be repaired.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Refusal {
    /// The grammar is broken.
    Invalid(Problem),
    /// A budget or a tag: no repair is tried.
    Final(Problem),
}

/// Reads one YAML document; `None` if it holds nothing. Positions count from the first line of `text`.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, Refusal> {
    let mut builder = Builder::default();
    let parser = Parser::new_from_str_with_options(text, granit_parser::options! { emit_comments: false });
    for event in parser {
        let (event, span) = event.map_err(|error| scan_refusal(&error))?;
        builder.take(event, span)?;
    }
    Ok(builder.root)
}

/// Reads YAML documents that follow each other, all under one budget; a document that holds nothing is `None`.
pub(crate) fn parse_documents(text: &str) -> Result<Vec<Option<Node>>, Refusal> {
    let mut builder = Builder { several: Some(Vec::new()), ..Builder::default() };
    let parser = Parser::new_from_str_with_options(text, granit_parser::options! { emit_comments: false });
    for event in parser {
        let (event, span) = event.map_err(|error| scan_refusal(&error))?;
        builder.take(event, span)?;
    }
    Ok(builder.several.unwrap_or_default())
}

/// Whether a part of a document parses on its own; aliases may point to anchors elsewhere in `whole`.
pub(crate) fn check_alone(text: &str, whole: &str) -> Result<(), Refusal> {
    let mut builder = Builder { whole: Some(whole), ..Builder::default() };
    let options = granit_parser::options! { emit_comments: false, emit_unresolved_aliases: true };
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| scan_refusal(&error))?;
        builder.take(event, span)?;
    }
    Ok(())
}

/// A collection that is not closed yet.
struct Open {
    anchor: usize,
    start: Span,
    flow: bool,
    mapping: bool,
    items: Vec<Node>,
}

#[derive(Default)]
struct Builder<'a> {
    /// The document around a part that is checked alone.
    whole: Option<&'a str>,
    /// The finished documents, where a second one is welcome.
    several: Option<Vec<Option<Node>>>,
    root: Option<Node>,
    stack: Vec<Open>,
    anchors: HashMap<usize, Node>,
    nodes: usize,
    expanded: (usize, usize),
    documents: usize,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), Refusal> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 && self.several.is_none() {
                    return Err(invalid(span, "a second YAML document begins here; keep one"));
                }
                Ok(())
            }
            Event::DocumentEnd => {
                if let Some(done) = &mut self.several {
                    done.push(self.root.take());
                    self.anchors.clear();
                }
                Ok(())
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count(span)?;
                check_tag(tag.as_deref(), span)?;
                let mut node = scalar_node(text.into_owned(), span);
                if let Value::Scalar { plain, .. } = &mut node.value {
                    *plain = style == ScalarStyle::Plain;
                }
                self.place(node, anchor);
                Ok(())
            }
            Event::SequenceStart(style, anchor, tag) => self.open(span, style, anchor, tag.as_deref(), false),
            Event::MappingStart(style, anchor, tag) => self.open(span, style, anchor, tag.as_deref(), true),
            Event::SequenceEnd | Event::MappingEnd => {
                self.close(span);
                Ok(())
            }
            Event::Alias(id) => self.expand(id, span),
            Event::UnresolvedAlias(name) => {
                let defined = self.whole.is_some_and(|whole| whole.contains(&format!("&{name}")));
                if !defined {
                    return Err(invalid(span, "the alias names no anchor"));
                }
                self.place(scalar_node(String::new(), span), 0);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, span: Span) -> Result<(), Refusal> {
        self.nodes += 1;
        if self.nodes > YAML_NODES_MAX {
            return Err(budget(span, "too many values", format!("at most {YAML_NODES_MAX}")));
        }
        Ok(())
    }

    fn open(
        &mut self,
        span: Span,
        style: StructureStyle,
        anchor: usize,
        tag: Option<&Tag>,
        mapping: bool,
    ) -> Result<(), Refusal> {
        self.count(span)?;
        check_tag(tag, span)?;
        if self.stack.len() >= YAML_DEPTH_MAX {
            return Err(too_deep(span));
        }
        let flow = style == StructureStyle::Flow;
        self.stack.push(Open { anchor, start: span, flow, mapping, items: Vec::new() });
        Ok(())
    }

    fn close(&mut self, end: Span) {
        let Some(open) = self.stack.pop() else { return };
        let first = open.items.first().map_or(bytes(open.start).start, |node| node.span.start);
        let last = open.items.last().map_or(bytes(end).end, |node| node.span.end);
        let span = if open.flow { bytes(open.start).start..bytes(end).end } else { first..last };
        let value =
            if open.mapping { Value::Mapping(pairs(open.items)) } else { Value::Sequence(open.items) };
        self.place(Node { value, span, position: position(open.start) }, open.anchor);
    }

    /// Puts a finished node where it belongs.
    fn place(&mut self, node: Node, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, node.clone());
        }
        match self.stack.last_mut() {
            Some(open) => open.items.push(node),
            None => self.root = Some(node),
        }
    }

    fn expand(&mut self, id: usize, span: Span) -> Result<(), Refusal> {
        let Some(node) = self.anchors.get(&id) else {
            return Err(invalid(
                span,
                "the alias stands inside the value that it names; write the value out",
            ));
        };
        self.expanded = add(self.expanded, node.weight());
        if self.expanded.0 > YAML_ALIAS_EXPANSION_MAX || self.expanded.1 > YAML_ALIAS_BYTES_MAX {
            let allowed =
                format!("at most {YAML_ALIAS_EXPANSION_MAX} values and {YAML_ALIAS_BYTES_MAX} bytes");
            return Err(budget(span, "the aliases expand to too much", allowed));
        }
        if self.stack.len() + node.depth() > YAML_DEPTH_MAX {
            return Err(too_deep(span));
        }
        let node = node.clone();
        self.place(node, 0);
        Ok(())
    }
}

fn pairs(items: Vec<Node>) -> Vec<(Node, Node)> {
    let mut items = items.into_iter();
    let mut pairs = Vec::with_capacity(items.len() / 2);
    while let (Some(key), Some(value)) = (items.next(), items.next()) {
        pairs.push((key, value));
    }
    pairs
}

fn scalar_node(text: String, span: Span) -> Node {
    Node { value: Value::Scalar { text, plain: true }, span: bytes(span), position: position(span) }
}

fn check_tag(tag: Option<&Tag>, span: Span) -> Result<(), Refusal> {
    let Some(tag) = tag else { return Ok(()) };
    let plain = tag.original() == "!"
        || ["str", "int", "float", "bool", "null", "seq", "map", "timestamp"]
            .iter()
            .any(|name| tag.suffix_in_namespace("tag:yaml.org,2002:").as_deref() == Some(*name));
    if plain {
        return Ok(());
    }
    let message =
        "a tag that builds objects or has a meaning of its own is not read; remove it, or quote the text";
    let problem = Problem::new("unsupported_yaml_tag", "", message).got(tag.original());
    Err(Refusal::Final(span.tag_span().map_or_else(|| position(span), position).mark(problem)))
}

fn bytes(span: Span) -> Range<usize> {
    span.byte_range().unwrap_or(0..0)
}

fn position(span: Span) -> Position {
    Position { line: saturate(span.start.line()), column: saturate(span.start.col() + 1) }
}

fn invalid(span: Span, message: &str) -> Refusal {
    Refusal::Invalid(position(span).mark(Problem::new("yaml_invalid", "", message)))
}

fn budget(span: Span, message: &str, allowed: String) -> Refusal {
    let problem = Problem::new("yaml_budget_exceeded", "", message).allowed(allowed);
    Refusal::Final(position(span).mark(problem))
}

fn too_deep(span: Span) -> Refusal {
    budget(span, "the values are nested too deep", format!("at most {YAML_DEPTH_MAX} levels"))
}

fn scan_refusal(error: &ScanError) -> Refusal {
    let place =
        Position { line: saturate(error.marker().line()), column: saturate(error.marker().col() + 1) };
    if matches!(error.kind(), ErrorKind::RecursionLimitExceeded) {
        let problem = Problem::new("yaml_budget_exceeded", "", "the values are nested too deep")
            .allowed(format!("at most {YAML_DEPTH_MAX} levels"));
        return Refusal::Final(place.mark(problem));
    }
    let message = format!("this is not valid YAML: {}; put the value in quotes", error.info());
    Refusal::Invalid(place.mark(Problem::new("yaml_invalid", "", message)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    /// A compact picture of a tree.
    fn show(node: &Node) -> String {
        match &node.value {
            Value::Scalar { text, .. } => format!("{text:?}"),
            Value::Sequence(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(",")),
            Value::Mapping(pairs) => {
                let pairs: Vec<_> = pairs.iter().map(|(k, v)| format!("{}:{}", show(k), show(v))).collect();
                format!("{{{}}}", pairs.join(","))
            }
        }
    }

    fn read(text: &str) -> String {
        show(&parse(text).expect(text).expect(text))
    }

    #[test]
    fn scalars_stay_source_text() {
        let text = "a: 1.10\nb: on\nc: 0x1F\nd: 2024-01-01\ne: !!int 007\nf: ~\n";
        assert_eq!(read(text), r#"{"a":"1.10","b":"on","c":"0x1F","d":"2024-01-01","e":"007","f":"~"}"#);
    }

    #[test]
    fn values_know_their_place_and_source() {
        let text = "a: x\nlist:\n- Panel shown:  Wi-Fi\n- \u{e9}: 'q'\n";
        let root = parse(text).expect("yaml").expect("root");
        let Value::Mapping(pairs) = &root.value else { panic!("no mapping") };
        let Value::Sequence(items) = &pairs[1].1.value else { panic!("no list") };
        assert_eq!(items[0].folded_source(text), "Panel shown: Wi-Fi");
        assert_eq!(items[1].folded_source(text), "\u{e9}: 'q'");
        assert_eq!(items[1].position, Position { line: 4, column: 3 });
    }

    #[test]
    fn aliases_expand_within_their_budget() {
        assert_eq!(read("a: &x [1, 2]\nb: *x\n"), r#"{"a":["1","2"],"b":["1","2"]}"#);
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..9 {
            let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
            writeln!(bomb, "a{level}: &a{level} [{aliases}]").expect("string");
        }
        assert!(matches!(parse(&bomb), Err(Refusal::Final(p)) if p.code == "yaml_budget_exceeded"));
        let long = format!("a: &a \"{}\"\nb: [{}]\n", "x".repeat(50_000), vec!["*a"; 500].join(","));
        assert!(matches!(parse(&long), Err(Refusal::Final(p)) if p.code == "yaml_budget_exceeded"));
        assert!(matches!(parse("a: &a [*a]\n"), Err(Refusal::Invalid(_))));
    }

    #[test]
    fn documents_that_follow_each_other_share_one_budget() {
        let texts = |text: &str| -> Vec<String> {
            let documents = parse_documents(text).expect(text);
            documents.iter().map(|node| node.as_ref().map_or_else(|| "-".to_owned(), show)).collect()
        };
        assert_eq!(texts("a: b\n---\n- c\n- &x d\n- *x\n"), [r#"{"a":"b"}"#, r#"["c","d","d"]"#]);
        assert!(texts("").is_empty());
        let half = format!("[{}]", vec!["x"; YAML_NODES_MAX / 2].join(","));
        let both = parse_documents(&format!("{half}\n---\n{half}\n"));
        assert!(matches!(both, Err(Refusal::Final(p)) if p.code == "yaml_budget_exceeded"));
        assert!(parse_documents("a: &x b\n---\n- *x\n").is_err());
    }

    #[test]
    fn sixteen_levels_are_read_and_seventeen_are_not() {
        let nested = |levels: usize| format!("{}x{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(&nested(YAML_DEPTH_MAX)).is_ok());
        for levels in [YAML_DEPTH_MAX + 1, 10_000] {
            assert!(
                matches!(parse(&nested(levels)), Err(Refusal::Final(p)) if p.code == "yaml_budget_exceeded")
            );
        }
        let maps = (0..20).fold(String::new(), |text, n| format!("{text}{}k{n}:\n", " ".repeat(n)));
        assert!(matches!(parse(&maps), Err(Refusal::Final(p)) if p.code == "yaml_budget_exceeded"));
    }

    #[test]
    fn ten_thousand_values_are_read_and_one_more_is_not() {
        let list = |items: usize| format!("[{}]", vec!["x"; items].join(","));
        assert!(parse(&list(YAML_NODES_MAX - 1)).is_ok());
        assert!(
            matches!(parse(&list(YAML_NODES_MAX)), Err(Refusal::Final(p)) if p.code == "yaml_budget_exceeded")
        );
    }

    #[test]
    fn custom_tags_are_refused_and_core_tags_are_not() {
        for tag in ["!!python/object:os.system", "!important", "!!binary", "!<tag:example.org,2000:x>"] {
            let refusal = parse(&format!("a: {tag} x")).expect_err(tag);
            assert!(matches!(&refusal, Refusal::Final(p) if p.code == "unsupported_yaml_tag"), "{refusal:?}");
        }
        assert_eq!(read("a: !!str x\nb: ! y\n"), r#"{"a":"x","b":"y"}"#);
    }
}
