//! Answers in the form that a client of its protocol revision reads.

use rmcp::model::{CallToolResult, ContentBlock, ProtocolVersion};
use serde::Serialize;

use crate::mcp::failure::Failure;

/// How a result is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Compact JSON as text: revisions before 2025-06-18 know nothing else.
    Text,
    /// `structuredContent` with a short text beside it.
    Structured,
    /// `structuredContent` and the same as text, for hosts that show their model the text only.
    Both,
}

impl Form {
    /// The form for a revision; a peer that named none gets the oldest.
    pub(super) fn of(revision: Option<&ProtocolVersion>, full_text: bool) -> Self {
        // Revisions are dates, so their texts are in the order of time.
        let structured =
            revision.is_some_and(|revision| revision.as_str() >= ProtocolVersion::V_2025_06_18.as_str());
        match (structured, full_text) {
            (false, _) => Self::Text,
            (true, false) => Self::Structured,
            (true, true) => Self::Both,
        }
    }

    /// Writes a result; `brief` is the short text.
    pub(super) fn write<T: Serialize>(self, answer: &T, brief: String) -> Result<CallToolResult, Failure> {
        let text = match self {
            Self::Structured => brief,
            Self::Text | Self::Both => serde_json::to_string(answer).map_err(|error| unwritable(&error))?,
        };
        let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
        if self != Self::Text {
            result.structured_content =
                Some(serde_json::to_value(answer).map_err(|error| unwritable(&error))?);
        }
        Ok(result)
    }
}

impl Failure {
    /// The failure as a tool result: text only, because clients check structured content against the output schema
    /// even where `isError` is set.
    pub(super) fn into_result(self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text(self.to_json())])
    }
}

fn unwritable(error: &serde_json::Error) -> Failure {
    tracing::error!(%error, "an answer cannot be written as JSON");
    Failure::internal()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_client_gets_the_form_that_its_revision_knows() {
        let cases = [
            (None, Form::Text),
            (Some(ProtocolVersion::V_2024_11_05), Form::Text),
            (Some(ProtocolVersion::V_2025_03_26), Form::Text),
            (Some(ProtocolVersion::V_2025_06_18), Form::Structured),
            (Some(ProtocolVersion::V_2026_07_28), Form::Structured),
        ];
        for (revision, wanted) in cases {
            assert_eq!(Form::of(revision.as_ref(), false), wanted, "{revision:?}");
        }
        assert_eq!(Form::of(Some(&ProtocolVersion::V_2026_07_28), true), Form::Both);
        assert_eq!(Form::of(Some(&ProtocolVersion::V_2024_11_05), true), Form::Text);
    }

    #[test]
    fn a_result_is_not_sent_twice() {
        let answer = json!({"state": "READY", "skills": []});
        let wire = |form: Form| {
            let result = form.write(&answer, "0 skills".to_owned()).expect("writes");
            serde_json::to_value(result).expect("serialises")
        };
        let old = wire(Form::Text);
        assert_eq!(old["content"][0]["text"], answer.to_string());
        assert!(old.get("structuredContent").is_none());
        let new = wire(Form::Structured);
        assert_eq!(new["content"][0]["text"], "0 skills");
        assert_eq!(new["structuredContent"], answer);
        let both = wire(Form::Both);
        assert_eq!(both["content"][0]["text"], answer.to_string());
        assert_eq!(both["structuredContent"], answer);
    }

    #[test]
    fn an_error_is_text_only() {
        let wire = serde_json::to_value(Failure::catalog_empty().into_result()).expect("serialises");
        assert_eq!(wire["isError"], true);
        assert!(wire.get("structuredContent").is_none());
        assert_eq!(wire["content"].as_array().map(Vec::len), Some(1));
    }
}
