//! The terms that the full-text peers index: words in lower case, and pairs of Chinese characters, without which they
//! would find nothing in Chinese. No stems: the peers' lists are shorter without.

/// Calls `each` with every term of a text.
pub fn each_term(text: &str, each: &mut dyn FnMut(&str)) {
    let mut word = String::new();
    let mut before: Option<char> = None;
    let mut single = false;
    for c in text.chars().chain([' ']) {
        if is_han(c) {
            if !word.is_empty() {
                each(&word);
                word.clear();
            }
            if let Some(before) = before {
                let mut pair = [0; 8];
                let first = before.encode_utf8(&mut pair).len();
                let end = first + c.encode_utf8(&mut pair[first..]).len();
                each(std::str::from_utf8(&pair[..end]).unwrap_or_default());
                single = false;
            } else {
                single = true;
            }
            before = Some(c);
            continue;
        }
        if let Some(alone) = before.take().filter(|_| single) {
            each(alone.encode_utf8(&mut [0; 4]));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            each(&word);
            word.clear();
        }
    }
}

fn is_han(c: char) -> bool {
    ('\u{3400}'..='\u{9fff}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_pairs_of_characters() {
        let mut terms = Vec::new();
        each_term("Wi-Fi \u{6253}\u{5f00}\u{8bbe}X \u{7f6e}.", &mut |term| terms.push(term.to_owned()));
        assert_eq!(terms, ["wi", "fi", "\u{6253}\u{5f00}", "\u{5f00}\u{8bbe}", "x", "\u{7f6e}"]);
    }
}
