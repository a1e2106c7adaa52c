//! `/metrics`: the counts of this process and the state of the catalog, in the text format of Prometheus.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::catalog::{Catalog, Status};
use crate::observe::{self, Family};

/// Media type of the answer.
pub(crate) const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// One look at everything that is shown.
#[derive(Debug)]
struct Shown {
    sessions: usize,
    in_flight: usize,
    status: Option<Status>,
}

/// The text of this moment.
pub(crate) fn text(catalog: &Catalog, sessions: usize, in_flight: usize) -> String {
    let status =
        catalog.status().inspect_err(|error| tracing::error!(%error, "no status for the metrics")).ok();
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Shown { sessions, in_flight, status }));
    let mut text = String::new();
    if let Err(error) = prometheus_client::encoding::text::encode(&mut text, &registry) {
        // Writing into a String does not fail.
        tracing::error!(%error, "the metrics cannot be written");
    }
    text
}

impl Collector for Shown {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        for family in Family::ALL {
            let mut counter =
                encoder.encode_descriptor(family.name(), family.help(), None, MetricType::Counter)?;
            for (label, n) in observe::counts(family) {
                let labels = [(family.label(), label)];
                ConstCounter::new(n).encode(counter.encode_family(&labels)?)?;
            }
        }
        let mut gauge = |name: &str, help: &str, value: u64| {
            let value = ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX));
            let metric = encoder.encode_descriptor(name, help, None, value.metric_type())?;
            value.encode(metric)
        };
        gauge("repertoire_http_sessions", "Open sessions", self.sessions as u64)?;
        gauge("repertoire_http_in_flight", "Requests that are answered", self.in_flight as u64)?;
        let Some(status) = &self.status else { return Ok(()) };
        if let Some(age_s) = status.sync.age_s {
            gauge("repertoire_sync_age_seconds", "Seconds since the last sync that succeeded", age_s)?;
        }
        gauge(
            "repertoire_sync_failing",
            "1 while the last sync failed",
            u64::from(status.sync.last_error.is_some()),
        )?;
        let mut skills = encoder.encode_descriptor(
            "repertoire_layer_skills",
            "Skills of a layer",
            None,
            MetricType::Gauge,
        )?;
        for layer in &status.layers {
            let n = i64::try_from(layer.skills).unwrap_or(i64::MAX);
            ConstGauge::new(n).encode(skills.encode_family(&[("layer", layer.layer.name())])?)?;
        }
        Ok(())
    }
}
