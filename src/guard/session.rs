//! The guard itself.

use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::catalog::{Look, SkillRef};
use crate::device::{Aim, Permit};
use crate::error::{Error, Result};
use crate::guard::approvals::{Approvals, Subject};
use crate::guard::record::{CallObserver, CallRecord};
use crate::guard::refusal::Refusal;
use crate::guard::scope::{Admitted, Scope, ScopeChange};
use crate::guard::secrets::Secrets;
use crate::policy::{Decision, Policy, Question, Verdict};
use crate::tools::{Call, ToolRegistry};

/// How a guard is set up.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct GuardOptions {
    /// The rules; the starter set unless set.
    pub policy: Policy,
    /// The skill whose scope is never left.
    pub pinned: Option<String>,
    /// Who is told of every call.
    pub observer: Option<Arc<dyn CallObserver>>,
}

impl fmt::Debug for GuardOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardOptions").field("pinned", &self.pinned).finish_non_exhaustive()
    }
}

impl GuardOptions {
    /// Sets the rules.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets the skill whose scope is never left.
    #[must_use]
    pub fn pinned(mut self, id: impl Into<String>) -> Self {
        self.pinned = Some(id.into());
        self
    }

    /// Sets who is told of every call.
    #[must_use]
    pub fn observer(mut self, observer: Arc<dyn CallObserver>) -> Self {
        self.observer = Some(observer);
        self
    }
}

/// Scope, policy, approvals and secrets of one session. Shared behind an `Arc`; remembers nothing beyond its own life.
pub struct Guard {
    registry: Arc<ToolRegistry>,
    policy: Policy,
    pinned: Option<String>,
    observer: Option<Arc<dyn CallObserver>>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// `None` until the pinned skill was looked up.
    base: Option<Scope>,
    scope: Scope,
    approvals: Approvals,
    secrets: Secrets,
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard").field("pinned", &self.pinned).finish_non_exhaustive()
    }
}

impl Guard {
    /// A guard with no skill active, or the pinned one.
    #[must_use]
    pub fn new(registry: Arc<ToolRegistry>, options: GuardOptions) -> Self {
        let GuardOptions { policy, pinned, observer } = options;
        let state = State {
            base: pinned.is_none().then(Scope::default),
            scope: Scope::default(),
            approvals: Approvals::default(),
            secrets: Secrets::new(),
        };
        Self { registry, policy, pinned, observer, state: Mutex::new(state) }
    }

    /// The tools that calls are checked against.
    #[must_use]
    pub fn registry(&self) -> &Arc<ToolRegistry> {
        &self.registry
    }

    /// Whether the policy wants to know the foreground app of calls that only look.
    #[must_use]
    pub fn needs_app(&self) -> bool {
        self.policy.needs_app()
    }

    /// Id of the active skill.
    #[must_use]
    pub fn active_skill(&self) -> Option<String> {
        self.state.lock().scope.active.as_ref().map(|active| active.id.clone())
    }

    /// The calls that the scope lets through, by name; `None` if no skill limits anything.
    #[must_use]
    pub fn allowed(&self) -> Option<Vec<String>> {
        self.state.lock().scope.allowed.as_ref().map(|allowed| allowed.names.clone())
    }

    /// Whether a tool belongs into a filtered list.
    ///
    /// # Errors
    /// The catalog cannot be read.
    pub fn mentions(&self, look: &Look, ordinal: usize) -> Result<bool> {
        let mut state = self.state.lock();
        self.refresh(&mut state, look)?;
        Ok(state.scope.mentions(ordinal))
    }

    /// Brings the scope up to date with the catalog.
    fn refresh(&self, state: &mut State, look: &Look) -> Result<()> {
        if state.base.is_none() {
            let pinned = self.pinned.as_deref().unwrap_or_default();
            let base = Scope::pinned(look, pinned, &self.registry)?;
            state.scope = base.clone();
            state.base = Some(base);
        }
        state.scope.refresh(look)
    }

