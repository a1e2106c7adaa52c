//! An unknown id and a hidden one get the same bytes.

use crate::program::Program;
use crate::skills::{skill, write_lines};

#[test]
fn an_unknown_and_a_hidden_id_get_the_same_bytes() {
    let program = Program::new();
    let file = program.path("in.skill.jsonl");
    let mut flow = skill("flow-1", "Goes home.");
    let members = flow.as_object_mut().expect("an object");
    members.insert("kind".to_owned(), "flow_template".into());
    members.remove("content");
    members.insert("steps".to_owned(), serde_json::json!([{"tool": "press_home", "args_template": {}}]));
    let mut broken = flow.clone();
    broken["id"] = "void-1".into();
    broken["steps"][0]["tool"] = "no_such_tool".into();
    write_lines(&file, [flow, broken, skill("text-1", "Tells something.")].into_iter());
    program.import(&file);
    for id in ["flow-1", "void-1", "text-1"] {
        let unknown = id.replace('1', "2");
        let calls: [&[&str]; 6] = [
            &["get", id, "--json"],
            &["get", id],
            &["resolve", id, "--json"],
            &["resolve", id],
            &["resolve", id, "--json", "-p", "x=1"],
            &["get", id, "--json", "--subscriptions", "s"],
        ];
        let seen: Vec<String> = calls.iter().map(|words| program.run(words).stdout).collect();
        program.run(&["entitlements", "hide", id]).code(0);
        for (words, seen) in calls.iter().zip(seen) {
            let other: Vec<&str> =
                words.iter().map(|word| if *word == id { unknown.as_str() } else { word }).collect();
            let (hidden, unknown) = (program.run(words).code(1), program.run(&other).code(1));
            assert_eq!(hidden.stdout, unknown.stdout.replace("-2", "-1"), "{words:?}");
            assert_eq!(hidden.stderr, unknown.stderr.replace("-2", "-1"), "{words:?}");
            assert!(hidden.stdout != seen || seen.is_empty(), "{words:?}: hiding changed nothing");
        }
        program.run(&["entitlements", "unhide", id]).code(0);
    }
}
