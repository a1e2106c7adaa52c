//! Templates against a naive reference, and programs that no compiler writes.

use super::program::{Op, Program, Span};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::tests::{archived, flow, object, open_registry, run, search_flow, skill};
use super::*;
use crate::limits::RESOLVED_BYTES_MAX;
use crate::model::{Kind, Parameter, Skill, Step};
use crate::tools::ToolRegistry;

/// The reference: substitution as the contract tells it, without any of the code above. `None` = left out.
fn substitute(template: &Value, values: &Map<String, Value>) -> Option<Value> {
    match template {
        Value::Array(items) => Some(items.iter().filter_map(|item| substitute(item, values)).collect()),
        Value::Object(members) => Some(Value::Object(
            members
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), substitute(value, values)?)))
                .collect(),
        )),
        Value::String(text) => {
            let (mut out, mut rest) = (String::new(), text.as_str());
            while let Some(first) = rest.chars().next() {
                if rest.starts_with("{{") || rest.starts_with("}}") {
                    out.push(first);
                    rest = &rest[2..];
                } else if first == '{' {
                    let end = rest.find('}').unwrap();
                    let value = values.get(&rest[1..end]);
                    if text.len() == end + 1 {
                        return value.cloned();
                    }
                    match value.unwrap() {
                        Value::String(text) => out.push_str(text),
                        Value::Number(number) if !number.is_f64() => out.push_str(&number.to_string()),
                        other => out.push_str(&serde_json_canonicalizer::to_string(other).unwrap()),
                    }
                    rest = &rest[end + 1..];
                } else {
                    out.push(first);
                    rest = &rest[first.len_utf8()..];
                }
            }
            Some(Value::String(out))
        }
        other => Some(other.clone()),
    }
}

/// A template string: text and placeholders, now and then the optional `{o}` alone.
fn template_text() -> impl Strategy<Value = Value> {
    let piece = prop_oneof![
        Just("{s}".to_owned()),
        Just("{i}".to_owned()),
        Just("{n}".to_owned()),
        Just("{b}".to_owned()),
        "[a-z\"\\\\\n\u{652F}{} ]{0,5}".prop_map(|text| Template::escape(&text)),
    ];
    let text = prop::collection::vec(piece, 0..4).prop_map(|pieces| Value::String(pieces.concat()));
    prop_oneof![4 => text, 1 => Just(json!("{o}"))]
}

