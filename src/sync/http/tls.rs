//! TLS of the clients: rustls with the certificates that the system trusts, and more where they are configured.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use reqwest::{Client, ClientBuilder};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};

/// Files that say whom to trust and who we are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsFiles {
    /// PEM certificates that are trusted beside those of the system.
    pub ca: Option<PathBuf>,
    /// Our certificate, PEM, with what it stands on.
    pub client_cert: Option<PathBuf>,
    /// Its key, PEM.
    pub client_key: Option<PathBuf>,
}

/// Why there is no TLS as it is configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// A file is missing or holds something else.
    #[error("{} holds no usable {what}: {cause}; give a PEM file", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What it should hold.
        what: &'static str,
        /// Why it does not; nothing of what it holds is told.
        cause: String,
    },
    /// Only one of certificate and key is given.
    #[error("a client certificate and its key belong together; give both `client_cert` and `client_key`")]
    Half,
    /// The certificates of the system cannot be used.
    #[error(
        "the certificates that the system trusts cannot be used: {cause}; install them or give `ca_file`"
    )]
    System {
        /// Why.
        cause: String,
    },
    /// The client cannot be made.
    #[error("the HTTP client cannot be made; check the proxy settings in the environment")]
    Client(#[source] reqwest::Error),
}

/// A client builder with TLS. The certificates are read only for an address that needs them.
pub(crate) fn builder(secure: bool, files: &TlsFiles) -> Result<ClientBuilder, TlsError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|cause| TlsError::System { cause: cause.to_string() })?;
    let identity = identity(files)?;
    let extra = files.ca.as_deref().map(certificates).transpose()?.unwrap_or_default();
    let config = if secure {
        let verifier = rustls_platform_verifier::Verifier::new_with_extra_roots(extra, provider)
            .map_err(|cause| TlsError::System { cause: cause.to_string() })?;
        config.dangerous().with_custom_certificate_verifier(Arc::new(verifier))
    } else {
        config.with_root_certificates(RootCertStore::empty())
    };
    let config = match identity {
        Some((chain, key)) => {
            let failed = |cause: rustls::Error| TlsError::File {
                path: files.client_key.clone().unwrap_or_default(),
                what: "key of the client certificate",
                cause: cause.to_string(),
            };
            config.with_client_auth_cert(chain, key).map_err(failed)?
        }
        None => config.with_no_client_auth(),
    };
    Ok(Client::builder().tls_backend_preconfigured(config))
}

/// A client without anything of a platform's: for webhooks and checks.
pub(crate) fn plain_client(timeout: Duration) -> Result<Client, TlsError> {
    builder(true, &TlsFiles::default())?
        .timeout(timeout)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .map_err(TlsError::Client)
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn identity(files: &TlsFiles) -> Result<Option<Identity>, TlsError> {
    let (cert, key) = match (&files.client_cert, &files.client_key) {
        (None, None) => return Ok(None),
        (Some(cert), Some(key)) => (cert, key),
        _ => return Err(TlsError::Half),
    };
    let key = PrivateKeyDer::from_pem_file(key).map_err(|cause| wrong(key, "private key", &cause))?;
    Ok(Some((certificates(cert)?, key)))
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let what = "certificate";
    let read = CertificateDer::pem_file_iter(path).map_err(|cause| wrong(path, what, &cause))?;
    let list = read.collect::<Result<Vec<_>, _>>().map_err(|cause| wrong(path, what, &cause))?;
    if list.is_empty() { Err(wrong(path, what, &"there is none in it")) } else { Ok(list) }
}

fn wrong(path: &Path, what: &'static str, cause: &dyn fmt::Display) -> TlsError {
    TlsError::File { path: path.to_owned(), what, cause: cause.to_string() }
}
