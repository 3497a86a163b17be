//! HTTP basic authentication, if a user is configured (spec `spring.md` 1.5).
//!
//! A hashed password takes a tenth of a second to check, by design. Anybody can make us check one, so it happens on a
//! thread of its own, one at a time, and only so many wait: wrong passwords slow down nobody but other wrong passwords.

use std::sync::{Arc, Mutex, PoisonError};

use actix_web::http::StatusCode;
use actix_web::http::header::{AUTHORIZATION, HeaderValue, WWW_AUTHENTICATE};
use actix_web::web;
use actix_web::{HttpRequest, HttpResponse};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use heureka_config::settings::{BasicAuth, PasswordForm};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use super::path::Target;
use super::reply;
use crate::node::Node;

/// Refuses a request without valid credentials: 401 with a challenge. Only the health endpoint is open to all; wrong
/// credentials are refused there too. Nothing ever asks for a CSRF token.
pub async fn refuse(request: &HttpRequest, node: &Node, target: &Target<'_>) -> Option<HttpResponse> {
    let user = node.settings.security.basic.as_ref()?;
    let verdict = match request.headers().get(AUTHORIZATION) {
        Some(header) => node.credentials.check(header, user).await,
        None if is_open(node, target) => Verdict::Granted,
        None => Verdict::Refused,
    };
    match verdict {
        Verdict::Granted => None,
        Verdict::Refused => {
            let mut response = reply::empty(StatusCode::UNAUTHORIZED);
            let challenge = HeaderValue::from_static("Basic realm=\"Realm\"");
            response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            Some(response)
        }
        Verdict::Busy => Some(reply::unavailable("too many passwords wait to be checked".to_owned())),
    }
}

/// True if valid credentials come with a request that [`refuse`] has let pass. Checks nothing that takes time.
pub fn is_authenticated(request: &HttpRequest, node: &Node) -> bool {
    match (&node.settings.security.basic, request.headers().get(AUTHORIZATION)) {
        (Some(user), Some(header)) => match user.form {
            PasswordForm::Plain => is_right(header, user),
            PasswordForm::Bcrypt => node.credentials.is_last_good(header),
        },
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

/// What is made of an `Authorization` header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Granted,
    Refused,
    /// Too many others are being checked: 503.
    Busy,
}

/// Checks credentials. The last header that passed is remembered, so that a fleet with the right password waits once.
#[derive(Debug)]
pub struct Credentials {
    last_good: Mutex<Option<HeaderValue>>,
    /// One permit for each check that may wait or run; without one a caller is told to come back.
    places: Arc<Semaphore>,
    places_max: usize,
    /// The one check that runs.
    turn: Arc<Semaphore>,
}

impl Credentials {
    /// So many checks of hashed passwords may wait (`heureka.limits.max-waiting-password-checks`).
    #[must_use]
    pub fn new(places_max: usize) -> Self {
        let places_max = places_max.min(Semaphore::MAX_PERMITS);
        Self {
            last_good: Mutex::default(),
            places: Arc::new(Semaphore::new(places_max)),
            places_max,
            turn: Arc::new(Semaphore::new(1)),
        }
    }

    /// Checks that wait or run.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.places_max.saturating_sub(self.places.available_permits())
    }

    /// How many may.
    #[must_use]
    pub const fn waiting_max(&self) -> usize {
        self.places_max
    }

    async fn check(&self, header: &HeaderValue, user: &BasicAuth) -> Verdict {
        match user.form {
            PasswordForm::Plain if is_right(header, user) => Verdict::Granted,
            PasswordForm::Plain => Verdict::Refused,
            PasswordForm::Bcrypt if self.is_last_good(header) => Verdict::Granted,
            PasswordForm::Bcrypt => self.check_hash(header, user).await,
        }
    }

    fn is_last_good(&self, header: &HeaderValue) -> bool {
        let last = self.last_good.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().is_some_and(|good| bool::from(good.as_bytes().ct_eq(header.as_bytes())))
    }

    async fn check_hash(&self, header: &HeaderValue, user: &BasicAuth) -> Verdict {
        let Ok(place) = self.places.clone().try_acquire_owned() else { return Verdict::Busy };
        let Ok(turn) = self.turn.clone().acquire_owned().await else { return Verdict::Busy };
        // Somebody with the same header may have waited in front.
        if self.is_last_good(header) {
            return Verdict::Granted;
        }
        let (given, user) = (header.clone(), user.clone());
        let check = web::block(move || {
            // Held by the check and not by the caller: one that goes away does not let another check run beside it.
            let _permits = (place, turn);
            is_right(&given, &user)
        });
        match check.await {
            Ok(true) => {
                *self.last_good.lock().unwrap_or_else(PoisonError::into_inner) = Some(header.clone());
                Verdict::Granted
            }
            Ok(false) => Verdict::Refused,
            Err(_) => Verdict::Busy,
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
    use futures_util::FutureExt;
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
        assert!(is_right(&header("u:secret"), &hashed) && !is_right(&header("u:Secret"), &hashed));
    }

    /// Settings let pass what this library can check, and it can check only such hashes.
    #[test]
    fn hashes_with_spare_bits_cannot_be_checked() {
        let hash = "$2a$04$LrFUVrxRNmbtZRmFzyIjkuRmFG/iqtrCLcPzyJrAeEErqeUQjlgAe";
        assert!(bcrypt::verify("x", hash).is_ok());
        let last = hash.chars().last().map(|c| char::from(c as u8 + 1)).expect("a letter");
        assert!(bcrypt::verify("x", &format!("{}{last}", &hash[..59])).is_err());
    }

    fn hashed(password: &str) -> BasicAuth {
        let hash = bcrypt::hash(password, 4).expect("a hash");
        BasicAuth { user: "u".into(), form: PasswordForm::Bcrypt, password: Secret::new(hash) }
    }

    #[actix_web::test]
    async fn a_right_header_is_checked_once_and_a_wrong_one_always() {
        let (credentials, user) = (Credentials::new(1), hashed("secret"));
        for _ in 0..2 {
            assert_eq!(credentials.check(&header("u:secret"), &user).await, Verdict::Granted);
            assert_eq!(credentials.check(&header("u:Secret"), &user).await, Verdict::Refused);
            assert!(credentials.is_last_good(&header("u:secret")));
        }
    }

    #[actix_web::test]
    async fn checks_never_run_on_the_thread_of_the_caller_and_only_so_many_wait() {
        let (credentials, user) = (Credentials::new(3), hashed("secret"));
        assert_eq!(credentials.check(&header("u:secret"), &user).await, Verdict::Granted);
        // While the only turn is taken nothing is checked, whoever asks.
        let turn = credentials.turn.clone().acquire_owned().await.expect("a turn");
        let wrong = header("u:wrong");
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(credentials.check(&wrong, &user))).collect();
        for check in &mut waiting {
            assert!(check.as_mut().now_or_never().is_none());
        }
        assert_eq!((credentials.waiting(), credentials.waiting_max()), (3, 3));
        assert_eq!(credentials.check(&wrong, &user).await, Verdict::Busy);
        assert_eq!(
            credentials.check(&header("u:secret"), &user).await,
            Verdict::Granted,
            "a known one passes"
        );
        drop(turn);
        for check in waiting {
            assert_eq!(check.await, Verdict::Refused);
        }
    }
}
