//! A picture of a scene's screen: each view as a rectangle in a shade of its own.

use std::io::Cursor;

use image::{ImageFormat, Rgb, RgbImage};

use crate::device::DeviceResult;
use crate::error::{DeviceCode, DeviceError};

use super::scene::{Phone, Shot, View};

/// A PNG of a screen; all black where pictures are forbidden.
pub(super) fn draw(shot: &Shot, phone: &Phone) -> DeviceResult<Vec<u8>> {
    let mut image = RgbImage::new(phone.width, phone.height);
    if !shot.secure {
        for pixel in image.pixels_mut() {
            *pixel = Rgb([250, 250, 250]);
        }
        let mut count = 0;
        shot.nodes.iter().for_each(|view| paint(&mut image, view, &mut count));
    }
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, ImageFormat::Png).map_err(|error| {
        DeviceError::new(
            DeviceCode::CommandFailed,
            format!("the picture cannot be written: {error}"),
            "use a smaller screen",
        )
    })?;
    Ok(bytes.into_inner())
}

fn paint(image: &mut RgbImage, view: &View, count: &mut u8) {
    *count = count.wrapping_add(37);
    let colour = Rgb([*count, count.wrapping_mul(3) | 0x40, 200]);
    let side = |edge: i32, most: u32| u32::try_from(edge.max(0)).unwrap_or(0).min(most);
    let [left, top, right, bottom] = view.bounds;
    for y in side(top, image.height())..side(bottom, image.height()) {
        for x in side(left, image.width())..side(right, image.width()) {
            image.put_pixel(x, y, colour);
        }
    }
    view.children.iter().for_each(|child| paint(image, child, count));
}
