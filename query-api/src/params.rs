//! Query parameters, strictly: an unknown, repeated or unreadable one is refused by name, so that a misspelt filter never goes
//! unnoticed.

use axum::Json;
use axum::extract::Query;
use axum::response::{IntoResponse as _, Response};
use http::Uri;
use http::header::{HeaderValue, LINK};
use serde::Serialize;
use stash_domain::error::Code;
use stash_domain::limits::{PAGE_DEFAULT, PAGE_MAX};
use stash_infra::http::Problem;
use std::str::FromStr;
use uuid::Uuid;

/// Bytes of a parameter's value. Longer ones would only be searched for in vain.
pub(crate) const VALUE_BYTES_MAX: usize = 4096;

/// The parameters that were not taken yet.
#[derive(Debug)]
pub(crate) struct Params(Vec<(String, String)>);

impl Params {
    /// Those of a request.
    ///
    /// # Errors
    /// A value that is too long or holds a NUL, which no stored text has.
    pub(crate) fn of(uri: &Uri) -> Result<Self, Problem> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(uri)
            .map_err(|_| Problem::new(Code::InvalidRequest, "the query string cannot be read"))?;
        for (name, value) in &pairs {
            if name.len() > VALUE_BYTES_MAX || value.len() > VALUE_BYTES_MAX {
                return Err(invalid(&shortened(name), format_args!("is longer than {VALUE_BYTES_MAX} bytes")));
            }
            if name.contains('\0') || value.contains('\0') {
                return Err(invalid(&name.replace('\0', "\\0"), format_args!("holds a NUL character")));
            }
        }
        Ok(Self(pairs))
    }

    /// A parameter's value.
    ///
    /// # Errors
    /// When it stands there twice.
    pub(crate) fn take(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let Some(at) = self.0.iter().position(|(key, _)| key == name) else { return Ok(None) };
        let (_, value) = self.0.remove(at);
        if self.0.iter().any(|(key, _)| key == name) {
            return Err(invalid(name, format_args!("is given more than once")));
        }
        Ok(Some(value))
    }

    /// A parameter's value, read as `T`. `expected` says what it must be, for the refusal.
    ///
    /// # Errors
    /// When it stands there twice or is none.
    pub(crate) fn parsed<T: FromStr>(&mut self, name: &str, expected: &str) -> Result<Option<T>, Problem> {
        let Some(value) = self.take(name)? else { return Ok(None) };
        value.parse().map(Some).map_err(|_| invalid(name, format_args!("must be {expected}")))
    }

    /// A UUID.
    ///
    /// # Errors
    /// As [`Params::parsed`].
    pub(crate) fn uuid(&mut self, name: &str) -> Result<Option<Uuid>, Problem> {
        self.parsed(name, "a UUID")
    }

    /// All parameters of the form `<prefix>.<key>` or `<prefix>[<key>]`, by key, in their order.
    pub(crate) fn keyed(&mut self, prefix: &str) -> Vec<(String, String)> {
        let key_of = |name: &str| {
            let rest = name.strip_prefix(prefix)?;
            let key = rest.strip_prefix('.').or_else(|| rest.strip_prefix('[')?.strip_suffix(']'))?;
            Some(key.to_owned())
        };
        let mut keyed = Vec::new();
        self.0.retain(|(name, value)| match key_of(name) {
            Some(key) => {
                keyed.push((key, value.clone()));
                false
            }
            None => true,
        });
        keyed
    }

    /// Refuses what was not taken.
    ///
    /// # Errors
    /// The first unknown parameter, named.
    pub(crate) fn end(self) -> Result<(), Problem> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => Err(invalid(&shortened(name), format_args!("is not a parameter of this request"))),
        }
    }

    /// `limit` and `offset` of a list.
    ///
    /// # Errors
    /// [`Code::BadLimit`].
    pub(crate) fn page(&mut self) -> Result<Page, Problem> {
        let limit = match self.take("limit")? {
            None => i64::from(PAGE_DEFAULT),
            Some(text) => {
                text.parse().ok().filter(|limit| (1..=i64::from(PAGE_MAX)).contains(limit)).ok_or_else(|| {
                    Problem::new(Code::BadLimit, format!("limit must be a number from 1 to {PAGE_MAX}"))
                })?
            }
        };
        let offset = match self.take("offset")? {
            None => 0,
            Some(text) => text
                .parse()
                .ok()
                .filter(|offset: &i64| *offset >= 0)
                .ok_or_else(|| Problem::new(Code::BadLimit, "offset must be a number from 0"))?,
        };
        Ok(Page { limit, offset })
    }
}

/// A page of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// Rows.
    pub(crate) limit: i64,
    /// Rows before.
    pub(crate) offset: i64,
}

impl Page {
    /// The answer, from the page's rows and one more, if there was one: that row goes, and a `Link` header names the next page.
    pub(crate) fn answer<T: Serialize>(self, mut rows: Vec<T>) -> Response {
        let next = self.next_link(&mut rows);
        let mut response = Json(rows).into_response();
        if let Some(next) = next {
            response.headers_mut().insert(LINK, next);
        }
        response
    }

    /// What names the next page in a `Link` header, given one row more than the page holds, if there was one; that row goes.
    fn next_link<T>(self, rows: &mut Vec<T>) -> Option<HeaderValue> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        if rows.len() <= limit {
            return None;
        }
        rows.truncate(limit);
        let offset = self.offset.saturating_add(self.limit);
        HeaderValue::from_str(&format!("<?limit={}&offset={offset}>; rel=\"next\"", self.limit)).ok()
    }
}

/// A refusal of one parameter.
pub(crate) fn invalid(name: &str, what: std::fmt::Arguments<'_>) -> Problem {
    Problem::new(Code::InvalidField, format!("the query parameter {name} {what}"))
}

fn shortened(name: &str) -> String {
    name.chars().take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn params(query: &str) -> Params {
        Params::of(&format!("/?{query}").parse().unwrap()).unwrap()
    }

    #[test]
    fn limits_are_from_1_to_500_and_default_to_50() {
        assert_eq!(params("").page().unwrap(), Page { limit: 50, offset: 0 });
        assert_eq!(params("limit=500&offset=7").page().unwrap(), Page { limit: 500, offset: 7 });
        for bad in
            ["limit=0", "limit=501", "limit=", "limit=x", "limit=1.5", "offset=-1", "offset=99999999999999999999"]
        {
            assert_eq!(params(bad).page().unwrap_err().code(), Code::BadLimit, "{bad}");
        }
    }

    #[test]
    fn unknown_and_repeated_parameters_are_named() {
        let mut two = params("q=a&q=b");
        assert!(two.take("q").unwrap_err().detail().contains('q'));
        assert!(params("fomat=x").end().unwrap_err().detail().contains("fomat"));
    }

    #[test]
    fn keys_are_read_in_both_forms() {
        let mut params = params("metadata.a.b=1&x=2&metadata%5Bc%5D=3&metadata=4");
        assert_eq!(params.keyed("metadata"), [("a.b".to_owned(), "1".to_owned()), ("c".to_owned(), "3".to_owned())]);
        assert_eq!(params.0.len(), 2);
    }

    #[test]
    fn a_nul_is_refused() {
        assert_eq!(Params::of(&"/?q=a%00".parse().unwrap()).unwrap_err().code(), Code::InvalidField);
    }
}
