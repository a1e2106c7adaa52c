//! Random templates with random values: what is learned from the executions is the template.
//!
//! `REPERTOIRE_TEST_SCALE=ci` and `=long` take 2,000 cases.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{full, learn};
use crate::flow::{Segment, Template};
use crate::learn::place::leaves;
use crate::model::{ParameterType, Skill};

/// What a parameter is in the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Words,
    Integer,
    Number,
    Boolean,
    Secret,
}

/// What stands at a place: pieces of literal text and numbers of parameters.
#[derive(Clone, Debug)]
enum Part {
    Text(String),
    Parameter(usize),
}

#[derive(Clone, Debug)]
enum Place {
    Literal(Value),
    Whole(usize),
    Inside(Vec<Part>),
}

#[derive(Clone, Debug)]
struct Step {
    tool: &'static str,
    /// One of these at the place of the tool's own argument, and deeper ones.
    args: Vec<Place>,
    jitter: bool,
}

#[derive(Clone, Debug)]
struct Truth {
    kinds: Vec<Kind>,
    steps: Vec<Step>,
    runs: usize,
    /// Values by run and parameter.
    words: Vec<Vec<u32>>,
    app: bool,
    grounded: bool,
}

const TOOLS: [&str; 4] = ["input_text", "tap", "fill_form", "set_value"];

fn kind() -> impl Strategy<Value = Kind> {
    prop_oneof![
        5 => Just(Kind::Word), 3 => Just(Kind::Words), 2 => Just(Kind::Integer), 1 => Just(Kind::Number),
        1 => Just(Kind::Boolean), 1 => Just(Kind::Secret),
    ]
}

fn truth() -> impl Strategy<Value = Truth> {
    (prop::collection::vec(kind(), 1..5), 2_usize..5, any::<bool>(), any::<bool>()).prop_flat_map(
        |(kinds, runs, app, grounded)| {
            let count = kinds.len();
            let place = (0..8_u8, 0..count, 0..count, 0..1_000_u32);
            let step = (0..TOOLS.len(), prop::collection::vec(place, 1..4), any::<bool>());
            let words = prop::collection::vec(prop::collection::vec(any::<u32>(), count), runs);
            (Just(kinds), prop::collection::vec(step, 1..7), words).prop_map(move |(kinds, steps, words)| {
                let mut steps: Vec<Step> = steps
                    .into_iter()
                    .map(|(tool, places, jitter)| Step {
                        tool: TOOLS[tool],
                        args: places.into_iter().map(|place| make(place, &kinds)).collect(),
                        jitter,
                    })
                    .collect();
                // Every parameter stands somewhere by itself, so that its type can be known.
                let alone = (0..kinds.len()).map(|number| Step {
                    tool: "fill_form",
                    args: vec![Place::Whole(number)],
                    jitter: false,
                });
                steps.extend(alone);
                Truth { kinds, steps, runs, words, app, grounded }
            })
        },
    )
}

/// A place by some numbers. Truth values and secrets stand alone only.
fn make((form, first, second, literal): (u8, usize, usize, u32), kinds: &[Kind]) -> Place {
    let inside = |number: usize| !matches!(kinds[number], Kind::Boolean | Kind::Secret);
    match form {
        0 | 1 => Place::Literal(json!(format!("{{Label}} {literal}"))),
        2 => Place::Literal(json!(literal)),
        3 if inside(first) => Place::Inside(vec![
            Part::Text("geo:0,0?q=".to_owned()),
            Part::Parameter(first),
            Part::Text(format!("&z={literal}")),
        ]),
        4 if inside(first) => {
            Place::Inside(vec![Part::Text(format!("Item{literal} of ")), Part::Parameter(first)])
        }
        5 if inside(first) && inside(second) && first != second => Place::Inside(vec![
            Part::Text("x://h/a=".to_owned()),
            Part::Parameter(first),
            Part::Text("&between=".to_owned()),
            Part::Parameter(second),
        ]),
        _ => Place::Whole(first),
    }
}

