//! The variables that settings are read from, and what can be wrong with one.

use std::collections::BTreeMap;
use std::ffi::OsString;

/// A setting has a value that it cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name}: {value} is not allowed; it takes {allowed}")]
pub struct SettingError {
    /// The variable.
    pub name: &'static str,
    /// Its value in quotes; for a secret, words that stand for it.
    pub value: String,
    /// What is allowed.
    pub allowed: String,
}

/// A copy of the environment.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, OsString>,
}

impl Environment {
    /// That of this process.
    pub fn of_process() -> Self {
        Self::of(std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value))))
    }

    /// One made of these variables.
    pub fn of<N: Into<String>, V: Into<OsString>>(variables: impl IntoIterator<Item = (N, V)>) -> Self {
        let variables = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        // Compose files and unit files can set a variable but not unset it, so an empty one counts as unset.
        Self { variables: variables.filter(|(_, value)| !value.is_empty()).collect() }
    }

    /// Names of all variables that are set.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str)
    }

    /// A variable's value as it is.
    pub(super) fn raw(&self, name: &str) -> Option<&OsString> {
        self.variables.get(name)
    }
}