    /// Checks a call against the scope of the active skill, which is looked at anew.
    ///
    /// # Errors
    /// The refusal within the catalog's own errors.
    pub fn admit(&self, look: &Look, call: &Call<'_>) -> Result<std::result::Result<Admitted, Refusal>> {
        let mut state = self.state.lock();
        self.refresh(&mut state, look)?;
        Ok(state.scope.admit(call))
    }

    /// What `use_skill` would do. Changes nothing yet.
    ///
    /// # Errors
    /// The skill is not there for this caller, or cannot be used here.
    pub fn change(&self, look: &Look, id: Option<&str>) -> Result<ScopeChange> {
        let mut state = self.state.lock();
        self.refresh(&mut state, look)?;
        let mut base = state.base.clone().unwrap_or_default();
        base.refresh(look)?;
        let Some(id) = id else {
            let needs_approval = !base.is_within(&state.scope);
            let unapproved = (!needs_approval).then(|| base.clone());
            return Ok(ScopeChange { approved: base, unapproved, needs_approval });
        };
        let skill = usable(look, id)?;
        let wanted = Scope::of(&skill, &self.registry);
        let approved =
            if self.pinned.is_some() { base.narrowed_by(&wanted, &self.registry) } else { wanted.clone() };
        let needs_approval = !approved.is_within(&state.scope) || state.scope.closed.is_some();
        let unapproved =
            state.scope.closed.is_none().then(|| state.scope.narrowed_by(&wanted, &self.registry));
        Ok(ScopeChange { approved, unapproved, needs_approval })
    }

    /// Makes a change; without approval the narrower one. False if there is none without.
    pub fn apply(&self, change: ScopeChange, approved: bool) -> bool {
        let scope =
            if approved || !change.needs_approval { Some(change.approved) } else { change.unapproved };
        let done = scope.is_some();
        if let Some(scope) = scope {
            let skill = scope.active.as_ref().map_or("none", |active| active.id.as_str());
            tracing::info!(skill, approved, "the active skill changed");
            self.state.lock().scope = scope;
        }
        done
    }

    /// Answers the policy's question, standing approvals included: those turn `ask` into `allow`, never `deny`.
    fn decide(&self, call: &Asked, admitted: &Admitted, aim: &Aim) -> (Decision, bool) {
        let Some(resolved) = self.registry.resolve(&call.tool) else {
            // The registry checked the call; without its tool nobody knows what it does.
            let reason = "the tool is not known".to_owned();
            return (Decision { verdict: Verdict::Deny, rule: "default".to_owned(), reason }, false);
        };
        let decision = self.policy.decide(&Question {
            tool: resolved.spec,
            args: &call.args,
            skill_risk: admitted.skill_risk,
            app: &aim.app,
            packages: &aim.packages,
            words: &aim.words,
            resource_id: aim.element.as_ref().map_or("", |element| element.resource_id.as_str()),
            password: aim.password,
        });
        let standing = decision.verdict == Verdict::Ask
            && admitted.skill.as_ref().is_some_and(|skill| {
                self.state.lock().approvals.stands(skill, &standing_key(&decision, &call.tool))
            });
        (decision, standing)
    }

    /// Opens an approval that a later request answers, and names it; `None` without randomness.
    #[must_use]
    pub fn open_approval(&self, call: &str, aim: Option<Aim>) -> Option<String> {
        self.state.lock().approvals.open(Subject { call: call.to_owned(), aim })
    }

    /// Takes an open approval for its call: what was to be approved, or `None` if it is not open (any more).
    #[must_use]
    pub fn take_approval(&self, token: &str, call: &str) -> Option<Option<Aim>> {
        self.state.lock().approvals.take(token, call).map(|subject| subject.aim)
    }

    /// Lets an approval stand for the active skill from now on.
    pub fn stand(&self, admitted: &Admitted, decision: &Decision, tool: &str) {
        if let Some(skill) = &admitted.skill {
            self.state.lock().approvals.stand(skill, &standing_key(decision, tool));
        }
    }

