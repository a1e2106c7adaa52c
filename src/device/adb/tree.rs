//! The UI tree, as `uiautomator` of the phone dumps it.

use std::time::Duration;

use super::client::Client;
use super::quote::{line, quote};
use crate::device::DeviceResult;
use crate::error::{DeviceCode, DeviceError, shorten};
use crate::limits::ADB_OUTPUT_BYTES_MAX;

/// What `uiautomator` itself waits for an idle screen.
const IDLE: Duration = Duration::from_secs(12);

/// Dumps the tree; the bytes from `<hierarchy` to `</hierarchy>`.
pub(super) async fn dump(client: &Client, device: &str, compressed: bool) -> DeviceResult<Vec<u8>> {
    let timeout = client.timeout() + IDLE;
    let path = client.temporary("xml");
    let words = words(compressed, &path);
    let file = quote(&path);
    // Its exit code is 0 whatever happens: the file tells.
    let command = format!("{} 2>&1; cat {file}; rm -f {file}", line(&words));
    let output = client.shell(device, &command, timeout).await?;
    if let Some(tree) = cut(&output.stdout) {
        return Ok(tree.to_vec());
    }
    let error = blame(&output.said());
    if error.code != DeviceCode::FileFailed {
        return Err(error);
    }
    // Where no file can be written the dump goes to the terminal, which only this kind of call has.
    let said =
        client.exec(device, &self::words(compressed, "/dev/tty"), ADB_OUTPUT_BYTES_MAX, timeout).await?;
    match cut(&said) {
        Some(tree) => Ok(tree.to_vec()),
        None => Err(blame(&String::from_utf8_lossy(&said))),
    }
}

fn words(compressed: bool, path: &str) -> Vec<&str> {
    let mut words = vec!["uiautomator", "dump"];
    if compressed {
        words.push("--compressed");
    }
    words.push(path);
    words
}

/// The tree in what a dump wrote, if it is there as a whole.
pub(super) fn cut(bytes: &[u8]) -> Option<&[u8]> {
    const BEGIN: &[u8] = b"<hierarchy";
    const END: &[u8] = b"</hierarchy>";
    let begin = bytes.windows(BEGIN.len()).position(|part| part == BEGIN)?;
    let end = bytes.windows(END.len()).rposition(|part| part == END);
    let end = match end {
        Some(end) if end > begin => end + END.len(),
        // A screen without any element is written in the short form.
        _ => {
            let close = bytes[begin..].iter().position(|byte| *byte == b'>')?;
            (bytes[begin + close - 1] == b'/').then_some(begin + close + 1)?
        }
    };
    Some(&bytes[begin..end])
}

/// Why there is no tree.
fn blame(said: &str) -> DeviceError {
    let holds = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if holds(&["could not get idle state"]) {
        return DeviceError::new(
            DeviceCode::UiNotIdle,
            "the screen does not come to rest",
            "try the compressed form, wait for an animation or a video to end, or take a screenshot",
        );
    }
    if holds(&["null root node"]) {
        return DeviceError::new(
            DeviceCode::UiRootMissing,
            "there is no window to read yet",
            "try again in a moment; wake the phone if its screen is dark",
        );
    }
    if holds(&["already registered", "UiAutomation not connected", "UiAutomationService", "Killed"]) {
        return DeviceError::new(
            DeviceCode::UiBusy,
            "another program holds the phone's accessibility connection",
            "stop what automates this phone beside us: Appium, uiautomator2 (its atx-agent or u2 app), Maestro, an instrumentation test",
        );
    }
    if holds(&[
        "FileNotFoundException",
        "Permission denied",
        "Read-only file system",
        "No space left",
        "ENOSPC",
    ]) {
        return DeviceError::new(
            DeviceCode::FileFailed,
            "the phone could not write the dump of its screen",
            "make room on the phone",
        );
    }
    let line = said.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("cat:"));
    DeviceError::new(
        DeviceCode::UiUnavailable,
        format!("the phone gave no UI tree: {}", shorten(line.unwrap_or("it wrote nothing"))),
        "take a screenshot to see the screen, or run `repertoire device doctor`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_cut_out_of_what_stands_around_it() {
        let said = b"UI hierchary dumped to: /x\r\n<?xml version='1.0'?><hierarchy rotation=\"0\"><node/></hierarchy>tail";
        assert_eq!(cut(said).unwrap(), b"<hierarchy rotation=\"0\"><node/></hierarchy>");
        assert_eq!(cut(b"<hierarchy rotation=\"0\" />").unwrap(), b"<hierarchy rotation=\"0\" />");
        for half in [
            &b"<hierarchy rotation=\"0\"><node"[..],
            b"ERROR: null root node",
            b"",
            b"</hierarchy>",
            b"<hierarchy>",
        ] {
            assert_eq!(cut(half), None);
        }
    }

    #[test]
    fn the_words_of_uiautomator_have_codes() {
        for (said, code) in [
            ("ERROR: could not get idle state.\ncat: x: No such file or directory", DeviceCode::UiNotIdle),
            ("ERROR: null root node returned by UiTestAutomationBridge.", DeviceCode::UiRootMissing),
            (
                "java.lang.IllegalStateException: UiAutomationService android.x already registered!",
                DeviceCode::UiBusy,
            ),
            ("Killed", DeviceCode::UiBusy),
            ("java.io.FileNotFoundException: /x: open failed: EROFS", DeviceCode::FileFailed),
            ("cat: x: No such file or directory", DeviceCode::UiUnavailable),
        ] {
            assert_eq!(blame(said).code, code, "{said}");
        }
        assert!(blame("Killed").hint.contains("Appium"));
    }
}
