//! The commands that Android adds to the shell: scripts that hand their arguments, byte for byte, to the model.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread;

use super::{Shared, tools};

const NAMES: [&str; 13] = [
    "am",
    "cmd",
    "dumpsys",
    "getprop",
    "ime",
    "input",
    "monkey",
    "pm",
    "screencap",
    "settings",
    "svc",
    "uiautomator",
    "wm",
];

/// Sends `PID\0NAME\0ARGUMENT\0...` and gets the exit code, when its outputs stand in files.
const SCRIPT: &str = r#"#!MKSH
answer=$PHONE/answers/$$
code=$({
	for word in "$$" "${0##*/}" "$@"; do
		print -rn -- "$word"
		print -n '\0'
	done
} | nc -U "$PHONE/model")
[ -e "$answer.tty" ] && { cat "$answer.tty" >/dev/tty || { print -r -- "java.io.FileNotFoundException: /dev/tty: open failed: ENXIO" ; exit 0; }; }
[ -e "$answer.out" ] && cat "$answer.out"
[ -e "$answer.err" ] && cat "$answer.err" >&2
rm -f "$answer.out" "$answer.err" "$answer.tty"
exit $code
"#;

/// Writes the commands and answers them.
pub(super) fn install(shared: &Arc<Shared>) {
    let root = shared.root();
    for folder in ["bin", "toybox", "answers"] {
        fs::create_dir_all(root.join(folder)).expect("a folder");
    }
    let script = SCRIPT.replace("MKSH", find("mksh").to_str().expect("a path in UTF-8"));
    for name in NAMES {
        let path = root.join("bin").join(name);
        fs::write(&path, &script).expect("a script");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("an executable script");
    }
    let toybox = find("toybox");
    let listed = Command::new(&toybox).output().expect("toybox runs");
    for name in String::from_utf8_lossy(&listed.stdout).split_ascii_whitespace() {
        let _ = symlink(&toybox, root.join("toybox").join(name));
    }
    let _ = fs::remove_file(root.join("toybox").join("sh"));
    symlink(find("mksh"), root.join("toybox").join("sh")).expect("the shell");
    let listener = UnixListener::bind(root.join("model")).expect("a socket");
    let shared = Arc::clone(shared);
    thread::spawn(move || {
        for socket in listener.incoming() {
            let Ok(socket) = socket else { continue };
            if shared.ended.load(Ordering::SeqCst) {
                return;
            }
            let shared = Arc::clone(&shared);
            thread::spawn(move || answer(&shared, socket));
        }
    });
}

/// Lets the thread that waits for commands look around.
pub(super) fn wake(shared: &Shared) {
    let _ = UnixStream::connect(shared.root().join("model"));
}

fn answer(shared: &Arc<Shared>, mut socket: UnixStream) {
    let mut bytes = Vec::new();
    if socket.read_to_end(&mut bytes).is_err() || bytes.is_empty() {
        return;
    }
    let mut words: Vec<Vec<u8>> = bytes.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect();
    words.pop();
    let pid = String::from_utf8(words.remove(0)).expect("a number");
    let reply = tools::call(shared, &words);
    let file = |ending: &str| shared.root().join("answers").join(format!("{pid}.{ending}"));
    for (ending, content) in [("out", &reply.out), ("err", &reply.err), ("tty", &reply.tty)] {
        if !content.is_empty() {
            // The phone may be gone with its folder while a command of it still runs.
            let written = fs::write(file(ending), content);
            assert!(written.is_ok() || shared.ended.load(Ordering::SeqCst), "{written:?}");
        }
    }
    let _ = socket.write_all(reply.code.to_string().as_bytes());
}

/// A program on the path of this process.
pub(crate) fn find(name: &str) -> std::path::PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| Path::is_file(file));
    found.unwrap_or_else(|| panic!("{name} is not there"))
}
