//! Device tools over MCP: which are offered, and one call from its name to its answer.

use std::sync::Arc;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ProgressNotificationParam, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::catalog::Snapshot;
use crate::device::{Aim, CallEnd, Devices, Outcome, Progress, Stop, Watch};
use crate::error::{DeviceCode, DeviceError, Result, shorten};
use crate::guard::{Admitted, CallRecord, Guard, Judge, Refusal};
use crate::limits::UI_TREE_SENT_BYTES_MAX;
use crate::mcp::approval::{self, Question, Reply};
use crate::mcp::failure::Failure;
use crate::mcp::options::ToolFilter;
use crate::policy::{Decision, Verdict};
use crate::tools::{Call, Effect, ToolRegistry, ToolSpec};

/// How often a call is asked about whose target changed while the person thought.
const QUESTIONS_MAX: u32 = 3;
/// Longest argument that a question shows.
const SHOWN_ARGS_CHARS_MAX: usize = 600;

/// The device tools of one session.
#[derive(Clone, Debug)]
pub(super) struct DeviceSide {
    pub(super) devices: Arc<Devices>,
    pub(super) guard: Arc<Guard>,
    /// Places in the registry and listings of the tools that are offered.
    offered: Arc<Vec<(usize, Tool)>>,
}

/// A call on its way.
struct Running<'a> {
    call: Call<'a>,
    /// Tool and canonical arguments as one text.
    subject: String,
    admitted: Admitted,
    begun: Instant,
    approval: Option<&'static str>,
}

impl DeviceSide {
    pub(super) fn new(devices: Arc<Devices>, guard: Guard, filter: &ToolFilter) -> Self {
        let registry = guard.registry();
        let offered = registry
            .specs()
            .enumerate()
            .filter(|(_, spec)| filter.allows_device(&spec.name) && is_own(spec))
            .map(|(ordinal, spec)| (ordinal, listing(spec)))
            .collect();
        Self { devices, guard: Arc::new(guard), offered: Arc::new(offered) }
    }

    /// The same phones and tools for another session.
    pub(super) fn with_guard(&self, guard: Arc<Guard>) -> Self {
        Self { devices: Arc::clone(&self.devices), guard, offered: Arc::clone(&self.offered) }
    }

    /// The listings; of a filtered list only what the scope of the active skill mentions.
    pub(super) fn listed(&self, scope: Option<&Snapshot>) -> Result<Vec<Tool>> {
        let mut tools = Vec::new();
        for (ordinal, tool) in self.offered.iter() {
            let shown = match scope {
                Some(look) => self.guard.mentions(look, *ordinal)?,
                None => true,
            };
            if shown {
                tools.push(tool.clone());
            }
        }
        Ok(tools)
    }

    /// The listing of a tool by any of its names; `None` if it is not offered.
    pub(super) fn find(&self, name: &str) -> Option<&Tool> {
        let ordinal = self.guard.registry().resolve(name)?.ordinal;
        self.offered.iter().find(|(offered, _)| *offered == ordinal).map(|(_, tool)| tool)
    }

