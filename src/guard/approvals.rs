//! Approvals that are open, and those that stand.

use std::collections::{HashSet, VecDeque};
use std::time::{Duration, Instant};

use crate::device::Aim;
use crate::limits::{APPROVAL_OPEN_MS, APPROVALS_OPEN_MAX};

/// What a person approved or is asked about: a call with all that is known of it. Two calls with the same subject do
/// the same thing to the same element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Subject {
    /// Tool and canonical arguments as one text.
    pub(super) call: String,
    /// What it hits; `None` for a change of the scope.
    pub(super) aim: Option<Aim>,
}

/// The approvals of one session.
#[derive(Debug, Default)]
pub(super) struct Approvals {
    open: VecDeque<Open>,
    /// Skill and rule, approved from now on.
    standing: HashSet<(String, String)>,
}

#[derive(Debug)]
struct Open {
    token: String,
    subject: Subject,
    since: Instant,
}

impl Approvals {
    /// Opens an approval that is answered by a later request; the token is what that request brings.
    pub(super) fn open(&mut self, subject: Subject) -> Option<String> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).ok()?;
        let token: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.open.push_back(Open { token: token.clone(), subject, since: Instant::now() });
        while self.open.len() > APPROVALS_OPEN_MAX {
            self.open.pop_front();
        }
        Some(token)
    }

    /// Takes an open approval: it is good for one answer, for that call only, and not for ever.
    pub(super) fn take(&mut self, token: &str, call: &str) -> Option<Subject> {
        let place = self.open.iter().position(|open| open.token == token)?;
        let open = self.open.remove(place)?;
        let fresh = open.since.elapsed() <= Duration::from_millis(APPROVAL_OPEN_MS);
        (fresh && open.subject.call == call).then_some(open.subject)
    }

    /// Lets a rule stand approved for a skill.
    pub(super) fn stand(&mut self, skill: &str, rule: &str) {
        self.standing.insert((skill.to_owned(), rule.to_owned()));
    }

    pub(super) fn stands(&self, skill: &str, rule: &str) -> bool {
        self.standing.contains(&(skill.to_owned(), rule.to_owned()))
    }
}
