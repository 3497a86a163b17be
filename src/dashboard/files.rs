//! Style sheet, script and mark of the pages, inside the binary: a page loads nothing from elsewhere.

use std::sync::LazyLock;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, HeaderValue, X_CONTENT_TYPE_OPTIONS};

use crate::http::reply;

/// One file.
#[derive(Debug)]
struct File {
    folder: &'static str,
    name: &'static str,
    content_type: &'static str,
    content: &'static [u8],
}

static CSS: File = File {
    folder: "css",
    name: "heureka.css",
    content_type: "text/css;charset=UTF-8",
    content: include_bytes!("files/heureka.css"),
};

static JS: File = File {
    folder: "js",
    name: "heureka.js",
    content_type: "text/javascript;charset=UTF-8",
    content: include_bytes!("files/heureka.js"),
};

static ICON: File = File {
    folder: "images",
    name: "heureka.svg",
    content_type: "image/svg+xml",
    content: include_bytes!("files/heureka.svg"),
};

/// Browsers keep a file for a day; a changed one has another address.
const KEPT_FOR: HeaderValue = HeaderValue::from_static("public, max-age=86400");

/// Marks the contents of all files in their addresses.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let bytes = [&CSS, &JS, &ICON].into_iter().flat_map(|file| file.content);
    // FNV-1a: any change of a file shall change the address, nothing more.
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    format!("{hash:016x}")
});

/// Addresses of the files under a context path.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// Style sheet.
    pub css: String,
    /// Script.
    pub js: String,
    /// Mark of the product.
    pub icon: String,
}

impl Addresses {
    /// The static files stay below `/eureka` wherever the page is (spec `spring.md` 3.4).
    #[must_use]
    pub fn under(context_path: &str) -> Self {
        let address =
            |file: &File| format!("{context_path}/eureka/{}/{}?v={}", file.folder, file.name, *VERSION);
        Self { css: address(&CSS), js: address(&JS), icon: address(&ICON) }
    }
}

/// The file of a folder below `/eureka`; `None` if there is none.
#[must_use]
pub fn answer(folder: &str, name: &str) -> Option<HttpResponse> {
    let file = [&CSS, &JS, &ICON].into_iter().find(|file| (file.folder, file.name) == (folder, name))?;
    let mut response = reply::body(StatusCode::OK, file.content_type, file.content);
    response.headers_mut().insert(CACHE_CONTROL, KEPT_FOR);
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Some(response)
}