    /// Canonical names of all that are offered.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.offered.iter().map(|(_, tool)| tool.name.as_ref())
    }

    /// Makes one call: arguments, scope, policy, approval, phone, record.
    pub(super) async fn call(
        &self,
        request: CallToolRequestParams,
        look: Snapshot,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        let begun = Instant::now();
        let registry = Arc::clone(self.guard.registry());
        let args = given(request.arguments.as_ref());
        let call = registry
            .check_call(&request.name, &args)
            .map_err(|problems| Failure::of_problems(&request.name, &problems))?;
        let subject = format!("{} {}", call.spec.name, Value::Object(call.args.clone()));
        let admitted =
            self.guard.admit(&look, &call).map_err(|error| Failure::from_error(&request.name, error))?;
        drop(look);
        let admitted = match admitted {
            Ok(admitted) => admitted,
            Err(refusal) => {
                let running = Running { call, subject, admitted: Admitted::default(), begun, approval: None };
                self.record(&running, &Aim::default(), None, Some(refusal.code));
                return Err(Failure::refused(refusal));
            }
        };
        let mut running = Running { call, subject, admitted, begun, approval: None };
        let mut approved = None;
        let mut stands = false;
        if let Some(answer) = approval::answered(&self.guard, &request, &running.subject) {
            match answer.reply {
                Reply::Approved { stands: for_skill } => {
                    running.approval = Some("approved");
                    stands = for_skill;
                    approved = answer.aim;
                }
                Reply::Declined(why) => {
                    running.approval = Some("declined");
                    let aim = answer.aim.unwrap_or_default();
                    return Err(self.refuse(&running, &aim, None, declined(&running, why)));
                }
                Reply::Nobody | Reply::Later(_) => {}
            }
        }
        self.run(running, approved, stands, context).await
    }

    /// Runs an admitted call until it ended, or until nobody answers for it.
    async fn run(
        &self,
        mut running: Running<'_>,
        mut approved: Option<Aim>,
        mut stands: bool,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, Failure> {
        for _ in 0..QUESTIONS_MAX {
            let judge = Judge::new(&self.guard, &running.call, &running.admitted, approved.take());
            let end = self.attempt(&running.call, &judge, context).await;
            let decision = judge.decision();
            if decision.as_ref().is_some_and(|(_, standing)| *standing) && running.approval.is_none() {
                running.approval = Some("standing");
            }
            // What a person lets stand counts once the call was let through with it.
            if std::mem::take(&mut stands)
                && end.result != Err(Stop::Judged)
                && let Some((decision, _)) = &decision
            {
                self.guard.stand(&running.admitted, decision, &running.call.spec.name);
            }
            let CallEnd { aim, result } = end;
            let decision = decision.map(|(decision, _)| decision);
            match (result, decision) {
                (Ok(outcome), decision) => {
                    self.record(&running, &aim, decision.as_ref(), None);
                    return Ok(answer(outcome).into());
                }
                (Err(Stop::Judged), Some(decision)) if decision.verdict == Verdict::Ask => {
                    match self.ask(&running, &aim, &decision, context).await {
                        Reply::Approved { stands: for_skill } => {
                            running.approval = Some("approved");
                            stands = for_skill;
                            approved = Some(aim);
                        }
                        Reply::Declined(why) => {
                            running.approval = Some("declined");
                            return Err(self.refuse(
                                &running,
                                &aim,
                                Some(&decision),
                                declined(&running, why),
                            ));
                        }
                        Reply::Nobody => {
                            running.approval = Some("nobody");
                            let refusal = Refusal::approval_required(&named(&running), &decision.reason);
                            return Err(self.refuse(&running, &aim, Some(&decision), refusal));
                        }
                        Reply::Later(input) => return Ok((*input).into()),
                    }
                }
                (Err(Stop::Judged), decision) => {
                    let reason = decision.as_ref().map_or("no decision", |decision| decision.reason.as_str());
                    let refusal = Refusal::denied(&running.call.spec.name, reason);
                    return Err(self.refuse(&running, &aim, decision.as_ref(), refusal));
                }
                (Err(Stop::Failed(error)), decision) => {
                    self.record(&running, &aim, decision.as_ref(), Some(error.code.name()));
                    return Err(Failure::of_device(error));
                }
            }
        }
        let refusal = declined(&running, "what it would hit kept changing while the person decided");
        Err(self.refuse(&running, &Aim::default(), None, refusal))
    }

    /// One run at the phone, with progress told and cancellation heard.
    async fn attempt(&self, call: &Call<'_>, judge: &Judge, context: &RequestContext<RoleServer>) -> CallEnd {
        let (tell, mut told) = mpsc::unbounded_channel::<Progress>();
        let token = context.meta.get_progress_token();
        let mut watch = Watch::default().needs_app(self.guard.needs_app()).judge({
            let judge = judge.clone();
            move |aim: &Aim| judge.permits(aim)
        });
        if token.is_some() {
            // Whoever left does not hear of it.
            watch = watch.progress(move |progress| drop(tell.send(progress)));
        }
        let mut running = std::pin::pin!(self.devices.call(call, &watch));
        loop {
            tokio::select! {
                end = &mut running => return end,
                Some(progress) = told.recv() => {
                    if let Some(token) = token.clone() {
                        let mut param = ProgressNotificationParam::new(token, progress.done).with_message(progress.message);
                        param.total = progress.total;
                        drop(context.peer.notify_progress(param).await);
                    }
                }
                () = context.ct.cancelled() => {
                    let error = DeviceError::new(
                        DeviceCode::Cancelled,
                        "the call was cancelled",
                        "look at the screen: what was begun on the phone ended there",
                    );
                    return CallEnd { aim: Aim::default(), result: Err(Stop::Failed(error)) };
                }
            }
        }
    }

    async fn ask(
        &self,
        running: &Running<'_>,
        aim: &Aim,
        decision: &Decision,
        context: &RequestContext<RoleServer>,
    ) -> Reply {
        let question = Question {
            text: self.question(running, aim, decision),
            may_stand: running.admitted.skill.is_some(),
            call: running.subject.clone(),
            aim: Some(aim.clone()),
        };
        tokio::select! {
            reply = approval::ask(&self.guard, question, context) => reply,
            () = context.ct.cancelled() => Reply::Declined("the call was cancelled"),
        }
    }

    /// What the person reads: tool, arguments without secrets, what it hits, skill, reason.
    fn question(&self, running: &Running<'_>, aim: &Aim, decision: &Decision) -> String {
        let args = Value::Object(self.guard.masked(&running.call.args, aim.password)).to_string();
        let args: String = args.chars().take(SHOWN_ARGS_CHARS_MAX).collect();
        let mut text = format!("Allow {} {args}?", running.call.spec.name);
        if !aim.words.is_empty() {
            text.push_str(&format!("\nOn the element: {}", shorten(&self.guard.masked_text(&aim.words))));
        }
        for (name, value) in [("App", &aim.app), ("Phone", &aim.device)] {
            if !value.is_empty() {
                text.push_str(&format!("\n{name}: {value}"));
            }
        }
        if let Some(skill) = &running.admitted.skill {
            text.push_str(&format!("\nSkill: {skill}"));
        }
        text.push_str(&format!("\nWhy you are asked: {}", decision.reason));
        text
    }

    fn refuse(
        &self,
        running: &Running<'_>,
        aim: &Aim,
        decision: Option<&Decision>,
        refusal: Refusal,
    ) -> Failure {
        self.record(running, aim, decision, Some(refusal.code));
        Failure::refused(refusal)
    }

    fn record(
        &self,
        running: &Running<'_>,
        aim: &Aim,
        decision: Option<&Decision>,
        code: Option<&'static str>,
    ) {
        let mut record = CallRecord::default();
        record.tool.clone_from(&running.call.spec.name);
        record.args = self.guard.masked(&running.call.args, aim.password);
        record.ok = code.is_none();
        record.code = code.map(str::to_owned);
        record.duration_ms = u64::try_from(running.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        record.app.clone_from(&aim.app);
        record.element.clone_from(&aim.element);
        record.device.clone_from(&aim.device);
        record.skill.clone_from(&running.admitted.skill);
        record.decision = decision.map_or("refused", |decision| decision.verdict.name()).to_owned();
        record.rule = decision.map(|decision| decision.rule.clone()).unwrap_or_default();
        record.approval = running.approval;
        self.guard.record(record);
    }
}

/// The call in words, for refusals.
fn named(running: &Running<'_>) -> String {
    format!("This call of {}", running.call.spec.name)
}

fn declined(running: &Running<'_>, why: &str) -> Refusal {
    Refusal::approval_declined(&named(running), why)
}

/// Arguments without those that are `null`: clients of language models send them for what is left out.
fn given(arguments: Option<&Map<String, Value>>) -> Map<String, Value> {
    let all = arguments.into_iter().flatten();
    all.filter(|(_, value)| !value.is_null()).map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Whether a tool of the registry is one that the device layer runs, with the arguments that it knows: a deployment may
/// replace a tool by another server's of the same name.
fn is_own(spec: &ToolSpec) -> bool {
    let builtin = ToolRegistry::builtin();
    builtin.resolve(&spec.name).is_some_and(|own| {
        own.spec.name == spec.name
            && own.spec.parameters == spec.parameters
            && own.spec.constraints == spec.constraints
    })
}

/// A tool as `tools/list` shows it. What only the check needs is left out: the list is read by a model at every turn.
fn listing(spec: &ToolSpec) -> Tool {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    let mut properties = Map::new();
    for (name, full) in spec.parameters.get("properties").and_then(Value::as_object).into_iter().flatten() {
        properties.insert(name.clone(), brief(full));
    }
    schema.insert("properties".to_owned(), Value::Object(properties));
    if let Some(required) = spec.parameters.get("required") {
        schema.insert("required".to_owned(), required.clone());
    }
    let annotations = match spec.effect {
        Effect::Observe | Effect::Wait => ToolAnnotations::new().read_only(true),
        Effect::Mutate => {
            ToolAnnotations::new().read_only(false).destructive(spec.risk == crate::model::Risk::High)
        }
    };
    Tool::new(spec.name.clone(), spec.summary.clone(), schema).with_annotations(annotations)
}

/// The schema of an argument without patterns and lengths; one of several types is told as text.
fn brief(full: &Value) -> Value {
    let kept = ["type", "enum", "minimum", "maximum", "exclusiveMinimum", "default", "description"];
    let mut brief = Map::new();
    for name in kept {
        if let Some(value) = full.get(name) {
            brief.insert(name.to_owned(), value.clone());
        }
    }
    if !brief.contains_key("type") {
        brief.insert("type".to_owned(), json!("string"));
    }
    Value::Object(brief)
}

/// An outcome as content: text, and the picture where there is one.
fn answer(outcome: Outcome) -> CallToolResult {
    let mut content = vec![ContentBlock::text(cut(outcome.text))];
    if let Some(picture) = outcome.picture {
        content.push(ContentBlock::image(STANDARD.encode(&picture.bytes), picture.media_type));
    }
    CallToolResult::success(content)
}

/// A text that is too long for a client, cut between characters, with a note.
fn cut(mut text: String) -> String {
    if text.len() <= UI_TREE_SENT_BYTES_MAX {
        return text;
    }
    let mut end = UI_TREE_SENT_BYTES_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let left = text.len() - end;
    text.truncate(end);
    text.push_str(&format!("\n<!-- cut: {left} bytes are left out; use describe_screen or compressed -->"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listing_tells_what_a_tool_does_in_few_bytes() {
        let registry = ToolRegistry::builtin();
        let mut bytes = 0;
        for spec in registry.specs() {
            let wire = serde_json::to_value(listing(spec)).unwrap();
            assert_eq!(wire["annotations"]["readOnlyHint"], spec.effect != Effect::Mutate, "{}", spec.name);
            assert!(wire.to_string().find("anyOf").is_none() && !spec.summary.is_empty());
            bytes += wire.to_string().len();
        }
        assert!(bytes <= crate::limits::MCP_TOOL_LIST_BYTES_MAX * 2 / 3, "{bytes} bytes");
        let stop = serde_json::to_value(listing(registry.resolve("stop_app").unwrap().spec)).unwrap();
        assert_eq!(stop["annotations"]["destructiveHint"], true);
    }

    #[test]
    fn a_long_tree_is_cut_between_characters_with_a_note() {
        let long = "\u{4e2d}".repeat(UI_TREE_SENT_BYTES_MAX);
        let short = cut(long);
        assert!(short.len() < UI_TREE_SENT_BYTES_MAX + 200 && short.contains("cut:"));
        assert_eq!(cut("short".to_owned()), "short");
    }
}
