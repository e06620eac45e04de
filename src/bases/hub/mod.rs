//! A base from the Hugging Face hub, over its HTTP API.
//!
//! ```text
//! GET <hub>/api/models/<repository>/revision/<revision>?blobs=true   the commit, and the files with lengths and checksums
//! GET <hub>/<repository>/resolve/<commit>/<file>                     a file, mostly by a redirect to another host
//! ```
//!
//! - All files are those of one commit, also when the branch moves meanwhile.
//! - A file is written beside its name; a connection that breaks, or a command that is stopped, goes on from there.
//! - A file's length is compared with what the hub says, and its SHA-256 where the hub knows it: for large files, weights among
//!   them.
//! - `HF_ENDPOINT` names another hub; `HF_TOKEN` is sent to the hub, never to a host that it redirects to.

mod fetch;
mod listing;

pub(crate) use fetch::fetch;
pub(crate) use listing::{Listing, list};

use anyhow::Context as _;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use std::time::Duration;

const HUB: &str = "https://huggingface.co";

/// How long a connection may take to be made.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// How long an answer, or its next piece, may take.
const READ_MAX: Duration = Duration::from_secs(60);

/// A repository of models, and which state of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    /// `OWNER/NAME`.
    pub(crate) repository: String,
    /// A branch, a tag or a commit.
    pub(crate) revision: String,
}

impl std::str::FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (repository, revision) = text.split_once('@').unwrap_or((text, "main"));
        let name = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        };
        let parts: Vec<&str> = repository.split('/').collect();
        if !(1..=2).contains(&parts.len()) || !parts.iter().all(|part| name(part)) || !name(revision) {
            return Err("a repository is OWNER/NAME, or OWNER/NAME@REVISION with a tag or commit".to_owned());
        }
        Ok(Self { repository: repository.to_owned(), revision: revision.to_owned() })
    }
}

/// The hub.
pub(crate) struct Hub {
    http: reqwest::Client,
    endpoint: String,
    token: Option<HeaderValue>,
}

impl Hub {
    /// The one that the environment names.
    pub(crate) fn of_environment() -> anyhow::Result<Self> {
        let endpoint = std::env::var("HF_ENDPOINT").ok().filter(|endpoint| !endpoint.is_empty());
        let token = std::env::var("HF_TOKEN").ok().filter(|token| !token.is_empty());
        let token = token.map(|token| {
            let mut header = HeaderValue::from_str(&format!("Bearer {}", token.trim()))?;
            header.set_sensitive(true);
            anyhow::Ok(header)
        });
        let http = reqwest::Client::builder().connect_timeout(CONNECT_MAX).read_timeout(READ_MAX).build()?;
        Ok(Self {
            http,
            endpoint: endpoint.unwrap_or_else(|| HUB.to_owned()).trim_end_matches('/').to_owned(),
            token: token.transpose().context("HF_TOKEN holds odd characters")?,
        })
    }

    /// A request to the hub. On a redirect to another host the client leaves the token out.
    fn get(&self, path: &str) -> reqwest::RequestBuilder {
        let request = self.http.get(format!("{}/{path}", self.endpoint));
        match &self.token {
            Some(token) => request.header(AUTHORIZATION, token.clone()),
            None => request,
        }
    }

    /// Why the hub refused.
    fn refused(&self, source: &Source, status: reqwest::StatusCode) -> anyhow::Error {
        let what = format!("{} at {}", source.repository, self.endpoint);
        match status.as_u16() {
            401 | 403 if self.token.is_some() => {
                anyhow::anyhow!(
                    "{what} is closed to this HF_TOKEN; its terms may have to be accepted on its page first"
                )
            }
            // The hub says the same of a repository that is not there.
            401 | 403 => anyhow::anyhow!("{what} is not there, or private: set HF_TOKEN to a token that may read it"),
            404 => anyhow::anyhow!("{what} or its revision {} is not there", source.revision),
            _ => anyhow::anyhow!("{what} answers with {status}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_have_a_revision() {
        let source: Source = "Qwen/Qwen3-0.6B".parse().unwrap();
        assert_eq!((source.repository.as_str(), source.revision.as_str()), ("Qwen/Qwen3-0.6B", "main"));
        assert_eq!("a/b@v1.0".parse::<Source>().unwrap().revision, "v1.0");
        for bad in ["", "a/b/c", "a/..", "a/b@", "a b/c", "a/b@../x"] {
            assert!(bad.parse::<Source>().is_err(), "{bad}");
        }
    }
}