    /// Remembers the values of a flow template's secret parameters, as hashes: for steps that were resolved with them.
    ///
    /// # Errors
    /// The skill's record is damaged.
    pub fn learn_secrets(&self, skill: &SkillRef<'_>, values: &Map<String, Value>) -> Result<()> {
        let skill = skill.to_skill()?;
        let mut state = self.state.lock();
        for parameter in skill.parameters.iter().filter(|parameter| parameter.secret) {
            match values.get(&parameter.name).or(parameter.default.as_ref()) {
                Some(Value::String(text)) => state.secrets.add(text),
                Some(Value::Null) | None => {}
                Some(other) => state.secrets.add(&other.to_string()),
            }
        }
        Ok(())
    }

    /// Arguments as they may be shown and written down.
    #[must_use]
    pub fn masked(&self, args: &Map<String, Value>, password: bool) -> Map<String, Value> {
        let marked = args.get("secret").and_then(Value::as_bool).unwrap_or(false);
        self.state.lock().secrets.mask(args, password || marked)
    }

    /// A text as it may be shown and written down.
    #[must_use]
    pub fn masked_text(&self, text: &str) -> String {
        self.state.lock().secrets.mask_text(text)
    }

    /// Writes a call down: in the log, and for the observer.
    pub fn record(&self, mut record: CallRecord) {
        if let Some(element) = &mut record.element {
            element.text = self.masked_text(&element.text);
        }
        let args = Value::Object(record.args.clone()).to_string();
        tracing::info!(
            tool = record.tool,
            ok = record.ok,
            code = record.code.as_deref().unwrap_or_default(),
            decision = record.decision,
            rule = record.rule,
            approval = record.approval.unwrap_or_default(),
            skill = record.skill.as_deref().unwrap_or_default(),
            app = record.app,
            duration_ms = record.duration_ms,
            args,
            "device call"
        );
        if let Some(observer) = &self.observer {
            observer.on_call(&record);
        }
    }
}

/// What a standing approval is for: a rule; where no rule applied, the tool.
fn standing_key(decision: &Decision, tool: &str) -> String {
    if decision.rule == "default" { format!("default {tool}") } else { decision.rule.clone() }
}

/// The skill of an id, if the caller may see it and this deployment can use it.
fn usable<'l>(look: &'l Look, id: &str) -> Result<SkillRef<'l>> {
    let found = look.get(id)?.ok_or_else(|| Error::SkillNotFound { id: id.to_owned() })?;
    let reasons: Vec<_> = found.unavailable().iter().map(ToString::to_string).collect();
    if reasons.is_empty() { Ok(found) } else { Err(Error::SkillUnavailable { id: id.to_owned(), reasons }) }
}

/// A call as a judge keeps it.
#[derive(Clone, Debug)]
struct Asked {
    tool: String,
    args: Map<String, Value>,
}

/// Decides about one call as soon as it is known what it would hit.
#[derive(Clone, Debug)]
pub struct Judge {
    guard: Arc<Guard>,
    call: Asked,
    admitted: Admitted,
    /// What a person approved for this call.
    approved: Option<Aim>,
    decision: Arc<Mutex<Option<(Decision, bool)>>>,
}

impl Judge {
    /// A judge of an admitted call. `approved` is what a person has just approved for it.
    #[must_use]
    pub fn new(guard: &Arc<Guard>, call: &Call<'_>, admitted: &Admitted, approved: Option<Aim>) -> Self {
        let call = Asked { tool: call.spec.name.clone(), args: call.args.clone() };
        Self {
            guard: Arc::clone(guard),
            call,
            admitted: admitted.clone(),
            approved,
            decision: Arc::default(),
        }
    }

    /// Decides. An approval is good for exactly what was shown to the person: if the call would hit something else by
    /// now, it is asked about again.
    #[must_use]
    pub fn permits(&self, aim: &Aim) -> Permit {
        let (decision, standing) = self.guard.decide(&self.call, &self.admitted, aim);
        let go = match decision.verdict {
            Verdict::Allow => true,
            Verdict::Ask => standing || self.approved.as_ref() == Some(aim),
            Verdict::Deny => false,
        };
        *self.decision.lock() = Some((decision, standing));
        if go { Permit::Go } else { Permit::Stop }
    }

    /// What was decided, and whether a standing approval did it; `None` if it did not come to that.
    #[must_use]
    pub fn decision(&self) -> Option<(Decision, bool)> {
        self.decision.lock().clone()
    }
}
