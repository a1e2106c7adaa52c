//! How an answer goes over the wire: encoded as the client takes it, or broken as a switch says.

use std::convert::Infallible;
use std::io::{self, Write as _};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode, header};
use flate2::{Compress, Compression, FlushCompress};
use futures_util::stream;
use serde_json::json;

use crate::limits::PLATFORM_ENCODED_BYTES_MIN;
use crate::platform::fault::{FaultKind, Switches};

/// What a proxy says in the place of a document.
pub(crate) const PROXY_PAGE: &str = "<!DOCTYPE html><html><head><title>Sign in</title></head><body>Sign in to use this network.</body></html>";

/// Bytes of one block of a bomb or of padding.
const BLOCK: usize = 1024 * 1024;

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content_type: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) headers: Vec<(header::HeaderName, String)>,
}

impl Answer {
    /// A document.
    pub(crate) fn json(status: StatusCode, value: &impl serde::Serialize) -> Self {
        // Maps of JSON values are written without fail.
        let body = serde_json::to_vec(value).unwrap_or_default();
        Self { status, content_type: "application/json", body, headers: Vec::new() }
    }

    /// A refusal with a code and a sentence.
    pub(crate) fn refusal(status: StatusCode, code: &str, message: &str) -> Self {
        Self::json(status, &json!({"error": {"code": code, "message": message}}))
    }

    /// An answer without a body.
    pub(crate) fn empty(status: StatusCode) -> Self {
        Self { status, content_type: "", body: Vec::new(), headers: Vec::new() }
    }