/// Six letters of a number; the run is in it, so that no two runs share a word.
fn letters(number: u32, run: usize, parameter: usize) -> String {
    let mut text = String::new();
    let mut rest = number;
    for _ in 0..4 {
        text.push(char::from(b'b' + u8::try_from(rest % 20).unwrap_or(0)));
        rest /= 20;
    }
    for index in [run, parameter] {
        text.push(char::from(b'b' + u8::try_from(index).unwrap_or(0)));
    }
    text
}

impl Truth {
    fn value(&self, run: usize, parameter: usize) -> Value {
        let number = self.words[run][parameter];
        let unique = u64::from(number % 10_000) * 100 + 10 * run as u64 + parameter as u64;
        match self.kinds[parameter] {
            Kind::Word | Kind::Secret => json!(format!("Q{}", letters(number, run, parameter))),
            Kind::Words => json!(format!(
                "{} {}",
                letters(number, run, parameter),
                letters(number / 7, run, parameter + 5)
            )),
            Kind::Integer => json!(unique),
            Kind::Number => serde_json::from_str(&format!("{unique}.25")).expect("a number"),
            Kind::Boolean => json!(run.is_multiple_of(2)),
        }
    }

    fn text(&self, run: usize, parameter: usize) -> String {
        match self.value(run, parameter) {
            Value::String(text) => text,
            other => other.to_string(),
        }
    }

    fn fill(&self, run: usize, place: &Place) -> Value {
        match place {
            Place::Literal(value) => value.clone(),
            Place::Whole(parameter) => self.value(run, *parameter),
            Place::Inside(parts) => json!(
                parts
                    .iter()
                    .map(|part| match part {
                        Part::Text(text) => text.clone(),
                        Part::Parameter(parameter) => self.text(run, *parameter),
                    })
                    .collect::<String>()
            ),
        }
    }

    fn args(&self, run: usize, step: &Step) -> Map<String, Value> {
        let mut args = Map::new();
        for (index, place) in step.args.iter().enumerate() {
            let secret = matches!(place, Place::Whole(p) if self.kinds[*p] == Kind::Secret);
            let value = self.fill(run, place);
            let name = if secret { format!("password{index}") } else { format!("arg{index}") };
            match index {
                0 => args.insert(if secret { "password".to_owned() } else { "value".to_owned() }, value),
                1 => args.insert("deep".to_owned(), json!({ name: value })),
                _ => args.insert("list".to_owned(), json!([{ name: value }])),
            };
        }
        if step.jitter {
            args.insert("x".to_owned(), json!(100 + run));
            args.insert("y".to_owned(), json!(200 + run));
        }
        args
    }

    fn timeline(&self, run: usize) -> Value {
        let mut events = Vec::new();
        if self.app {
            events.push(json!({"tool": "launch_app", "args": {"package": "com.example.truth"}}));
        }
        events.extend(self.steps.iter().map(|step| json!({"tool": step.tool, "args": self.args(run, step)})));
        let said = (0..self.kinds.len()).filter(|_| self.grounded).filter(|p| self.kinds[*p] != Kind::Secret);
        let said: Vec<String> = said.map(|parameter| format!("<{}>", self.text(run, parameter))).collect();
        json!({"goal": format!("Do the thing: {}", said.join(" ; ")), "status": "succeeded", "events": events})
    }

