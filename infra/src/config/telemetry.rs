//! Logs.

use super::environment::{Environment, SettingError};
use super::kinds::{Choice, Setting, Text};
use crate::telemetry::{LogFormat, is_filter};

const FILTER: Text = Text {
    name: "RUST_LOG",
    default: FILTER_DEFAULT,
    allowed: "a level (`error`, `warn`, `info`, `debug`, `trace`), or a list such as `info,stash_infra=debug`",
    secret: false,
    is_valid: is_filter,
    doc: "Which lines are written to standard error.",
};

const FILTER_DEFAULT: &str = "info";

const FORMAT: Choice<LogFormat> = Choice {
    name: "STASH_LOG_FORMAT",
    default: "`text`",
    choices: &[("text", LogFormat::Text), ("json", LogFormat::Json)],
    doc: "`text` for people, `json` for machines: one object per line.",
};

pub(super) const SETTINGS: &[&dyn Setting] = &[&FILTER, &FORMAT];

/// Logs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TelemetrySettings {
    /// Which lines are written.
    pub filter: String,
    /// How they look.
    pub format: LogFormat,
}

impl TelemetrySettings {
    /// Reads them.
    ///
    /// # Errors
    /// [`SettingError`].
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        Ok(Self {
            filter: FILTER.read(environment)?.unwrap_or_else(|| FILTER_DEFAULT.to_owned()),
            format: FORMAT.read(environment)?.unwrap_or(LogFormat::Text),
        })
    }
}
