//! Rules about how documents are asked for and answered.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use reqwest::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH, LOCATION};
use serde_json::{Value, json};

use crate::limits::CHECK_PAGES_MAX;
use crate::platform::check::catalog::items_of;
use crate::platform::check::probe::{Probe, Reply};
use crate::platform::check::rule::Verdict;
use crate::sync::Secret;

/// A cursor, a page and a subscription that no platform handed out.
const UNKNOWN: &str = "repertoire-check-unknown";

impl Probe {
    /// The first page; where that is too much for the platform, a smaller one.
    pub(super) async fn answers(&mut self) -> Verdict {
        loop {
            let reply = match self.send(self.page(self.limit, None)).await {
                Ok(reply) => reply,
                Err(found) => {
                    return Verdict::fail(found, "make the address answer; `--timeout-s` allows more time");
                }
            };
            match reply.status {
                200 => {
                    self.first = Some(reply);
                    return Verdict::Pass;
                }
                413 if self.limit > 1 => self.limit /= 2,
                300..=399 if reply.header(LOCATION).is_some() => {
                    let advice = "give the address to which it redirects, or answer here; a client never follows to another \
                                  origin, since its token would go there";
                    return Verdict::fail("it redirects to another origin, or without an end", advice);
                }
                status => return Verdict::fail(format!("it is answered with {status}"), advice_for(status)),
            }
        }
    }

