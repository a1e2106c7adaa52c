//! Arbitrary sound skills for property tests.

use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Map, Value};

use crate::model::number::tidy;
use crate::model::{App, Kind, Parameter, ParameterType, Resource, Risk, Skill, Status, Step, slug};

/// An id of one or two segments, of several scripts.
pub(crate) fn ids() -> impl Strategy<Value = String> {
    "[a-z0-9\u{4E00}-\u{4E20}\u{430}-\u{44F}][a-z0-9._ -]{0,12}(/[a-z]{1,5})?"
        .prop_map(|text| text.split('/').map(slug).collect::<Vec<_>>().join("/"))
}

/// A text that is not blank, without control characters.
fn texts() -> impl Strategy<Value = String> {
    "[\\PC&&[^\\p{Cf}\\p{Cn}\\p{Co}]]{0,20}[a-z\u{4E00}-\u{4E20}]"
}

/// A name: visible characters that composition leaves alone.
fn names() -> impl Strategy<Value = String> {
    "[A-Za-z0-9 \u{4E00}-\u{4E20}\u{E0}-\u{F6}\u{1F600}-\u{1F610}'!:-]{0,40}[a-z]"
}

/// JSON of up to three levels in the form that is read back.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(Value::Null),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(any::<String>(), inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
    .prop_filter_map("every number is a double", |value| tidy(&value).ok())
}

fn objects() -> impl Strategy<Value = Map<String, Value>> {
    btree_map("[a-z_]{1,8}", values(), 0..4).prop_map(|members| members.into_iter().collect())
}

fn parameters() -> impl Strategy<Value = Vec<Parameter>> {
    let one = prop_oneof![
        (any::<bool>(), option::of(texts()), any::<bool>()).prop_map(|(required, default, secret)| {
            let mut parameter = Parameter::new("", ParameterType::String);
            (parameter.required, parameter.secret) = (required, secret);
            parameter.default = default.clone().map(Value::from);
            parameter.choices = default.map(|text| vec![Value::from(text), Value::from("other")]);
            (parameter.min_length, parameter.max_length) = (Some(1), Some(100));
            parameter
        }),
        (-100_i64..0, 0_i64..100, texts()).prop_map(|(low, high, description)| {
            let mut parameter = Parameter::new("", ParameterType::Integer);
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let bounds = (Some(low as f64), Some(high as f64));
            (parameter.minimum, parameter.maximum) = bounds;
            parameter.default = Some(Value::from(low));
            parameter.examples = vec![Value::from(high)];
            parameter.description = description;
            parameter
        }),
        Just(Parameter::new("", ParameterType::Boolean)),
    ];
    vec(one, 0..4).prop_map(|mut parameters| {
        for (index, parameter) in parameters.iter_mut().enumerate() {
            parameter.name = format!("p{index}");
        }
        parameters
    })
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let one = ("[a-z_]{1,12}", objects(), option::of(texts()), any::<bool>())
        .prop_map(|(tool, args_template, note, optional)| Step { tool, args_template, note, optional });
    vec(one, 1..5)
}

fn resources() -> impl Strategy<Value = Vec<Resource>> {
    vec(("[a-z]{1,6}", "[0-9a-f]{64}", 0_u64..1_000), 0..3).prop_map(|list| {
        let files = list.into_iter().enumerate();
        files
            .map(|(index, (name, sha256, bytes))| {
                Resource::new(format!("{name}/{index}"), sha256, bytes, "text/plain")
            })
            .collect()
    })
}

fn statuses() -> impl Strategy<Value = Status> {
    prop_oneof![
        Just(Status::Active),
        (texts(), option::of(ids()))
            .prop_map(|(reason, replaced_by)| Status::Deprecated { reason, replaced_by }),
    ]
}

fn metadata() -> impl Strategy<Value = BTreeMap<String, Value>> {
    btree_map(any::<String>(), values(), 0..4)
}

/// A sound skill of either kind.
pub(crate) fn skills() -> impl Strategy<Value = Skill> {
    let head = (
        ids(),
        names(),
        texts(),
        "[a-z0-9.]{1,8}",
        vec(texts(), 0..3),
        vec(texts(), 0..3),
        vec(texts(), 0..3),
    );
    let risks = option::of(prop::sample::select(vec![Risk::Low, Risk::Medium, Risk::High]));
    let tools = option::of(vec("[a-z_]{1,9}", 0..3));
    let middle = (risks, tools, vec(texts(), 0..3), statuses(), metadata(), resources(), option::of(texts()));
    let kinds = prop_oneof![
        any::<String>().prop_map(|content| (content.replace('\0', ""), Vec::new(), Vec::new())),
        (parameters(), steps()).prop_map(|(parameters, steps)| (String::new(), parameters, steps)),
    ];
    let apps = vec(("[a-z]{1,5}\\.[a-z]{1,5}", option::of(0_u64..99)), 0..3);
    (head, middle, kinds, apps).prop_map(|(head, middle, (content, parameters, steps), apps)| {
        let kind = if steps.is_empty() { Kind::Knowledge } else { Kind::FlowTemplate };
        let mut skill = Skill::new(head.0, kind, head.1, head.2);
        (skill.version, skill.tags, skill.aliases, skill.examples) = (head.3, head.4, head.5, head.6);
        (skill.risk, skill.allowed_tools, skill.success_criteria, skill.status) =
            (middle.0, middle.1, middle.2, middle.3);
        (skill.metadata, skill.resources, skill.author) = (middle.4, middle.5, middle.6);
        (skill.content, skill.parameters, skill.steps) = (content, parameters, steps);
        skill.locale = Some("zh-Hans".to_owned());
        skill.updated_at = Some("2026-01-31T12:00:00Z".to_owned());
        skill.apps = apps
            .into_iter()
            .map(|(package, min_version_code)| App { package, min_version_code, max_version_code: None })
            .collect();
        skill
    })
}