    /// The truth as templates with numbers for names.
    fn templates(&self) -> Vec<BTreeMap<String, String>> {
        let mut all = Vec::new();
        if self.app {
            all.push(BTreeMap::new());
        }
        // Parameters that are equal in all runs by their kind are one.
        let name = |parameter: usize| {
            let first = self.kinds.iter().position(|kind| *kind == Kind::Boolean);
            match self.kinds[parameter] {
                Kind::Boolean => first.unwrap_or(parameter),
                _ => parameter,
            }
        };
        for step in &self.steps {
            let filled = self.args(0, step);
            let mut places = BTreeMap::new();
            for (index, place) in step.args.iter().enumerate() {
                let template = match place {
                    Place::Literal(_) => continue,
                    Place::Whole(parameter) => format!("{{p{}}}", name(*parameter)),
                    Place::Inside(parts) => parts
                        .iter()
                        .map(|part| match part {
                            Part::Text(text) => Template::escape(text),
                            Part::Parameter(parameter) => format!("{{p{}}}", name(*parameter)),
                        })
                        .collect(),
                };
                let pointer =
                    leaves(&filled).into_iter().map(|(pointer, _)| pointer).find(|pointer| match index {
                        0 => pointer == "/value" || pointer == "/password",
                        1 => pointer.starts_with("/deep"),
                        _ => pointer.starts_with("/list"),
                    });
                places.insert(pointer.expect("a place"), template);
            }
            all.push(places);
        }
        all
    }
}

/// What was learned in the form of the truth, its names replaced by those of the truth where they first meet.
fn compare(truth: &Truth, skill: &Skill) -> Result<(), TestCaseError> {
    let wanted = truth.templates();
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    prop_assert_eq!(skill.steps.len(), wanted.len());
    for (step, wanted) in skill.steps.iter().zip(&wanted) {
        let mut found = BTreeMap::new();
        for (pointer, value) in leaves(&step.args_template) {
            let Some(template) = value.as_str().map(|text| Template::parse(text).expect("a template")) else {
                continue;
            };
            if template.literal().is_some() {
                continue;
            }
            let known = wanted.get(&pointer).map(|text| Template::parse(text).expect("a template"));
            let theirs = known.iter().flat_map(|known| known.segments().to_vec()).filter_map(placeholder);
            for (own, theirs) in template.segments().iter().cloned().filter_map(placeholder).zip(theirs) {
                names.entry(own).or_insert(theirs);
            }
            let renamed: String = template
                .segments()
                .iter()
                .map(|segment| match segment {
                    Segment::Text(text) => Template::escape(text),
                    Segment::Placeholder(name) => format!("{{{}}}", names.get(name).unwrap_or(name)),
                })
                .collect();
            found.insert(pointer, renamed);
        }
        prop_assert_eq!(&found, wanted, "{}", skill.canonical_json());
    }
    for parameter in &skill.parameters {
        let number: usize = names[&parameter.name][1..].parse().expect("a number");
        let (kind, secret) = match truth.kinds[number] {
            Kind::Word | Kind::Words => (ParameterType::String, false),
            Kind::Integer => (ParameterType::Integer, false),
            Kind::Number => (ParameterType::Number, false),
            Kind::Boolean => (ParameterType::Boolean, false),
            Kind::Secret => (ParameterType::String, true),
        };
        prop_assert_eq!((parameter.kind, parameter.secret), (kind, secret), "{}", &parameter.name);
    }
    let mut theirs: Vec<&String> = names.values().collect();
    theirs.sort_unstable();
    theirs.dedup();
    prop_assert_eq!(theirs.len(), names.len(), "one name for each");
    Ok(())
}

fn placeholder(segment: Segment) -> Option<String> {
    match segment {
        Segment::Placeholder(name) => Some(name),
        Segment::Text(_) => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: super::amount(100, 2_000), ..ProptestConfig::default() })]

    #[test]
    fn what_is_learned_from_the_executions_of_a_template_is_the_template(truth in truth()) {
        let timelines: Vec<_> = (0..truth.runs).map(|run| full(&truth.timeline(run))).collect();
        let skill = learn(&timelines).expect("a skill");
        compare(&truth, &skill)?;
        let text = skill.canonical_json();
        for run in 0..truth.runs {
            for (parameter, kind) in truth.kinds.iter().enumerate() {
                if *kind == Kind::Secret {
                    prop_assert!(!text.contains(&truth.text(run, parameter)));
                }
            }
        }
    }
}
