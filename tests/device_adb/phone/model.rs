//! What is on a screen, which apps there are, and every switch of the phone.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::time::Duration;

/// Width and height of the screen in its natural position.
pub(crate) const SIZE: (i32, i32) = (720, 1_600);
pub(crate) const STOCK_KEYBOARD: &str = "com.android.inputmethod.latin/.LatinIME";
pub(crate) const HELPER: &str = "com.android.adbkeyboard/.AdbIME";

/// One element.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node {
    pub(crate) bounds: [i32; 4],
    text: String,
    description: String,
    id: String,
    class: String,
    /// Scene that a tap leads to.
    goes: Option<String>,
    /// Whether it is a field.
    field: bool,
    /// Scene that ENTER in the field leads to.
    submits: Option<String>,
    /// Field whose content is shown.
    shows: Option<String>,
}

impl Node {
    pub(crate) fn at(bounds: [i32; 4]) -> Self {
        Self { bounds, class: "android.widget.TextView".to_owned(), ..Self::default() }
    }

    pub(crate) fn text(mut self, text: &str) -> Self {
        text.clone_into(&mut self.text);
        self
    }

    pub(crate) fn description(mut self, text: &str) -> Self {
        text.clone_into(&mut self.description);
        self
    }

    pub(crate) fn goes(mut self, scene: &str) -> Self {
        self.goes = Some(scene.to_owned());
        self
    }

    /// Makes it a field.
    pub(crate) fn field(mut self, id: &str, submits: Option<&str>) -> Self {
        id.clone_into(&mut self.id);
        "android.widget.EditText".clone_into(&mut self.class);
        self.field = true;
        self.submits = submits.map(str::to_owned);
        self
    }

    pub(crate) fn shows(mut self, field: &str) -> Self {
        self.shows = Some(field.to_owned());
        self
    }

    fn covers(&self, x: i32, y: i32) -> bool {
        let [left, top, right, bottom] = self.bounds;
        (left..right).contains(&x) && (top..bottom).contains(&y)
    }
}

/// What one activity shows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scene {
    package: String,
    activity: String,
    nodes: Vec<Node>,
    focus: Option<String>,
}

impl Scene {
    pub(crate) fn new(package: &str, activity: &str) -> Self {
        Self { package: package.to_owned(), activity: activity.to_owned(), ..Self::default() }
    }

    pub(crate) fn node(mut self, node: Node) -> Self {
        self.nodes.push(node);
        self
    }

    /// The field that has the focus when the scene comes up.
    pub(crate) fn focus(mut self, field: &str) -> Self {
        self.focus = Some(field.to_owned());
        self
    }
}

/// An app.
#[derive(Clone, Debug)]
pub(crate) struct Installed {
    pub(crate) package: String,
    /// `.Main`; empty for an app that the package manager cannot resolve.
    pub(crate) activity: String,
    pub(crate) scene: String,
    pub(crate) system: bool,
    /// Whether `am start` fails for it, with exit code 0.
    pub(crate) broken: bool,
}

/// The phone.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches")]
pub(crate) struct Model {
    scenes: HashMap<String, Scene>,
    scene: String,
    before: Vec<String>,
    focused: Option<String>,
    fields: BTreeMap<String, String>,
    cursor: usize,
    pub(crate) apps: Vec<Installed>,
    pub(crate) keyboards: Vec<String>,
    pub(crate) keyboard: String,
    pub(crate) keyboard_shown: bool,
    /// Keyboards that were the chosen one, in order.
    pub(crate) keyboards_set: Vec<String>,
    pub(crate) rotation: u8,
    pub(crate) override_size: Option<(i32, i32)>,
    pub(crate) settings: BTreeMap<String, String>,
    pub(crate) properties: BTreeMap<String, String>,
    /// Every call, byte for byte, the name first.
    pub(crate) log: Vec<Vec<Vec<u8>>>,
    /// Touches that ended, as `input` was told.
    pub(crate) touches: Vec<Vec<String>>,
    /// Each call of these commands takes so long.
    pub(crate) slow: HashMap<String, Duration>,
    /// Dumps that fail before one works.
    pub(crate) not_idle: u32,
    /// Only dumps without `--compressed` fail with it.
    pub(crate) idle_when_compressed: bool,
    pub(crate) null_roots: u32,
    pub(crate) busy: u32,
    pub(crate) dump_to_file_fails: bool,
    /// Exactly this instead of a dump.
    pub(crate) dump: Option<Vec<u8>>,
    pub(crate) warns_before_picture: bool,
    pub(crate) secure: bool,
    pub(crate) no_picture: bool,
    pub(crate) blocks_input: bool,
    pub(crate) refuses_abb: bool,
    pub(crate) helper_stays_off: bool,
    pub(crate) locked: bool,
    pub(crate) no_focus: bool,
}