    pub(super) fn content_type(&self) -> Verdict {
        let label = self.first.as_ref().and_then(|reply| reply.header(CONTENT_TYPE)).unwrap_or_default();
        let essence = label.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/json") {
            return Verdict::Pass;
        }
        Verdict::fail(
            format!("the label is {label:?}"),
            "send `Content-Type: application/json`; an HTML page here is often that of a proxy in between",
        )
    }

    pub(super) async fn token(&self) -> Verdict {
        if self.options.token.is_none() {
            return Verdict::skip("no token is given; name it with --token-file");
        }
        let mut faults = Vec::new();
        for (what, token) in [("without a token", None), ("with a wrong token", Some(Secret::new(UNKNOWN)))] {
            match self.send(self.page(1, None).token(token)).await {
                Ok(reply) if reply.status == 401 => {}
                Ok(reply) => faults.push(format!("{what} it is answered with {}", reply.status)),
                Err(found) => faults.push(format!("{what}: {found}")),
            }
        }
        Verdict::of(&faults, "answer 401, so that the client reads its token again")
    }

    pub(super) async fn history(&self) -> Verdict {
        let Some(history) = self.pages.first().and_then(|page| page["history"].as_str()) else {
            return Verdict::skip("there is no history; a client then cannot tell a restore from a fault");
        };
        let mut faults = Vec::new();
        let well_formed = history
            .split_once(':')
            .is_some_and(|(counter, random)| counter.parse::<u64>().is_ok() && !random.is_empty());
        if !well_formed {
            faults.push(format!("{history:?} is not COUNTER:RANDOM"));
        }
        if let Ok(Ok(again)) = self.send(self.page(1, None)).await.map(|reply| reply.document()) {
            if again["history"] != *history {
                faults.push(format!("it was {history:?} and is {}", again["history"]));
            }
            let (before, now) = (self.pages[0]["seq"].as_u64(), again["seq"].as_u64());
            if before.zip(now).is_some_and(|(before, now)| now < before) {
                faults.push("seq went back between two requests".to_owned());
            }
        }
        Verdict::of(&faults, "make a new history, with a higher counter, only when the platform was restored")
    }

    pub(super) async fn paging(&self) -> Verdict {
        let whole: BTreeSet<String> = self.items.iter().flatten().map(|item| item.id.clone()).collect();
        let limit = (whole.len() / 4).clamp(1, self.limit);
        let advice = "hand out a `next_page` for every page but the last, and the same items on the way";
        let (mut found, mut next) = (BTreeMap::<String, usize>::new(), None::<String>);
        let mut seen = BTreeSet::new();
        loop {
            let page = match self.send(self.page(limit, next.as_deref())).await {
                Ok(reply) if reply.status == 200 => reply.document(),
                Ok(reply) => Err(format!("page {} is answered with {}", seen.len() + 1, reply.status)),
                Err(found) => Err(found),
            };
            let page = match page {
                Ok(page) => page,
                Err(found) => return Verdict::fail(found, advice),
            };
            let items = items_of(&page).unwrap_or_default();
            if items.len() > limit {
                return Verdict::fail(
                    format!("a page of at most {limit} items has {}", items.len()),
                    "obey `limit`",
                );
            }
            for item in items {
                *found.entry(item.id).or_default() += 1;
            }
            next = page["next_page"].as_str().map(str::to_owned);
            let Some(token) = &next else { break };
            if !seen.insert(token.clone()) || seen.len() > CHECK_PAGES_MAX {
                return Verdict::fail("the pages do not end", advice);
            }
        }
        let twice = found.values().any(|count| *count > 1);
        if twice || !found.keys().eq(whole.iter()) {
            let how = if twice { "bring an item twice" } else { "bring other items than large ones" };
            return Verdict::fail(format!("pages of {limit} items {how}"), advice);
        }
        Verdict::Pass
    }

    pub(super) async fn unknown_page(&self) -> Verdict {
        match self.send(self.page(1, Some(UNKNOWN))).await {
            Ok(reply) if (400..500).contains(&reply.status) => Verdict::Pass,
            Ok(reply) => Verdict::fail(
                format!("it is answered with {}", reply.status),
                "answer 409 to a page that is no longer there, 400 to one that never was",
            ),
            Err(found) => Verdict::fail(found, "answer 400 or 409"),
        }
    }

    pub(super) async fn etag(&self) -> Verdict {
        let Some(etag) = self.known_etag() else {
            let advice =
                "send an ETag of the catalog's state; without it every poll brings the whole catalog";
            return Verdict::fail("there is no ETag", advice);
        };
        match self.send(self.page(self.limit, None).header(IF_NONE_MATCH, etag)).await {
            Ok(reply) if reply.status == 304 && reply.body.is_empty() => Verdict::Pass,
            Ok(reply) if reply.status == 304 => Verdict::fail("304 has a body", "leave the body out"),
            Ok(reply) => Verdict::fail(
                format!("it is answered with {}", reply.status),
                "answer 304 while the catalog is that of `If-None-Match`",
            ),
            Err(found) => Verdict::fail(found, "answer 304"),
        }
    }

    fn known_etag(&self) -> Option<String> {
        self.first.as_ref().and_then(|reply| reply.header(ETAG)).map(str::to_owned)
    }

    pub(super) async fn delta(&self) -> Verdict {
        let Some(cursor) = self.pages.first().and_then(|page| page["cursor"].as_str()) else {
            return Verdict::skip("there is no cursor; a client then fetches the full catalog every time");
        };
        let reply = match self.send(self.page(self.limit, None).query("since", cursor)).await {
            Ok(reply) => reply,
            Err(found) => return Verdict::fail(found, "answer with an empty delta"),
        };
        let page = match reply.status {
            304 => return Verdict::Pass,
            200 => reply.document(),
            status => Err(format!("the newest cursor is answered with {status}")),
        };
        let page = match page {
            Ok(page) => page,
            Err(found) => {
                return Verdict::fail(found, "answer with an empty delta, or with the full catalog");
            }
        };
        let first = &self.pages[0];
        let mut faults = Vec::new();
        let count = |key: &str| page[key].as_array().map_or(0, Vec::len);
        if page["kind"] == "delta"
            && page["cursor"] == first["cursor"]
            && count("items") + count("removed") > 0
        {
            faults.push("a delta since the newest cursor brings changes".to_owned());
        }
        if page["kind"] == "delta" && page["base"] != *cursor {
            faults.push("`base` is not the cursor that was sent".to_owned());
        }
        for key in ["content_root", "count_total"] {
            if page["seq"] == first["seq"] && page[key] != first[key] {
                faults.push(format!("`{key}` differs from that of the full catalog"));
            }
        }
        Verdict::of(&faults, "a delta has the changes after `since`, and root and count of the whole catalog")
    }

    pub(super) async fn unknown_cursor(&self) -> Verdict {
        match self.send(self.page(1, None).query("since", UNKNOWN)).await {
            Ok(reply) if reply.status == 410 => Verdict::Pass,
            Ok(reply) if reply.status == 200 && reply.document().is_ok_and(|page| page["kind"] == "full") => {
                Verdict::Pass
            }
            Ok(reply) => Verdict::fail(
                format!("it is answered with {}", described(&reply)),
                "answer 410 `since_too_old`, or with the full catalog",
            ),
            Err(found) => Verdict::fail(found, "answer 410 `since_too_old`"),
        }
    }

    pub(super) async fn long_poll(&self) -> Verdict {
        let Some(etag) = self.known_etag() else { return Verdict::skip("there is no ETag to wait with") };
        let begun = Instant::now();
        match self.send(self.page(self.limit, None).header(IF_NONE_MATCH, etag).wait(1)).await {
            Ok(reply) if !matches!(reply.status, 200 | 304) => Verdict::fail(
                format!("it is answered with {}", reply.status),
                "ignore `Prefer` if you do not wait",
            ),
            Ok(_) if begun.elapsed() > Duration::from_secs(1) + self.options.timeout / 2 => {
                Verdict::fail("it waits longer than it was asked to", "answer 304 when the wait is over")
            }
            Ok(_) => Verdict::Pass,
            Err(found) => Verdict::fail(found, "answer 304 when the wait is over"),
        }
    }

    pub(super) async fn encodings(&self) -> Verdict {
        let mut faults = Vec::new();
        let mut plain: Option<Value> = None;
        for encoding in ["identity", "gzip", "zstd"] {
            let page = match self.send(self.page(self.limit, None).encoding(encoding)).await {
                Ok(reply) if reply.status == 200 => reply.document(),
                Ok(reply) => Err(format!("it is answered with {}", reply.status)),
                Err(found) => Err(found),
            };
            match page {
                Ok(mut page) => {
                    // The moment and what is signed with it differ from request to request.
                    for key in ["generated_at", "signature"] {
                        page.as_object_mut().map(|page| page.remove(key));
                    }
                    match &plain {
                        None => plain = Some(page),
                        Some(plain) if *plain != page => {
                            faults.push(format!("{encoding} brings another document"));
                        }
                        Some(_) => {}
                    }
                }
                Err(found) => faults.push(format!("{encoding}: {found}")),
            }
        }
        Verdict::of(&faults, "encode only as `Accept-Encoding` allows, and say so in `Content-Encoding`")
    }

    pub(super) async fn unknown_subscription(&self) -> Verdict {
        match self.send(self.ask_of(UNKNOWN, "catalog")).await {
            Ok(reply) if matches!(reply.status, 403 | 404) => Verdict::Pass,
            Ok(reply) => Verdict::fail(
                format!("it is answered with {}", reply.status),
                "answer 404, or 403 if you do not want to tell which there are; 401 makes clients read their token again",
            ),
            Err(found) => Verdict::fail(found, "answer 404 or 403"),
        }
    }

    pub(super) async fn report(&self) -> Verdict {
        let report = json!({"spp": 1, "client": "repertoire-check", "state": "READY", "rejected": []});
        match self.send(self.ask("status").post(&report)).await {
            Ok(reply) if (200..300).contains(&reply.status) => Verdict::Pass,
            Ok(reply) if matches!(reply.status, 404 | 405 | 501) => {
                Verdict::skip("reports are not taken, which is allowed")
            }
            Ok(reply) => Verdict::fail(
                format!("it is answered with {}", reply.status),
                "answer 204, or 404 to take none",
            ),
            Err(found) => Verdict::fail(found, "answer 204, or 404 to take none"),
        }
    }
}

fn described(reply: &Reply) -> String {
    match reply.document() {
        Ok(page) => format!("{} and kind {}", reply.status, page["kind"]),
        Err(_) => reply.status.to_string(),
    }
}

/// What to do about a status in the place of the first page.
fn advice_for(status: u16) -> &'static str {
    match status {
        401 => "give a token that is right with --token-file",
        403 => "give a token that may read this subscription",
        404 => {
            "see that address and subscription are right: `/spp/v1/subscriptions/{sub}/catalog` must be there"
        }
        304 => "answer 304 only to a request with `If-None-Match`",
        413 => "answer at least a page of one item",
        429 | 503 => "make room for one client, or check again later",
        _ => "answer 200 with the first page",
    }
}
