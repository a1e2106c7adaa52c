//! Every setting: its section and key, what it takes, its default.

/// A setting. The discriminant is its row in [`TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(usize);

/// What a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Any text; empty is "not set".
    Text,
    /// A path; a relative one in the file starts at the file's folder. Empty is "not set".
    Path,
    /// Text that is masked wherever it is shown. Only taken from the environment.
    Secret,
    /// `true` or `false`.
    Flag,
    /// A whole number in a range.
    Number {
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Texts: an array in the file, comma-separated in the environment.
    List,
}

/// One row of the table.
#[derive(Debug)]
pub(crate) struct Row {
    /// Table of the TOML file.
    pub(crate) section: &'static str,
    /// Key in it.
    pub(crate) name: &'static str,
    /// What it takes.
    pub(crate) kind: Kind,
    /// The default as it would be written in the environment.
    pub(crate) default: &'static str,
}

impl Row {
    /// `section.name`.
    pub(crate) fn key(&self) -> String {
        format!("{}.{}", self.section, self.name)
    }

    /// Name of its environment variable.
    pub(crate) fn variable(&self) -> String {
        format!("{PREFIX}{}_{}", self.section, self.name).to_ascii_uppercase()
    }
}

/// What the environment variables of all settings begin with.
pub(crate) const PREFIX: &str = "REPERTOIRE_";

const fn row(section: &'static str, name: &'static str, kind: Kind, default: &'static str) -> Row {
    Row { section, name, kind, default }
}

const fn number(min: u64, max: u64) -> Kind {
    Kind::Number { min, max }
}

/// All settings. Some belong to parts that a build may leave out; a file that several builds share may name them.
pub(crate) const TABLE: &[Row] = &[
    row("sync", "url", Kind::Text, ""),
    row("sync", "subscriptions", Kind::List, ""),
    row("sync", "token_file", Kind::Path, ""),
    row("sync", "token", Kind::Secret, ""),
    row("sync", "interval_s", number(1, 86_400), "60"),
    row("sync", "entitlements_interval_s", number(1, 86_400), "15"),
    row("sync", "public_keys", Kind::List, ""),
    row("sync", "ca_file", Kind::Path, ""),
    row("sync", "client_cert", Kind::Path, ""),
    row("sync", "client_key", Kind::Path, ""),
    row("webhook", "listen", Kind::Text, ""),
    row("webhook", "secrets_file", Kind::Path, ""),
    row("webhook", "secret", Kind::Secret, ""),
    row("server", "http", Kind::Text, "127.0.0.1:7878"),
    row("server", "principals", Kind::Path, ""),
    row("server", "token_file", Kind::Path, ""),
    row("server", "token", Kind::Secret, ""),
    row("server", "allowed_hosts", Kind::List, ""),
    row("server", "allowed_origins", Kind::List, ""),
    row("server", "tools", Kind::Text, "all"),
    row("server", "skill", Kind::Text, ""),
    row("server", "tls_cert", Kind::Path, ""),
    row("server", "tls_key", Kind::Path, ""),
    row("server", "max_sessions", number(1, 65_536), "64"),
    row("server", "max_in_flight", number(1, 65_536), "256"),
    row("bundled", "mode", Kind::Choice(&["auto", "always", "never"]), "auto"),
    row("tools", "file", Kind::Path, ""),
    row("storage", "map", Kind::Choice(&["file", "memory"]), "file"),
    row("storage", "follow", Kind::Choice(&["auto", "pread"]), "auto"),
    row("storage", "keep_generations", number(1, 16), "2"),
    row("authoring", "enabled", Kind::Flag, "false"),
    row("authoring", "visible", Kind::Choice(&["all", "none"]), "all"),
    row("policy", "file", Kind::Path, ""),
    row("device", "serial", Kind::Text, ""),
    row("device", "adb_server", Kind::Text, "127.0.0.1:5037"),
    row("device", "timeout_ms", number(1, 600_000), "10000"),
    row("source", "objects", Kind::Text, ""),
];