impl Default for Model {
    /// A phone with a launcher and nothing else on it.
    fn default() -> Self {
        let properties = [
            ("ro.product.manufacturer", "Test"),
            ("ro.product.model", "Phone"),
            ("ro.build.version.release", "14"),
            ("ro.build.version.sdk", "34"),
            ("ro.serialno", "HW1"),
        ];
        let model = Self {
            scenes: HashMap::new(),
            scene: "launcher".to_owned(),
            before: Vec::new(),
            focused: None,
            fields: BTreeMap::new(),
            cursor: 0,
            apps: Vec::new(),
            keyboards: vec![STOCK_KEYBOARD.to_owned()],
            keyboard: STOCK_KEYBOARD.to_owned(),
            keyboard_shown: false,
            keyboards_set: Vec::new(),
            rotation: 0,
            override_size: None,
            settings: BTreeMap::new(),
            properties: properties.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
            log: Vec::new(),
            touches: Vec::new(),
            slow: HashMap::new(),
            not_idle: 0,
            idle_when_compressed: false,
            null_roots: 0,
            busy: 0,
            dump_to_file_fails: false,
            dump: None,
            warns_before_picture: false,
            secure: false,
            no_picture: false,
            blocks_input: false,
            refuses_abb: false,
            helper_stays_off: false,
            locked: false,
            no_focus: false,
        };
        model.scene("launcher", Scene::new("com.android.launcher3", ".Launcher"))
    }
}

impl Model {
    /// A phone that shows one field with the focus in it.
    pub(crate) fn with_field() -> Self {
        let scene = Scene::new("com.example.notes", ".Edit")
            .node(Node::at([0, 100, 720, 300]).field("com.example.notes:id/body", None))
            .focus("com.example.notes:id/body");
        let mut model = Self::default().scene("edit", scene).app("com.example.notes", ".Edit", "edit");
        model.show("edit");
        model
    }

    pub(crate) fn scene(mut self, name: &str, scene: Scene) -> Self {
        self.scenes.insert(name.to_owned(), scene);
        self
    }

    pub(crate) fn app(mut self, package: &str, activity: &str, scene: &str) -> Self {
        self.apps.push(Installed {
            package: package.to_owned(),
            activity: activity.to_owned(),
            scene: scene.to_owned(),
            system: false,
            broken: false,
        });
        self
    }

    /// The name of what is shown.
    pub(crate) fn shown(&self) -> &str {
        &self.scene
    }

    /// Package and activity of what is shown.
    pub(crate) fn in_front(&self) -> (&str, &str) {
        let scene = &self.scenes[&self.scene];
        (&scene.package, &scene.activity)
    }

    /// What was typed into a field.
    pub(crate) fn content(&self, field: &str) -> String {
        self.fields.get(field).cloned().unwrap_or_default()
    }

    /// What was typed into the field of [`Model::with_field`], which is emptied.
    pub(crate) fn take_body(&mut self) -> String {
        self.cursor = 0;
        self.fields.remove("com.example.notes:id/body").unwrap_or_default()
    }

