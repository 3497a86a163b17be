//! actix-web handlers that do next to nothing, with the settings of the real server: what they reach is what HTTP costs.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use actix_web::http::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::web::{Bytes, Data, PayloadConfig};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use anyhow::Context;

/// Which handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Baseline {
    /// Answers 200 without a body, and looks at nothing.
    Empty,
    /// Reads the whole body, answers 204.
    ReadBody,
    /// Answers every `GET` with one body, the bytes of the last `PUT`.
    Static,
}

impl Baseline {
    /// Name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::ReadBody => "read-body",
            Self::Static => "static",
        }
    }

    /// The handler of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Empty, Self::ReadBody, Self::Static].into_iter().find(|baseline| baseline.name() == name)
    }
}

/// Largest body that a `PUT` can bring: the full document of a very large registry.
const MAX_BODY: usize = 1 << 30;

async fn empty() -> HttpResponse {
    HttpResponse::new(StatusCode::OK)
}

async fn read_body(_: Bytes) -> HttpResponse {
    HttpResponse::new(StatusCode::NO_CONTENT)
}

/// The static body, with the headers that go with it.
#[derive(Clone, Default)]
struct Kept {
    body: Bytes,
    content_type: Option<HeaderValue>,
    content_encoding: Option<HeaderValue>,
}

type Shared = Data<RwLock<Arc<Kept>>>;

async fn keep_or_give(request: HttpRequest, body: Bytes, kept: Shared) -> HttpResponse {
    if request.method() == Method::PUT {
        let header = |name| request.headers().get(name).cloned();
        let new =
            Kept { body, content_type: header(CONTENT_TYPE), content_encoding: header(CONTENT_ENCODING) };
        *kept.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(new);
        return HttpResponse::new(StatusCode::OK);
    }
    let kept = kept.read().unwrap_or_else(PoisonError::into_inner).clone();
    let mut response = HttpResponse::Ok();
    if let Some(value) = &kept.content_type {
        response.insert_header((CONTENT_TYPE, value.clone()));
    }
    if let Some(value) = &kept.content_encoding {
        response.insert_header((CONTENT_ENCODING, value.clone()));
    }
    response.body(kept.body.clone())
}

/// Serves a baseline until the process is ended.
///
/// # Errors
/// If the port cannot be bound.
pub fn serve_baseline(baseline: Baseline, port: u16, workers: usize) -> anyhow::Result<()> {
    actix_web::rt::System::new().block_on(async move {
        let kept: Shared = Data::new(RwLock::default());
        let server = HttpServer::new(move || {
            let app = App::new().app_data(kept.clone()).app_data(PayloadConfig::new(MAX_BODY));
            match baseline {
                Baseline::Empty => app.default_service(web::to(empty)),
                Baseline::ReadBody => app.default_service(web::to(read_body)),
                Baseline::Static => app.default_service(web::to(keep_or_give)),
            }
        });
        let server = server
            .workers(workers)
            .keep_alive(Duration::from_secs(75))
            .client_request_timeout(Duration::from_secs(5))
            .tcp_nodelay(true)
            .bind(("127.0.0.1", port))
            .with_context(|| format!("cannot listen on port {port}"))?;
        Ok(server.run().await?)
    })
}
