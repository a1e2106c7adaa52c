//! The fault switches: everything that a platform, a proxy or a network can do wrong, on demand.

use std::fmt;
use std::str::FromStr;

use parking_lot::RwLock;

/// One switch that is on: `NAME` or `NAME=ARG`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    argument: Option<String>,
}

/// A name that is no switch.
#[derive(Debug, thiserror::Error)]
#[error("there is no fault {name:?}; there are: {}", FaultKind::names().collect::<Vec<_>>().join(", "))]
pub struct UnknownFault {
    name: String,
}

macro_rules! faults {
    ($($kind:ident $name:literal $about:literal,)*) => {
        /// What a switch does.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum FaultKind {
            $(#[doc = $about] $kind,)*
        }

        impl FaultKind {
            /// All of them, in the order of the fault table.
            pub const ALL: &'static [Self] = &[$(Self::$kind,)*];

            /// As it is written.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }
        }
    };
}

faults! {
    Unauthorized "unauthorized" "401 to everything; with an argument N only to the next N requests.",
    Forbidden "forbidden" "403; the argument may be `catalog`, `entitlements`, `blobs` or `status`.",
    NotFound "not-found" "404; argument as for `forbidden`.",
    PageExpired "page-expired" "409 to every page but the first.",
    TooOld "too-old" "410 to every request for changes since a cursor.",
    TooLarge "too-large" "413 to every limit above the argument (10).",
    TooManyRequests "too-many-requests" "429 with `Retry-After` in seconds (the argument, 1).",
    Unavailable "unavailable" "503 with `Retry-After` in seconds (the argument, 1).",
    UnavailableUntil "unavailable-until" "503 with `Retry-After` as a date that many seconds (1) from now.",
    ServerError "server-error" "500; argument as for `forbidden`.",
    ProxyHtml "proxy-html" "200 with the HTML page of a proxy; argument as for `forbidden`.",
    WrongType "wrong-type" "The right document labelled as plain text.",
    HtmlAsJson "html-as-json" "HTML labelled as JSON.",
    EmptyBody "empty-body" "200 and nothing.",
    CutBody "cut-body" "Half of the announced bytes, then the connection is closed.",
    CutJson "cut-json" "Half of the document as a whole answer.",
    Reset "reset" "The connection is reset before the answer.",
    Stall "stall" "Headers, then nothing.",
    Slow "slow" "One byte at a time, a tenth of a second apart.",
    Bomb "bomb" "gzip that unpacks to a gigabyte (or the argument, in MiB).",
    BombZstd "bomb-zstd" "The same in zstd.",
    Oversize "oversize" "A document padded to the argument (80) in MiB.",
    Redirect "redirect" "302 to the argument, another origin.",
    RedirectHere "redirect-here" "307 to another path of the same origin, which works.",
    WrongDigest "wrong-digest" "The digest of the first item is that of something else.",
    WrongRoot "wrong-root" "The content root is that of something else; with `delta` only in deltas.",
    WrongCount "wrong-count" "One item more is counted than there are.",
    WrongSubscription "wrong-subscription" "The documents speak of another subscription.",
    WrongProtocol "wrong-protocol" "The documents say `\"spp\": 2`.",
    BadSignature "bad-signature" "The signature is that of something else; argument `catalog` or `entitlements`.",
    UnknownKey "unknown-key" "The signature names a key that nobody knows.",
    Unsigned "unsigned" "The signature is missing.",
    OldHistory "old-history" "The history is an earlier one.",
    NewHistory "new-history" "The history is a later one, as after a restore.",
    OldSeq "old-seq" "The counter of the catalog goes back by the argument (1).",
    OldEntitlements "old-entitlements" "The counter of the entitlements goes back by the argument (1).",
    EmptyFull "empty-full" "Full catalogs, and those empty.",
    HalvedFull "halved-full" "Full catalogs, and of those every second skill.",
    InvalidItem "invalid-item" "One skill more, which breaks the rules.",
    BadId "bad-id" "One skill more, with an id that breaks the rules.",
    UnknownTool "unknown-tool" "One flow more, which names a tool that is not there.",
    DoubledItem "doubled-item" "The last item of every page stands twice.",
    EndlessPages "endless-pages" "Every page leads to itself.",
    UnaskedNotModified "unasked-not-modified" "A bare 304 although nobody asked for it.",
    NoEtag "no-etag" "No `ETag`.",
    WrongBlob "wrong-blob" "Blobs with another byte in them.",
    Blobs "blobs" "Every skill as a blob, which is no fault.",
    FullOnly "full-only" "A platform that only knows full catalogs, without counters, which is no fault.",
    Suspended "suspended" "Entitlements say that the subscription is suspended.",
    Expired "expired" "Entitlements say that the subscription is expired.",
    NoWebhook "no-webhook" "Changes are not told to the webhook.",
}

