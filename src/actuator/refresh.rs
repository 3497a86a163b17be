//! `POST /actuator/refresh`: reads the settings again (spec `spring.md` 1.6, item 58). Spring Cloud's end point, with its answer.

use actix_web::http::{Method, StatusCode};
use actix_web::web::{self, Data};
use actix_web::{HttpRequest, HttpResponse};

use super::accept;
use crate::http::reply;
use crate::node::Node;

/// What it answers.
pub const METHODS: [Method; 2] = [Method::POST, Method::OPTIONS];

/// The names of what has changed; 500 with the reason if the settings cannot be read, and nothing has changed then.
pub async fn answer(request: &HttpRequest) -> HttpResponse {
    let Some(node) = request.app_data::<Data<Node>>().cloned() else {
        return reply::empty(StatusCode::INTERNAL_SERVER_ERROR);
    };
    let refreshed = web::block(move || node.refresher.as_ref().map_or(Ok(Vec::new()), |r| r.refresh())).await;
    match refreshed {
        Ok(Ok(changed)) => accept::json(request, StatusCode::OK, &changed),
        Ok(Err(error)) => {
            tracing::warn!("{error:#}");
            reply::text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
        }
        Err(_) => reply::empty(StatusCode::INTERNAL_SERVER_ERROR),
    }
}
