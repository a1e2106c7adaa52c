//! What the commands of Android do and write, mistakes of theirs included.

use std::fmt::Write as _;
use std::io::Cursor;
use std::path::Path;
use std::sync::{Arc, MutexGuard};

use super::model::{HELPER, Model, SIZE};
use super::{Manner, Shared};

/// What a command leaves.
#[derive(Debug, Default)]
pub(super) struct Reply {
    pub(super) out: Vec<u8>,
    pub(super) err: Vec<u8>,
    /// Written to the terminal, where there is one.
    pub(super) tty: Vec<u8>,
    pub(super) code: u8,
}

impl Reply {
    fn out(text: impl Into<Vec<u8>>) -> Self {
        Self { out: text.into(), ..Self::default() }
    }

    fn err(text: &str, code: u8) -> Self {
        Self { err: text.as_bytes().to_vec(), code, ..Self::default() }
    }
}

/// Runs a command of the phone, its name first.
pub(super) fn call(shared: &Arc<Shared>, words: &[Vec<u8>]) -> Reply {
    let name = String::from_utf8_lossy(&words[0]).into_owned();
    let mut model = shared.model();
    model.log.push(words.to_vec());
    if let Some(pause) = model.slow.get(&name).copied() {
        drop(model);
        std::thread::sleep(pause);
        model = shared.model();
    }
    let text: Vec<String> =
        words[1..].iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    let args: Vec<&str> = text.iter().map(String::as_str).collect();
    match name.as_str() {
        "input" => input(&mut model, &args),
        "uiautomator" => dump(model, &args),
        "screencap" => picture(&model),
        "am" => activity(&mut model, &args),
        "pm" => package(&model, &args),
        "cmd" if shared.manner() == Manner::Old => Reply::err("sh: cmd: not found\n", 127),
        "cmd" => match args.split_first() {
            Some((&"package", args)) => package(&model, args),
            Some((&"activity", args)) => activity(&mut model, args),
            _ => Reply::err("cmd: Can't find service\n", 20),
        },
        "monkey" => monkey(&mut model, &args),
        "wm" => wm(&model, &args),
        "dumpsys" => dumpsys(&model, &args),
        "getprop" => Reply::out(format!("{}\n", model.properties.get(args[0]).cloned().unwrap_or_default())),
        "settings" => settings(&mut model, &args),
        "ime" => ime(&mut model, &args),
        _ => Reply::err("not on this phone\n", 127),
    }
}

const BLOCKED: &str =
    "java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS permission\n";

fn input(model: &mut Model, args: &[&str]) -> Reply {
    if model.blocks_input {
        return Reply::err(BLOCKED, 0);
    }
    let number = |at: usize| args.get(at).and_then(|word| word.parse::<i32>().ok()).unwrap_or(i32::MIN);
    match args {
        ["text", text] => {
            let Some(typed) = typed(text) else {
                return Reply::err("Exception occurred: java.lang.NullPointerException\n", 255);
            };
            model.write(&typed);
        }
        ["keyevent", codes @ ..] if !codes.is_empty() => {
            for code in codes {
                let Ok(code) = code.parse() else { return Reply::err("Error: Unknown keycode\n", 0) };
                model.press(code);
            }
        }
        ["tap", _, _] => {
            model.touches.push(args.iter().map(|word| (*word).to_owned()).collect());
            model.touch(number(1), number(2));
        }
        ["swipe" | "draganddrop", _, _, _, _, ..] | ["motionevent", _, _, _] => {
            model.touches.push(args.iter().map(|word| (*word).to_owned()).collect());
        }
        _ => {
            return Reply::err(
                "Error: Invalid arguments for command: input\nUsage: input [<source>] <command>\n",
                255,
            );
        }
    }
    Reply::default()
}

/// What `input text` makes of its argument: `%s` is a space, and what no key of the virtual keyboard makes is an exception.
fn typed(text: &str) -> Option<String> {
    if !text.chars().all(|c| (' '..='~').contains(&c)) {
        return None;
    }
    let mut buffer: Vec<char> = text.chars().collect();
    let mut escape = false;
    let mut at = 0;
    while at < buffer.len() {
        if escape {
            escape = false;
            if buffer[at] == 's' {
                buffer[at] = ' ';
                at -= 1;
                buffer.remove(at);
            }
        }
        if buffer[at] == '%' {
            escape = true;
        }
        at += 1;
    }
    Some(buffer.into_iter().collect())
}

