//! The engine of the sync as the settings say, and the thread that polls inside a server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::thread;

use repertoire::Catalog;
use repertoire::sync::http::{HttpOptions, HttpPlatform, TlsFiles, TokenSource};
use repertoire::sync::webhook::{Receiver, ReceiverOptions, WebhookSecrets};
use repertoire::sync::{BootClock, Engine, Platform, PublicKeys, Round, Secret, Settings, Wake};

use super::config::Key;
use super::context::Context;
use super::exit::{Exit, Failure};

/// The client of the configured platform.
///
/// # Errors
/// A setting is missing or cannot be used.
pub(crate) fn platform(context: &Context) -> Result<Arc<dyn Platform>, Failure> {
    let settings = &context.settings;
    let url = settings.text(Key::SYNC_URL).ok_or_else(|| {
        Failure::configuration("no platform is configured", "set [sync] url and subscriptions in config.toml")
    })?;
    let token = match (settings.path(Key::SYNC_TOKEN_FILE), settings.text(Key::SYNC_TOKEN)) {
        (_, Some(token)) => TokenSource::Fixed(Secret::new(token)),
        (Some(path), None) => TokenSource::File(path),
        (None, None) => TokenSource::None,
    };
    let mut tls = TlsFiles::default();
    tls.ca = settings.path(Key::SYNC_CA_FILE);
    tls.client_cert = settings.path(Key::SYNC_CLIENT_CERT);
    tls.client_key = settings.path(Key::SYNC_CLIENT_KEY);
    let client = HttpPlatform::new(url, &HttpOptions::default().token(token).tls(tls))
        .map_err(|error| Failure::configuration(error.to_string(), "see [sync] in docs/cli.md"))?;
    Ok(Arc::new(client))
}

/// The engine on a catalog and a platform.
///
/// # Errors
/// A setting cannot be used; everything wrong at once.
pub(crate) fn engine(
    context: &Context,
    catalog: &Catalog,
    platform: Arc<dyn Platform>,
) -> Result<Engine, Failure> {
    let settings = &context.settings;
    let mut problems = Vec::new();
    let keys =
        PublicKeys::parse(settings.list(Key::SYNC_PUBLIC_KEYS)).map_err(|found| problems.extend(found));
    let named = settings.list(Key::SYNC_SUBSCRIPTIONS).iter().cloned();
    let engine = Settings::new(named).map_err(|found| problems.extend(found));
    let (Ok(keys), Ok(engine)) = (keys, engine) else {
        let said = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        return Err(Failure::configuration(said, "see [sync] in docs/cli.md").with_problems(&problems));
    };
    let engine = engine.keys(keys).intervals_s(
        settings.number(Key::SYNC_INTERVAL_S),
        settings.number(Key::SYNC_ENTITLEMENTS_INTERVAL_S),
    );
    Ok(Engine::new(catalog.clone(), platform, Arc::new(BootClock::of(catalog)), engine))
}

/// What a server does beside its clients: it polls, and takes webhooks. Nothing if no platform is configured.
///
/// # Errors
/// A setting cannot be used, or the webhook's address cannot be listened on. A platform that cannot be reached is none.
pub(crate) fn beside(context: &Context, catalog: &Catalog) -> Result<(), Failure> {
    if context.settings.text(Key::SYNC_URL).is_none() {
        return Ok(());
    }
    let engine = engine(context, catalog, platform(context)?)?;
    let wake = Wake::default();
    let webhook = webhook(context, catalog, &wake)?;
    let runtime = runtime()?;
    let receiver = match webhook {
        Some((address, options)) => {
            let bound = runtime.block_on(Receiver::bind(address, options)).map_err(|cause| {
                Failure::configuration(
                    format!("cannot listen for webhooks on {address}: {cause}"),
                    "choose another [webhook] listen",
                )
            })?;
            Some(bound)
        }
        None => None,
    };
    let thread = thread::Builder::new().name("repertoire-sync".to_owned()).spawn(move || {
        runtime.block_on(async move {
            if let Some(receiver) = receiver {
                tokio::spawn(async move {
                    if let Err(error) = receiver.run().await {
                        tracing::error!(%error, "no webhooks are taken any more");
                    }
                });
            }
            engine.run(&wake, &tell).await;
        });
    });
    thread.map(drop).map_err(|cause| {
        Failure::new(Exit::Negative, "sync_failed", format!("cannot start the sync: {cause}"), "try again")
    })
}

/// The address and the secrets of the webhook, if it is configured.
fn webhook(
    context: &Context,
    catalog: &Catalog,
    wake: &Wake,
) -> Result<Option<(SocketAddr, ReceiverOptions)>, Failure> {
    let settings = &context.settings;
    let Some(listen) = settings.text(Key::WEBHOOK_LISTEN) else { return Ok(None) };
    let address = listen.parse().map_err(|_| {
        Failure::configuration(
            format!("[webhook] listen is {listen:?}, which is no address"),
            "write it as 127.0.0.1:7879",
        )
    })?;
    let read = match (settings.text(Key::WEBHOOK_SECRET), settings.path(Key::WEBHOOK_SECRETS_FILE)) {
        (Some(text), _) => WebhookSecrets::parse(text),
        (None, Some(path)) => WebhookSecrets::read(&path),
        (None, None) => {
            return Err(Failure::configuration(
                "[webhook] listen is set without a secret",
                "set [webhook] secrets_file",
            ));
        }
    };
    let secrets =
        read.map_err(|error| Failure::configuration(error.to_string(), "see [webhook] in docs/cli.md"))?;
    Ok(Some((address, ReceiverOptions::new(secrets, wake.clone(), Arc::new(catalog.clone())))))
}

/// A runtime for questions to the platform.
///
/// # Errors
/// The system refuses one.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|cause| {
        Failure::new(Exit::Negative, "sync_failed", format!("cannot start the sync: {cause}"), "try again")
    })
}

fn tell(round: &Round) {
    tracing::debug!(?round.result, round.items, round.removed, "synced");
}
