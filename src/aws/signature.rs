//! Signatures of requests to Amazon, version 4: what the service documents, for a POST of a form to `/`.

use std::fmt::Write as _;

use chrono::Utc;
use heureka_config::Secret;
use ring::{digest, hmac};

/// Whose requests they are.
pub struct Signer {
    /// Public half of the key.
    pub access_id: String,
    /// Secret half.
    pub secret_key: Secret,
    /// Region of the service.
    pub region: String,
}

/// The time of a request.
pub struct Stamp {
    /// As `20150830T123600Z`.
    pub time: String,
}

impl Stamp {
    /// Now.
    pub fn now() -> Self {
        Self { time: Utc::now().format("%Y%m%dT%H%M%SZ").to_string() }
    }

    fn day(&self) -> &str {
        self.time.get(..8).unwrap_or_default()
    }
}

impl Signer {
    /// The header `authorization` of a form that is posted to `/` of a host.
    pub fn authorization(&self, service: &str, host: &str, body: &str, stamp: &Stamp) -> String {
        let content_type = "application/x-www-form-urlencoded; charset=utf-8";
        let time = &stamp.time;
        let signed = "content-type;host;x-amz-date";
        let canonical = format!(
            "POST\n/\n\ncontent-type:{content_type}\nhost:{host}\nx-amz-date:{time}\n\n{signed}\n{}",
            hex(digest::digest(&digest::SHA256, body.as_bytes()).as_ref())
        );
        let scope = format!("{}/{}/{service}/aws4_request", stamp.day(), self.region);
        let hashed = hex(digest::digest(&digest::SHA256, canonical.as_bytes()).as_ref());
        let text = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{hashed}");
        let signature = hex(&keyed(&self.key(service, stamp), &text));
        format!(
            "AWS4-HMAC-SHA256 Credential={}/{scope}, SignedHeaders={signed}, Signature={signature}",
            self.access_id
        )
    }

    fn key(&self, service: &str, stamp: &Stamp) -> Vec<u8> {
        let first = format!("AWS4{}", self.secret_key.expose()).into_bytes();
        [stamp.day(), &self.region, service, "aws4_request"].iter().fold(first, |key, part| keyed(&key, part))
    }
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, key), text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of a signing key that the service documents.
    #[test]
    fn the_signing_key_is_that_of_the_documentation() {
        let signer = Signer {
            access_id: "AKIDEXAMPLE".into(),
            secret_key: Secret::new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
            region: "us-east-1".into(),
        };
        let stamp = Stamp { time: "20150830T123600Z".into() };
        let key = hex(&signer.key("iam", &stamp));
        assert_eq!(key, "c4afb1cc5771d871763a393e44b703571b55cc28424d1a5e86da6ed3c154a4b9");
        let header = signer.authorization("autoscaling", "h", "Action=x", &stamp);
        assert!(header.starts_with(
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/autoscaling/aws4_request, "
        ));
        assert!(!header.contains("wJalr"));
    }
}
