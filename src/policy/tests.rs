//! Each rule of the starter set by examples, and what must not trip them.

use serde_json::{Map, Value, json};

use super::*;
use crate::model::Risk;
use crate::tools::ToolRegistry;

/// What a policy answers to a call; `aim` is `(app, words, password)`.
fn decide(
    policy: &Policy,
    tool: &str,
    args: &Value,
    aim: (&str, &str, bool),
    skill_risk: Option<Risk>,
) -> Decision {
    let registry = ToolRegistry::builtin();
    let spec = registry.resolve(tool).unwrap().spec;
    let args: Map<String, Value> = args.as_object().unwrap().clone();
    policy.decide(&Question {
        tool: spec,
        args: &args,
        skill_risk,
        app: aim.0,
        packages: &[],
        words: aim.1,
        resource_id: "",
        password: aim.2,
    })
}

fn rule_for_tap(words: &str) -> String {
    let decision =
        decide(&Policy::starter(), "tap", &json!({"index": 1}), ("com.example", words, false), None);
    assert_eq!(decision.verdict == Verdict::Allow, decision.rule == "default", "{words}");
    decision.rule
}

#[test]
fn the_starter_rules_are_sound() {
    let read = file::read(rule::STARTER, &ToolRegistry::builtin(), None);
    let policy = read.unwrap_or_else(|wrong| panic!("{wrong:?}"));
    assert_eq!(policy, Policy::starter());
    assert!(policy.rules.len() >= 10);
}

#[test]
fn every_starter_rule_of_words_finds_its_words_in_two_languages() {
    let rows = [
        (
            "payments",
            &[
                "Pay now",
                "Pay $9.99",
                "Checkout",
                "Send money",
                "Transfer",
                "立即支付",
                "去付款",
                "转账",
                "充值 50 元",
            ][..],
        ),
        ("purchases", &["Buy now", "Place order", "SUBSCRIBE", "立即购买", "提交订单", "订阅"]),
        ("messages about to be sent", &["Send", "send message", "Post", "发送", "发布", "转发"]),
        (
            "deletion",
            &[
                "Delete",
                "Delete all",
                "Uninstall",
                "Factory reset",
                "删除",
                "清空聊天记录",
                "卸载",
                "恢复出厂设置",
            ],
        ),
        (
            "accounts and credentials",
            &["Sign in", "Log out", "Change password", "退出登录", "修改密码", "注销账号"],
        ),
        (
            "permissions granted in words",
            &["Allow", "While using the app", "Install", "允许", "仅在使用中允许", "继续安装"],
        ),
    ];
    for (rule, words) in rows {
        for word in words {
            assert_eq!(rule_for_tap(word), rule, "{word}");
        }
    }
}

#[test]
fn words_inside_of_other_words_and_harmless_phrases_ask_nobody() {
    let harmless = [
        "Search",
        "bankrupt",
        "Payload",
        "Sender",
        "Posture",
        "Repayment plan",
        "Undeleted",
        "Allowance",
        "Installer guide",
        "Buyer reviews",
        "Subscriber count",
        "Formation",
        "transferring",
        "Recently deleted",
        "Don't allow",
        "Fast forward",
        "Call history",
        "Date format",
        "搜索",
        "支付宝",
        "发布会",
        "不允许",
        "已安装",
        "购买记录",
        "发布于 昨天",
        "返回",
        "设置",
        "首页",
    ];
    for words in harmless {
        assert_eq!(rule_for_tap(words), "default", "{words}");
    }
}

#[test]
fn rules_of_apps_fields_and_settings_look_at_more_than_words() {
    let policy = Policy::starter();
    let ask = |tool: &str, args: Value, aim: (&str, &str, bool)| decide(&policy, tool, &args, aim, None).rule;
    let typed = json!({"text": "hello", "submit": true});
    assert_eq!(
        ask("input_text", typed.clone(), ("com.whatsapp", "Message", false)),
        "messages submitted as they are typed"
    );
    assert_eq!(ask("input_text", typed, ("com.xingin.xhs", "Search", false)), "default");
    assert_eq!(ask("input_text", json!({"text": "hello"}), ("com.whatsapp", "Message", false)), "default");
    assert_eq!(
        ask("input_text", json!({"text": "how to delete and pay"}), ("com.example", "", false)),
        "default"
    );
    assert_eq!(ask("input_text", json!({"text": "x"}), ("com.example", "", true)), "password fields");
    assert_eq!(
        ask("tap", json!({"index": 1}), ("com.google.android.permissioncontroller", "Cancel", false)),
        "permission dialogs"
    );
    assert_eq!(
        ask("tap", json!({"index": 1}), ("com.android.settings", "USB debugging", false)),
        "security settings"
    );
    assert_eq!(
        ask("tap", json!({"index": 1}), ("com.android.settings", "无障碍", false)),
        "security settings"
    );
    assert_eq!(ask("tap", json!({"index": 1}), ("com.example", "Security", false)), "default");
    assert_eq!(
        ask("open_settings_panel", json!({"panel": "accessibility"}), ("", "", false)),
        "accessibility panel"
    );
    assert_eq!(ask("open_settings_panel", json!({"panel": "wifi"}), ("", "", false)), "default");
    assert_eq!(ask("tap", json!({"text": "Pay now"}), ("com.example", "", false)), "payments");
    let stop = decide(&policy, "stop_app", &json!({}), ("com.example", "", false), None);
    assert_eq!((stop.verdict, stop.rule.as_str()), (Verdict::Ask, "default"));
    for tool in ["describe_screen", "screenshot", "wait_for_idle", "scroll", "press_key"] {
        let decision = decide(&policy, tool, &json!({"key": "back"}), ("com.example", "Delete", false), None);
        assert_eq!(decision.verdict, Verdict::Allow, "{tool}");
    }
}

