//! Settings, read from the environment once, when the process starts.
//!
//! Each concern has a file with one table of its settings: name, kind, default, limits, and what it is for. Values are read
//! through that table, and `docs/settings.md` is written from it, so the page cannot say anything else than the program does.
//! A setting that is empty counts as not set.
//!
//! To add one: a constant in its concern's file, its place in that file's `SETTINGS`, a field and a line in `read`; then run the
//! tests with `UPDATE_DOCS=1`.

mod artifacts;
mod compute;
mod data;
mod environment;
mod keys;
mod kinds;
mod limits;
mod llm;
mod log;
mod page;
mod postgres;
mod redaction;
mod secret;
mod server;
mod telemetry;
mod unknown;

pub use artifacts::{S3Credentials, S3Settings};
pub use compute::{Compute, ComputeSettings, Precision};
pub use data::DataSettings;
pub use environment::{Environment, SettingError};
pub use keys::KeySettings;
pub use kinds::{Row, Setting};
pub use limits::LimitSettings;
pub use llm::{LlmSettings, TitlePolicy};
pub use log::{KafkaSettings, LogBackend, LogSettings};
pub use page::settings_page;
pub use postgres::PostgresSettings;
pub use redaction::RedactionSettings;
pub use secret::Secret;
pub use server::ServerSettings;
pub use telemetry::TelemetrySettings;
pub use unknown::unknown_settings;

/// A group of settings, as a section of the page.
pub struct Concern {
    /// Its heading.
    pub title: &'static str,
    /// What the group is about.
    pub doc: &'static str,
    /// Its settings.
    pub settings: &'static [&'static dyn Setting],
}

/// All concerns, in the order of the page.
pub const CONCERNS: &[Concern] = &[
    Concern { title: "Server", doc: "Where Stash is reached.", settings: server::SETTINGS },
    Concern { title: "Data folder", doc: "Where the embedded default keeps everything.", settings: data::SETTINGS },
    Concern {
        title: "Postgres",
        doc: "Read models, accounts and keys, and the event log unless it is in Kafka. Without `DATABASE_URL`, Stash runs a \
              Postgres of its own in the data folder.",
        settings: postgres::SETTINGS,
    },
    Concern { title: "Event log", doc: "The only source of truth.", settings: log::SETTINGS },
    Concern {
        title: "Artifacts on S3",
        doc: "Large payloads and checkpoints in a bucket instead of a folder; see [artifacts](artifacts.md).",
        settings: artifacts::SETTINGS,
    },
    Concern { title: "Training and scoring", doc: "Where models are trained and scored.", settings: compute::SETTINGS },
    Concern {
        title: "Language models",
        doc: "What language models are used for, and what they may take. [Language models](llm.md) lists providers, and the \
              variables with their addresses and keys.",
        settings: llm::SETTINGS,
    },
    Concern {
        title: "Encryption keys",
        doc: "What people wrote and agents said is encrypted; this is the key to the keys.",
        settings: keys::SETTINGS,
    },
    Concern { title: "Redaction", doc: "What imported text must not hold.", settings: redaction::SETTINGS },
    Concern { title: "Limits", doc: "Bounds on requests.", settings: limits::SETTINGS },
    Concern { title: "Logs", doc: "What the process says of itself.", settings: telemetry::SETTINGS },
];

/// All settings of a process.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Where it is reached.
    pub server: ServerSettings,
    /// Where the embedded default keeps everything.
    pub data: DataSettings,
    /// The database.
    pub postgres: PostgresSettings,
    /// The event log.
    pub log: LogSettings,
    /// The bucket that artifacts are kept in; `None`: in a folder.
    pub s3: Option<S3Settings>,
    /// Training and scoring.
    pub compute: ComputeSettings,
    /// Language models.
    pub llm: LlmSettings,
    /// Encryption keys.
    pub keys: KeySettings,
    /// What imported text must not hold.
    pub redaction: RedactionSettings,
    /// Bounds on requests.
    pub limits: LimitSettings,
    /// Logs.
    pub telemetry: TelemetrySettings,
}

impl Settings {
    /// Reads and checks all settings.
    ///
    /// # Errors
    /// [`SettingError`] for the first wrong value: its name, the value (unless it is secret) and what is allowed.
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        Ok(Self {
            server: ServerSettings::read(environment)?,
            data: DataSettings::read(environment)?,
            postgres: PostgresSettings::read(environment)?,
            log: LogSettings::read(environment)?,
            s3: artifacts::read(environment)?,
            compute: ComputeSettings::read(environment)?,
            llm: LlmSettings::read(environment)?,
            keys: KeySettings::read(environment)?,
            redaction: RedactionSettings::read(environment)?,
            limits: LimitSettings::read(environment)?,
            telemetry: TelemetrySettings::read(environment)?,
        })
    }
}