    /// Calls of a command, without its name, as text.
    pub(crate) fn calls(&self, name: &str) -> Vec<Vec<String>> {
        let text = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).into_owned();
        let of_name = self.log.iter().filter(|call| call[0] == name.as_bytes());
        of_name.map(|call| call[1..].iter().map(text).collect()).collect()
    }

    /// Goes to a scene.
    pub(crate) fn show(&mut self, name: &str) {
        assert!(self.scenes.contains_key(name), "there is no scene {name}");
        if name != self.scene {
            self.before.push(std::mem::replace(&mut self.scene, name.to_owned()));
        }
        self.set_focus(self.scenes[name].focus.clone());
    }

    fn set_focus(&mut self, field: Option<String>) {
        self.keyboard_shown = field.is_some();
        self.cursor = field.as_ref().map_or(0, |field| self.content(field).len());
        self.focused = field;
    }

    /// A finger at a point.
    pub(crate) fn touch(&mut self, x: i32, y: i32) {
        let scene = &self.scenes[&self.scene];
        let Some(node) = scene.nodes.iter().rev().find(|node| node.covers(x, y)).cloned() else { return };
        if node.field {
            self.set_focus(Some(node.id));
        } else if let Some(goes) = node.goes {
            self.show(&goes);
        }
    }

    /// Characters of a keyboard.
    pub(crate) fn write(&mut self, text: &str) {
        let Some(field) = self.focused.clone() else { return };
        let content = self.fields.entry(field).or_default();
        content.insert_str(self.cursor, text);
        self.cursor += text.len();
    }

    /// A key.
    pub(crate) fn press(&mut self, code: u32) {
        match code {
            3 => self.show("launcher"),
            4 if self.keyboard_shown => self.keyboard_shown = false,
            4 => {
                if let Some(before) = self.before.pop() {
                    self.scene = before;
                    self.set_focus(None);
                }
            }
            61 => self.write("\t"),
            66 => {
                let scene = &self.scenes[&self.scene];
                let field = self.focused.clone();
                let node = scene.nodes.iter().find(|node| node.field && Some(&node.id) == field.as_ref());
                match node.and_then(|node| node.submits.clone()) {
                    Some(next) => self.show(&next),
                    None => self.write("\n"),
                }
            }
            67 | 112 => self.delete(code == 67),
            122 => self.cursor = 0,
            123 => self.cursor = self.focused.as_ref().map_or(0, |field| self.content(field).len()),
            _ => {}
        }
    }

    fn delete(&mut self, before: bool) {
        let Some(field) = self.focused.clone() else { return };
        let content = self.fields.entry(field).or_default();
        let at = if before {
            content[..self.cursor].char_indices().next_back().map(|(at, _)| at)
        } else {
            (self.cursor < content.len()).then_some(self.cursor)
        };
        if let Some(at) = at {
            content.remove(at);
            self.cursor = at;
        }
    }

    /// Size as the screen is turned now.
    pub(crate) fn size(&self) -> (i32, i32) {
        let (width, height) = self.override_size.unwrap_or(SIZE);
        if self.rotation % 2 == 1 { (height, width) } else { (width, height) }
    }

    /// The tree as `uiautomator` writes it.
    pub(crate) fn tree(&self) -> String {
        let scene = &self.scenes[&self.scene];
        let (width, height) = self.size();
        let mut xml = format!(
            "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation=\"{}\">",
            self.rotation
        );
        let root = Node { class: "android.widget.FrameLayout".to_owned(), ..Node::at([0, 0, width, height]) };
        self.element(&mut xml, &scene.package, &root, false);
        for node in &scene.nodes {
            self.element(&mut xml, &scene.package, node, true);
        }
        xml.push_str("</node></hierarchy>");
        xml
    }

    fn element(&self, xml: &mut String, package: &str, node: &Node, closed: bool) {
        let content = match (&node.shows, node.field) {
            (Some(field), _) => self.content(field),
            (None, true) => self.content(&node.id),
            (None, false) => node.text.clone(),
        };
        let [left, top, right, bottom] = node.bounds;
        let clickable = node.goes.is_some() || node.field;
        let focused = node.field && self.focused.as_ref() == Some(&node.id);
        write!(
            xml,
            "<node index=\"0\" text=\"{}\" resource-id=\"{}\" class=\"{}\" package=\"{package}\" content-desc=\"{}\" \
             checkable=\"false\" checked=\"false\" clickable=\"{clickable}\" enabled=\"true\" focusable=\"{clickable}\" \
             focused=\"{focused}\" scrollable=\"false\" long-clickable=\"false\" password=\"false\" selected=\"false\" \
             bounds=\"[{left},{top}][{right},{bottom}]\"{}>",
            escaped(&content),
            node.id,
            node.class,
            escaped(&node.description),
            if closed { " /" } else { "" }
        )
        .expect("a text takes text");
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push_str("&#10;"),
            '\t' => out.push_str("&#9;"),
            c => out.push(c),
        }
    }
    out
}
