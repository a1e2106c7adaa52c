//! Key names as people and models write them.

use serde_json::Value;

use crate::device::DeviceResult;
use crate::error::{DeviceCode, DeviceError, shorten};

/// Enter.
pub(crate) const ENTER: u16 = 66;
/// Back.
pub(crate) const BACK: u16 = 4;
/// Deletes the character before the cursor.
pub(crate) const DELETE: u16 = 67;
/// Puts the cursor at the end of a field.
pub(crate) const MOVE_END: u16 = 123;
/// Largest key code that Android has given out, with room for those to come.
const CODE_MAX: u64 = 1_000;

/// Names without `KEYCODE_`, lower case.
const NAMES: &[(&str, u16)] = &[
    ("home", 3),
    ("back", BACK),
    ("call", 5),
    ("endcall", 6),
    ("star", 17),
    ("pound", 18),
    ("dpad_up", 19),
    ("up", 19),
    ("dpad_down", 20),
    ("down", 20),
    ("dpad_left", 21),
    ("left", 21),
    ("dpad_right", 22),
    ("right", 22),
    ("dpad_center", 23),
    ("center", 23),
    ("volume_up", 24),
    ("volume_down", 25),
    ("power", 26),
    ("camera", 27),
    ("clear", 28),
    ("comma", 55),
    ("period", 56),
    ("tab", 61),
    ("space", 62),
    ("explorer", 64),
    ("envelope", 65),
    ("enter", ENTER),
    ("return", ENTER),
    ("del", DELETE),
    ("delete", DELETE),
    ("backspace", DELETE),
    ("grave", 68),
    ("minus", 69),
    ("equals", 70),
    ("left_bracket", 71),
    ("right_bracket", 72),
    ("backslash", 73),
    ("semicolon", 74),
    ("apostrophe", 75),
    ("slash", 76),
    ("at", 77),
    ("plus", 81),
    ("menu", 82),
    ("notification", 83),
    ("search", 84),
    ("media_play_pause", 85),
    ("play_pause", 85),
    ("media_stop", 86),
    ("media_next", 87),
    ("media_previous", 88),
    ("media_rewind", 89),
    ("media_fast_forward", 90),
    ("mute", 91),
    ("page_up", 92),
    ("page_down", 93),
    ("escape", 111),
    ("esc", 111),
    ("forward_del", 112),
    ("caps_lock", 115),
    ("move_home", 122),
    ("move_end", MOVE_END),
    ("insert", 124),
    ("forward", 125),
    ("media_play", 126),
    ("media_pause", 127),
    ("volume_mute", 164),
    ("app_switch", 187),
    ("recents", 187),
    ("recent_apps", 187),
    ("assist", 219),
    ("brightness_down", 220),
    ("brightness_up", 221),
    ("sleep", 223),
    ("wakeup", 224),
    ("wake_up", 224),
    ("cut", 277),
    ("copy", 278),
    ("paste", 279),
    ("all_apps", 284),
];

/// The code of a key: a name, a `KEYCODE_` name or a number, as a text or a JSON number.
///
/// # Errors
/// `device_not_supported` with what would do.
pub(crate) fn code(key: &Value) -> DeviceResult<u16> {
    let unknown = |written: &str| {
        DeviceError::new(
            DeviceCode::NotSupported,
            format!("there is no key {:?}", shorten(written)),
            "use back, home, recents, enter, volume_up, another KEYCODE_ name, or its number",
        )
    };
    let number = |number: u64| u16::try_from(number).ok().filter(|_| (1..=CODE_MAX).contains(&number));
    match key {
        Value::String(name) => {
            let plain = name.to_ascii_lowercase();
            let plain = plain.strip_prefix("keycode_").unwrap_or(&plain);
            plain
                .parse()
                .ok()
                .filter(|_| plain.len() > 1)
                .and_then(number)
                .or_else(|| single(plain))
                .or_else(|| NAMES.iter().find(|(known, _)| *known == plain).map(|(_, code)| *code))
                .ok_or_else(|| unknown(name))
        }
        other => other.as_u64().and_then(number).ok_or_else(|| unknown(&other.to_string())),
    }
}

/// Letters, digits and function keys, whose codes are in a row.
fn single(name: &str) -> Option<u16> {
    let mut bytes = name.bytes();
    match (bytes.next()?, bytes.next()) {
        (digit @ b'0'..=b'9', None) => Some(7 + u16::from(digit - b'0')),
        (letter @ b'a'..=b'z', None) => Some(29 + u16::from(letter - b'a')),
        (b'f', Some(_)) => {
            let number: u16 = name.get(1..)?.parse().ok()?;
            (1..=12).contains(&number).then_some(130 + number)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_numbers_and_keycode_names_lead_to_the_same_codes() {
        for (key, expect) in [
            (json!("back"), 4),
            (json!("KEYCODE_BACK"), 4),
            (json!("4"), 11),
            (json!(4), 4),
            (json!("66"), 66),
            (json!("Enter"), 66),
            (json!("recents"), 187),
            (json!("a"), 29),
            (json!("KEYCODE_Z"), 54),
            (json!("f5"), 135),
        ] {
            assert_eq!(code(&key), Ok(expect), "{key}");
        }
        for wrong in [json!("nosuch"), json!(0), json!(5_000), json!("f13"), json!(true)] {
            assert_eq!(code(&wrong).unwrap_err().code, DeviceCode::NotSupported, "{wrong}");
        }
    }

    #[test]
    fn no_name_stands_twice() {
        for (index, (name, _)) in NAMES.iter().enumerate() {
            assert!(NAMES[..index].iter().all(|(other, _)| other != name), "{name}");
        }
    }
}
