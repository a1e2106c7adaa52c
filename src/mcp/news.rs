//! What one session is told: the lists of its caller and the resources that it watches, compared at every change.

use std::sync::atomic::Ordering;

use rmcp::model::ErrorData;

use crate::error::Result;
use crate::limits::MCP_WATCHED_MAX;
use crate::mcp::changes::{Face, News, Sink, updated};
use crate::mcp::documents::digest;
use crate::mcp::resources;
use crate::mcp::server::Server;

impl Server {
    /// Tells every session of this caller that the offered tools are others than before; for embedders whose own
    /// tools come and go beside those of this server.
    pub fn tools_changed(&self) {
        self.shared.tool_changes.fetch_add(1, Ordering::Relaxed);
        self.shared.feed.wake();
    }

    /// What the caller's lists say now; computed once for all sessions of the caller.
    fn face(&self) -> Result<Face> {
        let epoch = self.shared.feed.epoch();
        let mut known = self.shared.face.lock();
        if let Some((at, face)) = *known
            && at == epoch
        {
            return Ok(face);
        }
        let face = Face::of(&*self.look()?)?;
        *known = Some((epoch, face));
        Ok(face)
    }

    /// Tells a client of changes until it is gone. `begun` is the epoch from which on it wants to know.
    pub(super) async fn tell(self, sink: Sink, begun: u64) {
        let mut ticks = match self.shared.feed.listen() {
            Ok(ticks) => ticks,
            Err(error) => {
                tracing::warn!(%error, "the catalog cannot be followed; clients are not told of changes");
                return;
            }
        };
        let mut tools = self.shared.tool_changes.load(Ordering::Relaxed);
        // A change that came before the first look at the lists counts as one of all of them.
        let mut known =
            self.news(None).await.and_then(|(face, _)| (self.shared.feed.epoch() == begun).then_some(face));
        if known.is_none() {
            ticks.mark_changed();
        }
        while sink.wait(&mut ticks).await {
            let Some((face, mut news)) = self.news(known).await else { continue };
            known = Some(face);
            let now = self.shared.tool_changes.load(Ordering::Relaxed);
            news.tools = now != tools;
            tools = now;
            if !sink.tell(news).await {
                return;
            }
        }
    }

    /// The lists as they are now and what differs from `known`. Walks the catalog off the runtime's threads.
    async fn news(&self, known: Option<Face>) -> Option<(Face, News)> {
        let server = self.clone();
        let compared = tokio::task::spawn_blocking(move || -> Result<(Face, News)> {
            let face = server.face()?;
            let mut news = face.news_since(known.as_ref());
            let mut watched = server.watched.lock();
            if !watched.is_empty() {
                news.updated = updated(&*server.look()?, &mut watched)?;
            }
            Ok((face, news))
        });
        match compared.await {
            Ok(Ok(compared)) => Some(compared),
            Ok(Err(error)) => {
                tracing::warn!(%error, "what changed cannot be read; trying again at the next change");
                None
            }
            Err(error) => {
                tracing::warn!(%error, "what changed was not read");
                None
            }
        }
    }

    /// Watches resources that the caller sees, from their present bytes on.
    pub(super) fn watch(&self, uris: &[String]) -> Result<(), ErrorData> {
        self.read(|look| {
            let mut found = Vec::with_capacity(uris.len());
            for uri in uris {
                let digest = digest(look, uri).map_err(|error| resources::failed(&error))?;
                found.push((uri.clone(), Some(digest.ok_or_else(|| resources::not_found(uri))?)));
            }
            let mut watched = self.watched.lock();
            if watched.len() + found.len() > MCP_WATCHED_MAX {
                let message = format!("a session watches at most {MCP_WATCHED_MAX} resources");
                return Err(ErrorData::invalid_params(message, None));
            }
            watched.extend(found);
            Ok(())
        })
    }
}
