//! The task of one session, as it goes on.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::authoring::{Authoring, Learnt};
use crate::error::Result;
use crate::learn::{Event, Tape, TaskStatus};

/// Records the calls of a session between [`Recorder::begin`] and [`Recorder::end`]; `Send + Sync`, and cheap to clone:
/// clones record into the same task.
///
/// Secrets are taken out of a call before [`Recorder::record`] returns. A recorder that is off, or that has no task, does
/// not even make the event. A task that nobody ends is cancelled when the last clone is dropped: nothing is learned.
///
/// ```
/// use repertoire::authoring::Recorder;
///
/// let recorder = Recorder::off();
/// recorder.record(|| unreachable!("nothing is recorded, so that nothing is made"));
/// assert!(!recorder.begin("send hello to Ana"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    shared: Option<Arc<Shared>>,
}

#[derive(Debug)]
struct Shared {
    authoring: Authoring,
    tape: Mutex<Option<Tape>>,
}

impl Recorder {
    /// A recorder that records nothing.
    #[must_use]
    pub fn off() -> Self {
        Self::default()
    }

    pub(super) fn new(authoring: Authoring) -> Self {
        Self { shared: Some(Arc::new(Shared { authoring, tape: Mutex::new(None) })) }
    }

    /// Whether authoring is on.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.shared.is_some()
    }

    /// Whether a task goes on.
    #[must_use]
    pub fn is_recording(&self) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.tape.lock().is_some())
    }

    /// Begins a task. One that was not ended is cancelled; the answer says whether there was one.
    #[expect(clippy::must_use_candidate, reason = "most callers do not care")]
    pub fn begin(&self, goal: &str) -> bool {
        let Some(shared) = &self.shared else { return false };
        shared.tape.lock().replace(Tape::new(goal)).is_some()
    }

    /// Records a call of the task, if one goes on; only then the event is made.
    pub fn record(&self, event: impl FnOnce() -> Event) {
        let Some(shared) = &self.shared else { return };
        if let Some(tape) = shared.tape.lock().as_mut() {
            tape.push(event());
        }
    }

    /// Notes that the task works with a skill.
    pub fn uses(&self, skill: &str) {
        let Some(shared) = &self.shared else { return };
        if let Some(tape) = shared.tape.lock().as_mut() {
            tape.uses(skill);
        }
    }

    /// Ends the task and learns from it; `None` where there is none. Writes to the disk: not for a thread that must not
    /// wait.
    ///
    /// # Errors
    /// As [`Authoring::learn`]. The task is over all the same.
    pub fn end(&self, status: TaskStatus, note: Option<&str>) -> Result<Option<Learnt>> {
        let Some(shared) = &self.shared else { return Ok(None) };
        let Some(tape) = shared.tape.lock().take() else { return Ok(None) };
        shared.authoring.learn(&tape.end(status, note)).map(Some)
    }
}
