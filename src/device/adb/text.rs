//! Typing: what `input text` can do and what it makes of it, and the helper keyboard for everything else.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::client::Client;
use super::failure;
use super::quote::{line, quote};
use crate::device::DeviceResult;
use crate::error::{DeviceCode, DeviceError, shorten};
use crate::limits::ADB_TYPED_CHARS_MAX;

/// ADB Keyboard, the helper that types any character.
pub(super) const HELPER: &str = "com.android.adbkeyboard/.AdbIME";
const HELPER_PACKAGE: &str = "com.android.adbkeyboard";
/// The helper did not become the keyboard; no exit code of a command in the script.
const NOT_SET: u8 = 91;
/// Time that one `input` of an old phone may take.
const EACH: Duration = Duration::from_secs(1);

/// A part of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// Characters of one call.
    Text(String),
    /// A key by its code: ENTER or TAB.
    Key(u16),
}

const ENTER: u16 = 66;
const TAB: u16 = 61;

/// Cuts a text at line ends and tabs, into pieces that are not too long, and between `%` and `s`, which `input text`
/// would take for a space.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut now = String::new();
    let mut count = 0;
    for c in text.replace("\r\n", "\n").chars() {
        let key = match c {
            '\n' => Some(ENTER),
            '\t' => Some(TAB),
            _ => None,
        };
        let full = count == ADB_TYPED_CHARS_MAX || c == 's' && now.ends_with('%');
        if (key.is_some() || full) && !now.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut now)));
            count = 0;
        }
        if let Some(code) = key {
            pieces.push(Piece::Key(code));
        } else {
            now.push(c);
            count += 1;
        }
    }
    if !now.is_empty() {
        pieces.push(Piece::Text(now));
    }
    pieces
}

/// How a text can be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// With the keys of the virtual keyboard.
    Keys,
    /// Only with a helper.
    Helper,
}

/// Finds the way, or the character for which there is none.
fn way(text: &str) -> Result<Way, char> {
    let text = text.replace("\r\n", "\n");
    if let Some(control) = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        return Err(control);
    }
    Ok(if text.is_ascii() { Way::Keys } else { Way::Helper })
}

/// Types a text into the focused field.
pub(super) async fn write(client: &Client, device: &str, text: &str) -> DeviceResult<()> {
    let pieces = pieces(text);
    let timeout = client.timeout() + EACH * u32::try_from(pieces.len()).unwrap_or(u32::MAX);
    let script = match way(text) {
        Ok(Way::Keys) => keys_script(&pieces),
        Ok(Way::Helper) => {
            if !has_helper(client, device).await? {
                return Err(no_helper(text));
            }
            helper_script(&pieces)
        }
        Err(control) => {
            return Err(DeviceError::new(
                DeviceCode::TextNotTypable,
                format!("the text holds the control character U+{:04X}", u32::from(control)),
                "leave it out; line ends and tabs can be typed, other keys with press_key",
            ));
        }
    };
    let output = client.script(device, &script, timeout).await?;
    if output.code == NOT_SET {
        return Err(DeviceError::new(
            DeviceCode::TextNotTypable,
            format!("the keyboard {HELPER} is installed but could not be turned on"),
            "turn ADB Keyboard on in the phone's keyboard settings, then try again",
        ));
    }
    checked("typing", &output.said(), output.code)
}

/// Tools that inject input say nothing when all went well.
pub(super) fn checked(what: &str, said: &str, code: u8) -> DeviceResult<()> {
    if let Some(error) = failure::blocked(said) {
        return Err(error);
    }
    if code != 0
        || said.contains("Exception")
        || said.lines().any(|line| line.trim_start().starts_with("Error"))
    {
        return Err(failure::failed(what, said, code));
    }
    Ok(())
}

/// Whether the helper keyboard is installed.
pub(super) async fn has_helper(client: &Client, device: &str) -> DeviceResult<bool> {
    let output = client.run(device, &["ime", "list", "-a", "-s"]).await?;
    Ok(output.text().lines().any(|name| name.trim() == HELPER))
}

