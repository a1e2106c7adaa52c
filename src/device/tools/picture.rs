//! `screenshot`: decoded, checked, scaled, marked, encoded.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageFormat, ImageReader, Rgba, RgbaImage};
use serde_json::json;

use crate::device::call::{Picture, Stop};
use crate::device::options::FileAccess;
use crate::device::screen::Screen;
use crate::device::{DeviceResult, Outcome};
use crate::error::{DeviceCode, DeviceError};
use crate::limits::{SCREENSHOT_PIXELS_MAX, SCREENSHOT_SIDE_PX};

use super::{Done, Turn};

/// The eight bytes with which a PNG begins.
const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";
/// Small enough for a model's picture budget, good enough to read.
const JPEG_QUALITY: u8 = 80;
/// Colour of boxes and numbers.
const MARK: Rgba<u8> = Rgba([220, 0, 60, 255]);
/// Ground of the numbers.
const GROUND: Rgba<u8> = Rgba([255, 255, 255, 255]);
/// Digits, three columns of five bits each, the lowest bit on top.
const DIGITS: [[u8; 3]; 10] = [
    [31, 17, 31],
    [18, 31, 16],
    [29, 21, 23],
    [21, 21, 31],
    [7, 4, 31],
    [23, 21, 29],
    [31, 21, 29],
    [1, 1, 31],
    [31, 21, 31],
    [23, 21, 31],
];

/// How the picture is to be.
#[derive(Clone, Debug)]
struct Wish {
    scale: Option<f64>,
    format: &'static str,
    marks: Vec<(usize, [i32; 4])>,
}

/// `screenshot`
pub(super) async fn screenshot(turn: &mut Turn<'_>) -> Done {
    turn.permit()?;
    let format = match turn.args.text("format") {
        Some("jpeg") => "image/jpeg",
        Some("webp") => "image/webp",
        _ => "image/png",
    };
    let file = turn.args.text("save_to").map(|name| place_of(turn.files, name, format)).transpose()?;
    let mut snapshot = None;
    let mut marks = Vec::new();
    if turn.args.flag("annotate") {
        let screen = turn.seat.look().await?;
        marks = boxes(&screen);
        snapshot = Some(turn.seat.desk.remember(&screen));
    }
    let png = turn.seat.driver.screenshot(&turn.seat.serial).await?;
    let wish = Wish { scale: turn.args.number("scale"), format, marks };
    // Decoding and encoding take tens of milliseconds, which other calls need not wait for.
    let picture = tokio::task::spawn_blocking(move || make(&png, &wish)).await.map_err(|error| {
        DeviceError::new(
            DeviceCode::CommandFailed,
            format!("the picture could not be made: {error}"),
            "call again",
        )
    })??;
    let mut text = format!("{}x{} {}", picture.width, picture.height, picture.media_type);
    if let Some(snapshot) = &snapshot {
        text.push_str(&format!(", numbers are indexes of snapshot={snapshot}"));
    }
    let mut data = json!({"width": picture.width, "height": picture.height, "media_type": picture.media_type, "snapshot": snapshot});
    let mut outcome = Outcome::new(String::new(), json!(null));
    if let Some(path) = file {
        let shown = turn.args.text("save_to").unwrap_or_default();
        save(&path, &picture.bytes)?;
        text.push_str(&format!(", saved to {shown}"));
        if let Some(members) = data.as_object_mut() {
            members.insert("saved_to".to_owned(), json!(shown));
            members.insert("bytes".to_owned(), json!(picture.bytes.len()));
        }
    } else {
        outcome.picture = Some(picture);
    }
    outcome.text = text;
    outcome.data = data;
    Ok(outcome)
}

/// Boxes of the elements that have a line.
fn boxes(screen: &Arc<Screen>) -> Vec<(usize, [i32; 4])> {
    let elements = screen.elements.iter().enumerate();
    elements
        .filter_map(|(index, element)| {
            let visible = screen.tree.get(element.place)?.visible;
            Some((index, [visible.left, visible.top, visible.right, visible.bottom]))
        })
        .collect()
}

