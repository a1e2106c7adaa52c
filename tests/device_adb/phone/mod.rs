//! The phone: a device of the adb transport protocol on a loopback port.
//!
//! `wire` is the protocol, `shell` and `sync` are its services, `pty` the terminal that raw calls get, `stubs` the commands
//! that Android adds to the shell, `model` what they act on, `tools` what each of them does.

mod model;
mod pty;
mod shell;
mod stubs;
mod sync;
mod tools;
mod wire;

use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

pub(crate) use model::{Installed, Model, Node, Scene};

use self::wire::Wire;

/// How a phone behaves on the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Manner {
    /// As it should.
    #[default]
    Good,
    /// Takes connections and says nothing.
    Offline,
    /// Trusts no computer.
    Unauthorized,
    /// Before Android 7: no `shell_v2`, no `cmd`, no `abb_exec`.
    Old,
}

/// A running phone.
pub(crate) struct Phone {
    shared: Arc<Shared>,
    port: u16,
    folder: tempfile::TempDir,
}

/// What all connections of a phone share.
pub(crate) struct Shared {
    model: Mutex<Model>,
    manner: Mutex<Manner>,
    wires: Mutex<Vec<Arc<Wire>>>,
    gone: AtomicBool,
    ended: AtomicBool,
    root: PathBuf,
}

impl Shared {
    pub(crate) fn model(&self) -> MutexGuard<'_, Model> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn manner(&self) -> Manner {
        *self.manner.lock().expect("the manner")
    }

    /// The folder with the commands of the phone and its files.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }
}

impl Phone {
    /// Starts a phone on a free port.
    pub(crate) fn start(model: Model, manner: Manner) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let root = folder.path().to_owned();
        std::fs::create_dir_all(root.join("tmp")).expect("a folder");
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            model: Mutex::new(model),
            manner: Mutex::new(manner),
            wires: Mutex::default(),
            gone: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            root,
        });
        stubs::install(&shared);
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for socket in listener.incoming() {
                if accepting.ended.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(socket) = socket else { continue };
                // A phone without a cable takes no connection.
                if accepting.gone.load(Ordering::SeqCst) {
                    continue;
                }
                let wire = Arc::new(Wire::new(socket, Arc::clone(&accepting)));
                accepting.wires.lock().expect("the wires").push(Arc::clone(&wire));
                thread::spawn(move || wire.serve());
            }
        });
        Self { shared, port, folder }
    }

    /// How the adb server calls it.
    pub(crate) fn serial(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// The folder for files that live as long as a call.
    pub(crate) fn temporary(&self) -> String {
        self.folder.path().join("tmp").to_str().expect("a path in UTF-8").to_owned()
    }

    /// What is on its screen, and every switch.
    pub(crate) fn model(&self) -> MutexGuard<'_, Model> {
        self.shared.model()
    }

    /// Pulls the cable: every connection ends, what runs on the phone goes on.
    pub(crate) fn unplug(&self) {
        self.shared.gone.store(true, Ordering::SeqCst);
        for wire in self.shared.wires.lock().expect("the wires").drain(..) {
            wire.cut();
        }
    }

    /// Plugs it in again.
    pub(crate) fn plug(&self) {
        self.shared.gone.store(false, Ordering::SeqCst);
    }

    /// Descriptors that this process has open.
    pub(crate) fn descriptors() -> usize {
        std::fs::read_dir("/proc/self/fd").expect("the descriptors").count()
    }
}

impl Drop for Phone {
    fn drop(&mut self) {
        self.unplug();
        self.shared.ended.store(true, Ordering::SeqCst);
        // Wakes the threads that wait for connections, so that they see it and end.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        stubs::wake(&self.shared);
    }
}
