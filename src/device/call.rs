//! One call from its checked arguments to its end.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::device::selector::ElementSelector;
use crate::error::DeviceError;

/// How far a wait or a transfer is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// What is done, in the unit of `total`; only grows within one call.
    pub done: f64,
    /// What there is to do, where that is known.
    pub total: Option<f64>,
    /// A few words.
    pub message: String,
}

/// Who hears of progress, and who decides whether a call may go on once it is known what it would hit.
#[derive(Clone, Default)]
pub struct Watch {
    progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    judge: Option<Arc<dyn Fn(&Aim) -> Permit + Send + Sync>>,
    needs_app: bool,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").field("needs_app", &self.needs_app).finish_non_exhaustive()
    }
}

impl Watch {
    /// Sets who hears of progress. Called from the task of the call; must not block.
    #[must_use]
    pub fn progress(mut self, progress: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(progress));
        self
    }

    /// Sets who decides. Called at most once a call, after the target was found and before anything is touched; must
    /// not block.
    #[must_use]
    pub fn judge(mut self, judge: impl Fn(&Aim) -> Permit + Send + Sync + 'static) -> Self {
        self.judge = Some(Arc::new(judge));
        self
    }

    /// Sets whether the judge needs the foreground app of calls that only look or wait; those that change something
    /// always have it.
    #[must_use]
    pub fn needs_app(mut self, needs_app: bool) -> Self {
        self.needs_app = needs_app;
        self
    }

    pub(crate) fn tell(&self, done: f64, total: f64, message: &str) {
        if let Some(progress) = &self.progress {
            progress(Progress { done, total: Some(total), message: message.to_owned() });
        }
    }

    pub(crate) fn wants_app(&self) -> bool {
        self.needs_app
    }

    pub(crate) fn permits(&self, aim: &Aim) -> bool {
        self.judge.as_ref().is_none_or(|judge| judge(aim) == Permit::Go)
    }
}

/// Whether a call goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permit {
    /// It does.
    Go,
    /// It ends before anything is touched.
    Stop,
}

/// What a call is about to hit, known before it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aim {
    /// Serial of the phone.
    pub device: String,
    /// Package in the foreground; empty where the call did not need it or there is none.
    pub app: String,
    /// Packages that the call names or that own the element: an app that is about to be opened, a dialog over it.
    pub packages: Vec<String>,
    /// Words of the element that will be hit, those below it included; empty where there is none.
    pub words: String,
    /// What stays the same of that element.
    pub element: Option<ElementSelector>,
    /// Whether the element or the field that gets the text hides what is typed.
    pub password: bool,
}

/// What a tool answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// For a model: short lines.
    pub text: String,
    /// The same for a program.
    pub data: Value,
    /// A picture, where the tool takes one.
    pub picture: Option<Picture>,
}

impl Outcome {
    pub(crate) fn new(text: impl Into<String>, data: Value) -> Self {
        Self { text: text.into(), data, picture: None }
    }
}

/// An encoded picture.
#[derive(Clone, PartialEq, Eq)]
pub struct Picture {
    /// The file.
    pub bytes: Vec<u8>,
    /// `image/png`, `image/jpeg` or `image/webp`.
    pub media_type: &'static str,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
}

impl fmt::Debug for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Picture({} {}x{}, {} bytes)", self.media_type, self.width, self.height, self.bytes.len())
    }
}

/// Why a call has no outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stop {
    /// The judge said so; nothing was touched.
    Judged,
    /// The phone, or what was asked of it, failed.
    Failed(DeviceError),
}

impl From<DeviceError> for Stop {
    fn from(error: DeviceError) -> Self {
        Self::Failed(error)
    }
}

/// How a call ended, with what it aimed at as far as that was known.
#[derive(Clone, Debug, PartialEq)]
pub struct CallEnd {
    /// What it was about to hit.
    pub aim: Aim,
    /// What came of it.
    pub result: Result<Outcome, Stop>,
}