impl Key {
    /// `[sync] url`.
    pub(crate) const SYNC_URL: Self = Self::named("sync", "url");
    /// `[server] http`.
    pub(crate) const SERVER_HTTP: Self = Self::named("server", "http");
    /// `[server] principals`.
    pub(crate) const SERVER_PRINCIPALS: Self = Self::named("server", "principals");
    /// `[server] token_file`.
    pub(crate) const SERVER_TOKEN_FILE: Self = Self::named("server", "token_file");
    /// `[server] token`.
    pub(crate) const SERVER_TOKEN: Self = Self::named("server", "token");
    /// `[server] allowed_hosts`.
    pub(crate) const SERVER_ALLOWED_HOSTS: Self = Self::named("server", "allowed_hosts");
    /// `[server] allowed_origins`.
    pub(crate) const SERVER_ALLOWED_ORIGINS: Self = Self::named("server", "allowed_origins");
    /// `[server] tls_cert`.
    pub(crate) const SERVER_TLS_CERT: Self = Self::named("server", "tls_cert");
    /// `[server] tls_key`.
    pub(crate) const SERVER_TLS_KEY: Self = Self::named("server", "tls_key");
    /// `[server] max_sessions`.
    pub(crate) const SERVER_MAX_SESSIONS: Self = Self::named("server", "max_sessions");
    /// `[server] max_in_flight`.
    pub(crate) const SERVER_MAX_IN_FLIGHT: Self = Self::named("server", "max_in_flight");
    /// `[sync] subscriptions`.
    pub(crate) const SYNC_SUBSCRIPTIONS: Self = Self::named("sync", "subscriptions");
    /// `[sync] token_file`.
    pub(crate) const SYNC_TOKEN_FILE: Self = Self::named("sync", "token_file");
    /// `[sync] token`.
    pub(crate) const SYNC_TOKEN: Self = Self::named("sync", "token");
    /// `[sync] public_keys`.
    pub(crate) const SYNC_PUBLIC_KEYS: Self = Self::named("sync", "public_keys");
    /// `[sync] ca_file`.
    pub(crate) const SYNC_CA_FILE: Self = Self::named("sync", "ca_file");
    /// `[sync] interval_s`.
    pub(crate) const SYNC_INTERVAL_S: Self = Self::named("sync", "interval_s");
    /// `[sync] entitlements_interval_s`.
    pub(crate) const SYNC_ENTITLEMENTS_INTERVAL_S: Self = Self::named("sync", "entitlements_interval_s");
    /// `[sync] client_cert`.
    pub(crate) const SYNC_CLIENT_CERT: Self = Self::named("sync", "client_cert");
    /// `[sync] client_key`.
    pub(crate) const SYNC_CLIENT_KEY: Self = Self::named("sync", "client_key");
    /// `[webhook] listen`.
    pub(crate) const WEBHOOK_LISTEN: Self = Self::named("webhook", "listen");
    /// `[webhook] secrets_file`.
    pub(crate) const WEBHOOK_SECRETS_FILE: Self = Self::named("webhook", "secrets_file");
    /// `[webhook] secret`.
    pub(crate) const WEBHOOK_SECRET: Self = Self::named("webhook", "secret");
    /// `[server] tools`.
    pub(crate) const SERVER_TOOLS: Self = Self::named("server", "tools");
    /// `[server] skill`.
    pub(crate) const SERVER_SKILL: Self = Self::named("server", "skill");
    /// `[policy] file`.
    pub(crate) const POLICY_FILE: Self = Self::named("policy", "file");
    /// `[device] serial`.
    pub(crate) const DEVICE_SERIAL: Self = Self::named("device", "serial");
    /// `[device] adb_server`.
    pub(crate) const DEVICE_ADB_SERVER: Self = Self::named("device", "adb_server");
    /// `[device] timeout_ms`.
    pub(crate) const DEVICE_TIMEOUT_MS: Self = Self::named("device", "timeout_ms");
    /// `[bundled] mode`.
    pub(crate) const BUNDLED_MODE: Self = Self::named("bundled", "mode");
    /// `[tools] file`.
    pub(crate) const TOOLS_FILE: Self = Self::named("tools", "file");
    /// `[storage] map`.
    pub(crate) const STORAGE_MAP: Self = Self::named("storage", "map");
    /// `[storage] follow`.
    pub(crate) const STORAGE_FOLLOW: Self = Self::named("storage", "follow");
    /// `[storage] keep_generations`.
    pub(crate) const STORAGE_KEEP_GENERATIONS: Self = Self::named("storage", "keep_generations");
    /// `[authoring] enabled`.
    pub(crate) const AUTHORING_ENABLED: Self = Self::named("authoring", "enabled");
    /// `[authoring] visible`.
    pub(crate) const AUTHORING_VISIBLE: Self = Self::named("authoring", "visible");

    /// The setting of a section and key; evaluated by the compiler, so that a misspelt one does not build.
    const fn named(section: &str, name: &str) -> Self {
        let mut index = 0;
        while index < TABLE.len() {
            if same(TABLE[index].section, section) && same(TABLE[index].name, name) {
                return Self(index);
            }
            index += 1;
        }
        panic!("no such setting")
    }

    /// All settings in table order.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..TABLE.len()).map(Self)
    }

    /// The setting of a section and key.
    pub(crate) fn find(section: &str, name: &str) -> Option<Self> {
        Self::all().find(|key| key.row().section == section && key.row().name == name)
    }

    /// The setting of an environment variable.
    pub(crate) fn of_variable(variable: &str) -> Option<Self> {
        Self::all().find(|key| key.row().variable() == variable)
    }

    /// Its row.
    pub(crate) fn row(self) -> &'static Row {
        &TABLE[self.0]
    }

    /// Its place in the table.
    pub(crate) fn index(self) -> usize {
        self.0
    }
}

/// Whether there is such a section.
pub(crate) fn is_section(section: &str) -> bool {
    TABLE.iter().any(|row| row.section == section)
}

/// Equality of texts for the compiler.
const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_found_by_key_and_by_variable() {
        for key in Key::all() {
            let row = key.row();
            assert_eq!(Key::find(row.section, row.name), Some(key));
            assert_eq!(Key::of_variable(&row.variable()), Some(key));
        }
        assert_eq!(Key::SYNC_URL.row().variable(), "REPERTOIRE_SYNC_URL");
        assert_eq!(Key::find("sync", "nothing"), None);
    }
}
