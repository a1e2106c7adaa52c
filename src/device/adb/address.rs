//! Where the adb server listens.

use std::fmt;

use crate::error::Problem;

/// Port of the adb server where nothing else is said.
const PORT: u16 = 5037;
/// Host of the adb server where nothing else is said.
const HOST: &str = "127.0.0.1";

/// Host and port of the adb server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerAddress {
    host: String,
    port: u16,
}

impl Default for ServerAddress {
    fn default() -> Self {
        Self { host: HOST.to_owned(), port: PORT }
    }
}

impl ServerAddress {
    /// Reads `host:port`, `[::1]:port`, a port alone, or one of these behind `tcp:`, as `ADB_SERVER_SOCKET` has it.
    ///
    /// # Errors
    /// Anything else, sockets of the file system among them.
    ///
    /// ```
    /// use repertoire::device::adb::ServerAddress;
    ///
    /// assert_eq!(ServerAddress::parse("tcp:5038").unwrap().to_string(), "127.0.0.1:5038");
    /// ```
    pub fn parse(text: &str) -> Result<Self, Problem> {
        let wrong = || {
            Problem::new(
                "invalid_address",
                "adb_server",
                "is no address of an adb server; write host:port, such as 127.0.0.1:5037",
            )
            .got(text)
        };
        let rest = text.trim();
        let rest = rest.strip_prefix("tcp:").unwrap_or(rest);
        let (host, port) = rest.rsplit_once(':').unwrap_or((HOST, rest));
        let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let port: u16 = port.parse().map_err(|_| wrong())?;
        let other =
            ["localfilesystem", "localabstract", "localreserved", "vsock", "acceptfd"].contains(&host);
        if port == 0 || host.is_empty() || host.contains(['/', ' ']) || other {
            return Err(wrong());
        }
        Ok(Self { host: host.to_owned(), port })
    }

    /// What the variables of the adb programs say: `ADB_SERVER_SOCKET` first, then `ANDROID_ADB_SERVER_ADDRESS` and
    /// `ANDROID_ADB_SERVER_PORT`, then the default.
    ///
    /// # Errors
    /// A variable that is set and cannot be read.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, Problem> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        let named = |name: &str, problem: Problem| {
            Problem::new(&problem.code, name, problem.message).got(set(name).unwrap_or_default())
        };
        if let Some(socket) = set("ADB_SERVER_SOCKET") {
            return Self::parse(&socket).map_err(|problem| named("ADB_SERVER_SOCKET", problem));
        }
        let mut address = Self::default();
        if let Some(host) = set("ANDROID_ADB_SERVER_ADDRESS") {
            host.trim().clone_into(&mut address.host);
        }
        if let Some(port) = set("ANDROID_ADB_SERVER_PORT") {
            let read = Self::parse(&port).map_err(|problem| named("ANDROID_ADB_SERVER_PORT", problem))?;
            address.port = read.port;
        }
        Ok(address)
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Whether the server is on this computer, so that it may be started.
    #[must_use]
    pub fn is_local(&self) -> bool {
        let ip: Result<std::net::IpAddr, _> = self.host.parse();
        self.host == "localhost" || ip.is_ok_and(|ip| ip.is_loopback())
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_in_every_form_that_adb_writes() {
        for (text, expect) in [
            ("127.0.0.1:5037", "127.0.0.1:5037"),
            ("tcp:5038", "127.0.0.1:5038"),
            ("5039", "127.0.0.1:5039"),
            ("tcp:build-host:1", "build-host:1"),
            ("tcp:[::1]:2", "[::1]:2"),
            ("localhost:5037", "localhost:5037"),
        ] {
            let address = ServerAddress::parse(text).unwrap();
            assert_eq!(address.to_string(), expect);
        }
        for text in [
            "",
            "tcp:",
            "a:b",
            "127.0.0.1:0",
            "localfilesystem:/run/adb",
            "localabstract:5",
            "127.0.0.1:99999",
        ] {
            assert!(ServerAddress::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_socket_variable_wins_over_the_port_variable() {
        let read = |pairs: &[(&str, &str)]| {
            let find =
                |name: &str| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            ServerAddress::from_variables(find)
        };
        let both = [("ADB_SERVER_SOCKET", "tcp:127.0.0.1:6000"), ("ANDROID_ADB_SERVER_PORT", "7000")];
        assert_eq!(read(&both).unwrap().port(), 6000);
        assert_eq!(read(&both[1..]).unwrap().port(), 7000);
        assert_eq!(read(&[]).unwrap(), ServerAddress::default());
        assert_eq!(read(&[("ADB_SERVER_SOCKET", "x")]).unwrap_err().field, "ADB_SERVER_SOCKET");
    }

    #[test]
    fn only_a_server_on_this_computer_may_be_started() {
        for (text, local) in
            [("5037", true), ("localhost:1", true), ("[::1]:1", true), ("10.0.0.2:5037", false)]
        {
            assert_eq!(ServerAddress::parse(text).unwrap().is_local(), local, "{text}");
        }
    }
}
