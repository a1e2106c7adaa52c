//! `serve --http`: the catalog over Streamable HTTP.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use repertoire::mcp::ServerOptions;
use repertoire::mcp::http::{HttpError, HttpOptions, HttpServer, TlsFiles, Token, TokenSource};

use crate::cli::config::{Key, Origin};
use crate::cli::context::Context;
use crate::cli::exit::{Exit, Failure};
use crate::cli::watch::ends;

/// The file of the server's own token in the data directory.
const TOKEN_FILE: &str = "http-token";
/// The file of principals in the data directory.
const PRINCIPALS_FILE: &str = "principals.toml";

/// The arguments of `serve` that concern HTTP.
#[derive(Debug, Args)]
pub(crate) struct OverHttp {
    /// Speak Streamable HTTP instead, at the address given or that of the settings
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = "",
        help = "Speak Streamable HTTP instead [env: REPERTOIRE_SERVER_HTTP] [default: 127.0.0.1:7878]"
    )]
    http: Option<String>,
    /// Certificate chain, PEM
    #[arg(
        long,
        value_name = "FILE",
        requires = "http",
        help = "Certificate chain for TLS, PEM [env: REPERTOIRE_SERVER_TLS_CERT]"
    )]
    tls_cert: Option<String>,
    /// Private key, PEM
    #[arg(
        long,
        value_name = "FILE",
        requires = "http",
        help = "Private key for TLS, PEM [env: REPERTOIRE_SERVER_TLS_KEY]"
    )]
    tls_key: Option<String>,
    /// Something in front does TLS: take an address that other machines reach without it
    #[arg(long, requires = "http")]
    behind_proxy: bool,
}

impl OverHttp {
    /// Whether HTTP is to be spoken.
    pub(crate) fn is_wanted(&self) -> bool {
        self.http.is_some()
    }

    /// Serves until the process is asked to end.
    pub(crate) fn run(&self, mut context: Context, options: ServerOptions) -> Result<Exit, Failure> {
        let flags = [
            (Key::SERVER_HTTP, "--http", self.http.as_deref().filter(|address| !address.is_empty())),
            (Key::SERVER_TLS_CERT, "--tls-cert", self.tls_cert.as_deref()),
            (Key::SERVER_TLS_KEY, "--tls-key", self.tls_key.as_deref()),
        ];
        for (key, flag, value) in flags {
            if let Some(value) = value {
                context.settings.set_flag(key, flag, value)?;
            }
        }
        let catalog = context.catalog()?;
        let options = self.options(&context, options)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(HttpError::Runtime(error)))?;
        runtime.block_on(async {
            let end = ends().map_err(|error| failed(HttpError::Runtime(error)))?;
            let server = HttpServer::bind(&catalog, options).await.map_err(failed)?;
            context.output.note(&format!("serving MCP at {}", server.url()));
            if let Some(token) = server.made_token() {
                // Not a note: with --quiet the token would never be told.
                context.output.alarm(&format!(
                    "made a token, kept in {}; clients send `Authorization: Bearer {}`",
                    token_file(&context).display(),
                    token.reveal()
                ));
            }
            server.run(end).await;
            Ok::<(), Failure>(())
        })?;
        // What still walks the catalog for a client that is gone must not hold the process.
        runtime.shutdown_background();
        Ok(Exit::Done)
    }

    fn options(&self, context: &Context, server: ServerOptions) -> Result<HttpOptions, Failure> {
        let settings = &context.settings;
        let listen = address(context)?;
        let token = match settings.text(Key::SERVER_TOKEN) {
            Some(text) => TokenSource::Given(Token::from_text(text).map_err(|why| {
                Failure::configuration(format!("REPERTOIRE_SERVER_TOKEN is no token: {why}"), "correct it")
            })?),
            None => TokenSource::File(token_file(context)),
        };
        let tls = match (settings.path(Key::SERVER_TLS_CERT), settings.path(Key::SERVER_TLS_KEY)) {
            (Some(certificate), Some(key)) => Some(TlsFiles { certificate, key }),
            (None, None) => None,
            _ => {
                return Err(Failure::configuration(
                    "TLS needs the certificate chain and the private key",
                    "give both --tls-cert and --tls-key",
                ));
            }
        };
        let count = |key| usize::try_from(settings.number(key)).unwrap_or(usize::MAX);
        Ok(HttpOptions::new(listen, token, principals_path(context))
            .server(server)
            .tls(tls)
            .behind_proxy(self.behind_proxy)
            .allowed_hosts(settings.list(Key::SERVER_ALLOWED_HOSTS).to_vec())
            .allowed_origins(settings.list(Key::SERVER_ALLOWED_ORIGINS).to_vec())
            .max_sessions(count(Key::SERVER_MAX_SESSIONS))
            .max_in_flight(count(Key::SERVER_MAX_IN_FLIGHT)))
    }
}

/// The file of principals.
pub(crate) fn principals_path(context: &Context) -> PathBuf {
    beside(context, Key::SERVER_PRINCIPALS, PRINCIPALS_FILE)
}

fn token_file(context: &Context) -> PathBuf {
    beside(context, Key::SERVER_TOKEN_FILE, TOKEN_FILE)
}

/// The file of a setting, else one in the data directory.
fn beside(context: &Context, key: Key, name: &str) -> PathBuf {
    context.settings.path(key).unwrap_or_else(|| Path::new(&context.data.path).join(name))
}

/// The address of the settings; `:7878` and `7878` are loopback.
fn address(context: &Context) -> Result<SocketAddr, Failure> {
    let (text, from) = (
        context.settings.text(Key::SERVER_HTTP).unwrap_or_default(),
        context.settings.get(Key::SERVER_HTTP).1,
    );
    let port = text.strip_prefix(':').unwrap_or(text).parse::<u16>().ok();
    let read = match (port, text.strip_prefix("localhost:")) {
        (Some(port), _) => Some(SocketAddr::from(([127, 0, 0, 1], port))),
        (None, Some(port)) => port.parse().ok().map(|port: u16| SocketAddr::from(([127, 0, 0, 1], port))),
        (None, None) => text.parse().ok(),
    };
    read.ok_or_else(|| {
        let message = format!("{text:?} is no address to listen on");
        let hint = "write it as 127.0.0.1:7878 or [::1]:7878";
        match from {
            Origin::Flag(_) => Failure::usage(format!("--http: {message}"), hint),
            _ => Failure::configuration(format!("[server] http: {message}"), hint),
        }
    })
}

/// A server that does not start: what is wrong is a setting, a file or the machine.
fn failed(error: HttpError) -> Failure {
    let text = error.to_string();
    let (message, hint) = text.rsplit_once("; ").unwrap_or((&text, "see `repertoire serve --help`"));
    let (exit, code) = match &error {
        HttpError::Runtime(_) | HttpError::Listen { .. } => (Exit::Negative, "serve_failed"),
        _ => (Exit::Configuration, "configuration"),
    };
    let failure = Failure::new(exit, code, message, hint);
    match error {
        HttpError::Principals { problems, .. } | HttpError::Settings { problems } => {
            failure.with_problems(&problems)
        }
        _ => failure,
    }
}
