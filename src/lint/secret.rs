//! Keys, passwords, people and devices: what must not stand in a text that others get.

use std::collections::HashSet;
use std::sync::LazyLock;

use serde_json::Value;

use crate::lint::Findings;
use crate::lint::patterns::Patterns;
use crate::lint::rules::{DEVICE_STATE, PERSONAL_DATA, POSSIBLE_SECRET, Rule, SECRET};
use crate::lint::subject::{Passage, Spot, Subject};

/// What services give out, by its form.
const ISSUED: [(&str, &str); 14] = [
    ("an AWS access key", r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    ("a GitHub token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{60,})\b"),
    ("a GitLab token", r"\bglpat-[A-Za-z0-9_-]{20,}\b"),
    ("a Slack token", r"\bxox[abeprs]-[A-Za-z0-9-]{20,}\b"),
    ("a Slack address", r"hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,}"),
    ("a Google key", r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("a key of a model provider", r"\bsk-(?:proj-|ant-(?:[a-z0-9]+-)?|or-v1-)?[A-Za-z0-9_-]{32,}\b"),
    ("a Stripe key", r"\b[rs]k_live_[0-9A-Za-z]{20,}\b"),
    ("a SendGrid key", r"\bSG\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{40,}\b"),
    ("an npm token", r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("a PyPI token", r"\bpypi-AgEI[A-Za-z0-9_-]{50,}\b"),
    ("a Hugging Face token", r"\bhf_[A-Za-z0-9]{34,}\b"),
    ("a signed token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
    ("a private key", r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\s+[A-Za-z0-9+/]{40,}"),
];

/// `name = value` where the name says that the value is secret.
const ASSIGNED: &str = r#"(?i)\b(?:password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|(?:access|auth|bearer|api)[_-]?token|client[_-]?secret)\b["'`]?\s*(?:[:=]|=>)\s*["'`]?([^\s"'`,;)\]}]{8,80})"#;
const EMAIL: &str = r"(?i)\b[a-z0-9][a-z0-9._+-]*@(?:[a-z0-9-]+\.)+[a-z]{2,}\b";
const TELEPHONE: &str = r"(?:^|[\s(:])(\+[1-9][0-9]{0,2}[ .-]?(?:\(?[0-9]{2,4}\)?[ .-]?){2,4}[0-9]{2,4})\b";
const HOME: &str = r"(?:/(?:Users|home)/|[A-Z]:\\Users\\)([A-Za-z][A-Za-z0-9._-]+)";
const SERIAL: &str = r"\b(?:emulator-5[0-9]{3}|(?:192\.168|10\.[0-9]{1,3})\.[0-9]{1,3}\.[0-9]{1,3}:5555)\b";

/// Words that say that a value only shows where one goes.
const PLACEHOLDERS: [&str; 25] = [
    "example",
    "your",
    "xxx",
    "placeholder",
    "dummy",
    "fake",
    "sample",
    "changeme",
    "change_me",
    "test",
    "1234567890",
    "abcdef",
    "abc123",
    "pass12",
    "mtizndu2nzg5",
    "redacted",
    "secret",
    "password",
    "...",
    "foo",
    "insert",
    "replace",
    "todo",
    "mock",
    "token",
];
/// Folders under which nobody in particular lives.
const NOBODY: [&str; 22] = [
    "user",
    "username",
    "you",
    "yourname",
    "your-name",
    "your_name",
    "me",
    "name",
    "ubuntu",
    "runner",
    "node",
    "vscode",
    "app",
    "dev",
    "admin",
    "shared",
    "public",
    "foo",
    "example",
    "linuxbrew",
    "claude",
    "agent",
];

/// What stands behind [`ISSUED`].
const OTHERS: [&str; 5] = [ASSIGNED, EMAIL, TELEPHONE, HOME, SERIAL];

static PATTERNS: LazyLock<Patterns> = LazyLock::new(|| {
    let issued = ISSUED.iter().map(|(_, text)| *text);
    Patterns::new(issued.chain(OTHERS).map(str::to_owned))
});

/// Looks for secrets, people and devices in a text.
pub(crate) fn check(subject: &Subject<'_>, text: &Passage<'_>, findings: &mut Findings) {
    let held = PATTERNS.in_text(text.text);
    let other = |pattern: usize| held.get(ISSUED.len() + pattern).into_iter();
    for (number, (what, _)) in ISSUED.iter().enumerate() {
        let places = held.get(number).into_iter().flat_map(|pattern| pattern.find_iter(text.text));
        for found in places.filter(|found| !is_placeholder(found.as_str())) {
            let message =
                format!("this looks like {what} ({}); revoke it, and take it out", shown(found.as_str()));
            findings.add(SECRET, subject, &Spot::within(text, found.start(), found.end()), message);
        }
    }
    for found in other(0).flat_map(|pattern| pattern.captures_iter(text.text)) {
        let Some(value) = found.get(1).filter(|value| is_random(value.as_str())) else { continue };
        let inside = PATTERNS.in_text(value.as_str());
        let known = (0..ISSUED.len()).any(|number| inside.get(number).is_some());
        if !known {
            let message = "a password or key seems to be written out; make it a secret parameter, or name where it is kept";
            findings.add(POSSIBLE_SECRET, subject, &Spot::within(text, value.start(), value.end()), message);
        }
    }
    // The same thing is told once a text, at its first place.
    let mut told = HashSet::new();
    let mut tell = |rule: Rule, range: (usize, usize), message: String| {
        if told.insert(&text.text[range.0..range.1]) {
            findings.add(rule, subject, &Spot::within(text, range.0, range.1), message);
        }
    };
    for found in other(1).flat_map(|pattern| pattern.find_iter(text.text)) {
        if is_person(found.as_str()) {
            let message = format!(
                "{} looks like somebody's address; use one at example.com, or a parameter",
                found.as_str()
            );
            tell(PERSONAL_DATA, (found.start(), found.end()), message);
        }
    }
    for found in other(2).flat_map(|pattern| pattern.captures_iter(text.text)) {
        let Some(number) = found.get(1).filter(|number| is_telephone(number.as_str())) else { continue };
        let message = "this looks like somebody's telephone number; make it a parameter".to_owned();
        tell(PERSONAL_DATA, (number.start(), number.end()), message);
    }
    for found in other(3).flat_map(|pattern| pattern.captures_iter(text.text)) {
        let (Some(all), Some(who)) = (found.get(0), found.get(1)) else { continue };
        let name = who.as_str().to_ascii_lowercase();
        if !NOBODY.contains(&name.as_str()) && !names_itself_an_example(&name) {
            let message =
                format!("{} is a folder of one machine; write it relative, or as a parameter", all.as_str());
            tell(DEVICE_STATE, (all.start(), all.end()), message);
        }
    }
    for found in other(4).flat_map(|pattern| pattern.find_iter(text.text)) {
        let message = format!("{} names one device; make it a parameter", found.as_str());
        tell(DEVICE_STATE, (found.start(), found.end()), message);
    }
}

/// Secret parameters with a value of their own: everybody who gets the skill gets it.
pub(crate) fn defaults(subject: &Subject<'_>, findings: &mut Findings) {
    for parameter in subject.skill.parameters.iter().filter(|parameter| parameter.secret) {
        let value = parameter
            .default
            .as_ref()
            .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        if value.is_some_and(|value| !value.is_empty() && !names_itself_an_example(&value)) {
            let message = format!(
                "the secret parameter {:?} has a default, which everybody can read; take it out",
                parameter.name
            );
            findings.add(
                POSSIBLE_SECRET,
                subject,
                &Spot::field(format!("parameters/{}", parameter.name)),
                message,
            );
        }
    }
}

/// Steps that touch a place in pixels, which is another one on the next screen.
pub(crate) fn device_state(subject: &Subject<'_>, findings: &mut Findings) {
    for (index, step) in subject.skill.steps.iter().enumerate() {
        let fixed = step.args_template.iter().find(|(name, value)| {
            let pixels = ["x", "y", "x1", "y1", "x2", "y2"].contains(&name.as_str())
                && value.as_f64().is_some_and(|value| value > 1.0);
            pixels
                || (*name == "bounds" && value.as_str().is_some_and(|text| !text.contains('{')))
                || (*name == "index" && value.is_number())
                || (*name == "device" && matches!(value, Value::String(text) if !text.contains('{')))
        });
        if let Some((name, _)) = fixed {
            let message = format!(
                "step {} names {name:?} of one screen or device; find the element by text or id",
                index + 1
            );
            findings.add(DEVICE_STATE, subject, &Spot::field(format!("steps/{index}")), message);
        }
    }
}

/// The first characters: enough to find it, not enough to use it.
fn shown(secret: &str) -> String {
    let start: String = secret.chars().take(4).collect();
    format!("{start}...")
}

/// Whether a value only shows where one goes.
fn is_placeholder(value: &str) -> bool {
    names_itself_an_example(value) || distinct(&value.to_ascii_lowercase()) < 6
}

fn names_itself_an_example(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    PLACEHOLDERS.iter().any(|word| lower.contains(word))
}

fn distinct(text: &str) -> usize {
    let mut chars: Vec<char> = text.chars().collect();
    chars.sort_unstable();
    chars.dedup();
    chars.len()
}

/// Whether a value looks like a real one: letters and digits in one piece, no code, no path, no word for a value.
fn is_random(value: &str) -> bool {
    let letters = value.chars().filter(char::is_ascii_alphabetic).count();
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let code = value.contains(['$', '{', '<', '(', '[', '/', '\\', '|', '%', '*'])
        || value.contains("--")
        || value.contains("..");
    // A name with dots or underscores is the name of a variable.
    let name = value.contains('.')
        || (value.contains('_')
            && value.chars().all(|c| c.is_ascii_uppercase() || c == '_' || c.is_ascii_digit()));
    letters >= 3 && digits >= 2 && !code && !name && !is_placeholder(value)
}

/// Whether an address is somebody's, and not an example or a machine's.
fn is_person(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    let Some((name, host)) = lower.split_once('@') else { return false };
    let example = [
        "example.",
        "test.",
        "domain.",
        "company.",
        "corporate.",
        "acme.",
        "email.",
        "yourcompany.",
        "localhost",
        "mail.com",
        "target.",
        "evil.",
        "attacker.",
        "victim.",
        "org.",
        "corp.",
        "contoso.",
        "mycompany.",
    ];
    // Names of the own network, of machines, and those that nobody can have.
    let nowhere =
        [".local", ".internal", ".lan", ".corp", ".invalid", ".test", ".localhost", ".gserviceaccount.com"];
    let machine = [
        "noreply", "no-reply", "git", "user", "you", "your", "name", "me", "admin", "test", "info",
        "support", "hello", "contact", "security", "email",
    ];
    let file = [".png", ".svg", ".jpg", ".md", ".js", ".ts"];
    !example.iter().any(|part| host.starts_with(part) || host.contains(&format!(".{part}")))
        && !host.contains("noreply")
        && !host.contains("example")
        && !machine.contains(&name)
        && !file.iter().chain(&nowhere).any(|part| host.ends_with(part))
        && !names_itself_an_example(name)
}

/// Whether digits are a number that somebody could have: none of a series, no number of films.
fn is_telephone(number: &str) -> bool {
    let digits: String = number.chars().filter(char::is_ascii_digit).collect();
    (9..=15).contains(&digits.len())
        && !digits.contains("555")
        && !digits.contains("1234")
        && !digits.contains("0000")
        && distinct(&digits) >= 5
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Skill};

    fn codes(text: &str) -> Vec<&'static str> {
        let mut skill = Skill::new("a", Kind::Knowledge, "A", "About a.");
        skill.content = text.to_owned();
        let subject = Subject::new(&skill);
        let mut findings = Findings::default();
        subject.texts().iter().for_each(|text| check(&subject, text, &mut findings));
        for finding in &findings.all {
            let secret = text.split_whitespace().next_back().unwrap_or_default();
            assert!(
                finding.code == "lint_personal_data"
                    || finding.code == "lint_device_state"
                    || !finding.message.contains(secret)
            );
        }
        findings.all.iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn every_pattern_compiles() {
        assert!(PATTERNS.are_sound());
    }

    #[test]
    fn keys_in_the_form_of_a_service_are_secrets_and_are_not_shown() {
        // Each is written in two parts, so that no scanner takes this file for a leak.
        for (head, tail) in [
            ("AKIA", "QYLPMN5HHHFPZAM2"),
            ("gh", "p_9aKx2LmQ7vRt4WcY8bNd3Ef6GhJ1KpSuVzXo"),
            ("glpat-", "k3J9xLqW2mZr7TnV5cYb"),
            ("xox", "b-284719305612-KdjWmQpXvZrTnYcL"),
            ("AIza", "SyD9kLm2QpRtVwXzBnCfHjKsU4e6g8i0aY7"),
            ("sk-", "proj-9dKq2LmXvRt4WcY8bNd3Ef6GhJ1KpSuVz"),
            ("sk_", "live_4eC39HqLyjWDrjtT1zdp7dcR"),
            ("hf_", "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"),
            ("eyJhbGciOiJIUzI1NiJ9.", "eyJzdWIiOiI5ODc2NTQzIn0.dQw4w9WgXcQdQw4w9WgXcQ"),
        ] {
            assert_eq!(codes(&format!("use {head}{tail}")), ["lint_secret"], "{head}");
        }
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEAx7Kq9mZr2TnVcYbWdPfGhJkLsUvXzQ3e\n";
        assert_eq!(codes(key), ["lint_secret"]);
    }

    #[test]
    fn examples_and_names_of_keys_are_none() {
        for text in [
            "AKIAIOSFODNN7EXAMPLE",
            "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-your-key-goes-right-here-please-ok",
            "password: ${PASSWORD}",
            "api_key = os.environ[\"API_KEY\"]",
            "API_KEY=YOUR_API_KEY_2",
            "password: correct horse",
            "token: <token from step 12>",
            "-----BEGIN PRIVATE KEY-----\n...\n",
            "Enter the password and tap Sign in.",
            "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
        ] {
            assert_eq!(codes(text), [""; 0], "{text}");
        }
        assert_eq!(codes("password: hunter2x9Kq"), ["lint_possible_secret"]);
    }

    #[test]
    fn people_and_devices_are_told_from_examples() {
        // In parts, so that no path of a machine stands here.
        let home = |top: &str, who: &str| ["look into /", top, "/", who, "/notes"].concat();
        for text in ["write to jane.doe@gmail.com", "call +49 30 9018 2756"] {
            assert_eq!(codes(text), ["lint_personal_data"], "{text}");
        }
        for text in
            [home("Users", "jdoe").as_str(), "adb -s emulator-5554 shell", "adb connect 192.168.1.7:5555"]
        {
            assert_eq!(codes(text), ["lint_device_state"], "{text}");
        }
        for text in [
            "jane@example.com",
            "svc@project.iam.gserviceaccount.com",
            "ADMINS@CORP.LOCAL",
            "you@company.com",
            "git@github.com",
            "icon@2x.png",
            "+1 555 867 5309",
            home("home", "user").as_str(),
            home("home", "runner").as_str(),
            "1 + 2 345 678 901",
        ] {
            assert_eq!(codes(text), [""; 0], "{text}");
        }
    }
}
