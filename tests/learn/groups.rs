//! Made-up tasks, each done three times with other words and values.

use serde_json::{Value, json};

/// One execution.
pub(crate) struct Run {
    pub(crate) goal: String,
    pub(crate) calls: Vec<(&'static str, Value)>,
    /// The values of the parameters, in the order in which they stand first.
    pub(crate) values: Vec<Value>,
}

/// One task.
pub(crate) struct Group {
    pub(crate) runs: [Run; 3],
}

impl Run {
    pub(crate) fn timeline(&self) -> Value {
        let mut events = Vec::new();
        for (tool, args) in &self.calls {
            events.push(json!({"tool": "describe_screen", "args": {}}));
            events.push(json!({"tool": tool, "args": args}));
        }
        json!({"goal": self.goal, "status": "succeeded", "events": events})
    }
}

/// Three executions of a flow, by goal and values.
fn group(runs: [(&str, &[Value]); 3], flow: fn(&[Value]) -> Vec<(&'static str, Value)>) -> Group {
    let run = |(goal, values): (&str, &[Value])| Run {
        goal: goal.to_owned(),
        calls: flow(values),
        values: values.to_vec(),
    };
    Group { runs: runs.map(run) }
}

/// The goals are worded by different people; apps and screens are invented.
pub(crate) fn groups() -> Vec<Group> {
    [first(), second(), third(), fourth()].into_iter().flatten().collect()
}

fn first() -> Vec<Group> {
    vec![
        group(
            [
                ("Order a margherita pizza in SliceNow", &[json!("margherita pizza")]),
                ("I'm hungry, get me a calzone from SliceNow", &[json!("calzone")]),
                ("Could you use SliceNow to have garlic bread delivered", &[json!("garlic bread")]),
            ],
            |v| {
                vec![
                    ("launch_app", json!({"package": "com.example.slicenow"})),
                    ("tap", json!({"text": "Search dishes"})),
                    ("input_text", json!({"text": v[0], "submit": true})),
                    ("tap", json!({"text": "Add to order"})),
                ]
            },
        ),
        group(
            [
                ("Add a birthday reminder for Mina on 3 May in DayPlan", &[json!("Mina"), json!("3 May")]),
                ("Put Omar's birthday into DayPlan, it is on 11 June", &[json!("Omar"), json!("11 June")]),
                (
                    "DayPlan should remind me of the birthday of Lena on 30 July",
                    &[json!("Lena"), json!("30 July")],
                ),
            ],
            |v| {
                vec![
                    ("launch_app", json!({"app": "DayPlan"})),
                    ("tap", json!({"content_description": "New birthday"})),
                    ("input_text", json!({"field": "Who", "text": v[0]})),
                    ("input_text", json!({"field": "When", "text": v[1]})),
                    ("tap", json!({"text": "Done"})),
                ]
            },
        ),
        group(
            [
                ("Navigate to the harbour museum with RoadPal", &[json!("harbour museum")]),
                ("RoadPal: directions to the botanical garden", &[json!("botanical garden")]),
                ("Show me the way to the old mill in RoadPal", &[json!("old mill")]),
            ],
            |v| {
                vec![
                    (
                        "open_url",
                        json!({"url": format!("roadpal://go?to={}&by=car", v[0].as_str().unwrap_or_default()), "package": "com.example.roadpal"}),
                    ),
                    ("tap", json!({"text": "Start"})),
                ]
            },
        ),
    ]
}

fn second() -> Vec<Group> {
    vec![
        group(
            [
                (
                    "\u{5728}\u{542c}\u{96e8}\u{91cc}\u{64ad}\u{653e}\u{6d77}\u{6d6a}\u{7684}\u{58f0}\u{97f3}",
                    &[json!("\u{6d77}\u{6d6a}")],
                ),
                (
                    "\u{7528}\u{542c}\u{96e8}\u{64ad}\u{653e}\u{68ee}\u{6797}\u{7684}\u{58f0}\u{97f3}",
                    &[json!("\u{68ee}\u{6797}")],
                ),
                (
                    "\u{8bf7}\u{6253}\u{5f00}\u{542c}\u{96e8}\u{64ad}\u{653e}\u{7bdd}\u{706b}",
                    &[json!("\u{7bdd}\u{706b}")],
                ),
            ],
            |v| {
                vec![
                    ("launch_app", json!({"app": "\u{542c}\u{96e8}"})),
                    ("tap", json!({"text": v[0]})),
                    ("tap", json!({"text": "\u{64ad}\u{653e}"})),
                ]
            },
        ),
        group(
            [
                ("Send 12 coins to Ravi in PocketGame", &[json!("Ravi"), json!("12")]),
                ("Give Zoe 40 coins, in PocketGame", &[json!("Zoe"), json!("40")]),
                ("Transfer 7 PocketGame coins to Tom", &[json!("Tom"), json!("7")]),
            ],
            |v| {
                vec![
                    ("launch_app", json!({"package": "com.example.pocketgame"})),
                    ("tap", json!({"text": "Friends"})),
                    ("tap", json!({"text": v[0]})),
                    ("input_text", json!({"field": "Coins", "text": v[1], "clear": true})),
                    ("tap", json!({"text": "Send"})),
                ]
            },
        ),
        group(
            [
                ("Turn the kitchen lamp off with HomeBeam", &[json!("kitchen lamp")]),
                ("HomeBeam, switch off the hallway light", &[json!("hallway light")]),
                ("Switch the desk lamp off in HomeBeam please", &[json!("desk lamp")]),
            ],
            |v| {
                vec![
                    ("launch_app", json!({"package": "com.example.homebeam"})),
                    ("scroll_to_element", json!({"text": v[0]})),
                    ("long_press", json!({"text": v[0], "duration_ms": 800})),
                    ("tap", json!({"text": "Off"})),
                ]
            },
        ),
    ]
}

fn third() -> Vec<Group> {
    vec![
        group(
            [
                (
                    "Translate \"good morning\" into Czech with LinguaBox",
                    &[json!("Czech"), json!("good morning")],
                ),
                ("What is thank you in Finnish? use LinguaBox", &[json!("Finnish"), json!("thank you")]),
                ("LinguaBox: how do I say see you soon in Greek", &[json!("Greek"), json!("see you soon")]),
            ],
            |v| {
                vec![
                    ("launch_app", json!({"package": "com.example.linguabox"})),
                    ("tap", json!({"resource_id": "com.example.linguabox:id/target_language"})),
                    ("tap", json!({"text": v[0]})),
                    (
                        "input_text",
                        json!({"target_resource_id": "com.example.linguabox:id/source_text", "text": v[1]}),
                    ),
                ]
            },
        ),
        group(
            [
                ("Log my weight of 71 kg in FitDiary", &[json!("71")]),
                ("FitDiary: today I weigh 70 kg", &[json!("70")]),
                ("Enter a weight of 69 kg into FitDiary", &[json!("69")]),
            ],
            |v| {
                vec![
                    ("launch_app", json!({"package": "com.example.fitdiary"})),
                    ("tap", json!({"text": "Weight"})),
                    ("input_text", json!({"field": "kg", "text": v[0]})),
                    ("press_key", json!({"key": "enter"})),
                ]
            },
        ),
        group(
            [
                ("Block the number +49555010 with CallGuard", &[json!("+49555010")]),
                ("CallGuard should stop calls from +44555020", &[json!("+44555020")]),
                ("Stop +33555030 from ringing me, with CallGuard", &[json!("+33555030")]),
            ],
            |v| {
                vec![
                    ("launch_app", json!({"package": "com.example.callguard"})),
                    ("tap", json!({"text": "Blocked"})),
                    ("tap", json!({"content_description": "Add"})),
                    ("input_text", json!({"field": "Number", "text": v[0], "submit": true})),
                ]
            },
        ),
    ]
}

fn fourth() -> Vec<Group> {
    vec![group(
        [
            ("Set the brightness of the screen to 30", &[json!("30")]),
            ("Screen brightness to 75 please", &[json!("75")]),
            ("Make the screen's brightness 10", &[json!("10")]),
        ],
        |v| {
            vec![
                ("open_settings_panel", json!({"panel": "system_settings"})),
                ("tap", json!({"text": "Brightness"})),
                ("input_text", json!({"field": "Percent", "text": v[0]})),
            ]
        },
    )]
}
