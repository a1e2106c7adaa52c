//! The receiver through a socket, alone and with the platform as the sender.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use repertoire::error::StorageError;
use repertoire::platform::WebhookTarget;
use repertoire::sync::webhook::{Receiver, ReceiverOptions, Remover, WebhookSecrets};
use repertoire::sync::{Removal, Wake};
use tokio::runtime::Runtime;

use crate::support::{Stage, WEBHOOK_SECRET, http, until};

/// Remembers removals; refuses them while it is told to.
#[derive(Default)]
struct Remembering {
    taken: Mutex<Vec<Removal>>,
    full: Mutex<bool>,
}

impl Remover for Remembering {
    fn remove(&self, removal: &Removal) -> repertoire::Result<()> {
        if *self.full.lock().unwrap() {
            return Err(StorageError::Locked { path: "x".into(), waited_ms: 1 }.into());
        }
        self.taken.lock().unwrap().push(removal.clone());
        Ok(())
    }
}

struct Listening {
    _runtime: Runtime,
    address: SocketAddr,
    remover: Arc<Remembering>,
    wake: Wake,
}

fn listen() -> Listening {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let (remover, wake) = (Arc::new(Remembering::default()), Wake::default());
    let secrets = WebhookSecrets::parse(WEBHOOK_SECRET).unwrap();
    let options = ReceiverOptions::new(secrets, wake.clone(), Arc::clone(&remover) as Arc<dyn Remover>);
    let receiver = runtime.block_on(Receiver::bind(SocketAddr::from(([127, 0, 0, 1], 0)), options)).unwrap();
    let address = receiver.address().unwrap();
    runtime.spawn(receiver.run());
    Listening { _runtime: runtime, address, remover, wake }
}

impl Listening {
    fn woken(&self) -> bool {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            tokio::time::timeout(Duration::from_millis(50), self.wake.wait()).await.is_ok()
        })
    }

    /// Signs with the reference implementation.
    fn send(&self, id: &str, sent: i64, body: &[u8]) -> u16 {
        let signature = standardwebhooks::Webhook::new(WEBHOOK_SECRET).unwrap().sign(id, sent, body).unwrap();
        self.post(
            &format!("webhook-id: {id}\r\nwebhook-timestamp: {sent}\r\nwebhook-signature: {signature}\r\n"),
            body,
        )
    }

    fn post(&self, headers: &str, body: &[u8]) -> u16 {
        http(self.address, &format!("POST /webhook HTTP/1.1\r\n{headers}"), body).0
    }
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()).unwrap()
}

const REMOVED: &[u8] =
    br#"{"type":"skills.removed","data":{"subscription":"gold","history":"3:x","ids":["a"],"ent_seq":7}}"#;

#[test]
fn a_removal_is_in_effect_before_it_is_accepted_and_a_replay_does_nothing() {
    let listening = listen();
    let sent = now();
    assert_eq!(listening.send("msg_1", sent, REMOVED), 202);
    let taken = listening.remover.taken.lock().unwrap().clone();
    assert_eq!(taken, [Removal::new("gold", ["a"]).history("3:x".parse().unwrap()).ent_seq(7)]);
    assert!(listening.woken());
    assert_eq!(listening.send("msg_1", sent, REMOVED), 202);
    assert_eq!(listening.remover.taken.lock().unwrap().len(), 1);
    assert!(!listening.woken());
}

#[test]
fn a_removal_that_cannot_be_written_is_507_and_counts_when_it_comes_again() {
    let listening = listen();
    let sent = now();
    *listening.remover.full.lock().unwrap() = true;
    assert_eq!(listening.send("msg_1", sent, REMOVED), 507);
    *listening.remover.full.lock().unwrap() = false;
    assert_eq!(listening.send("msg_1", sent, REMOVED), 202);
    assert_eq!(listening.remover.taken.lock().unwrap().len(), 1);
}

#[test]
fn what_is_forged_old_or_too_large_changes_nothing() {
    let listening = listen();
    assert_eq!(listening.post("", REMOVED), 400);
    let forged = format!("webhook-id: m\r\nwebhook-timestamp: {}\r\nwebhook-signature: v1,AAAA\r\n", now());
    assert_eq!(listening.post(&forged, REMOVED), 401);
    assert_eq!(listening.send("m", now() - 400, REMOVED), 400);
    assert_eq!(listening.send("m", now() + 400, REMOVED), 400);
    assert_eq!(listening.send("m", now(), &vec![b' '; 64 * 1024 + 1]), 413);
    assert_eq!(listening.send("m", now(), b"no JSON"), 400);
    assert_eq!(http(listening.address, "GET /webhook HTTP/1.1\r\n", b"").0, 405);
    assert!(listening.remover.taken.lock().unwrap().is_empty() && !listening.woken());
    let mut largest = br#"{"type":"catalog.changed"}"#.to_vec();
    largest.resize(64 * 1024, b' ');
    assert_eq!(listening.send("m", now(), &largest), 202);
    assert!(listening.woken());
    assert_eq!(listening.send("m2", now(), br#"{"type":"invoice.paid"}"#), 202);
    assert!(!listening.woken());
}

#[test]
fn the_platform_tells_changes_and_revocations_as_the_receiver_takes_them() {
    let listening = listen();
    let secrets = WebhookSecrets::parse(WEBHOOK_SECRET).unwrap();
    let target = WebhookTarget::new(&format!("http://{}/webhook", listening.address), secrets).unwrap();
    let stage = Stage::with(|options| options.webhook(target));
    until("the removal of the start", || listening.remover.taken.lock().unwrap().len() == 1);
    until("a hint", || listening.woken());
    let statements = r#"{"gold": {"ent_seq": 9, "revoked": [{"id": "gone", "ent_seq": 5}, "beta"]}}"#;
    std::fs::write(stage.folder.path().join("entitlements.json"), statements).unwrap();
    // Nobody asks for it: the platform sees the change by itself.
    until("the removal", || listening.remover.taken.lock().unwrap().len() == 2);
    let removal = listening.remover.taken.lock().unwrap()[1].clone();
    assert_eq!(
        (removal.subscription.as_str(), removal.ids, removal.ent_seq),
        ("gold", vec!["beta".to_owned()], Some(9))
    );
    assert!(removal.history.is_some());
}