impl FaultKind {
    /// The names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::ALL.iter().map(|kind| kind.name())
    }
}

impl Fault {
    /// A switch without an argument.
    #[must_use]
    pub fn new(kind: FaultKind) -> Self {
        Self { kind, argument: None }
    }

    /// The same with an argument.
    #[must_use]
    pub fn argument(mut self, argument: impl fmt::Display) -> Self {
        self.argument = Some(argument.to_string());
        self
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, UnknownFault> {
        let (name, argument) = text.split_once('=').map_or((text, None), |(name, arg)| (name, Some(arg)));
        let kind = FaultKind::ALL.iter().find(|kind| kind.name() == name.trim());
        let kind = *kind.ok_or_else(|| UnknownFault { name: name.to_owned() })?;
        Ok(Self { kind, argument: argument.map(str::to_owned) })
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        self.argument.iter().try_for_each(|argument| write!(f, "={argument}"))
    }
}

/// The switches that are on.
#[derive(Debug, Default)]
pub(crate) struct Switches(RwLock<Vec<Fault>>);

impl Switches {
    pub(crate) fn new(faults: Vec<Fault>) -> Self {
        Self(RwLock::new(faults))
    }

    pub(crate) fn set(&self, faults: Vec<Fault>) {
        *self.0.write() = faults;
    }

    /// Whether a switch is on.
    pub(crate) fn on(&self, kind: FaultKind) -> bool {
        self.0.read().iter().any(|fault| fault.kind == kind)
    }

    /// Whether a switch is on for that part (`catalog`, ...): one without an argument is on for all.
    pub(crate) fn on_for(&self, kind: FaultKind, part: &str) -> bool {
        let fits = |fault: &Fault| {
            fault.kind == kind && fault.argument.as_deref().is_none_or(|argument| argument == part)
        };
        self.0.read().iter().any(fits)
    }

    /// The number of a switch that is on, or what it is without one.
    pub(crate) fn number(&self, kind: FaultKind, otherwise: u64) -> Option<u64> {
        let faults = self.0.read();
        let fault = faults.iter().find(|fault| fault.kind == kind)?;
        Some(fault.argument.as_deref().and_then(|text| text.parse().ok()).unwrap_or(otherwise))
    }

    /// The argument of a switch that is on.
    pub(crate) fn text(&self, kind: FaultKind) -> Option<String> {
        self.0.read().iter().find(|fault| fault.kind == kind)?.argument.clone()
    }

    /// Whether a switch is on that goes off after as many uses as its argument says.
    pub(crate) fn used(&self, kind: FaultKind) -> bool {
        let mut faults = self.0.write();
        let Some(at) = faults.iter().position(|fault| fault.kind == kind) else { return false };
        if let Some(left) = faults[at].argument.as_deref().and_then(|text| text.parse::<u64>().ok()) {
            if left <= 1 {
                faults.remove(at);
            } else {
                faults[at].argument = Some((left - 1).to_string());
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_switch_is_read_back_as_it_is_written() {
        for kind in FaultKind::ALL {
            let fault: Fault = kind.name().parse().unwrap();
            assert_eq!((fault.kind, fault.to_string().as_str()), (*kind, kind.name()));
            let fault: Fault = format!("{}=7", kind.name()).parse().unwrap();
            assert_eq!(fault, Fault::new(*kind).argument(7));
        }
        let error = "no-such".parse::<Fault>().unwrap_err().to_string();
        assert!(error.contains("no-such") && error.contains("proxy-html"), "{error}");
    }

    #[test]
    fn a_switch_may_be_on_for_a_part_or_for_a_while() {
        let switches = Switches::new(vec![
            "not-found=blobs".parse().unwrap(),
            "unauthorized=2".parse().unwrap(),
            "slow".parse().unwrap(),
        ]);
        assert!(
            switches.on_for(FaultKind::NotFound, "blobs") && !switches.on_for(FaultKind::NotFound, "catalog")
        );
        assert!(switches.on_for(FaultKind::Slow, "catalog"));
        let uses = std::iter::repeat_with(|| switches.used(FaultKind::Unauthorized)).take(3);
        assert_eq!(uses.collect::<Vec<_>>(), [true, true, false]);
    }
}