fn dump(mut model: MutexGuard<'_, Model>, args: &[&str]) -> Reply {
    let (compressed, path) = match args {
        ["dump", "--compressed", path] => (true, *path),
        ["dump", path] => (false, *path),
        _ => return Reply::out("Usage: uiautomator dump [--compressed] [file]\n"),
    };
    if model.busy > 0 {
        model.busy -= 1;
        return Reply::err(
            "java.lang.IllegalStateException: UiAutomationService android.accessibilityservice already registered!\n",
            0,
        );
    }
    if model.not_idle > 0 && !(compressed && model.idle_when_compressed) {
        model.not_idle -= 1;
        return Reply::out("ERROR: could not get idle state.\n");
    }
    if model.null_roots > 0 {
        model.null_roots -= 1;
        return Reply::out("ERROR: null root node returned by UiTestAutomationBridge.\n");
    }
    let tree = model.dump.clone().unwrap_or_else(|| model.tree().into_bytes());
    if path == "/dev/tty" {
        return Reply { tty: tree, out: b"UI hierchary dumped to: /dev/tty\n".to_vec(), ..Reply::default() };
    }
    if model.dump_to_file_fails || std::fs::write(Path::new(path), tree).is_err() {
        return Reply::err("java.io.FileNotFoundException: open failed: EROFS (Read-only file system)\n", 0);
    }
    Reply::out(format!("UI hierchary dumped to: {path}\n"))
}

fn picture(model: &Model) -> Reply {
    if model.no_picture {
        return Reply::err("Failed to take screenshot. Status: -1\n", 1);
    }
    let (width, height) = model.size();
    let (width, height) = (width.unsigned_abs(), height.unsigned_abs());
    let picture = image::RgbaImage::from_fn(width, height, |x, y| {
        // Bytes that look like line ends of every kind are in it.
        let bytes =
            if model.secure { [0, 0, 0] } else { [13, 10, u8::try_from((x / 8 + y / 8) % 256).unwrap_or(0)] };
        image::Rgba([bytes[0], bytes[1], bytes[2], 255])
    });
    let mut bytes = Vec::new();
    if model.warns_before_picture {
        bytes.extend_from_slice(b"[Warning] Multiple displays were found, but no display id was specified! Defaulting to the first display\n");
    }
    let mut encoded = Cursor::new(Vec::new());
    picture.write_to(&mut encoded, image::ImageFormat::Png).expect("a picture");
    bytes.extend(encoded.into_inner());
    Reply::out(bytes)
}

fn activity(model: &mut Model, args: &[&str]) -> Reply {
    match args.first() {
        Some(&"start") => start(model, args),
        Some(&"force-stop") => {
            if model.in_front().0 == args[1] {
                model.show("launcher");
            }
            Reply::default()
        }
        Some(&"broadcast") => broadcast(model, args),
        _ => Reply::err("Error: unknown command\n", 255),
    }
}

/// The word behind an option.
fn option<'a>(args: &[&'a str], name: &str) -> Option<&'a str> {
    args.iter().position(|word| *word == name).and_then(|at| args.get(at + 1).copied())
}

fn start(model: &mut Model, args: &[&str]) -> Reply {
    let begun = "Starting: Intent { act=android.intent.action.MAIN }\n";
    let done = format!("{begun}Status: ok\nLaunchState: COLD\nTotalTime: 12\nWaitTime: 13\nComplete\n");
    if let Some(component) = option(args, "-n") {
        let found = model.apps.iter().find(|app| {
            let full = format!("{}/{}", app.package, app.activity);
            !app.activity.is_empty()
                && (component == full || component == full.replace("/.", &format!("/{}.", app.package)))
        });
        return match found.cloned() {
            Some(app) if app.broken => Reply::out(format!(
                "{begun}java.lang.SecurityException: Permission Denial: starting Intent from null not exported\n"
            )),
            Some(app) => {
                model.show(&app.scene);
                Reply::out(done)
            }
            None => Reply {
                out: begun.as_bytes().to_vec(),
                err: format!("Error type 3\nError: Activity class {{{component}}} does not exist.\n")
                    .into_bytes(),
                ..Reply::default()
            },
        };
    }
    let action = option(args, "-a").unwrap_or_default();
    let address = option(args, "-d").unwrap_or_default();
    let opens = action.starts_with("android.settings.")
        || ["http://", "https://"].iter().any(|scheme| address.starts_with(scheme));
    if opens {
        return Reply::out(done);
    }
    Reply {
        out: begun.as_bytes().to_vec(),
        err: format!(
            "Error: Activity not started, unable to resolve Intent {{ act={action} dat={address} }}\n"
        )
        .into_bytes(),
        ..Reply::default()
    }
}

fn broadcast(model: &mut Model, args: &[&str]) -> Reply {
    use base64::Engine as _;
    let done = Reply::out("Broadcasting: Intent { act=ADB_INPUT_B64 }\nBroadcast completed: result=0\n");
    let for_helper = option(args, "-p").is_none_or(|package| HELPER.starts_with(package));
    if option(args, "-a") == Some("ADB_INPUT_B64") && for_helper && model.keyboard == HELPER {
        let encoded = option(args, "msg").unwrap_or_default();
        let bytes = base64::engine::general_purpose::STANDARD.decode(encoded).expect("base64");
        model.write(&String::from_utf8(bytes).expect("UTF-8"));
    }
    done
}

