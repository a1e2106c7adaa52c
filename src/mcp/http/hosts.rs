//! Which `Host` and `Origin` headers are taken: a page in a browser must not reach a server on this machine by a name
//! that its author points at it (DNS rebinding), nor by an address (cross-site requests).

use http::Uri;
use http::header::{HOST, HeaderMap, ORIGIN};
use http::uri::Authority;

use crate::error::Problem;

/// Names of this machine that are always allowed.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The allowlists.
#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    hosts: Vec<(String, Option<u16>)>,
    origins: Vec<String>,
}

/// Why a request is refused; both are 403.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stranger {
    Host,
    Origin,
}

impl Hosts {
    /// Loopback, and what the operator named: hosts as `name` or `name:port`, origins as `scheme://host[:port]`.
    pub(crate) fn new(hosts: &[String], origins: &[String]) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let mut allowed: Vec<_> = LOOPBACK.iter().map(|name| ((*name).to_owned(), None)).collect();
        for text in hosts {
            match split_authority(text) {
                Some(host) => allowed.push(host),
                None => problems.push(
                    Problem::new("invalid_value", "allowed_hosts", "write a host as name or name:port")
                        .got(text),
                ),
            }
        }
        let mut known = Vec::new();
        for text in origins {
            match canonical_origin(text) {
                Some(origin) => known.push(origin),
                None => problems.push(
                    Problem::new(
                        "invalid_value",
                        "allowed_origins",
                        "write an origin as https://host[:port]",
                    )
                    .got(text),
                ),
            }
        }
        if problems.is_empty() { Ok(Self { hosts: allowed, origins: known }) } else { Err(problems) }
    }

    /// Checks a request. `Origin` may be absent (programs send none), else it must be named or be the very host and
    /// port that the request is for: a page that this server served itself, of which there is none.
    pub(crate) fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Stranger> {
        let host = match single(headers, &HOST, Stranger::Host)? {
            Some(text) => split_authority(text).ok_or(Stranger::Host)?,
            None => uri.authority().map(of_authority).ok_or(Stranger::Host)?,
        };
        let fits =
            |(name, port): &(String, Option<u16>)| *name == host.0 && (port.is_none() || *port == host.1);
        if !self.hosts.iter().any(fits) {
            return Err(Stranger::Host);
        }
        let Some(origin) = single(headers, &ORIGIN, Stranger::Origin)? else { return Ok(()) };
        let origin = canonical_origin(origin).ok_or(Stranger::Origin)?;
        let own = |scheme: &str| {
            let name = if host.0.contains(':') { format!("[{}]", host.0) } else { host.0.clone() };
            let port = host.1.map_or_else(String::new, |port| format!(":{port}"));
            canonical_origin(&format!("{scheme}://{name}{port}")).is_some_and(|own| own == origin)
        };
        if self.origins.contains(&origin) || own("http") || own("https") {
            Ok(())
        } else {
            Err(Stranger::Origin)
        }
    }
}

/// The one value of a header, if there is one; `refusal` where it is repeated or no text.
fn single<'h>(
    headers: &'h HeaderMap,
    name: &http::HeaderName,
    refusal: Stranger,
) -> Result<Option<&'h str>, Stranger> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => value.to_str().map(Some).map_err(|_| refusal),
        (Some(_), Some(_)) => Err(refusal),
    }
}

fn of_authority(authority: &Authority) -> (String, Option<u16>) {
    let name = authority.host().trim_start_matches('[').trim_end_matches(']');
    // A name with its final dot is the same name.
    (name.trim_end_matches('.').to_ascii_lowercase(), authority.port_u16())
}

/// `host` or `host:port`; nothing before an `@`.
fn split_authority(text: &str) -> Option<(String, Option<u16>)> {
    let text = text.trim();
    if text.contains('@') || text.is_empty() {
        return None;
    }
    // An IPv6 address may stand without brackets where there is no port.
    if text.matches(':').count() > 1 && !text.starts_with('[') {
        return text.parse::<std::net::Ipv6Addr>().ok().map(|address| (address.to_string(), None));
    }
    let authority = Authority::try_from(text).ok()?;
    let split = of_authority(&authority);
    // `host:` and `host:99999` parse as an authority without a port.
    let port_written = authority.as_str().len() > authority.host().len();
    (!split.0.is_empty() && (!port_written || split.1.is_some())).then_some(split)
}

/// `scheme://host:port` with the port of the scheme written out.
fn canonical_origin(text: &str) -> Option<String> {
    let (scheme, authority) = text.trim().split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    let (host, port) = split_authority(authority)?;
    let default = match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    let port = port.or(default).map_or_else(String::new, |port| format!(":{port}"));
    Some(format!("{scheme}://{host}{port}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(hosts: &Hosts, host: &[&str], origin: &[&str]) -> Result<(), Stranger> {
        let mut headers = HeaderMap::new();
        for value in host {
            headers.append(HOST, value.parse().expect("a header"));
        }
        for value in origin {
            headers.append(ORIGIN, value.parse().expect("a header"));
        }
        hosts.check(&Uri::from_static("/mcp"), &headers)
    }

    #[test]
    fn only_named_hosts_and_loopback_are_taken() {
        let hosts = Hosts::new(&["phones.example:8443".into(), "other.example".into()], &[]).expect("lists");
        for good in [
            "localhost",
            "LOCALHOST:7878",
            "127.0.0.1:7878",
            "[::1]:7878",
            "[::1]",
            "localhost.:1",
            "phones.example:8443",
            "other.example",
            "other.example:99",
        ] {
            assert_eq!(check(&hosts, &[good], &[]), Ok(()), "{good}");
        }
        for bad in [
            "evil.example",
            "phones.example",
            "phones.example:443",
            "127.0.0.2",
            "localhost.evil.example",
            "localhost@evil.example",
            "evil.example@localhost",
            "localhost:",
            "localhost:99999",
            "0.0.0.0:7878",
            "127.0.0.1:1:2",
            "",
        ] {
            assert_eq!(check(&hosts, &[bad], &[]), Err(Stranger::Host), "{bad}");
        }
        assert_eq!(check(&hosts, &[], &[]), Err(Stranger::Host), "no host at all");
        assert_eq!(check(&hosts, &["localhost", "evil.example"], &[]), Err(Stranger::Host), "two hosts");
    }

    #[test]
    fn an_origin_is_absent_named_or_this_very_server() {
        let hosts = Hosts::new(&[], &["https://app.example".into()]).expect("lists");
        for good in ["https://app.example", "https://app.example:443", "http://localhost:7878"] {
            assert_eq!(check(&hosts, &["localhost:7878"], &[good]), Ok(()), "{good}");
        }
        for bad in [
            "null",
            "http://app.example",
            "https://app.example:444",
            "http://localhost",
            "http://localhost:3000",
            "http://evil.example",
            "file://",
            "http://127.0.0.1:7878",
            "http://localhost:7878.evil.example",
            "https://app.example@evil.example",
            "",
        ] {
            assert_eq!(check(&hosts, &["localhost:7878"], &[bad]), Err(Stranger::Origin), "{bad}");
        }
        let two = check(&hosts, &["localhost"], &["https://app.example", "http://evil.example"]);
        assert_eq!(two, Err(Stranger::Origin));
    }

    #[test]
    fn lists_that_cannot_be_read_are_named_whole() {
        let wrong = Hosts::new(&["a b".into(), String::new()], &["app.example".into()]).expect_err("three");
        assert_eq!(wrong.len(), 3);
    }
}
