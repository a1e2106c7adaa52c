//! The client against the platform: what comes, and how each fault is told.

use std::fs;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use repertoire::sync::http::{HttpOptions, HttpPlatform, TokenSource};
use repertoire::sync::{
    CatalogPage, CatalogRequest, Failure, Fetched, ItemBody, PageKind, Platform, Secret, StatusReport,
};

use crate::support::{Stage, TOKEN};

fn options() -> HttpOptions {
    HttpOptions::default().token(TokenSource::Fixed(Secret::new(TOKEN))).timeout(Duration::from_secs(4))
}

fn client(stage: &Stage) -> HttpPlatform {
    HttpPlatform::new(&stage.service.url(), &options()).unwrap()
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

fn whole() -> CatalogRequest {
    CatalogRequest::of("gold")
}

fn page(fetched: Fetched<CatalogPage>) -> (CatalogPage, String) {
    match fetched {
        Fetched::Document { document, etag } => (document, etag.unwrap()),
        Fetched::NotModified => panic!("not modified"),
    }
}

fn ids(page: &CatalogPage) -> Vec<&str> {
    page.items.iter().map(|item| item.id.as_deref().unwrap()).collect()
}

#[test]
fn a_catalog_comes_whole_then_as_changes_then_not_at_all() {
    let stage = Stage::new();
    let client = client(&stage);
    wait(async {
        let (full, etag) = page(client.fetch_entitled_skills(&whole()).await.unwrap());
        assert_eq!((full.kind, ids(&full)), (PageKind::Full, vec!["alpha", "beta", "gamma"]));
        let mut request = whole();
        request.since = full.cursor.clone();
        request.etag = Some(etag);
        assert_eq!(client.fetch_entitled_skills(&request).await, Ok(Fetched::NotModified));
        stage.write("beta", "Second.");
        stage.remove("gamma");
        let (delta, _) = page(client.fetch_entitled_skills(&request).await.unwrap());
        assert_eq!((delta.kind, ids(&delta)), (PageKind::Delta, vec!["beta"]));
        assert_eq!(delta.removed[0].id, "gamma");
        assert_eq!((delta.base, delta.seq, delta.count_total), (full.cursor, Some(5), Some(2)));
        let entitlements = client.fetch_entitlements("gold").await.unwrap();
        assert_eq!((entitlements.ent_seq, entitlements.revoked["gone"]), (5, 5));
        client.report("gold", &StatusReport::default()).await.unwrap();
        assert_eq!(stage.service.reports()[0]["subscription"], "gold");
    });
}

#[test]
fn small_pages_bring_the_same_and_expire_when_the_catalog_changes() {
    let stage = Stage::new();
    let client = client(&stage);
    wait(async {
        let mut request = whole();
        request.limit = Some(2);
        let (first, _) = page(client.fetch_entitled_skills(&request).await.unwrap());
        request.page = first.next_page.clone();
        let (second, _) = page(client.fetch_entitled_skills(&request).await.unwrap());
        assert_eq!([ids(&first), ids(&second)].concat(), ["alpha", "beta", "gamma"]);
        assert_eq!(second.next_page, None);
        stage.write("delta", "New.");
        assert_eq!(client.fetch_entitled_skills(&request).await, Err(Failure::PageExpired));
    });
}

#[test]
fn large_skills_and_files_come_as_blobs() {
    let stage = Stage::new();
    stage.faults(&["blobs"]);
    let client = client(&stage);
    wait(async {
        let (full, _) = page(client.fetch_entitled_skills(&whole()).await.unwrap());
        let ItemBody::Blob { size } = full.items[0].body else { panic!("no blob") };
        let digest = full.items[0].digest.unwrap();
        let bytes = client.fetch_blob(&digest, size).await.unwrap();
        assert_eq!((bytes.len() as u64, repertoire::sync::Digest::of(&bytes)), (size, digest));
        assert_eq!(client.fetch_blob(&digest, size - 1).await, Err(Failure::OverLimit { limit: size - 1 }));
    });
}

#[test]
fn a_long_poll_ends_with_the_next_change() {
    let stage = Stage::new();
    let client = client(&stage);
    wait(async {
        let (_, etag) = page(client.fetch_entitled_skills(&whole()).await.unwrap());
        let mut request = whole();
        request.etag = Some(etag);
        request.wait_s = Some(1);
        let begun = Instant::now();
        assert_eq!(client.fetch_entitled_skills(&request).await, Ok(Fetched::NotModified));
        assert!(begun.elapsed() >= Duration::from_millis(900));
        request.wait_s = Some(30);
        let change = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            stage.write("delta", "New.");
        };
        let (answer, ()) = tokio::join!(client.fetch_entitled_skills(&request), change);
        assert_eq!(ids(&page(answer.unwrap()).0).len(), 4);
        assert!(begun.elapsed() < Duration::from_secs(20));
    });
}

