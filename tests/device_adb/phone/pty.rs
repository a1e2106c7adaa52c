//! A pair of terminal ends.

use std::fs::{File, OpenOptions};
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};

/// The controlling end and the end for a command; a raw one changes no byte.
pub(super) fn open(raw: bool) -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&master).expect("the terminal is ours");
    unlockpt(&master).expect("the terminal opens");
    let name = ptsname(&master, Vec::new()).expect("a name");
    let path = PathBuf::from(std::ffi::OsStr::from_bytes(name.as_bytes()));
    let slave = OpenOptions::new().read(true).write(true).open(path).expect("the other end");
    if raw {
        let mut settings = tcgetattr(&slave).expect("the settings");
        settings.make_raw();
        tcsetattr(&slave, OptionalActions::Now, &settings).expect("raw");
    }
    (File::from(master), slave)
}
