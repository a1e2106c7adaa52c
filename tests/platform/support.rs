//! A platform with a few skills, and plain HTTP.

use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use repertoire::platform::{Fault, PlatformOptions, Service, Signer};
use repertoire::sync::Secret;
use serde_json::json;

pub(crate) const TOKEN: &str = "canary-token";
pub(crate) const WEBHOOK_SECRET: &str = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";

/// A platform on a folder of its own.
pub(crate) struct Stage {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) service: Service,
}

impl Stage {
    pub(crate) fn new() -> Self {
        Self::with(|options| options)
    }

    pub(crate) fn with(more: impl FnOnce(PlatformOptions) -> PlatformOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for id in ["alpha", "beta", "gamma"] {
            write_skill(&folder.path().join("gold"), id, "First.");
        }
        let statements = json!({"gold": {"ent_seq": 5, "revoked": [{"id": "gone", "ent_seq": 5}]}});
        fs::write(folder.path().join("entitlements.json"), statements.to_string()).unwrap();
        let options = PlatformOptions::new(folder.path()).token(Secret::new(TOKEN)).signer(signer());
        let service = Service::start(more(options)).unwrap();
        Self { folder, service }
    }

    pub(crate) fn faults(&self, names: &[&str]) {
        let faults: Vec<Fault> = names.iter().map(|name| name.parse().unwrap()).collect();
        self.service.set_faults(&faults);
    }

    pub(crate) fn write(&self, id: &str, description: &str) {
        write_skill(&self.folder.path().join("gold"), id, description);
        self.service.reload().unwrap();
    }

    pub(crate) fn remove(&self, id: &str) {
        fs::remove_file(self.folder.path().join(format!("gold/{id}.skill.json"))).unwrap();
        self.service.reload().unwrap();
    }

    pub(crate) fn token_file(&self) -> PathBuf {
        let path = self.folder.path().join(".token");
        fs::write(&path, TOKEN).unwrap();
        path
    }
}

pub(crate) fn signer() -> Signer {
    Signer::new("k1", [7; 32])
}

pub(crate) fn write_skill(folder: &std::path::Path, id: &str, description: &str) {
    fs::create_dir_all(folder).unwrap();
    let skill = json!({"id": id, "kind": "flow_template", "name": id, "description": description,
                       "steps": [{"tool": "wait_for_idle", "args_template": {}}]});
    fs::write(folder.join(format!("{id}.skill.json")), skill.to_string()).unwrap();
}

/// Sends a request as it is and reads the answer to its end: status, head and body.
pub(crate) fn http(address: SocketAddr, head: &str, body: &[u8]) -> (u16, String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let length = body.len();
    let head = format!("{head}host: x\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n");
    stream.write_all(head.as_bytes()).unwrap();
    // A receiver may refuse a body before it has all of it.
    let _ = stream.write_all(body);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let end = answer.windows(4).position(|part| part == b"\r\n\r\n").unwrap_or(answer.len());
    let head = String::from_utf8_lossy(&answer[..end]).into_owned();
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    (status, head, answer.get(end + 4..).unwrap_or_default().to_vec())
}

/// Waits until something holds.
#[track_caller]
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what} does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
}
