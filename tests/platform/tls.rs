//! TLS: an authority of one's own, client certificates, and what is told where they are missing.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use repertoire::sync::http::{HttpError, HttpOptions, HttpPlatform, TlsError, TlsFiles, TokenSource};
use repertoire::sync::{Failure, Platform, Secret};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;

use crate::support::{Stage, TOKEN};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tls").join(name)
}

/// Speaks TLS in front of a platform, only with clients that have a certificate where `mutual`.
fn front(runtime: &Runtime, behind: SocketAddr, mutual: bool) -> SocketAddr {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .unwrap();
    let builder = if mutual {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_file(file("ca.pem")).unwrap()).unwrap();
        let verifier =
            WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build().unwrap();
        builder.with_client_cert_verifier(verifier)
    } else {
        builder.with_no_client_auth()
    };
    let chain = vec![CertificateDer::from_pem_file(file("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_file(file("server.key")).unwrap();
    let acceptor = tokio_rustls::TlsAcceptor::from(Arc::new(builder.with_single_cert(chain, key).unwrap()));
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust us, or that we do not, leaves.
                let Ok(mut outside) = acceptor.accept(stream).await else { return };
                let mut inside = TcpStream::connect(behind).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut outside, &mut inside).await;
            });
        }
    });
    address
}

fn files(ca: bool, identity: bool) -> TlsFiles {
    let mut files = TlsFiles::default();
    files.ca = ca.then(|| file("ca.pem"));
    files.client_cert = identity.then(|| file("client.pem"));
    files.client_key = identity.then(|| file("client.key"));
    files
}

fn ask(runtime: &Runtime, address: SocketAddr, files: TlsFiles) -> Result<(), Failure> {
    let options = HttpOptions::default().token(TokenSource::Fixed(Secret::new(TOKEN))).tls(files);
    let client = HttpPlatform::new(&format!("https://{address}"), &options).unwrap();
    runtime.block_on(client.fetch_entitlements("gold")).map(drop)
}

#[test]
fn a_platform_is_trusted_by_its_own_authority_and_a_client_by_its_certificate() {
    let stage = Stage::new();
    let runtime = Runtime::new().unwrap();
    let plain = front(&runtime, stage.service.address(), false);
    assert_eq!(ask(&runtime, plain, files(true, false)), Ok(()));
    let told = ask(&runtime, plain, files(false, false)).unwrap_err();
    assert!(matches!(told, Failure::Tls { .. }), "{told:?}");
    let mutual = front(&runtime, stage.service.address(), true);
    assert_eq!(ask(&runtime, mutual, files(true, true)), Ok(()));
    assert!(ask(&runtime, mutual, files(true, false)).is_err());
    assert_eq!(stage.service.requests().len(), 2);
}

#[test]
fn what_is_no_certificate_is_refused_before_anything_is_sent() {
    let refused = |files: TlsFiles| {
        HttpPlatform::new("https://127.0.0.1:1", &HttpOptions::default().tls(files)).unwrap_err()
    };
    let mut half = files(true, true);
    half.client_key = None;
    assert!(matches!(refused(half), HttpError::Tls(TlsError::Half)));
    for name in ["nowhere.pem", "client.key"] {
        let mut wrong = files(true, false);
        wrong.ca = Some(file(name));
        let error = refused(wrong);
        assert!(
            matches!(&error, HttpError::Tls(TlsError::File { path, .. }) if path.ends_with(name)),
            "{error}"
        );
    }
}
