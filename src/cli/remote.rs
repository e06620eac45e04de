//! Options of commands that talk to a server.

use crate::client::{self, Client};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Which server. Its key is read from STASH_API_KEY, or from what `stash up` left in its data folder.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Remote {
    /// The server's address [default: STASH_URL, else that of the Stash on this machine]
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// Data folder of the Stash on this machine whose key to use [default: STASH_DATA, else that of `make run`, else the user's data folder]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// Print JSON, for scripts
    #[arg(long)]
    pub(crate) json: bool,
}

impl Remote {
    /// The data folder, if one is named.
    pub(crate) fn data(&self) -> Option<&Path> {
        self.data.as_deref()
    }

    /// A client of that server.
    pub(crate) fn client(&self) -> anyhow::Result<Client> {
        client::find(self.data.as_deref(), self.url.as_deref())
    }
}

/// A trace as people name it, for a path of the API: its id, or `external:` and the id it has where it was recorded.
pub(crate) fn trace_segment(trace: &str) -> String {
    encode(trace)
}

/// Escapes a text for a path or a query.
pub(crate) fn encode(text: &str) -> String {
    use std::fmt::Write as _;
    let mut escaped = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// A field's text; empty when it has none.
pub(crate) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// A field's whole number; 0 when it has none.
pub(crate) fn number(value: &Value, field: &str) -> i64 {
    value.get(field).and_then(Value::as_i64).unwrap_or_default()
}

/// The items of a field that is an array.
pub(crate) fn items<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    value.get(field).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_external_ids_fit_into_a_path() {
        assert_eq!(encode("external:a/b c?é"), "external:a%2Fb%20c%3F%C3%A9");
    }
}