/// From a driver's bytes to the picture that is wished.
fn make(png: &[u8], wish: &Wish) -> DeviceResult<Picture> {
    let broken = |detail: String| {
        DeviceError::new(
            DeviceCode::Malformed,
            format!("the phone's picture cannot be read: {detail}"),
            "call again; describe_screen works without pictures",
        )
    };
    let begin = png.windows(SIGNATURE.len()).position(|window| window == SIGNATURE);
    let png = begin.and_then(|begin| png.get(begin..)).ok_or_else(|| broken("it is no PNG".to_owned()))?;
    let reader = || ImageReader::with_format(Cursor::new(png), ImageFormat::Png);
    let (width, height) = reader().into_dimensions().map_err(|error| broken(error.to_string()))?;
    if u64::from(width) * u64::from(height) > SCREENSHOT_PIXELS_MAX {
        return Err(broken(format!("it has {width}x{height} pixels")));
    }
    let image = reader().decode().map_err(|error| broken(error.to_string()))?.into_rgba8();
    if image.pixels().all(|pixel| pixel.0.iter().take(3).all(|channel| *channel == 0)) {
        return Err(DeviceError::new(
            DeviceCode::SecureWindow,
            "the picture is all black: the app forbids pictures of this window, or the screen is off",
            "use describe_screen: the tree of such a window can be read",
        ));
    }
    let scale =
        wish.scale.unwrap_or_else(|| (f64::from(SCREENSHOT_SIDE_PX) / f64::from(width.max(height))).min(1.0));
    let side = |pixels: u32| format!("{:.0}", (f64::from(pixels) * scale).max(1.0)).parse().unwrap_or(pixels);
    let (new_width, new_height): (u32, u32) = (side(width), side(height));
    let mut image = if (new_width, new_height) == (width, height) {
        image
    } else {
        image::imageops::resize(&image, new_width, new_height, FilterType::Triangle)
    };
    for (index, edges) in &wish.marks {
        let scaled = edges.map(|edge| crate::device::look::integer(f64::from(edge) * scale));
        mark(&mut image, scaled, *index);
    }
    encode(image, wish.format).map_err(broken)
}

fn encode(image: RgbaImage, media_type: &'static str) -> Result<Picture, String> {
    let (width, height) = image.dimensions();
    let mut bytes = Cursor::new(Vec::new());
    let image = DynamicImage::ImageRgba8(image);
    let done = match media_type {
        "image/jpeg" => {
            image.into_rgb8().write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, JPEG_QUALITY))
        }
        "image/webp" => image.into_rgb8().write_to(&mut bytes, ImageFormat::WebP),
        _ => image.into_rgb8().write_to(&mut bytes, ImageFormat::Png),
    };
    done.map_err(|error| error.to_string())?;
    Ok(Picture { bytes: bytes.into_inner(), media_type, width, height })
}

/// Draws a box and, at its upper left corner, a number.
fn mark(image: &mut RgbaImage, [left, top, right, bottom]: [i32; 4], index: usize) {
    for x in left..right {
        put(image, x, top, MARK);
        put(image, x, bottom - 1, MARK);
    }
    for y in top..bottom {
        put(image, left, y, MARK);
        put(image, right - 1, y, MARK);
    }
    let zoom = 2;
    let digits: Vec<usize> =
        index.to_string().bytes().map(|byte| usize::from(byte.saturating_sub(b'0'))).collect();
    for (position, digit) in (0..).zip(&digits) {
        let from = left + 2 + position * 4 * zoom;
        for column in 0..4 {
            for row in -1..6 {
                let strip = usize::try_from(column)
                    .ok()
                    .and_then(|column| DIGITS.get(*digit)?.get(column))
                    .copied()
                    .unwrap_or(0);
                let on = (0..5).contains(&row) && strip >> row & 1 == 1;
                for (dx, dy) in (0..zoom).flat_map(|dx| (0..zoom).map(move |dy| (dx, dy))) {
                    let colour = if on { MARK } else { GROUND };
                    put(image, from + column * zoom + dx, top + 3 + row * zoom + dy, colour);
                }
            }
        }
    }
}

fn put(image: &mut RgbaImage, x: i32, y: i32, colour: Rgba<u8>) {
    let (Ok(x), Ok(y)) = (u32::try_from(x), u32::try_from(y)) else { return };
    if x < image.width() && y < image.height() {
        image.put_pixel(x, y, colour);
    }
}

