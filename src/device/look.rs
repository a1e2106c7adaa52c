//! Looking at a screen: with patience for what passes, until it rests, and until something is there.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use crate::device::desk::Seat;
use crate::device::screen::Screen;
use crate::device::tree::{Bounds, read_tree};
use crate::device::{DeviceInfo, DeviceResult, Point};
use crate::error::{DeviceCode, DeviceError};
use crate::limits::{LOOK_ATTEMPTS_MAX, LOOK_PAUSE_MS, SETTLE_FIRST_MS, SETTLE_MS_MAX, WAIT_PAUSE_MS};

impl Seat {
    /// The dump of the screen, tried again while its error says that it may pass. A screen that does not come to rest
    /// is dumped in the compressed form, which does not wait for it.
    pub(crate) async fn dump(&self, compressed: bool) -> DeviceResult<Vec<u8>> {
        let mut compressed = compressed;
        let mut attempt = 0;
        loop {
            let error = match self.driver.ui_tree(&self.serial, compressed).await {
                Ok(dump) => return Ok(dump),
                Err(error) => error,
            };
            attempt += 1;
            if !error.code.passes() || attempt >= LOOK_ATTEMPTS_MAX {
                return Err(error);
            }
            tracing::debug!(device = self.serial, code = %error.code, attempt, "a look at the screen is repeated");
            if error.code == DeviceCode::UiNotIdle && !compressed {
                compressed = true;
                continue;
            }
            sleep(Duration::from_millis(LOOK_PAUSE_MS << attempt.min(4))).await;
        }
    }

    /// The screen of this moment.
    pub(crate) async fn look(&mut self) -> DeviceResult<Arc<Screen>> {
        let mut attempt = 0;
        loop {
            let dump = self.dump(false).await?;
            match self.read(&dump).await {
                // An empty tree is what is written in the moment between two windows.
                Err(error) if error.code == DeviceCode::UiRootMissing && attempt < LOOK_ATTEMPTS_MAX => {
                    attempt += 1;
                    sleep(Duration::from_millis(LOOK_PAUSE_MS << attempt.min(4))).await;
                }
                other => return other,
            }
        }
    }

    async fn read(&mut self, dump: &[u8]) -> DeviceResult<Arc<Screen>> {
        let known = self.desk.info.clone();
        let info = match known {
            Some(info) => info,
            None => self.info().await?,
        };
        let area = |info: &DeviceInfo| {
            let side = |pixels: u32| i32::try_from(pixels).unwrap_or(i32::MAX);
            Bounds::new(0, 0, side(info.width), side(info.height))
        };
        let mut tree = read_tree(dump, Some(area(&info)))?;
        let mut info = info;
        if tree.rotation.is_some_and(|rotation| rotation != info.rotation) {
            info = self.info().await?;
            tree = read_tree(dump, Some(area(&info)))?;
        }
        Ok(Arc::new(Screen::new(tree, &info, dump.len())))
    }

    /// Screen and system of the phone, asked anew.
    pub(crate) async fn info(&mut self) -> DeviceResult<DeviceInfo> {
        let info = self.driver.info(&self.serial).await?;
        self.desk.info = Some(info.clone());
        Ok(info)
    }

    /// The screen after an action: once two looks in a row see the same, or the time is over. An action that shows no
    /// effect at once is given a moment.
    pub(crate) async fn settle(&mut self, before: Option<&Screen>) -> DeviceResult<Arc<Screen>> {
        let begun = Instant::now();
        let mut last = self.look().await?;
        let mut print = fingerprint(&last);
        let old = before.map(fingerprint);
        loop {
            let waited = begun.elapsed();
            let changed = old != Some(print);
            if waited >= Duration::from_millis(SETTLE_MS_MAX) {
                return Ok(last);
            }
            sleep(Duration::from_millis(WAIT_PAUSE_MS / 2)).await;
            let next = self.look().await?;
            let next_print = fingerprint(&next);
            let same = next_print == print;
            last = next;
            print = next_print;
            if same && (changed || begun.elapsed() >= Duration::from_millis(SETTLE_FIRST_MS)) {
                return Ok(last);
            }
        }
    }

    /// A point in pixels of the screen.
    ///
    /// # Errors
    /// `out_of_screen`.
    pub(crate) fn pixels(screen: &Screen, x: f64, y: f64) -> DeviceResult<Point> {
        // Fractions are told from pixels by their size: pixel 1 of a corner is no place that anybody aims at.
        let fractions = x <= 1.0 && y <= 1.0;
        let scaled = |part: f64, whole: u32| {
            if fractions { (part * f64::from(whole)).min(f64::from(whole) - 1.0) } else { part }
        };
        let (x, y) = (scaled(x, screen.width).floor(), scaled(y, screen.height).floor());
        if x < 0.0 || y < 0.0 || x >= f64::from(screen.width) || y >= f64::from(screen.height) {
            return Err(DeviceError::new(
                DeviceCode::OutOfScreen,
                format!(
                    "the point {x},{y} is outside of the screen of {}x{} pixels",
                    screen.width, screen.height
                ),
                "use pixels of the screen as it is turned now, or fractions from 0 to 1",
            ));
        }
        Ok(Point { x: integer(x), y: integer(y) })
    }
}

/// A number that was checked to be on a screen.
pub(crate) fn integer(number: f64) -> i32 {
    format!("{number:.0}").parse().unwrap_or(0)
}

/// What two looks have in common if nothing moved in between.
pub(crate) fn fingerprint(screen: &Screen) -> u64 {
    let mut hasher = DefaultHasher::new();
    for node in &screen.tree.nodes {
        node.class.hash(&mut hasher);
        node.resource_id.hash(&mut hasher);
        node.package.hash(&mut hasher);
        node.text.hash(&mut hasher);
        node.description.hash(&mut hasher);
        node.visible.hash(&mut hasher);
        node.states().hash(&mut hasher);
    }
    hasher.finish()
}
