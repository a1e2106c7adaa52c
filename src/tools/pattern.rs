//! Regular expressions, compiled once a process and kept in a bounded cache.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use regex::{Regex, RegexBuilder};

use crate::limits::{PATTERN_BYTES_MAX, PATTERN_COMPILED_BYTES_MAX, PATTERNS_CACHED_MAX};

/// The compiled form of a pattern, or why it has none. Linear time, no look-around, no back-references.
///
/// # Errors
/// One sentence: too long, not a regular expression of this kind, or too large when compiled.
pub(crate) fn compiled(pattern: &str) -> Result<Arc<Regex>, String> {
    static CACHE: OnceLock<Mutex<HashMap<String, Arc<Regex>>>> = OnceLock::new();
    let cache = CACHE.get_or_init(Mutex::default);
    if let Some(found) = cache.lock().get(pattern) {
        return Ok(Arc::clone(found));
    }
    if pattern.len() > PATTERN_BYTES_MAX {
        return Err(format!(
            "the pattern has {} bytes, at most {PATTERN_BYTES_MAX} are allowed",
            pattern.len()
        ));
    }
    let regex = RegexBuilder::new(pattern)
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        .dfa_size_limit(PATTERN_COMPILED_BYTES_MAX)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => format!("the compiled pattern would exceed {limit} bytes"),
            other => last_line(&other.to_string()),
        })?;
    let regex = Arc::new(regex);
    let mut cache = cache.lock();
    // A full cache is emptied: patterns are few in practice, and an attacker's flood must not grow the process.
    if cache.len() >= PATTERNS_CACHED_MAX {
        cache.clear();
    }
    cache.insert(pattern.to_owned(), Arc::clone(&regex));
    Ok(regex)
}

/// The reason in a syntax error of the regex crate, without the drawing of the pattern above it.
fn last_line(text: &str) -> String {
    text.lines().last().unwrap_or_default().trim().trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cache_stays_bounded_and_answers_stay_right() {
        for number in 0..PATTERNS_CACHED_MAX * 2 + 3 {
            let regex = compiled(&format!("^a{{{}}}$", number % 200 + 1)).unwrap();
            assert!(regex.is_match(&"a".repeat(number % 200 + 1)));
        }
        assert!(compiled("^only once$").unwrap().is_match("only once"));
    }

    #[test]
    fn bad_patterns_say_why() {
        let cases = [
            ("(", "unclosed group"),
            ("(?=a)", "look-around"),
            ("(?:a{1000}){1000}", "exceed"),
            (r"\1", "backreference"),
        ];
        for (pattern, expected) in cases {
            let message = compiled(pattern).unwrap_err();
            assert!(message.contains(expected), "{pattern}: {message}");
        }
        assert!(compiled(&"a".repeat(PATTERN_BYTES_MAX + 1)).unwrap_err().contains("at most"));
    }
}