fn package(model: &Model, args: &[&str]) -> Reply {
    let package = args.last().copied().unwrap_or_default();
    match args {
        ["list", "packages", rest @ ..] => {
            if option(rest, "--user") != Some("0") {
                return Reply::err(
                    "java.lang.SecurityException: Shell does not have permission to access user 150\n",
                    255,
                );
            }
            let system = rest.contains(&"-s");
            let listed = model.apps.iter().filter(|app| app.system == system);
            let mut text = String::new();
            for app in listed {
                let _ = writeln!(text, "package:{}", app.package);
            }
            Reply::out(text)
        }
        ["path", ..] => match model.apps.iter().find(|app| app.package == package) {
            Some(app) => Reply::out(format!("package:/data/app/{}/base.apk\n", app.package)),
            None => Reply { code: 1, ..Reply::default() },
        },
        ["resolve-activity", ..] => {
            match model.apps.iter().find(|app| app.package == package && !app.activity.is_empty()) {
                Some(app) => Reply::out(format!(
                    "priority=0 preferredOrder=0 match=0x108000 specificIndex=-1 isDefault=true\n{}/{}\n",
                    app.package, app.activity
                )),
                None => Reply::out("No activity found\n"),
            }
        }
        _ => Reply::err("Error: unknown command\n", 1),
    }
}

fn monkey(model: &mut Model, args: &[&str]) -> Reply {
    let package = option(args, "-p").unwrap_or_default();
    match model.apps.iter().find(|app| app.package == package && !app.broken).cloned() {
        Some(app) => {
            model.show(&app.scene);
            Reply::out("Events injected: 1\n## Network stats: elapsed time=17ms\n")
        }
        None => Reply {
            out: b"** No activities found to run, monkey aborted.\n".to_vec(),
            code: 252,
            ..Reply::default()
        },
    }
}

fn wm(model: &Model, args: &[&str]) -> Reply {
    match args {
        ["size"] => {
            let mut text = format!("Physical size: {}x{}\n", SIZE.0, SIZE.1);
            if let Some((width, height)) = model.override_size {
                let _ = writeln!(text, "Override size: {width}x{height}");
            }
            Reply::out(text)
        }
        ["density"] => Reply::out("Physical density: 320\n"),
        _ => Reply::err("usage: wm\n", 1),
    }
}

fn dumpsys(model: &Model, args: &[&str]) -> Reply {
    let (package, activity) = model.in_front();
    match args {
        ["window", "displays"] => {
            let focus = match (model.locked, model.no_focus) {
                (true, _) => "Window{1a u0 NotificationShade}".to_owned(),
                (false, true) => "null".to_owned(),
                _ => format!("Window{{2b u0 {package}/{package}{activity}}}"),
            };
            let app = if model.no_focus {
                "null".to_owned()
            } else {
                format!("ActivityRecord{{3c u0 {package}/{activity} t7}}")
            };
            Reply::out(format!(
                "Display: mDisplayId=0\n  mCurrentFocus={focus}\n  mFocusedApp={app}\n  mCurrentRotation=ROTATION_{}\n",
                u32::from(model.rotation) * 90
            ))
        }
        ["window", "windows"] => Reply::out("WINDOW MANAGER WINDOWS\n"),
        ["activity", "activities"] => Reply::out("ACTIVITY MANAGER ACTIVITIES\n"),
        ["input_method"] => {
            let bound = if model.helper_stays_off { "none" } else { &model.keyboard };
            Reply::out(format!(
                "  mCurId={bound} mHaveConnection=true\n  mInputShown={}\n",
                model.keyboard_shown
            ))
        }
        ["input"] => Reply::out(format!("  SurfaceOrientation: {}\n", model.rotation)),
        _ => Reply::err("Can't find service\n", 0),
    }
}

fn settings(model: &mut Model, args: &[&str]) -> Reply {
    match args {
        ["get", "secure", "default_input_method"] => Reply::out(format!("{}\n", model.keyboard)),
        ["put", "system", name, value] => {
            model.settings.insert((*name).to_owned(), (*value).to_owned());
            if let ("user_rotation", Ok(turns)) = (*name, value.parse()) {
                model.rotation = turns;
            }
            Reply::default()
        }
        _ => Reply::out("null\n"),
    }
}

fn ime(model: &mut Model, args: &[&str]) -> Reply {
    match args {
        ["list", "-a", "-s"] => Reply::out(model.keyboards.join("\n") + "\n"),
        ["enable", name] if model.keyboards.iter().any(|known| known == name) => {
            Reply::out(format!("Input method {name}: now enabled\n"))
        }
        ["set", name] if model.keyboards.iter().any(|known| known == name) => {
            (*name).clone_into(&mut model.keyboard);
            model.keyboards_set.push((*name).to_owned());
            Reply::out(format!("Input method {name} selected\n"))
        }
        _ => Reply::err("Error: Unknown input method\n", 1),
    }
}
