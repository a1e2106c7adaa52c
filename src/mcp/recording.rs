//! The bridge from the guard's records of device calls to the recorder of the task.

use std::sync::Arc;

use crate::authoring::Recorder;
use crate::guard::{CallRecord, GuardOptions, SECRET_MARKER};
use crate::learn::{Element, Event, Secrecy};

/// Hands every call to the recorder, and to whoever watched before; without a recorder nothing changes.
pub(super) fn observed(guard: GuardOptions, recorder: &Recorder) -> GuardOptions {
    if !recorder.is_on() {
        return guard;
    }
    let (before, recorder) = (guard.observer.clone(), recorder.clone());
    guard.observer(Arc::new(move |record: &CallRecord| {
        if let Some(before) = &before {
            before.on_call(record);
        }
        recorder.record(|| event(record));
        if let Some(skill) = &record.skill {
            recorder.uses(skill);
        }
    }))
}

/// A record as an event of a timeline. Secrets are masked in it already; which arguments they were is told, so that they
/// become parameters without a value.
fn event(record: &CallRecord) -> Event {
    let masked = record.args.iter().filter(|(_, value)| value.as_str() == Some(SECRET_MARKER));
    let masked: Vec<String> = masked.map(|(name, _)| name.clone()).collect();
    let mut event = Event::new(record.tool.clone(), record.args.clone())
        .duration_ms(record.duration_ms)
        .decision(record.decision.clone());
    if !masked.is_empty() {
        event = event.secret(Secrecy::Arguments(masked));
    }
    if !record.app.is_empty() {
        event = event.app(record.app.clone());
    }
    if let Some(hit) = &record.element {
        let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        event = event.element(Element {
            resource_id: given(&hit.resource_id),
            text: given(&hit.text),
            content_description: given(&hit.content_description),
            class_name: given(&hit.class),
            password: hit.password,
            ..Element::default()
        });
    }
    if record.ok { event } else { event.failed(record.code.clone().unwrap_or_default()) }
}
