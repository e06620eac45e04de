//! Kinds of settings: how each is read, checked and described.

use super::environment::{Environment, SettingError};
use super::secret::Secret;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

/// A setting as the page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The variable.
    pub name: &'static str,
    /// The default, as text.
    pub default: String,
    /// What is allowed.
    pub allowed: String,
    /// Whether its value must not be shown.
    pub secret: bool,
    /// What it is for.
    pub doc: &'static str,
}

/// Any setting.
pub trait Setting: Sync {
    /// How the page shows it.
    fn row(&self) -> Row;
}

/// Says what was wrong.
fn wrong(setting: &dyn Setting, value: &std::ffi::OsStr) -> SettingError {
    let row = setting.row();
    let value = if row.secret { "its value (not shown)".to_owned() } else { format!("{:?}", value.to_string_lossy()) };
    SettingError { name: row.name, value, allowed: row.allowed }
}

/// Reads a variable through a parser; `None` if it is not set.
fn read_with<T>(
    setting: &dyn Setting,
    environment: &Environment,
    parse: impl FnOnce(&str) -> Option<T>,
) -> Result<Option<T>, SettingError> {
    let Some(value) = environment.raw(setting.row().name) else { return Ok(None) };
    value.to_str().map(str::trim).and_then(parse).map(Some).ok_or_else(|| wrong(setting, value))
}

/// A whole number within limits.
pub(super) struct Count {
    pub(super) name: &'static str,
    pub(super) default: u64,
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) unit: &'static str,
    pub(super) doc: &'static str,
}

impl Count {
    pub(super) fn read(&self, environment: &Environment) -> Result<u64, SettingError> {
        let within = |text: &str| text.parse().ok().filter(|number| (self.min..=self.max).contains(number));
        Ok(read_with(self, environment, within)?.unwrap_or(self.default))
    }

    /// A count that fits 32 bits by its limits.
    pub(super) fn read_u32(&self, environment: &Environment) -> Result<u32, SettingError> {
        Ok(u32::try_from(self.read(environment)?).unwrap_or(u32::MAX))
    }

    /// A count of milliseconds.
    pub(super) fn read_millis(&self, environment: &Environment) -> Result<Duration, SettingError> {
        Ok(Duration::from_millis(self.read(environment)?))
    }

    /// A count that fits the address space by its limits.
    pub(super) fn read_usize(&self, environment: &Environment) -> Result<usize, SettingError> {
        Ok(usize::try_from(self.read(environment)?).unwrap_or(usize::MAX))
    }
}

impl Setting for Count {
    fn row(&self) -> Row {
        Row {
            name: self.name,
            default: self.default.to_string(),
            allowed: format!("{} to {} {}", self.min, self.max, self.unit),
            secret: false,
            doc: self.doc,
        }
    }
}

/// A whole number within limits, where no value means that the program finds one.
pub(super) struct OptionalCount {
    pub(super) name: &'static str,
    pub(super) default: &'static str,
    pub(super) min: u64,
    pub(super) max: u64,
    pub(super) unit: &'static str,
    pub(super) doc: &'static str,
}

impl OptionalCount {
    pub(super) fn read(&self, environment: &Environment) -> Result<Option<u64>, SettingError> {
        read_with(self, environment, |text| text.parse().ok().filter(|number| (self.min..=self.max).contains(number)))
    }
}

impl Setting for OptionalCount {
    fn row(&self) -> Row {
        Row {
            name: self.name,
            default: self.default.to_owned(),
            allowed: format!("{} to {} {}", self.min, self.max, self.unit),
            secret: false,
            doc: self.doc,
        }
    }
}

/// One of some words.
pub(super) struct Choice<T: 'static> {
    pub(super) name: &'static str,
    /// What holds when it is not set: a word, or words that say what then happens.
    pub(super) default: &'static str,
    pub(super) choices: &'static [(&'static str, T)],
    pub(super) doc: &'static str,
}

impl<T: Copy + Sync> Choice<T> {
    pub(super) fn read(&self, environment: &Environment) -> Result<Option<T>, SettingError> {
        read_with(self, environment, |text| {
            self.choices.iter().find(|(word, _)| *word == text).map(|(_, choice)| *choice)
        })
    }
}

impl<T: Sync> Setting for Choice<T> {
    fn row(&self) -> Row {
        let words: Vec<String> = self.choices.iter().map(|(word, _)| format!("`{word}`")).collect();
        Row {
            name: self.name,
            default: self.default.to_owned(),
            allowed: words.join(" or "),
            secret: false,
            doc: self.doc,
        }
    }
}

/// An address to listen on.
pub(super) struct Address {
    pub(super) name: &'static str,
    pub(super) default: SocketAddr,
    pub(super) doc: &'static str,
}

impl Address {
    pub(super) fn read(&self, environment: &Environment) -> Result<SocketAddr, SettingError> {
        Ok(read_with(self, environment, |text| text.parse().ok())?.unwrap_or(self.default))
    }
}

impl Setting for Address {
    fn row(&self) -> Row {
        Row {
            name: self.name,
            default: self.default.to_string(),
            allowed: "an IP address and a port, such as `0.0.0.0:8080` or `[::1]:8080`".into(),
            secret: false,
            doc: self.doc,
        }
    }
}

/// A file or folder.
pub(super) struct Place {
    pub(super) name: &'static str,
    /// What holds when it is not set, in words.
    pub(super) default: &'static str,
    pub(super) what: &'static str,
    pub(super) doc: &'static str,
}

impl Place {
    /// Any bytes make a path, so nothing can be wrong here; whether it exists shows when it is used.
    pub(super) fn read(&self, environment: &Environment) -> Option<PathBuf> {
        environment.raw(self.name).map(PathBuf::from)
    }
}

impl Setting for Place {
    fn row(&self) -> Row {
        Row {
            name: self.name,
            default: self.default.to_owned(),
            allowed: format!("path of a {}", self.what),
            secret: false,
            doc: self.doc,
        }
    }
}

/// A text of a form of its own.
pub(super) struct Text {
    pub(super) name: &'static str,
    /// What holds when it is not set: a value, or words.
    pub(super) default: &'static str,
    pub(super) allowed: &'static str,
    pub(super) secret: bool,
    /// Whether a value has the form.
    pub(super) is_valid: fn(&str) -> bool,
    pub(super) doc: &'static str,
}

impl Text {
    pub(super) fn read(&self, environment: &Environment) -> Result<Option<String>, SettingError> {
        read_with(self, environment, |text| (self.is_valid)(text).then(|| text.to_owned()))
    }

    pub(super) fn read_secret(&self, environment: &Environment) -> Result<Option<Secret>, SettingError> {
        Ok(self.read(environment)?.map(Secret::new))
    }
}

impl Setting for Text {
    fn row(&self) -> Row {
        Row {
            name: self.name,
            default: self.default.to_owned(),
            allowed: self.allowed.to_owned(),
            secret: self.secret,
            doc: self.doc,
        }
    }
}
