//! TLS towards peers: `eureka.client.tls.*`, else the roots that the system trusts (spec `spring.md` 1.5).

use std::sync::Arc;

use anyhow::Context;
use heureka_config::settings::ClientTls;
use rustls::crypto::ring;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::ConfigVerifierExt as _;

use crate::tls;

/// The configuration for one kind of URL. For plain HTTP nothing is read.
///
/// # Errors
/// If a certificate, key or store cannot be used. Going without is never an option.
pub fn client_config(settings: Option<&ClientTls>, is_https: bool) -> anyhow::Result<ClientConfig> {
    // Others may have installed one already; any will do.
    let _ = ring::default_provider().install_default();
    if !is_https {
        return Ok(ClientConfig::builder()
            .with_root_certificates(RootCertStore::empty())
            .with_no_client_auth());
    }
    let context = "eureka.client.tls";
    let Some(settings) = settings else {
        return ClientConfig::with_platform_verifier().context("the system's trusted certificates");
    };
    let verified = match &settings.trust {
        Some(trust) => {
            let roots = tls::roots(trust).context(format!("{context}: trusted certificates"))?;
            ClientConfig::builder().with_root_certificates(roots)
        }
        None => {
            let verifier = rustls_platform_verifier::Verifier::new(Arc::new(ring::default_provider()))
                .context(context)?;
            ClientConfig::builder().dangerous().with_custom_certificate_verifier(Arc::new(verifier))
        }
    };
    match &settings.identity {
        None => Ok(verified.with_no_client_auth()),
        Some(identity) => {
            let (chain, key) = tls::identity(identity).context(format!("{context}: certificate and key"))?;
            verified
                .with_client_auth_cert(chain, key)
                .context(format!("{context}: certificate and key do not fit"))
        }
    }
}