#[test]
fn a_refused_token_is_read_again_once() {
    let stage = Stage::new();
    let file = stage.token_file();
    let options = options().token(TokenSource::File(file.clone()));
    let client = HttpPlatform::new(&stage.service.url(), &options).unwrap();
    fs::write(&file, "canary-old").unwrap();
    let late = HttpPlatform::new(&stage.service.url(), &options).unwrap();
    fs::write(&file, TOKEN).unwrap();
    wait(async {
        assert!(late.fetch_entitled_skills(&whole()).await.is_ok());
        assert_eq!(stage.service.requests().len(), 2);
        stage.faults(&["unauthorized=1"]);
        assert!(client.fetch_entitled_skills(&whole()).await.is_ok());
        stage.faults(&["unauthorized"]);
        let before = stage.service.requests().len();
        assert_eq!(client.fetch_entitled_skills(&whole()).await, Err(Failure::Unauthorized));
        assert_eq!(stage.service.requests().len(), before + 2);
    });
}

/// Whether a failure is told as it should be.
type Told = fn(&Failure) -> bool;

#[test]
fn each_fault_is_told_as_what_it_is_and_no_text_holds_a_secret() {
    let table: &[(&str, Told)] = &[
        ("unauthorized", |told| *told == Failure::Unauthorized),
        ("forbidden", |told| *told == Failure::Forbidden),
        ("not-found", |told| *told == Failure::NotFound),
        ("too-large", |told| *told == Failure::PageTooLarge),
        ("too-many-requests=7", |told| *told == Failure::Busy { status: 429, retry_after_s: Some(7) }),
        ("unavailable=9", |told| *told == Failure::Busy { status: 503, retry_after_s: Some(9) }),
        ("unavailable-until=100", |told| {
            matches!(told, Failure::Busy { status: 503, retry_after_s: Some(90..=101) })
        }),
        ("server-error", |told| *told == Failure::Server { status: 500 }),
        (
            "proxy-html",
            |told| matches!(told, Failure::WrongContentType { content_type } if content_type == "text/html"),
        ),
        ("wrong-type", |told| matches!(told, Failure::WrongContentType { .. })),
        ("html-as-json", |told| matches!(told, Failure::Malformed { .. })),
        ("empty-body", |told| matches!(told, Failure::Malformed { .. })),
        ("cut-json", |told| matches!(told, Failure::Malformed { .. })),
        ("wrong-protocol", |told| matches!(told, Failure::Malformed { .. })),
        ("cut-body", |told| matches!(told, Failure::CutOff { .. })),
        ("reset", |told| matches!(told, Failure::CutOff { .. })),
        ("bomb", |told| matches!(told, Failure::OverLimit { .. })),
        ("bomb-zstd", |told| matches!(told, Failure::OverLimit { .. })),
        ("oversize", |told| matches!(told, Failure::OverLimit { .. })),
        ("unasked-not-modified", |told| *told == Failure::Unexpected { status: 304 }),
        ("stall", |told| *told == Failure::Timeout { after_ms: 4_000 }),
        ("slow", |told| *told == Failure::Timeout { after_ms: 4_000 }),
    ];
    let wrong = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for (name, right) in table {
            let wrong = &wrong;
            scope.spawn(move || {
                let stage = Stage::new();
                let client = client(&stage);
                stage.faults(&[name]);
                let told = wait(client.fetch_entitled_skills(&whole()));
                match told {
                    Err(told)
                        if right(&told) && !format!("{told} {told:?} {client:?}").contains("canary") => {}
                    told => wrong.lock().unwrap().push(format!("{name}: {told:?}")),
                }
                stage.faults(&[]);
                assert!(wait(client.fetch_entitled_skills(&whole())).is_ok(), "{name} does not end");
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_cursor_that_is_too_old_is_told() {
    let stage = Stage::new();
    let client = client(&stage);
    let mut request = whole();
    request.since = Some("elsewhere.3".to_owned());
    assert_eq!(wait(client.fetch_entitled_skills(&request)), Err(Failure::SinceTooOld));
}

#[test]
fn a_redirect_is_followed_only_to_the_same_origin() {
    let stage = Stage::new();
    let client = client(&stage);
    stage.faults(&["redirect-here"]);
    assert!(wait(client.fetch_entitled_skills(&whole())).is_ok());
    let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
    elsewhere.set_nonblocking(true).unwrap();
    stage.faults(&[&format!("redirect=http://{}", elsewhere.local_addr().unwrap())]);
    assert_eq!(wait(client.fetch_entitled_skills(&whole())), Err(Failure::Unexpected { status: 302 }));
    assert_eq!(elsewhere.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock, "somebody came");
}

#[test]
fn a_platform_that_is_down_cannot_be_reached_and_is_found_again() {
    let stage = Stage::new();
    let client = client(&stage);
    let address = stage.service.address();
    let Stage { folder, service } = stage;
    assert!(wait(client.fetch_entitlements("gold")).is_ok());
    service.stop();
    let told = wait(client.fetch_entitlements("gold")).unwrap_err();
    assert!(matches!(told, Failure::Unreachable { .. }), "{told:?}");
    let options = repertoire::platform::PlatformOptions::new(folder.path()).listen(address);
    let _again = repertoire::platform::Service::start(options.token(Secret::new(TOKEN))).unwrap();
    assert!(wait(client.fetch_entitlements("gold")).is_ok());
}
