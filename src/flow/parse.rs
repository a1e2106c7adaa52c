//! The placeholder grammar of one template string.

use std::fmt;

use crate::limits::PARAMETER_NAME_CHARS_MAX;

/// A parsed template string: literal text and placeholders in order.
///
/// `{name}` is a placeholder, `{{` and `}}` are literal braces; anything else with a brace is an error. Printing a
/// template and parsing it again gives the same template.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    segments: Vec<Segment>,
}

/// One piece of a template string.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Literal text with its braces already single; never empty, never beside another text.
    Text(String),
    /// The name of a parameter.
    Placeholder(String),
}

/// Why a string is no template.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{fault} at byte {offset}; write {{name}} for a parameter, {{{{ and }}}} for literal braces")]
pub struct TemplateError {
    /// Byte offset of the brace in the string.
    pub offset: usize,
    /// What is wrong there.
    pub fault: TemplateFault,
}

/// The faults of the grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateFault {
    /// A `{` without its `}`.
    #[error("unclosed '{{'")]
    Unclosed,
    /// A `}` that closes nothing.
    #[error("'}}' without '{{'")]
    Unopened,
    /// Between the braces stands no parameter name.
    #[error("no parameter name between braces")]
    BadName,
}

impl Template {
    /// Parses a string. Linear in its length.
    ///
    /// # Errors
    /// The first brace that breaks the grammar, with its byte offset.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut segments = Vec::new();
        let mut literal = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['{', '}']) {
            let offset = text.len() - rest.len() + at;
            let (before, from) = rest.split_at(at);
            literal.push_str(before);
            if let Some(after) = from.strip_prefix("{{") {
                literal.push('{');
                rest = after;
            } else if let Some(after) = from.strip_prefix("}}") {
                literal.push('}');
                rest = after;
            } else if let Some(after) = from.strip_prefix('{') {
                let name_end = after.find(['{', '}']).unwrap_or(after.len());
                let (name, close) = after.split_at(name_end);
                let Some(after) = close.strip_prefix('}') else {
                    return Err(TemplateError { offset, fault: TemplateFault::Unclosed });
                };
                if !is_parameter_name(name) {
                    return Err(TemplateError { offset, fault: TemplateFault::BadName });
                }
                if !literal.is_empty() {
                    segments.push(Segment::Text(std::mem::take(&mut literal)));
                }
                segments.push(Segment::Placeholder(name.to_owned()));
                rest = after;
            } else {
                return Err(TemplateError { offset, fault: TemplateFault::Unopened });
            }
        }
        literal.push_str(rest);
        if !literal.is_empty() {
            segments.push(Segment::Text(literal));
        }
        Ok(Self { segments })
    }

    /// The pieces in order.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The parameter whose value, with its JSON type, stands for the whole string; `None` if there is other text.
    #[must_use]
    pub fn whole(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [Segment::Placeholder(name)] => Some(name),
            _ => None,
        }
    }

    /// The text, if there is no placeholder in it.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.segments.as_slice() {
            [] => Some(""),
            [Segment::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// Writes a literal text as a template: its braces doubled.
    #[must_use]
    pub fn escape(text: &str) -> String {
        text.replace('{', "{{").replace('}', "}}")
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            match segment {
                Segment::Text(text) => f.write_str(&Self::escape(text))?,
                Segment::Placeholder(name) => write!(f, "{{{name}}}")?,
            }
        }
        Ok(())
    }
}

/// `[A-Za-z_][A-Za-z0-9_]{0,63}`
fn is_parameter_name(name: &str) -> bool {
    let mut bytes = name.bytes();
    let head = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    head && name.len() <= PARAMETER_NAME_CHARS_MAX
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shape(text: &str) -> String {
        match Template::parse(text) {
            Ok(template) => template
                .segments()
                .iter()
                .map(|segment| match segment {
                    Segment::Text(text) => format!("[{text}]"),
                    Segment::Placeholder(name) => format!("<{name}>"),
                })
                .collect(),
            Err(error) => format!("{:?}@{}", error.fault, error.offset),
        }
    }

    #[test]
    fn the_grammar_is_what_the_contract_says() {
        let long = "a".repeat(64);
        let cases = [
            ("", ""),
            ("plain", "[plain]"),
            ("{q}", "<q>"),
            ("find {q} now", "[find ]<q>[ now]"),
            ("{a}{b}", "<a><b>"),
            ("{{q}}", "[{q}]"),
            ("{{{q}}}", "[{]<q>[}]"),
            ("}}{{", "[}{]"),
            ("\u{652F}{q}\u{4ED8}", "[\u{652F}]<q>[\u{4ED8}]"),
            (&format!("{{{long}}}"), &format!("<{long}>")),
            (&format!("{{{long}a}}"), "BadName@0"),
            ("{", "Unclosed@0"),
            ("a{b", "Unclosed@1"),
            ("a{b{c}", "Unclosed@1"),
            ("}", "Unopened@0"),
            ("\u{652F}}", "Unopened@3"),
            ("{}", "BadName@0"),
            ("{ q }", "BadName@0"),
            ("{1}", "BadName@0"),
            ("{a-b}", "BadName@0"),
            ("{{{", "Unclosed@2"),
            ("{a}}", "Unopened@3"),
        ];
        for (text, expected) in cases {
            assert_eq!(shape(text), expected, "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics_and_printing_is_stable(text in "[{}a_1 \u{652F}]{0,40}") {
            if let Ok(template) = Template::parse(&text) {
                let printed = template.to_string();
                prop_assert_eq!(&printed, &text, "the grammar has one spelling a template");
                prop_assert_eq!(Template::parse(&printed), Ok(template));
            }
        }

        #[test]
        fn an_escaped_text_is_a_literal(text in "\\PC{0,40}") {
            let template = Template::parse(&Template::escape(&text));
            prop_assert_eq!(template.as_ref().ok().and_then(Template::literal), Some(text.as_str()));
        }
    }
}
