//! Tools that only look.

use serde_json::{Value, json};

use crate::device::desk::Devices;
use crate::device::screen::{Screen, shown};
use crate::device::selector::{Selector, TextMatch};
use crate::device::semantic;
use crate::device::tree::hierarchy;
use crate::device::{DeviceInfo, Outcome};
use crate::limits::SCREEN_ELEMENTS_DEFAULT;
use crate::model::normalise;

use super::args::Args;
use super::{Done, Turn};

/// `list_devices`
pub(super) async fn list_devices(devices: &Devices, args: Args<'_>) -> Done {
    let mut found = devices.driver.devices().await?;
    if let Some(serial) = args.text("device") {
        found.retain(|device| device.serial == serial);
    }
    let mut lines = Vec::new();
    for device in &found {
        let state = json!(device.state);
        let mut line = format!("{} {}", device.serial, state.as_str().unwrap_or_default());
        for more in [&device.model, &device.hint].into_iter().filter(|more| !more.is_empty()) {
            line.push_str("; ");
            line.push_str(more);
        }
        lines.push(line);
    }
    let text = if lines.is_empty() { "no phone is connected".to_owned() } else { lines.join("\n") };
    Ok(Outcome::new(text, json!({"devices": found})))
}

/// `device_info`
pub(super) async fn device_info(turn: &mut Turn<'_>) -> Done {
    turn.permit()?;
    let info = turn.seat.info().await?;
    let DeviceInfo { serial, model, android, sdk, width, height, rotation, density } = &info;
    let text = format!(
        "{serial}: {model}, Android {android} (API {sdk}), {width}x{height} pixels, rotation {rotation}, {density} dpi"
    );
    Ok(Outcome::new(text, json!(info)))
}

/// `describe_screen`
pub(super) async fn describe_screen(turn: &mut Turn<'_>) -> Done {
    let screen = turn.seat.look().await?;
    turn.aim.app = screen.tree.app().to_owned();
    turn.permit()?;
    let snapshot = turn.seat.desk.remember(&screen);
    let filter = turn.args.text("filter").map(normalise).unwrap_or_default();
    let most = turn.args.count("max_elements").unwrap_or(SCREEN_ELEMENTS_DEFAULT);
    let lines: Vec<String> = (0..screen.elements.len())
        .map(|index| (index, screen.line(index)))
        .filter(|(index, line)| filter.is_empty() || mentions(&screen, *index, line, &filter))
        .map(|(_, line)| line)
        .collect();
    let mut text = screen.head(&snapshot, "");
    for line in lines.iter().take(most) {
        text.push('\n');
        text.push_str(line);
    }
    let left = lines.len().saturating_sub(most);
    if left > 0 {
        text.push_str(&format!("\n... {left} more; use filter or max_elements"));
    }
    if screen.tree.cut {
        text.push_str("\n(the tree is cut)");
    }
    let elements: Vec<Value> = lines.iter().take(most).map(|line| json!(line)).collect();
    let data = json!({
        "app": screen.tree.app(),
        "width": screen.width,
        "height": screen.height,
        "snapshot": snapshot,
        "elements": elements,
        "more": left,
    });
    Ok(Outcome::new(text, data))
}

/// Whether the words or the id of an element hold a normalised text.
fn mentions(screen: &Screen, index: usize, line: &str, filter: &str) -> bool {
    let Some(element) = screen.elements.get(index) else { return false };
    let id = screen.tree.get(element.place).map(|node| node.short_id().replace('_', " ")).unwrap_or_default();
    [line, element.label.as_str(), id.as_str()].iter().any(|text| normalise(text).contains(filter))
}

/// `ui_tree`
pub(super) async fn ui_tree(turn: &mut Turn<'_>) -> Done {
    turn.permit()?;
    let dump = turn.seat.dump(turn.args.flag("compressed")).await?;
    let xml = hierarchy(&dump)?;
    let data = json!({"xml": xml});
    Ok(Outcome::new(xml, data))
}

/// `current_app`
pub(super) async fn current_app(turn: &mut Turn<'_>) -> Done {
    let foreground = turn.seat.driver.foreground(&turn.seat.serial).await?;
    turn.aim.app.clone_from(&foreground.package);
    turn.permit()?;
    let text = match (foreground.package.as_str(), foreground.activity.as_str()) {
        ("", _) => "no app is in the foreground; the screen may be off or locked".to_owned(),
        (package, "") => package.to_owned(),
        (package, activity) => format!("{package}/{activity}"),
    };
    Ok(Outcome::new(text, json!(foreground)))
}

/// `find_element`
pub(super) async fn find_element(turn: &mut Turn<'_>) -> Done {
    let screen = turn.seat.look().await?;
    turn.aim.app = screen.tree.app().to_owned();
    turn.permit()?;
    let owned = |name: &str| turn.args.text(name).map(str::to_owned);
    let selector = Selector {
        text: owned("text"),
        resource_id: owned("resource_id"),
        description: owned("content_description"),
        class: owned("class_name"),
        text_match: TextMatch::from_args(turn.args.all()),
    };
    let semantic = turn.args.text("match") == Some("semantic");
    let found: Vec<(usize, Option<f32>)> = if semantic {
        semantic::search(&selector, &screen).into_iter().map(|hit| (hit.place, Some(hit.score))).collect()
    } else {
        selector.find(&screen.tree).into_iter().map(|place| (place, None)).collect()
    };
    let snapshot = turn.seat.desk.remember(&screen);
    let limit = turn.args.count("limit").unwrap_or(5);
    let mut lines = Vec::new();
    let mut elements = Vec::new();
    for (place, score) in found.iter().take(limit) {
        let (line, data) = describe(&screen, *place, *score);
        lines.push(line);
        elements.push(data);
    }
    let head = format!("{} found, snapshot={snapshot}", found.len());
    let text = std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n");
    Ok(Outcome::new(text, json!({"total": found.len(), "snapshot": snapshot, "elements": elements})))
}

/// One found element: its line where it has one, and what it is.
fn describe(screen: &Screen, place: usize, score: Option<f32>) -> (String, Value) {
    let Some(node) = screen.tree.get(place) else { return (String::new(), Value::Null) };
    let point = screen.tree.touch_point(place);
    let index = screen.index_of(place);
    let label = screen.tree.label(place);
    let at = point.map_or_else(|| "covered".to_owned(), |point| format!("{},{}", point.x, point.y));
    let name = index.map_or_else(|| "-".to_owned(), |index| index.to_string());
    let line = format!("{name}|{}|{}|{}|{at}", node.short_class(), shown(&label), shown(node.short_id()));
    let mut data = json!({
        "index": index,
        "text": node.text,
        "content_description": node.description,
        "resource_id": node.resource_id,
        "class_name": node.class,
        "bounds": node.visible.to_string(),
    });
    if let Some(members) = data.as_object_mut() {
        if let Some(point) = point {
            members.insert("x".to_owned(), json!(point.x));
            members.insert("y".to_owned(), json!(point.y));
        }
        if let Some(score) = score {
            members.insert("score".to_owned(), json!((f64::from(score) * 100.0).round() / 100.0));
        }
    }
    (line, data)
}
