//! `management.*`, `logging.*`, `spring.security.*`, `spring.cloud.inetutils.*`.

use super::exposure::exposure;
use super::reader::Reader;
use super::server::{address, prefix};
use super::values::is_word;
use crate::invocation::InetSettings;
use crate::secret::Secret;
use crate::settings::{
    BasicAuth, HealthSettings, LogFormat, LogLevel, LoggingSettings, ManagementListener, ManagementSettings,
    PasswordForm, SecuritySettings, ServerSettings, ShowDetails,
};
use std::collections::BTreeMap;

const DETAILS: &[(&str, ShowDetails)] = &[
    ("never", ShowDetails::Never),
    ("when-authorized", ShowDetails::WhenAuthorized),
    ("always", ShowDetails::Always),
];

const LEVELS: &[(&str, LogLevel)] = &[
    ("off", LogLevel::Off),
    ("false", LogLevel::Off), // what YAML makes of an unquoted off
    ("fatal", LogLevel::Error),
    ("error", LogLevel::Error),
    ("warn", LogLevel::Warn),
    ("info", LogLevel::Info),
    ("debug", LogLevel::Debug),
    ("trace", LogLevel::Trace),
];

const FORMATS: &[(&str, LogFormat)] = &[("human", LogFormat::Human), ("json", LogFormat::Json)];

pub(super) fn management(r: &mut Reader<'_>, server: &ServerSettings) -> ManagementSettings {
    let d = ManagementSettings::default();
    ManagementSettings {
        listener: listener(r, server),
        base_path: prefix(r, "management.endpoints.web.base-path", &d.base_path),
        exposure: exposure(r),
        health: health(r),
    }
}

fn listener(r: &mut Reader<'_>, server: &ServerSettings) -> ManagementListener {
    let port: Option<i64> = r.optional_number("management.server.port");
    let address = address(r, "management.server.address").unwrap_or(server.address);
    let context_path = prefix(r, "management.server.base-path", "");
    match port {
        None => ManagementListener::Shared,
        Some(-1) => ManagementListener::Off,
        Some(port) if port == i64::from(server.port) && port != 0 => ManagementListener::Shared,
        Some(port) => ManagementListener::Separate {
            port: u16::try_from(port).unwrap_or_default(),
            address,
            context_path,
        },
    }
}

fn health(r: &mut Reader<'_>) -> HealthSettings {
    let d = HealthSettings::default();
    let show_details = r.word("management.endpoint.health.show-details", DETAILS).unwrap_or(d.show_details);
    HealthSettings {
        show_details,
        show_components: r
            .word("management.endpoint.health.show-components", DETAILS)
            .unwrap_or(show_details),
        probes_enabled: r.flag("management.endpoint.health.probes.enabled", d.probes_enabled),
    }
}

pub(super) fn logging(r: &mut Reader<'_>) -> LoggingSettings {
    let key = "logging.level";
    let mut levels = BTreeMap::new();
    for (logger, found) in r.texts(key) {
        match LEVELS.iter().find(|(word, _)| is_word(&found.text, word)) {
            Some((_, level)) => {
                levels.insert(logger, *level);
            }
            None => {
                let words = "must be one of trace, debug, info, warn, error, fatal, off";
                r.wrong(&format!("{key}.{logger}"), &found, words);
            }
        }
    }
    let structured = r.optional("logging.structured.format.console").is_some();
    let own = r.word("heureka.log.format", FORMATS);
    let format = own.unwrap_or(if structured { LogFormat::Json } else { LogFormat::Human });
    LoggingSettings { levels, format }
}

