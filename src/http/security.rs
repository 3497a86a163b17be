//! HTTP basic authentication, if a user is configured (spec `spring.md` 1.5).

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use actix_web::{HttpRequest, HttpResponse};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use heureka_config::settings::{BasicAuth, PasswordForm};
use subtle::ConstantTimeEq;

use super::path::Target;
use super::reply;
use crate::node::Node;

/// Refuses a request without valid credentials: 401 with a challenge. Only the health endpoint is open to all; wrong
/// credentials are refused there too. Nothing ever asks for a CSRF token.
pub fn refuse(request: &HttpRequest, node: &Node, target: &Target<'_>) -> Option<HttpResponse> {
    let user = node.settings.security.basic.as_ref()?;
    let given = request.headers().get(AUTHORIZATION);
    let is_granted = match given {
        Some(header) => node.credentials.check(header, user),
        None => is_open(node, target),
    };
    if is_granted {
        return None;
    }
    let mut response = reply::empty(StatusCode::UNAUTHORIZED);
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"Realm\""));
    Some(response)
}

/// True if valid credentials come with the request.
pub fn is_authenticated(request: &HttpRequest, node: &Node) -> bool {
    match (&node.settings.security.basic, request.headers().get(AUTHORIZATION)) {
        (Some(user), Some(header)) => node.credentials.check(header, user),
        _ => false,
    }
}

fn is_open(node: &Node, target: &Target<'_>) -> bool {
    let Target::Other(segments) = target else { return false };
    let base = node.settings.management.base_path.trim_start_matches('/');
    let mut expected = base.split('/').filter(|part| !part.is_empty()).chain(["health"]);
    let mut given = segments.iter();
    expected.all(|part| given.next().is_some_and(|segment| segment == part))
}

/// Checks credentials. bcrypt takes a tenth of a second by design, so the last header that passed is remembered.
#[derive(Debug, Default)]
pub struct Credentials {
    last_good: std::sync::Mutex<Option<HeaderValue>>,
}

impl Credentials {
    fn check(&self, header: &HeaderValue, user: &BasicAuth) -> bool {
        match user.form {
            PasswordForm::Plain => is_right(header, user),
            PasswordForm::Bcrypt => {
                let mut last = self.last_good.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if last.as_ref().is_some_and(|good| bool::from(good.as_bytes().ct_eq(header.as_bytes()))) {
                    return true;
                }
                let is_right = is_right(header, user);
                if is_right {
                    *last = Some(header.clone());
                }
                is_right
            }
        }
    }
}

fn is_right(header: &HeaderValue, user: &BasicAuth) -> bool {
    let Some((name, password)) = decode(header) else { return false };
    let is_user = bool::from(name.as_bytes().ct_eq(user.user.as_bytes()));
    let is_password = match user.form {
        PasswordForm::Plain => bool::from(password.as_bytes().ct_eq(user.password.expose().as_bytes())),
        PasswordForm::Bcrypt => bcrypt::verify(&password, user.password.expose()).unwrap_or(false),
    };
    is_user && is_password
}

/// User and password of a `Basic` header; the password may hold colons.
fn decode(header: &HeaderValue) -> Option<(String, String)> {
    let text = header.to_str().ok()?;
    let (scheme, encoded) = text.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (name, password) = decoded.split_once(':')?;
    Some((name.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use heureka_config::Secret;

    fn header(text: &str) -> HeaderValue {
        HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(text))).expect("a header value")
    }

    #[test]
    fn plain_and_hashed_passwords_are_checked() {
        let plain = BasicAuth { user: "u".into(), form: PasswordForm::Plain, password: Secret::new("p:@") };
        assert!(is_right(&header("u:p:@"), &plain));
        assert!(!is_right(&header("u:p"), &plain) && !is_right(&header("v:p:@"), &plain));
        assert!(!is_right(&HeaderValue::from_static("Bearer x"), &plain));
        let hash = bcrypt::hash("secret", 4).expect("a hash");
        let hashed = BasicAuth { user: "u".into(), form: PasswordForm::Bcrypt, password: Secret::new(hash) };
        let credentials = Credentials::default();
        for _ in 0..2 {
            assert!(credentials.check(&header("u:secret"), &hashed));
            assert!(!credentials.check(&header("u:Secret"), &hashed));
        }
    }
}
