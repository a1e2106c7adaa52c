//! The Skills extension and resources: what is hidden looks like what does not exist, in bytes and in time.

use std::time::{Duration, Instant};

use repertoire::model::{Entry, Kind, Layer, Resource, Skill};
use rmcp::model::sha256_digest;
use serde_json::json;

use crate::support::{Running, knowledge, scaled};

#[tokio::test]
async fn pages_hold_every_skill_once_with_the_digest_of_its_bytes() {
    let server = Running::start().await;
    let mut entries: Vec<_> =
        (0..120).map(|n| knowledge(&format!("s/{n:03}"), &format!("Skill {n}"))).collect();
    let bytes: &[u8] = b"\x00binary";
    let digest = sha256_digest(bytes);
    let sha256 = digest.trim_start_matches("sha256:");
    let mut skill = Skill::new("t/with-files", Kind::Knowledge, "Files", "Has a file.");
    "See the file.".clone_into(&mut skill.content);
    skill.resources =
        vec![Resource::new("deep/a b.bin", sha256, bytes.len() as u64, "application/octet-stream")];
    let mut with_files = Entry::new(skill);
    with_files.resources.push(bytes.into());
    entries.push(with_files);
    entries.push(knowledge("under_score", "Served by the tools only."));
    server.catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone()))).expect("commits");

    let mut uris = Vec::new();
    let mut cursor = None;
    loop {
        let params = cursor.take().map_or_else(|| json!({}), |cursor: String| json!({"cursor": cursor}));
        let page = server.modern(&server.token, "skills/list", params).await.message();
        for skill in page["result"]["skills"].as_array().expect("skills") {
            let uri = skill["uri"].as_str().expect("a uri").to_owned();
            if uris.len() % 40 == 0 || uri.contains("with-files") {
                for file in skill["resources"].as_array().expect("files") {
                    let read = server
                        .modern(&server.token, "resources/read", json!({"uri": file["uri"]}))
                        .await
                        .message();
                    let contents = &read["result"]["contents"][0];
                    let bytes = match contents["text"].as_str() {
                        Some(text) => text.as_bytes().to_vec(),
                        None => base64(contents["blob"].as_str().expect("a blob")),
                    };

                    assert_eq!(file["digest"], sha256_digest(&bytes), "{file}");
                    assert_eq!(file["size"], bytes.len(), "{file}");
                }
            }
            uris.push(uri);
        }
        match page["result"]["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    assert_eq!(uris.len(), 121);
    assert!(uris.windows(2).all(|two| two[0] < two[1]), "in order and each once");

    let directory = |uri: &str| server.modern(&server.token, "resources/directory/read", json!({"uri": uri}));
    let root = directory("skill://t/with-files").await.message();
    let children: Vec<_> = root["result"]["resources"]
        .as_array()
        .expect("children")
        .iter()
        .map(|child| child["uri"].clone())
        .collect();
    assert_eq!(children, ["skill://t/with-files/SKILL.md", "skill://t/with-files/deep"]);
    let deep = directory("skill://t/with-files/deep").await.message();
    assert_eq!(deep["result"]["resources"][0]["uri"], "skill://t/with-files/deep/a%20b.bin");
    for none in ["skill://t/with-files/SKILL.md", "skill://t", "skill://nobody", "file:///etc/passwd"] {
        assert_eq!(directory(none).await.message()["error"]["code"], -32602, "{none}");
    }
    server.end().await;
}

fn base64(text: &str) -> Vec<u8> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text).expect("base64")
}

#[tokio::test]
async fn a_hidden_skill_is_answered_like_one_that_does_not_exist() {
    let server = Running::start().await;
    let calls = [
        ("skills/get", "uri", "skill://hidden/{}/SKILL.md"),
        ("resources/read", "uri", "skill://hidden/{}/SKILL.md"),
        ("resources/directory/read", "uri", "skill://hidden/{}"),
        ("prompts/get", "name", "hidden/{}"),
    ];
    for (method, key, pattern) in calls {
        let mut answers = Vec::new();
        for id in ["canary", "nobody"] {
            let answer = server.modern(&server.token, method, json!({key: pattern.replace("{}", id)})).await;
            answers.push((answer.status, answer.body.replace(id, "ID")));
        }
        assert_eq!(answers[0], answers[1], "{method}");
        assert!(answers[0].1.contains("-32602"), "{method}: {answers:?}");
    }
    let complete = |value: &str| {
        let params = json!({"ref": {"type": "ref/resource", "uri": "skill://{+id}/SKILL.md"}, "argument": {"name": "id", "value": value}});
        server.modern(&server.token, "completion/complete", params)
    };
    assert_eq!(complete("hidden").await.message()["result"]["completion"]["values"], json!([]));
    assert_eq!(complete("andr").await.message()["result"]["completion"]["values"], json!(["android/wifi"]));
    server.end().await;
}

/// Medians of many interleaved calls: a look at a hidden record would cost more than the noise between two medians of
/// the same call, which the third row measures.
#[tokio::test]
async fn a_hidden_skill_takes_the_time_of_one_that_does_not_exist() {
    let server = Running::start().await;
    let content = "canary ".repeat(100_000);
    let entries = vec![knowledge("hidden/canary", &content), knowledge("android/wifi", "x")];
    server.catalog.update(Layer::Local, &mut |_| Ok(Some(entries.clone()))).expect("commits");
    let uris = [
        "skill://hidden/canary/SKILL.md",
        "skill://hidden/nobody/SKILL.md",
        "skill://hidden/nothin/SKILL.md",
    ];
    let mut times: [Vec<Duration>; 3] = Default::default();
    for round in 0..scaled(60, 300, 1_000) * 3 {
        let which = round % 3;
        let begun = Instant::now();
        let answer = server.modern(&server.token, "skills/get", json!({"uri": uris[which]})).await;
        times[which].push(begun.elapsed());
        assert_eq!(answer.message()["error"]["code"], -32602);
    }
    let [hidden, unknown, other] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    let noise = unknown.abs_diff(other) + unknown / 4;
    assert!(hidden.abs_diff(unknown) <= noise, "hidden {hidden:?}, unknown {unknown:?}, other {other:?}");
    server.end().await;
}