/// The file that `save_to` means, if this deployment lets it be written.
fn place_of(files: &FileAccess, name: &str, media_type: &str) -> Result<PathBuf, Stop> {
    let refused = |why: &str, hint: &str| Stop::Failed(DeviceError::new(DeviceCode::FileFailed, why, hint));
    let path = Path::new(name);
    let endings: &[&str] = match media_type {
        "image/jpeg" => &["jpg", "jpeg"],
        "image/webp" => &["webp"],
        _ => &["png"],
    };
    let ending =
        path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase).unwrap_or_default();
    if !endings.contains(&ending.as_str()) {
        return Err(refused(
            "the name of the file does not fit its format",
            &format!("end it with .{}", endings.join(" or .")),
        ));
    }
    match files {
        FileAccess::Anywhere => Ok(path.to_owned()),
        FileAccess::Below(folder) if path.components().all(|part| matches!(part, Component::Normal(_))) => {
            Ok(folder.join(path))
        }
        FileAccess::Below(_) => Err(refused(
            "files are written below one folder of the server only",
            "give a plain name such as screen.png",
        )),
        FileAccess::None => Err(refused(
            "this server writes no files",
            "leave save_to out and take the picture of the answer",
        )),
    }
}

/// Writes a file that only its owner reads: a picture of a phone is private.
fn save(path: &Path, bytes: &[u8]) -> DeviceResult<()> {
    let failed = |error: std::io::Error| {
        // The path is the server's business; its name was given by the caller.
        DeviceError::new(
            DeviceCode::FileFailed,
            format!("the picture cannot be written: {}", error.kind()),
            "give another name",
        )
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options.open(path).and_then(|mut file| file.write_all(bytes)).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32, shade: u8) -> Vec<u8> {
        let image = RgbaImage::from_pixel(width, height, Rgba([shade, shade, shade, 255]));
        encode(image, "image/png").unwrap().bytes
    }

    fn wish(scale: Option<f64>, format: &'static str) -> Wish {
        Wish { scale, format, marks: vec![(7, [1, 1, 9, 9])] }
    }

    #[test]
    fn a_warning_before_the_picture_is_skipped_and_no_byte_is_repaired() {
        let mut noisy = b"[Warning] Multiple displays were found\r\n".to_vec();
        noisy.extend(png(40, 20, 90));
        let picture = make(&noisy, &wish(None, "image/png")).unwrap();
        assert_eq!((picture.width, picture.height, picture.media_type), (40, 20, "image/png"));
        assert!(picture.bytes.starts_with(SIGNATURE));
        assert_eq!(make(b"error", &wish(None, "image/png")).unwrap_err().code, DeviceCode::Malformed);
    }

    #[test]
    fn a_black_picture_is_a_secure_window() {
        let error = make(&png(8, 8, 0), &wish(None, "image/png")).unwrap_err();
        assert_eq!((error.code, error.code.name()), (DeviceCode::SecureWindow, "secure_window"));
        assert!(error.hint.contains("describe_screen"));
    }

    #[test]
    fn pictures_are_scaled_and_written_in_every_format() {
        let large = png(600, SCREENSHOT_SIDE_PX * 2, 200);
        let picture = make(&large, &wish(None, "image/jpeg")).unwrap();
        assert_eq!((picture.width, picture.height), (300, SCREENSHOT_SIDE_PX));
        assert!(picture.bytes.starts_with(b"\xff\xd8"));
        let picture = make(&large, &wish(Some(0.1), "image/webp")).unwrap();
        assert_eq!((picture.width, picture.height), (60, 205));
        assert!(picture.bytes.starts_with(b"RIFF"));
    }

    #[test]
    fn files_are_written_where_the_deployment_says_only() {
        let folder = FileAccess::Below(PathBuf::from("shots"));
        assert_eq!(place_of(&folder, "a/b.png", "image/png").ok(), Some(PathBuf::from("shots/a/b.png")));
        for wrong in ["../b.png", "/etc/b.png", "a/../../b.png", "b.sh", "b", "./b.png/.."] {
            assert!(place_of(&folder, wrong, "image/png").is_err(), "{wrong}");
        }
        assert!(place_of(&FileAccess::None, "b.png", "image/png").is_err());
        assert!(place_of(&FileAccess::Anywhere, "/tmp/b.jpg", "image/jpeg").is_ok());
        assert!(place_of(&FileAccess::Anywhere, "/tmp/b.jpg", "image/png").is_err());
    }
}
