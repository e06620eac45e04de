//! `/docs/errors/{code}`: what an error code means and what to do, the page that a problem's `type` leads to.

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use stash_domain::error::Code;
use stash_infra::http::Problem;

// The pages of `docs/errors/`, compiled in by `build.rs`: `&[(code, text)]`.
include!(concat!(env!("OUT_DIR"), "/error_pages.rs"));

/// Shows a page. A code without one (there is a test that none lacks it) shows its title.
pub(super) async fn show(Path(code): Path<String>) -> Response {
    let Ok(known) = code.parse::<Code>() else {
        return Problem::new(Code::NotFound, format!("there is no error code {code:?}")).into_response();
    };
    let page = PAGES.iter().find(|(name, _)| *name == code).map(|(_, text)| (*text).to_owned());
    let text = page.unwrap_or_else(|| format!("# {code}\n\n{} (HTTP {})\n", known.title(), known.status()));
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_code_has_a_page_and_every_page_a_code() {
        let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        let pages: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
        for code in &codes {
            assert!(pages.contains(code), "docs/errors/{code}.md is missing: what happened, what to do, an example");
        }
        for page in pages {
            assert!(codes.contains(&page), "docs/errors/{page}.md is about a code that does not exist");
        }
    }
}