/// A name needs a password; a password alone belongs to `user`, as in Boot.
pub(super) fn security(r: &mut Reader<'_>) -> SecuritySettings {
    let user = r.optional("spring.security.user.name");
    let password = r.optional("spring.security.user.password");
    let Some(password) = password else {
        if let Some(user) = user {
            let needs = "needs spring.security.user.password; Boot would invent one and print it";
            r.wrong("spring.security.user.name", &user, needs);
        }
        return SecuritySettings::default();
    };
    let key = "spring.security.user.password";
    let (form, value) = match password.text.strip_prefix('{').and_then(|rest| rest.split_once('}')) {
        None => (PasswordForm::Plain, password.text.as_str()),
        Some(("noop", plain)) => (PasswordForm::Plain, plain),
        Some(("bcrypt", hash)) if is_bcrypt_hash(hash) => (PasswordForm::Bcrypt, hash),
        Some(("bcrypt", _)) => {
            let allowed = "must have a bcrypt hash behind {bcrypt}: $2a$, $2b$ or $2y$, a cost from 04 to 31, $ and 53 \
                           characters, as in {bcrypt}$2a$10$...; nobody could log in with another";
            r.wrong(key, &password, allowed);
            return SecuritySettings::default();
        }
        Some(_) => {
            let allowed =
                "must be plain text or begin with {noop} or {bcrypt}; other hashes are not understood";
            r.wrong(key, &password, allowed);
            return SecuritySettings::default();
        }
    };
    let user = user.map_or_else(|| "user".to_owned(), |user| user.text.trim().to_owned());
    SecuritySettings { basic: Some(BasicAuth { user, form, password: Secret::new(value) }) }
}

/// True for a hash that can be checked. 22 characters are the salt and 31 the digest; the last of each has bits to spare,
/// which are 0.
fn is_bcrypt_hash(text: &str) -> bool {
    const LETTERS: &str = "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let ["", "2a" | "2b" | "2y", cost, rest] = text.split('$').collect::<Vec<_>>()[..] else { return false };
    let is_number = cost.len() == 2 && cost.bytes().all(|c| c.is_ascii_digit());
    let is_cost = is_number && cost.parse().is_ok_and(|cost: u8| (4..=31).contains(&cost));
    let values: Option<Vec<usize>> = rest.chars().map(|c| LETTERS.find(c)).collect();
    let is_rest = values.is_some_and(|v| v.len() == 53 && v[21] % 16 == 0 && v[52] % 4 == 0);
    is_cost && is_rest
}

pub(super) fn inet(r: &mut Reader<'_>) -> InetSettings {
    let d = InetSettings::default();
    InetSettings {
        ignored_interfaces: r.list("spring.cloud.inetutils.ignored-interfaces", &[]),
        preferred_networks: r.list("spring.cloud.inetutils.preferred-networks", &[]),
        only_site_local: r.flag("spring.cloud.inetutils.use-only-site-local-interfaces", d.only_site_local),
        default_hostname: r.text("spring.cloud.inetutils.default-hostname", &d.default_hostname),
        default_ip_address: r.text("spring.cloud.inetutils.default-ip-address", &d.default_ip_address),
        timeout_secs: r.number("spring.cloud.inetutils.timeout-seconds", d.timeout_secs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_hashes_that_can_be_checked_count() {
        let right = "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
        assert!(is_bcrypt_hash(right));
        for prefix in ["$2b$", "$2y$"] {
            assert!(is_bcrypt_hash(&right.replace("$2a$", prefix)), "{prefix}");
        }
        let wrong = [
            String::new(),
            "password".to_owned(),
            right[..59].to_owned(),
            format!("{right}a"),
            format!(" {right}"),
            right.replace("$2a$", "$2x$"),
            right.replace("$2a$", "$2$"),
            right.replace("$2a$", "$$2a$$"),
            right.replace("$10$", "$03$"),
            right.replace("$10$", "$32$"),
            right.replace("$10$", "$+9$"),
            right.replace('N', "é"),
            right.replace('N', "!"),
            right.replace("Mye", "Myf"),
            right.replace("hWy", "hWz"),
        ];
        for text in wrong {
            assert!(!is_bcrypt_hash(&text), "{text}");
        }
    }
}
