//! The database.

use super::environment::{Environment, SettingError};
use super::kinds::{Count, Place, Setting, Text};
use super::secret::Secret;
use crate::postgres::PoolSizes;
use sqlx::postgres::PgConnectOptions;
use std::str::FromStr as _;

const DATABASE_URL: Text = Text {
    name: "DATABASE_URL",
    default: "not set: the embedded Postgres in the data folder",
    allowed: "a URL such as `postgres://user:password@host:5432/stash`",
    secret: true,
    is_valid: |text| parse_url(text).is_some(),
    doc: "An existing Postgres, version 15 or later, over a socket or a private network: the connection is not encrypted. Its \
          user owns the database, and may make roles or finds `stash_api` and `stash_log` made.",
};

const POSTGRES_BIN: Place = Place {
    name: "STASH_POSTGRES_BIN",
    default: "found on `PATH`, in `/usr/lib/postgresql`, or in `.deps`",
    what: "folder with `initdb` and `postgres`",
    doc: "Which Postgres the embedded default runs.",
};

const DEPS_DIR: Place = Place {
    name: "STASH_DEPS_DIR",
    default: "`.deps` beside the program, or up to two folders above it or the current folder",
    what: "folder",
    doc: "Where the set-up put libraries and programs that it fetched.",
};

const API_CONNECTIONS: Count = Count {
    name: "STASH_POSTGRES_API_CONNECTIONS",
    default: 12,
    min: 1,
    max: 500,
    unit: "connections",
    doc: "Connections that answer requests, per process.",
};

const SYSTEM_CONNECTIONS: Count = Count {
    name: "STASH_POSTGRES_SYSTEM_CONNECTIONS",
    default: 10,
    min: 3,
    max: 500,
    unit: "connections",
    doc: "Connections for accounts, leases, verdicts and the like, per process.",
};

pub(super) const SETTINGS: &[&dyn Setting] =
    &[&DATABASE_URL, &POSTGRES_BIN, &DEPS_DIR, &API_CONNECTIONS, &SYSTEM_CONNECTIONS];

/// The database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresSettings {
    /// An existing server; `None` for the embedded one.
    pub url: Option<Secret>,
    /// Bounds of the pools.
    pub sizes: PoolSizes,
}

impl PostgresSettings {
    /// Reads them. The places of programs are read by [`crate::postgres::embedded::Search::from_environment`].
    ///
    /// # Errors
    /// [`SettingError`].
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        Ok(Self {
            url: DATABASE_URL.read_secret(environment)?,
            sizes: PoolSizes {
                api: API_CONNECTIONS.read_u32(environment)?,
                system: SYSTEM_CONNECTIONS.read_u32(environment)?,
            },
        })
    }

    /// How to connect to the existing server; `None` for the embedded one.
    pub fn connect_options(&self) -> Option<PgConnectOptions> {
        self.url.as_ref().and_then(|url| parse_url(url.expose()))
    }
}

fn parse_url(text: &str) -> Option<PgConnectOptions> {
    // The parser takes any scheme.
    let scheme = text.split_once("://")?.0;
    if !["postgres", "postgresql"].contains(&scheme) {
        return None;
    }
    PgConnectOptions::from_str(text).ok()
}