#[test]
fn the_strictest_rule_wins_and_nothing_makes_it_milder() {
    let registry = ToolRegistry::builtin();
    let file = r#"
        starter = false
        default = { medium = "ask" }
        [[rule]]
        name = "friendly"
        decide = "allow"
        [[rule]]
        name = "no banks"
        apps = ["*bank*"]
        decide = "deny"
        [[rule]]
        name = "careful skills"
        skill_risk = "high"
        effect = "observe"
        decide = "ask"
    "#;
    let policy = Policy::from_toml(file, &registry).unwrap();
    let answer = |tool: &str, app: &str, skill: Option<Risk>| {
        let decision = decide(&policy, tool, &json!({"index": 1}), (app, "", false), skill);
        (decision.verdict, decision.rule)
    };
    assert_eq!(answer("tap", "com.example", None), (Verdict::Ask, "default".to_owned()));
    assert_eq!(answer("tap", "com.mybank.app", None), (Verdict::Deny, "no banks".to_owned()));
    assert_eq!(answer("screenshot", "com.mybank.app", None), (Verdict::Deny, "no banks".to_owned()));
    assert_eq!(answer("screenshot", "com.example", None), (Verdict::Allow, "default".to_owned()));
    assert_eq!(
        answer("screenshot", "com.example", Some(Risk::High)),
        (Verdict::Ask, "careful skills".to_owned())
    );
    assert_eq!(
        answer("screenshot", "com.example", Some(Risk::Medium)),
        (Verdict::Allow, "default".to_owned())
    );
    assert!(policy.needs_app() && !Policy::starter().needs_app());
}

#[test]
fn a_file_keeps_the_starter_rules_unless_it_says_otherwise() {
    let registry = ToolRegistry::builtin();
    let own = "[[rule]]\nname = \"mine\"\ntools = [\"open_app\", \"press_back\"]\ndecide = \"deny\"\n";
    let with = Policy::from_toml(own, &registry).unwrap();
    assert_eq!(with.rules.len(), Policy::starter().rules.len() + 1);
    assert_eq!(with.rules[0].tools, ["launch_app", "press_key"]);
    let without = Policy::from_toml(&format!("starter = false\n{own}"), &registry).unwrap();
    assert_eq!(without.rules.len(), 1);
}

#[test]
fn everything_wrong_with_a_file_is_told_at_once_with_its_line() {
    let registry = ToolRegistry::builtin();
    let file = "colour = 1\ndefault = { low = \"maybe\", none = \"ask\" }\n[[rule]]\nname = \"a\"\neffect = \"change\"\ntools = [\"tapp\"]\napps = []\ntext = [\"!\", 3]\npassword = \"yes\"\n[[rule]]\nname = \"a\"\nwhen = \"now\"\n";
    let wrong = Policy::from_toml(file, &registry).unwrap_err();
    let told: Vec<(u32, &str)> =
        wrong.iter().map(|problem| (problem.line.unwrap_or(0), problem.field.as_str())).collect();
    for expect in [
        (1, "colour"),
        (2, "default"),
        (5, "rule.effect"),
        (6, "rule.tools"),
        (7, "rule.apps"),
        (8, "rule.text"),
        (9, "rule.password"),
        (12, "rule.when"),
        (3, "rule.decide"),
        (10, "rule.decide"),
        (10, "rule.name"),
    ] {
        assert!(told.contains(&expect), "{expect:?} is not in {told:?}");
    }
    assert_eq!(told.iter().filter(|(line, _)| *line == 8).count(), 2);
    let broken = Policy::from_toml("[[rule]\n", &registry).unwrap_err();
    assert_eq!((broken.len(), broken[0].line), (1, Some(1)));
}
