//! The commands.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Stage, TOKEN, write_skill};

fn repertoire(data: &std::path::Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_repertoire"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("REPERTOIRE_") {
            command.env_remove(name);
        }
    }
    command.env("REPERTOIRE_DATA", data).stdin(Stdio::null());
    command
}

#[test]
fn the_platform_says_where_it_listens_and_a_check_of_it_passes() {
    let folder = tempfile::tempdir().unwrap();
    write_skill(&folder.path().join("platform/gold"), "alpha", "First.");
    let mut child = repertoire(folder.path())
        .args(["platform", "--json", "--listen", "127.0.0.1:0"])
        .arg(folder.path().join("platform"))
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let started: Value = serde_json::from_str(&line).unwrap();
    let token = folder.path().join("token");
    std::fs::write(&token, started["token"].as_str().unwrap()).unwrap();
    let check = |more: &[&str]| {
        let mut command = repertoire(folder.path());
        command.args(["platform", "check", started["listening"].as_str().unwrap(), "--subscription", "gold"]);
        command.arg("--token-file").arg(&token).args(more).output().unwrap()
    };
    let answer = check(&["--json"]);
    let report: Value = serde_json::from_slice(&answer.stdout).unwrap();
    assert_eq!((answer.status.code(), &report["counts"]["fail"]), (Some(0), &Value::from(0)), "{report}");
    let text = String::from_utf8(check(&[]).stdout).unwrap();
    assert!(text.contains("pass  answers") && text.contains("0 failed"), "{text}");
    std::fs::write(&token, "wrong").unwrap();
    let answer = check(&[]);
    assert_eq!(answer.status.code(), Some(1));
    assert!(String::from_utf8(answer.stdout).unwrap().contains("FAIL  answers"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_cannot_be_served_is_refused_with_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        let answer = repertoire(folder.path()).args(words).output().unwrap();
        (answer.status.code(), String::from_utf8(answer.stderr).unwrap())
    };
    let (code, said) = run(&["platform", "/nowhere-at-all"]);
    assert!(code == Some(2) && said.contains("cannot read the folder"), "{code:?} {said}");
    let path = folder.path().display().to_string();
    let (code, said) = run(&["platform", &path, "--fault", "nothing"]);
    assert!(code == Some(2) && said.contains("proxy-html"), "{code:?} {said}");
    let key = folder.path().join("key");
    std::fs::write(&key, "k1:canary").unwrap();
    let (code, said) = run(&["platform", &path, "--sign-key", &key.display().to_string()]);
    assert!(code == Some(3) && said.contains("KEY_ID:BASE64") && !said.contains("canary"), "{code:?} {said}");
    let (code, said) = run(&["platform", "check", "nowhere", "--subscription", "s"]);
    assert!(code == Some(3) && said.contains("https://"), "{code:?} {said}");
}

#[test]
fn switches_go_on_and_off_while_it_runs() {
    let stage = Stage::new();
    let address = stage.service.address();
    let ask = |head: &str, body: &[u8]| {
        crate::support::http(address, &format!("{head}authorization: Bearer {TOKEN}\r\n"), body).0
    };
    let catalog = "GET /spp/v1/subscriptions/gold/catalog HTTP/1.1\r\n";
    assert_eq!(ask(catalog, b""), 200);
    assert_eq!(ask("PUT /control/faults HTTP/1.1\r\n", b"server-error=catalog\n"), 204);
    assert_eq!(ask(catalog, b""), 500);
    assert_eq!(ask("PUT /control/faults HTTP/1.1\r\n", b"no-such\n"), 400);
    assert_eq!(ask("PUT /control/faults HTTP/1.1\r\n", b""), 204);
    assert_eq!(ask(catalog, b""), 200);
    assert_eq!(crate::support::http(address, "PUT /control/faults HTTP/1.1\r\n", b"reset").0, 401);
}
