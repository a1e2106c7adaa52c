//! Telling clients what changed: the catalog wakes every session, and each compares what its own caller sees.
//!
//! A change that a caller does not see wakes its sessions and tells them nothing.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::RoleServer;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, SubscriptionSink};
use tokio::sync::watch;

use crate::catalog::{Catalog, Filter, Look, Subscription};
use crate::error::Result;
use crate::limits::LIST_LIMIT_MAX;
use crate::mcp::documents::digest;
use crate::mcp::resources::is_prompt;

/// How often a session without news looks whether its client is still there.
const GONE_CHECK: Duration = Duration::from_secs(5);

/// Wakes sessions at every change of the catalog; shared by all servers of a process that serve one catalog.
#[derive(Clone, Debug)]
pub(super) struct Feed(Arc<FeedInner>);

#[derive(Debug)]
struct FeedInner {
    catalog: Catalog,
    ticks: Arc<watch::Sender<u64>>,
    /// Begun with the first session that listens.
    following: Mutex<Option<Subscription>>,
}

/// What lists of a caller say, as hashes that only this process compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Face {
    resources: u64,
    prompts: u64,
}

/// Digests of the resources that a session watches; `None` for one that is not there.
pub(super) type Watched = BTreeMap<String, Option<[u8; 32]>>;

/// Where the news of one session go.
#[derive(Debug)]
pub(super) enum Sink {
    /// The client of an `initialize` session.
    Peer(Peer<RoleServer>),
    /// A `subscriptions/listen` request.
    Listen(SubscriptionSink),
}

/// Which lists changed.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    pub(super) tools: bool,
    pub(super) resources: bool,
    pub(super) prompts: bool,
    pub(super) updated: Vec<String>,
}

impl Feed {
    pub(super) fn new(catalog: &Catalog) -> Self {
        Self(Arc::new(FeedInner {
            catalog: catalog.clone(),
            ticks: Arc::new(watch::Sender::new(0)),
            following: Mutex::new(None),
        }))
    }

    /// Changes from now on. Fails where the catalog cannot be followed.
    pub(super) fn listen(&self) -> Result<watch::Receiver<u64>> {
        let receiver = self.0.ticks.subscribe();
        let mut following = self.0.following.lock();
        if following.is_none() {
            let ticks = Arc::clone(&self.0.ticks);
            *following = Some(self.0.catalog.subscribe(move |_| ticks.send_modify(|tick| *tick += 1))?);
        }
        Ok(receiver)
    }

    /// Wakes every session for another reason.
    pub(super) fn wake(&self) {
        self.0.ticks.send_modify(|tick| *tick += 1);
    }

    /// The epoch of the catalog.
    pub(super) fn epoch(&self) -> u64 {
        self.0.catalog.epoch()
    }
}

impl Face {
    /// What the caller's lists say now. Cost: a walk over the visible skills.
    pub(super) fn of(look: &Look) -> Result<Self> {
        let (mut resources, mut prompts) = (DefaultHasher::new(), DefaultHasher::new());
        let mut cursor = None;
        loop {
            let page = look.list(&Filter::default(), LIST_LIMIT_MAX, cursor.as_deref())?;
            for skill in &page.skills {
                (skill.id(), skill.digest()).hash(&mut resources);
                if is_prompt(skill) {
                    (skill.id(), skill.digest()).hash(&mut prompts);
                }
            }
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(Self { resources: resources.finish(), prompts: prompts.finish() });
            }
        }
    }

    /// Which lists differ.
    pub(super) fn news_since(&self, former: Option<&Self>) -> News {
        News {
            resources: former.is_none_or(|former| former.resources != self.resources),
            prompts: former.is_none_or(|former| former.prompts != self.prompts),
            ..News::default()
        }
    }
}

/// Takes the present digests of watched resources and answers which changed.
pub(super) fn updated(look: &Look, watched: &mut Watched) -> Result<Vec<String>> {
    let mut changed = Vec::new();
    for (uri, known) in watched {
        let now = digest(look, uri)?;
        if now != *known {
            *known = now;
            changed.push(uri.clone());
        }
    }
    Ok(changed)
}

impl Sink {
    /// Waits for the next tick; `false` where the client is gone.
    pub(super) async fn wait(&self, ticks: &mut watch::Receiver<u64>) -> bool {
        loop {
            match tokio::time::timeout(GONE_CHECK, ticks.changed()).await {
                Ok(ticked) => return ticked.is_ok() && !self.is_gone(),
                Err(_) if self.is_gone() => return false,
                Err(_) => {}
            }
        }
    }

    fn is_gone(&self) -> bool {
        match self {
            Self::Peer(peer) => peer.is_transport_closed(),
            // The request's own cancellation ends its task.
            Self::Listen(_) => false,
        }
    }

    /// Tells the client; `false` where it is gone.
    pub(super) async fn tell(&self, news: News) -> bool {
        match self {
            Self::Peer(peer) => tell_peer(peer, news).await,
            Self::Listen(sink) => tell_listener(sink, news).await,
        }
        .inspect_err(|error| tracing::debug!(%error, "a client is gone before it was told of a change"))
        .is_ok()
    }
}

type Told = std::result::Result<(), Box<dyn std::error::Error + Send + Sync>>;

async fn tell_peer(peer: &Peer<RoleServer>, news: News) -> Told {
    if news.tools {
        peer.notify_tool_list_changed().await?;
    }
    if news.resources {
        peer.notify_resource_list_changed().await?;
    }
    if news.prompts {
        peer.notify_prompt_list_changed().await?;
    }
    for uri in news.updated {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
    }
    Ok(())
}

async fn tell_listener(sink: &SubscriptionSink, news: News) -> Told {
    let accepted = sink.accepted();
    if news.tools && accepted.tools_list_changed == Some(true) {
        sink.notify_tool_list_changed().await?;
    }
    if news.resources && accepted.resources_list_changed == Some(true) {
        sink.notify_resource_list_changed().await?;
    }
    if news.prompts && accepted.prompts_list_changed == Some(true) {
        sink.notify_prompt_list_changed().await?;
    }
    for uri in news.updated {
        sink.notify_resource_updated(uri).await?;
    }
    Ok(())
}
