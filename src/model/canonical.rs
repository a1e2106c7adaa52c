//! The canonical JSON of a skill and the digest over it.

use sha2::{Digest, Sha256};

use crate::model::Skill;

impl Skill {
    /// The skill as RFC 8785 canonical JSON: members sorted, defaults left out (except a present and empty
    /// `allowed_tools`, which allows nothing), `risk` as declared.
    ///
    /// Equal skills give equal bytes on every machine, and [`from_json`](Skill::from_json) reads them back as an equal
    /// skill. A number that JSON cannot hold (see [`problems`](Skill::problems)) is written as `null`. Linear in the
    /// skill.
    #[must_use]
    pub fn canonical_json(&self) -> String {
        serde_json_canonicalizer::to_string(self)
            .or_else(|_| serde_json_canonicalizer::to_string(&serde_json::to_value(self)?))
            .unwrap_or_default()
    }

    /// SHA-256 of the canonical JSON: what "unchanged" means. It covers neither subscriptions nor layer.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        Sha256::digest(self.canonical_json().as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::model::{Kind, Parameter, ParameterType, Skill, strategy};

    #[test]
    fn defaults_are_left_out_and_members_are_sorted() {
        let skill = Skill::new("wifi", Kind::Knowledge, "Wi-Fi", "Find the Wi-Fi settings.");
        assert_eq!(
            skill.canonical_json(),
            r#"{"description":"Find the Wi-Fi settings.","id":"wifi","kind":"knowledge","name":"Wi-Fi"}"#
        );
    }

    #[test]
    fn an_allowlist_that_allows_nothing_is_kept() {
        let mut skill = Skill::new("wifi", Kind::Knowledge, "Wi-Fi", "Find it.");
        skill.allowed_tools = Some(Vec::new());
        assert!(skill.canonical_json().starts_with(r#"{"allowed_tools":[],"#));
    }

    #[test]
    fn a_number_that_json_cannot_hold_does_not_lose_the_skill() {
        let mut skill = Skill::new("wifi", Kind::FlowTemplate, "Wi-Fi", "Find it.");
        let mut parameter = Parameter::new("count", ParameterType::Number);
        parameter.minimum = Some(f64::NAN);
        skill.parameters.push(parameter);
        let value: Value = serde_json::from_str(&skill.canonical_json()).unwrap();
        assert_eq!(value["parameters"][0], json!({"name": "count", "type": "number", "minimum": null}));
    }

    #[test]
    fn the_digest_is_the_sha256_of_the_canonical_bytes() {
        let skill = Skill::new("a", Kind::Knowledge, "A", "B");
        let hexadecimal = skill.digest().iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        // printf '%s' '{"description":"B","id":"a","kind":"knowledge","name":"A"}' | sha256sum
        assert_eq!(hexadecimal, "3c3cd9433421af7c057460cd948e9306f0b9cf5caab83f0f0a6abadf31dbfb88");
    }

    proptest! {
        #[test]
        fn reading_the_canonical_form_gives_the_same_skill(skill in strategy::skills()) {
            prop_assert_eq!(skill.problems(), vec![]);
            let text = skill.canonical_json();
            let value: Value = serde_json::from_str(&text).unwrap();
            let reading = Skill::from_json(&value).unwrap();
            prop_assert_eq!(reading.skill.canonical_json(), text);
            prop_assert_eq!(&reading.skill, &skill);
            prop_assert_eq!(reading.skill.digest(), skill.digest());
        }
    }
}
