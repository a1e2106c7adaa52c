//! The check passes on the development platform, and each switch makes the right check fail.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use repertoire::platform::FaultKind;
use repertoire::platform::check::{CheckOptions, Outcome, Report, Rule, check};
use repertoire::sync::Secret;

use crate::support::{Stage, TOKEN, signer};

fn report(stage: &Stage) -> Report {
    let options = CheckOptions::new(stage.service.url(), "gold")
        .token(Secret::new(TOKEN))
        .public_keys(vec![signer().public()])
        .timeout(Duration::from_secs(3));
    let mut told = 0;
    let report = check(&options, &mut |_| told += 1).unwrap();
    assert_eq!(told, report.checks.len());
    report
}

fn named(report: &Report, outcome: Outcome) -> BTreeSet<&'static str> {
    report.checks.iter().filter(|line| line.outcome == outcome).map(|line| line.check).collect()
}

#[test]
fn the_development_platform_passes_every_check() {
    let stage = Stage::new();
    let report = report(&stage);
    assert_eq!(named(&report, Outcome::Fail), BTreeSet::new(), "{:#?}", report.checks);
    assert_eq!(named(&report, Outcome::Skip), BTreeSet::from([Rule::Blobs.name()]));
    stage.faults(&["blobs"]);
    let report = self::report(&stage);
    assert_eq!(named(&report, Outcome::Fail), BTreeSet::new(), "{:#?}", report.checks);
    assert!(named(&report, Outcome::Pass).contains(Rule::Blobs.name()));
}

#[test]
fn a_platform_without_counters_and_signatures_is_no_worse_for_it() {
    let stage = Stage::new();
    stage.faults(&["full-only"]);
    let options = CheckOptions::new(stage.service.url(), "gold").token(Secret::new(TOKEN));
    let report = check(&options, &mut |_| ()).unwrap();
    assert_eq!(named(&report, Outcome::Fail), BTreeSet::new(), "{:#?}", report.checks);
    assert!(named(&report, Outcome::Skip).contains(Rule::Root.name()));
}

#[test]
fn a_platform_that_is_not_there_fails_one_check_and_skips_the_rest() {
    let options = CheckOptions::new("http://127.0.0.1:1", "gold");
    let report = check(&options, &mut |_| ()).unwrap();
    assert_eq!(named(&report, Outcome::Fail), BTreeSet::from([Rule::Answers.name()]));
    assert_eq!(report.counts.fail + report.counts.skip, Rule::ALL.len());
}

/// The check that a switch makes fail; `None` for what a check of one moment cannot tell from a sound platform.
fn expected(kind: FaultKind) -> Option<Rule> {
    Some(match kind {
        FaultKind::ProxyHtml | FaultKind::WrongType => Rule::ContentType,
        FaultKind::HtmlAsJson
        | FaultKind::EmptyBody
        | FaultKind::CutJson
        | FaultKind::WrongSubscription
        | FaultKind::WrongProtocol => Rule::Document,
        FaultKind::PageExpired | FaultKind::EndlessPages => Rule::Paging,
        FaultKind::TooOld => Rule::Delta,
        FaultKind::WrongDigest => Rule::Digests,
        FaultKind::WrongRoot => Rule::Root,
        FaultKind::WrongCount => Rule::Count,
        FaultKind::BadSignature | FaultKind::UnknownKey | FaultKind::Unsigned => Rule::Signature,
        FaultKind::OldSeq => Rule::Seq,
        FaultKind::OldEntitlements => Rule::Entitlements,
        FaultKind::EmptyFull => Rule::NotEmpty,
        FaultKind::InvalidItem | FaultKind::BadId => Rule::Skills,
        FaultKind::UnknownTool => Rule::Tools,
        FaultKind::DoubledItem => Rule::Items,
        FaultKind::NoEtag => Rule::Etag,
        FaultKind::WrongBlob => Rule::Blobs,
        // Allowed, or only wrong for those who remember what was before.
        FaultKind::TooLarge
        | FaultKind::RedirectHere
        | FaultKind::OldHistory
        | FaultKind::NewHistory
        | FaultKind::HalvedFull
        | FaultKind::Blobs
        | FaultKind::FullOnly
        | FaultKind::Suspended
        | FaultKind::Expired
        | FaultKind::NoWebhook => return None,
        _ => Rule::Answers,
    })
}

#[test]
fn each_switch_makes_the_right_check_fail() {
    let left = Mutex::new(FaultKind::ALL.iter());
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let stage = Stage::new();
                loop {
                    let next = left.lock().unwrap().next();
                    let Some(kind) = next.copied() else { return };
                    let Some(rule) = expected(kind) else { continue };
                    match kind {
                        FaultKind::WrongBlob => stage.faults(&["blobs", "wrong-blob"]),
                        FaultKind::Redirect => stage.faults(&["redirect=http://127.0.0.1:1"]),
                        _ => stage.faults(&[kind.name()]),
                    }
                    let report = report(&stage);
                    if !named(&report, Outcome::Fail).contains(rule.name()) {
                        wrong.lock().unwrap().push(format!(
                            "{}: {:?}",
                            kind.name(),
                            named(&report, Outcome::Fail)
                        ));
                    }
                    let silent = report.checks.iter().filter(|line| line.outcome == Outcome::Fail);
                    assert!(silent.into_iter().all(|line| line.found.is_some() && line.advice.is_some()));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "these switches fail other checks: {wrong:#?}");
}
