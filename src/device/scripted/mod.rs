//! A phone that exists in a file: screens, and what leads from one to the next.
//!
//! For embedders' tests and examples, and for this crate's own. The format is JSON:
//!
//! ```json
//! {
//!   "device": {"serial": "scripted", "model": "Pixel", "android": "14", "sdk": 34, "width": 1080, "height": 2400, "density": 420},
//!   "apps": [{"package": "com.example.notes", "label": "Notes"}],
//!   "start": "home",
//!   "screens": {
//!     "home": {
//!       "app": "com.example.launcher",
//!       "nodes": [{"id": "icon", "text": "Notes", "bounds": [0, 0, 200, 200], "clickable": true}],
//!       "on": [{"tap": "Notes", "go": "list"}]
//!     },
//!     "list": {
//!       "app": "com.example.notes", "activity": ".List",
//!       "nodes": [
//!         {"id": "search", "class": "android.widget.EditText", "bounds": [0, 0, 1080, 200], "clickable": true, "focused": true},
//!         {"text": "You look for ${search}", "bounds": [0, 200, 1080, 300]}
//!       ],
//!       "on": [{"key": "back", "go": "home"}, {"key": "enter", "go": "list"}]
//!     }
//!   },
//!   "on": [{"launch": "com.example.notes", "go": "list"}, {"key": "home", "go": "home"}]
//! }
//! ```
//!
//! * A screen is `nodes` (with `children`) or `xml`, a dump as a phone writes it. `${id}` in a text is what was typed
//!   into the field of that id. `secure` forbids pictures; `keyboard` shows the keyboard without a focused field.
//! * `on` holds events of the screen, then those of the scene: `tap`, `double_tap`, `long_press` (text, description or
//!   id of what is hit), `swipe` (direction of the finger), `key` (name or code), `text` (`*` or exactly what is typed),
//!   `launch`, `stop`, `url` (a beginning that ends with `*`, or the whole), `settings`, `after_ms`. The first that fits
//!   is taken. `go` names the next screen; `fail` is the code of an error instead.
//! * `faults`: `{"call": "ui_tree", "code": "device_ui_not_idle", "after": 2, "times": 1}` makes calls of a name fail:
//!   after so many of them, so often.
//! * `delay_ms` is how long each call takes.

mod driver;
mod picture;
mod scene;
mod state;
mod xml;

pub use driver::ScriptedDriver;
