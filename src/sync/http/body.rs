//! Bodies of answers, up to a limit, whatever they unpack to.

use reqwest::Response;

/// Why a body was not read to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum BodyError {
    /// It is larger than anything that should be sent, perhaps only after it is unpacked.
    #[error("the answer is larger than {limit} bytes")]
    TooLarge {
        /// The limit.
        limit: u64,
    },
    /// The connection broke off, or what came cannot be unpacked.
    #[error("the answer broke off")]
    Broken(#[source] reqwest::Error),
}

/// Reads a body. Memory stays below the limit and one chunk: what is packed is unpacked piece by piece.
pub(crate) async fn read(mut response: Response, limit: u64) -> Result<Vec<u8>, BodyError> {
    let announced = response.content_length();
    if announced.is_some_and(|length| length > limit) {
        return Err(BodyError::TooLarge { limit });
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|cause| BodyError::Broken(cause.without_url()))? {
        if (chunk.len() + body.len()) as u64 > limit {
            return Err(BodyError::TooLarge { limit });
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}