fn template() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => template_text(),
        1 => any::<i32>().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map("[a-c{}\"]{1,2}", inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn values() -> impl Strategy<Value = Map<String, Value>> {
    let float = (-1.0e6..1.0e6_f64).prop_map(|float| json!(float + 0.5));
    ("\\PC{0,8}|[{}\"\\\\a-z\n]{0,8}", any::<i64>(), float, any::<bool>(), prop::option::of("[{}a-z]{0,5}"))
        .prop_map(|(text, integer, number, boolean, optional)| {
            let mut values = object(json!({"s": text, "i": integer, "n": number, "b": boolean}));
            values.extend(optional.map(|text| ("o".to_owned(), Value::from(text))));
            values
        })
}

fn declared() -> Vec<Parameter> {
    serde_json::from_value(json!([
        {"name": "s", "type": "string"}, {"name": "i", "type": "integer"}, {"name": "n", "type": "number"},
        {"name": "b", "type": "boolean"}, {"name": "o", "type": "string", "required": false},
    ]))
    .unwrap()
}

proptest! {
    #[test]
    fn resolving_equals_the_naive_substitution(
        templates in prop::collection::vec(prop::collection::btree_map("[a-d]{1,2}", template(), 0..5), 1..4),
        values in values(),
    ) {
        let steps: Vec<Step> = templates
            .into_iter()
            .map(|args| Step {
                tool: "any".to_owned(),
                args_template: args.into_iter().collect(),
                note: None,
                optional: false,
            })
            .collect();
        let expected: Vec<Value> = steps
            .iter()
            .map(|step| json!({"tool": "any", "args": substitute(&Value::Object(step.args_template.clone()), &values)}))
            .collect();
        let flow = Skill { parameters: declared(), steps, ..skill(Kind::FlowTemplate) };
        prop_assert_eq!(run(&flow, &open_registry(), Value::Object(values)), Ok(Value::Array(expected)));
    }

    #[test]
    fn arbitrary_templates_never_panic(
        args in prop::collection::btree_map("[a-d{}]{1,2}", prop_oneof!["[{}a-z]{0,8}".prop_map(Value::from), template()], 0..5),
        tool in prop_oneof![Just("tap"), Just("any"), Just("press_back"), Just("swipe"), Just("nothing")],
        values in values(),
    ) {
        let steps = json!([{"tool": tool, "args_template": args}]);
        let flow = Skill { parameters: declared(), ..flow(json!([]), steps) };
        let registry = open_registry();
        let compiled = compile(&flow, &registry);
        if compiled.unavailable.is_empty() {
            archived(&compiled.program, |program| {
                prop_assert!(check_archived(program).is_ok());
                if let Ok(text) = resolve_text(program, &values, &registry) {
                    prop_assert!(text.json().len() <= RESOLVED_BYTES_MAX);
                    prop_assert!(serde_json::from_str::<Vec<ResolvedStep>>(text.json()).is_ok());
                }
                Ok(())
            })?;
        }
    }

    #[test]
    fn a_hostile_archive_is_an_error_and_never_a_panic(
        program in hostile(),
        values in values(),
    ) {
        archived(&program, |program| {
            let _ = check_archived(program);
            let registry = open_registry();
            let text = resolve_text(program, &values, &registry);
            let steps = resolve(program, &values, &registry);
            // Whatever the program is, what `resolve` answers is what its text says.
            let read = text.ok().and_then(|text| serde_json::from_str::<Vec<ResolvedStep>>(text.json()).ok());
            prop_assert_eq!(steps.ok(), read);
            Ok(())
        })?;
    }

    #[test]
    fn a_flipped_archive_is_an_error_or_harmless(at in any::<prop::sample::Index>(), bit in 0_u8..8, values in values()) {
        let flow = Skill { parameters: declared(), ..flow(json!([]), json!([
            {"tool": "tap", "args_template": {"text": "{s}"}, "note": "n"},
            {"tool": "any", "args_template": {"o": "{o}", "t": ["{i}", "a{b}"]}},
        ])) };
        let registry = open_registry();
        let mut bytes = rkyv::to_bytes::<rkyv::rancor::Error>(&compile(&flow, &registry).program).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(program) = rkyv::access::<ArchivedProgram, rkyv::rancor::Error>(&bytes) {
            let _ = check_archived(program);
            let _ = resolve(program, &values, &registry);
        }
    }
}

/// A change that makes a program a lie.
type Forge<'a> = &'a dyn Fn(&mut Program);

#[test]
fn forged_programs_are_told_apart() {
    let sound = compile(&search_flow(), &ToolRegistry::builtin()).program;
    let span = |start: u32, end: u32| Span { start, end };
    let cases: [(&str, Forge<'_>); 6] = [
        ("text out of range", &|program| program.ops[0] = Op::Raw(span(0, u32::MAX))),
        ("text out of range", &|program| program.parameters[0].name = span(5, 4)),
        ("no such parameter", &|program| program.ops[0] = Op::Value(999)),
        ("the steps are no JSON", &|program| program.ops[0] = Op::Raw(span(0, 0))),
        ("steps out of order", &|program| program.steps[1].ops = span(0, 2)),
        ("choices out of range", &|program| program.parameters[1].choices = Some(span(0, 1))),
    ];
    archived(&sound, |program| assert_eq!(check_archived(program), Ok(())));
    for (expected, forge) in cases {
        let mut program = sound.clone();
        forge(&mut program);
        archived(&program, |program| assert_eq!(check_archived(program), Err(expected)));
    }
}

/// Programs that no compiler writes.
fn hostile() -> impl Strategy<Value = Program> {
    use super::program::{Guard, Op, ParameterRow, Span, StepRow, ValueKind};
    let number = || prop_oneof![8 => 0_u32..30, 1 => any::<u32>()];
    let span = || (number(), number()).prop_map(|(start, end)| Span { start, end });
    let index = || prop_oneof![8 => 0_u16..6, 1 => any::<u16>()];
    let op = prop_oneof![
        span().prop_map(Op::Raw),
        index().prop_map(Op::Value),
        index().prop_map(Op::Text),
        Just(Op::Separator),
        (index(), number()).prop_map(|(parameter, ops)| Op::Optional { parameter, ops }),
    ];
    let step = (span(), span(), span(), number(), number(), number(), any::<bool>()).prop_map(
        |(ops, guards, tail, tool_start, tool_end, args_start, recheck)| StepRow {
            ops,
            guards,
            tail,
            tool_start,
            tool_end,
            args_start,
            recheck,
        },
    );
    let kind = prop_oneof![
        Just(ValueKind::String),
        Just(ValueKind::Integer),
        Just(ValueKind::Number),
        Just(ValueKind::Boolean)
    ];
    let parameter = (
        span(),
        kind,
        any::<bool>(),
        prop::option::of(span()),
        prop::option::of(span()),
        prop::option::of(span()),
        prop::option::of(any::<f64>()),
    )
        .prop_map(|(name, kind, required, default, choices, pattern, bound)| ParameterRow {
            name,
            description: name,
            kind,
            required,
            secret: required,
            default,
            choices,
            pattern,
            minimum: bound,
            maximum: bound,
            min_length: Some(3),
            max_length: None,
        });
    let guard =
        (index(), any::<f64>()).prop_map(|(parameter, least)| Guard { parameter, least, most: least });
    (
        "[sinbo{}\\[\\]\":,a1\u{652F}(]{0,30}",
        prop::collection::vec(op, 0..12),
        prop::collection::vec(step, 0..4),
        prop::collection::vec(parameter, 0..4),
        prop::collection::vec(span(), 0..4),
        prop::collection::vec(guard, 0..4),
    )
        .prop_map(|(text, ops, steps, parameters, choices, guards)| Program {
            text,
            ops,
            steps,
            parameters,
            choices,
            guards,
            registry: [0; 32],
        })
}