    /// The same with one header more.
    pub(crate) fn with(mut self, name: header::HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// As it should be.
    pub(crate) fn whole(mut self, asked: &HeaderMap) -> Response<Body> {
        if self.body.len() >= PLATFORM_ENCODED_BYTES_MIN && self.status == StatusCode::OK {
            let encoded = match encoding(asked) {
                Some("zstd") => zstd::encode_all(self.body.as_slice(), 0).ok().map(|body| ("zstd", body)),
                Some(_) => gzip(&self.body).ok().map(|body| ("gzip", body)),
                None => None,
            };
            if let Some((name, body)) = encoded {
                self.body = body;
                self.headers.push((header::CONTENT_ENCODING, name.to_owned()));
            }
            self.headers.push((header::VARY, "Accept-Encoding".to_owned()));
        }
        let body = Bytes::from(std::mem::take(&mut self.body));
        self.carry(Body::from(body))
    }

    /// As the switches say; `part` is what was asked for.
    pub(crate) fn deliver(mut self, part: &str, asked: &HeaderMap, switches: &Switches) -> Response<Body> {
        if self.status != StatusCode::OK {
            return self.whole(asked);
        }
        if switches.on_for(FaultKind::ProxyHtml, part) {
            let answer = Self::empty(StatusCode::OK).with(header::ETAG, "\"proxy\"");
            return Self { content_type: "text/html", body: PROXY_PAGE.into(), ..answer }.whole(asked);
        }
        if switches.on(FaultKind::WrongType) {
            self.content_type = "text/plain";
        }
        if switches.on(FaultKind::HtmlAsJson) {
            self.body = PROXY_PAGE.into();
        }
        if switches.on(FaultKind::EmptyBody) {
            self.body.clear();
        }
        if switches.on(FaultKind::CutJson) {
            self.body.truncate(self.body.len() / 2);
        }
        if switches.on(FaultKind::CutBody) {
            return self.cut();
        }
        if switches.on(FaultKind::Stall) {
            return self.carry(Body::from_stream(stream::pending::<Result<Bytes, Infallible>>()));
        }
        if switches.on(FaultKind::Slow) {
            return self.slow();
        }
        if let Some(mib) = switches.number(FaultKind::Oversize, 80) {
            return self.padded(mib);
        }
        if let Some(mib) = switches.number(FaultKind::Bomb, 1_024) {
            return self.bomb("gzip", gzip_bomb(mib));
        }
        if let Some(mib) = switches.number(FaultKind::BombZstd, 1_024) {
            return self.bomb("zstd", zstd_bomb(mib));
        }
        self.whole(asked)
    }

    /// Half of what the length announces.
    fn cut(mut self) -> Response<Body> {
        let whole = self.body.len();
        let half = Bytes::from(self.body.split_off(0)).slice(..whole / 2);
        let broken = io::Error::other("cut off by a switch");
        let body = Body::from_stream(stream::iter([Ok(half), Err(broken)]));
        self.with(header::CONTENT_LENGTH, whole.to_string()).carry(body)
    }

    fn slow(mut self) -> Response<Body> {
        let bytes = Bytes::from(std::mem::take(&mut self.body));
        let body = Body::from_stream(stream::unfold(bytes, |mut left| async move {
            if left.is_empty() {
                return None;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            let one = left.split_to(1);
            Some((Ok::<_, Infallible>(one), left))
        }));
        self.carry(body)
    }

    /// With that many MiB of white space before it.
    fn padded(mut self, mib: u64) -> Response<Body> {
        let document = Bytes::from(std::mem::take(&mut self.body));
        let block = Bytes::from(vec![b' '; BLOCK]);
        let body = Body::from_stream(stream::unfold(0, move |sent| {
            let next = match sent {
                sent if sent < mib => Some(block.clone()),
                sent if sent == mib => Some(document.clone()),
                _ => None,
            };
            async move { next.map(|bytes| (Ok::<_, Infallible>(bytes), sent + 1)) }
        }));
        self.carry(body)
    }

    fn bomb(mut self, encoding: &str, body: Vec<u8>) -> Response<Body> {
        self.body.clear();
        self.with(header::CONTENT_ENCODING, encoding).carry(Body::from(body))
    }

    fn carry(self, body: Body) -> Response<Body> {
        let mut response = Response::new(body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        if !self.content_type.is_empty() {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        }
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        for (name, value) in self.headers {
            // Ours are made of ASCII; an argument of a switch that is not cannot be sent.
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(name, value);
            }
        }
        response
    }
}

/// The best encoding that the client takes; `None` for as it is.
fn encoding(asked: &HeaderMap) -> Option<&'static str> {
    let taken = |name: &str| {
        asked.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).any(|text| {
            text.split(',').any(|one| {
                let (coding, quality) = one.split_once(';').unwrap_or((one, ""));
                let refused = quality.trim().strip_prefix("q=").is_some_and(|q| q.parse() == Ok(0.0_f32));
                coding.trim().eq_ignore_ascii_case(name) && !refused
            })
        })
    };
    ["zstd", "gzip"].into_iter().find(|name| taken(name))
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// gzip of that many MiB of white space: one block that begins with a clean state, again and again.
fn gzip_bomb(mib: u64) -> Vec<u8> {
    let mut block = Vec::with_capacity(64 * 1024);
    let mut compress = Compress::new(Compression::best(), false);
    // There is room for all of it: a block of one byte value is a thousandth of its size.
    let _ = compress.compress_vec(&vec![b' '; BLOCK], &mut block, FlushCompress::Full);
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    for _ in 0..mib {
        out.extend_from_slice(&block);
    }
    // The end of the deflate stream; the checksum after it is missing, since nobody reads that far.
    out.extend_from_slice(&[0x03, 0x00]);
    out
}

/// zstd of that many MiB of white space: a frame of blocks that repeat one byte 128 Ki times.
fn zstd_bomb(mib: u64) -> Vec<u8> {
    // Magic number; no checksum, no size; a window of 8 MiB.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x68];
    let blocks = mib * 8;
    for number in 1..=blocks {
        let last = u8::from(number == blocks);
        out.extend_from_slice(&[0x02 | last, 0x00, 0x10, b' ']);
    }
    out
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn the_client_chooses_the_encoding() {
        let asked = |text: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(text));
            encoding(&headers)
        };
        assert_eq!(asked("gzip, zstd"), Some("zstd"));
        assert_eq!(asked("gzip;q=1.0, zstd;q=0"), Some("gzip"));
        assert_eq!(asked("br, identity"), None);
        assert_eq!(encoding(&HeaderMap::new()), None);
    }

    #[test]
    fn bombs_unpack_to_what_they_say() {
        let mut gzipped = Vec::new();
        let bomb = gzip_bomb(2);
        // Everything comes out before the missing checksum is missed.
        let _ = flate2::read::GzDecoder::new(bomb.as_slice()).read_to_end(&mut gzipped);
        assert_eq!(gzipped, vec![b' '; 2 * BLOCK]);
        let unpacked = zstd::decode_all(zstd_bomb(2).as_slice()).unwrap();
        assert_eq!(unpacked, vec![b' '; 2 * BLOCK]);
        assert!(zstd_bomb(1_024).len() < 64 * 1024 && gzip_bomb(1_024).len() < 2 * BLOCK);
    }
}