fn no_helper(text: &str) -> DeviceError {
    let first: String = text.chars().filter(|c| !c.is_ascii()).take(8).collect();
    DeviceError::new(
        DeviceCode::TextNotTypable,
        format!("the keys of the phone cannot type {:?}", shorten(&first)),
        "install ADB Keyboard (package com.android.adbkeyboard) on the phone, or give a text of ASCII characters",
    )
}

fn keys_script(pieces: &[Piece]) -> String {
    let commands: Vec<String> = pieces
        .iter()
        .map(|piece| match piece {
            // `%s` is a space to the tool, and the only form that tools of all versions keep in one argument.
            Piece::Text(text) => line(&["input", "text", &text.replace(' ', "%s")]),
            Piece::Key(code) => format!("input keyevent {code}"),
        })
        .collect();
    commands.join(" && ")
}

/// Turns the helper on, types, and turns the keyboard of before on again, all on the phone: it also happens when nobody
/// listens any more.
fn helper_script(pieces: &[Piece]) -> String {
    let helper = quote(HELPER);
    let mut script = format!(
        "old=$(settings get secure default_input_method)\n\
         trap 'case \"$old\" in {HELPER}) ;; */*) ime set \"$old\" >/dev/null 2>&1 ;; esac' EXIT\n\
         trap 'exit 1' HUP INT TERM\n\
         ime enable {helper} >/dev/null 2>&1\n\
         ime set {helper} >/dev/null 2>&1\n\
         n=0\n\
         until dumpsys input_method | grep -q {}; do\n\
         n=$((n+1)); [ $n -gt 20 ] && exit {NOT_SET}; sleep 0.1; done\n",
        quote(&format!("mCurId={HELPER}"))
    );
    for piece in pieces {
        let command = match piece {
            Piece::Text(text) => {
                let encoded = STANDARD.encode(text);
                // Named, so that no other app hears what is typed.
                let words =
                    ["am", "broadcast", "-a", "ADB_INPUT_B64", "-p", HELPER_PACKAGE, "--es", "msg", &encoded];
                format!("{} >/dev/null", line(&words))
            }
            Piece::Key(code) => format!("input keyevent {code}"),
        };
        script.push_str(&command);
        script.push_str(" || exit 1\n");
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    #[test]
    fn line_ends_and_tabs_are_keys() {
        assert_eq!(
            pieces("a\nb\tc\r\n"),
            [text("a"), Piece::Key(ENTER), text("b"), Piece::Key(TAB), text("c"), Piece::Key(ENTER)]
        );
        assert_eq!(pieces(""), []);
    }

    #[test]
    fn a_literal_percent_s_is_cut_in_two() {
        assert_eq!(pieces("%s"), [text("%"), text("s")]);
        assert_eq!(pieces("100%s%ss"), [text("100%"), text("s%"), text("ss")]);
        assert_eq!(keys_script(&pieces("% s")), "'input' 'text' '%%ss'");
    }

    #[test]
    fn long_texts_go_in_pieces_of_characters() {
        let long = "\u{5c0f}".repeat(ADB_TYPED_CHARS_MAX + 1);
        let cut = pieces(&long);
        assert_eq!(cut.len(), 2);
        assert_eq!(cut[1], text("\u{5c0f}"));
    }

    #[test]
    fn the_way_is_found_before_anything_is_typed() {
        assert_eq!(way("a b~\n\t"), Ok(Way::Keys));
        assert_eq!(way("na\u{ef}ve"), Ok(Way::Helper));
        assert_eq!(way("a\u{1b}"), Err('\u{1b}'));
        assert_eq!(way("a\rb"), Err('\r'));
        assert_eq!(way("a\u{85}"), Err('\u{85}'));
    }

    #[test]
    fn a_tool_that_complains_with_exit_code_0_has_failed() {
        assert_eq!(checked("typing", "", 0), Ok(()));
        assert_eq!(
            checked("typing", "Error: Invalid arguments", 0).unwrap_err().code,
            DeviceCode::CommandFailed
        );
        assert_eq!(checked("typing", "", 255).unwrap_err().code, DeviceCode::CommandFailed);
        let blocked = checked("typing", "java.lang.SecurityException: ... INJECT_EVENTS permission", 0);
        assert_eq!(blocked.unwrap_err().code, DeviceCode::InputBlocked);
    }
}
