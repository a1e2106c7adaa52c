//! The placeholder grammar: never panics, and parse -> print -> parse is stable.
#![no_main]

use libfuzzer_sys::fuzz_target;
use repertoire::flow::{Segment, Template};

fuzz_target!(|text: &str| {
    match Template::parse(text) {
        Ok(template) => {
            let printed = template.to_string();
            assert_eq!(printed, text, "a template has one spelling");
            assert_eq!(Template::parse(&printed).as_ref(), Ok(&template));
            let texts = template
                .segments()
                .windows(2)
                .filter(|pair| matches!(pair, [Segment::Text(_), Segment::Text(_)]));
            assert_eq!(texts.count(), 0, "neighbouring texts are one");
        }
        Err(error) => {
            let brace = text.as_bytes().get(error.offset);
            assert!(matches!(brace, Some(b'{' | b'}')), "the offset points at a brace");
        }
    }
    assert_eq!(Template::parse(&Template::escape(text)).unwrap().literal(), Some(text));
});
