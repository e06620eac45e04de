//! Connections to Postgres, each kind with the rights and bounds of its purpose.
//!
//! All of it is said in the connection's start-up options and not by statements after it, so that `RESET` leads back to it and
//! a new connection costs no extra round trip.

use super::error::{DatabaseError, is_unavailable};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _};
use std::time::{Duration, Instant};

/// The role of connections that answer requests: reads of the read models, under row-level security.
pub const API_ROLE: &str = "stash_api";

/// The role of the event log's connections: appends and reads, and nothing of the read models.
pub const LOG_ROLE: &str = "stash_log";

/// How long [`wait_until_reachable`] tries by default: a server that is starting beside us.
pub const REACHABLE_MAX: Duration = Duration::from_secs(30);

/// How long a request waits for a free connection before it is answered with 503.
const ACQUIRE_MAX: Duration = Duration::from_secs(5);

/// After this idle time a connection is closed: an idle Stash holds few server processes.
const IDLE_MAX: Duration = Duration::from_secs(60);

/// After this age a connection is replaced, since a server process never gives back the memory of its caches.
const AGE_MAX: Duration = Duration::from_secs(1800);

/// Prepared statements kept per connection: more than the program has, so that none is prepared twice.
const STATEMENTS_MAX: usize = 256;

/// First pause between attempts to connect; it doubles up to [`ATTEMPT_PAUSE_MAX`].
const ATTEMPT_PAUSE: Duration = Duration::from_millis(20);

/// See [`ATTEMPT_PAUSE`].
const ATTEMPT_PAUSE_MAX: Duration = Duration::from_secs(1);

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose<'a> {
    /// Answering requests: role `stash_api`, read only, statements of at most 15 s, schema `rm`.
    Api,
    /// The event log: role `stash_log`, schema `public`.
    Log,
    /// Accounts, keys, leases and whole-database reads: the user of the URL, statements of at most 60 s, schemas `rm` and
    /// `public`.
    System,
    /// Writing one version of the read models: the user of the URL, without a limit on statements (a rebuild copies for long).
    Projector {
        /// The schema of that version, such as `rm_v1`.
        schema: &'a str,
    },
}

impl Purpose<'_> {
    /// Connection options for this purpose, from those of the deployment.
    pub fn options(self, base: &PgConnectOptions) -> PgConnectOptions {
        let base = base.clone().disable_statement_logging().statement_cache_capacity(STATEMENTS_MAX);
        let mut settings: Vec<(&str, String)> = match self {
            Self::Api => vec![
                ("role", API_ROLE.into()),
                ("search_path", "rm,public".into()),
                ("default_transaction_read_only", "on".into()),
                ("statement_timeout", "15s".into()),
                ("lock_timeout", "5s".into()),
                ("idle_in_transaction_session_timeout", "60s".into()),
            ],
            Self::Log => vec![
                ("role", LOG_ROLE.into()),
                ("search_path", "public".into()),
                ("statement_timeout", "60s".into()),
                ("idle_in_transaction_session_timeout", "60s".into()),
            ],
            Self::System => vec![
                ("search_path", "rm,public".into()),
                ("statement_timeout", "60s".into()),
                ("lock_timeout", "10s".into()),
                ("idle_in_transaction_session_timeout", "300s".into()),
            ],
            Self::Projector { schema } => {
                vec![("search_path", format!("{schema},public")), ("lock_timeout", "10s".into())]
            }
        };
        settings.extend([self.plans(), ("jit", "off")].map(|(name, value)| (name, value.to_owned())));
        // Notices (a view that is not there to drop) are the server's talk with itself.
        base.application_name(self.name()).options([("client_min_messages", "warning")]).options(settings)
    }

    /// How plans of prepared statements are kept from growing old. One that was made while a table was nearly empty reads it
    /// whole, and is kept until the table is analysed, a minute of load later: reads were measured to take 1,000 times as long.
    fn plans(self) -> (&'static str, &'static str) {
        match self {
            // Many small statements, each with an index of its own: planned once, and never to read a whole table.
            Self::Api | Self::Log => ("enable_seqscan", "off"),
            // Larger ones, some over whole tables: planned anew each time.
            Self::System | Self::Projector { .. } => ("plan_cache_mode", "force_custom_plan"),
        }
    }

    /// A pool of at most `connections_max` connections, opened as they are needed.
    pub fn pool(self, base: &PgConnectOptions, connections_max: u32) -> PgPool {
        PgPoolOptions::new()
            .max_connections(connections_max)
            .acquire_timeout(ACQUIRE_MAX)
            .idle_timeout(IDLE_MAX)
            .max_lifetime(AGE_MAX)
            // A round trip per request saved; `OwnerTx::begin` copes with a connection that died while idle.
            .test_before_acquire(self != Self::Api)
            .connect_lazy_with(self.options(base))
    }

    /// What `pg_stat_activity` shows.
    fn name(self) -> &'static str {
        match self {
            Self::Api => "stash-api",
            Self::Log => "stash-log",
            Self::System => "stash-system",
            Self::Projector { .. } => "stash-projector",
        }
    }
}

/// Upper bounds of the two pools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSizes {
    /// Connections that answer requests.
    pub api: u32,
    /// Connections for everything else.
    pub system: u32,
}

impl Default for PoolSizes {
    /// Two of every three connections wait for the disk or the client, so a small machine has use for a few per core.
    fn default() -> Self {
        Self { api: 12, system: 10 }
    }
}

/// The pools that every role of Stash has.
#[derive(Clone, Debug)]
pub struct Pools {
    /// Reads for requests; always through [`super::OwnerTx`].
    pub api: PgPool,
    /// Everything that is not scoped to one owner.
    pub system: PgPool,
    options: PgConnectOptions,
}

impl Pools {
    /// Waits until the server answers, and makes the pools. The roles must exist: run [`super::migrate`] first, or use
    /// [`super::open`].
    ///
    /// # Errors
    /// [`DatabaseError::Unreachable`] after [`REACHABLE_MAX`]; [`DatabaseError::Refused`].
    pub async fn connect(options: &PgConnectOptions, sizes: PoolSizes) -> Result<Self, DatabaseError> {
        wait_until_reachable(options, REACHABLE_MAX).await?;
        Ok(Self {
            api: Purpose::Api.pool(options, sizes.api),
            system: Purpose::System.pool(options, sizes.system),
            options: options.clone(),
        })
    }

    /// The deployment's options, for further pools by [`Purpose::pool`] and for listeners.
    pub fn options(&self) -> &PgConnectOptions {
        &self.options
    }

    /// Closes all connections, after the statements that run on them.
    pub async fn close(&self) {
        tokio::join!(self.api.close(), self.system.close());
    }
}

/// Tries to connect, with growing pauses, until the server answers.
///
/// # Errors
/// [`DatabaseError::Unreachable`] when `at_most` has passed; [`DatabaseError::Refused`] at once when trying again is of no use.
pub async fn wait_until_reachable(options: &PgConnectOptions, at_most: Duration) -> Result<(), DatabaseError> {
    let options = options.clone().disable_statement_logging();
    let begin = Instant::now();
    let mut pause = ATTEMPT_PAUSE;
    loop {
        let source = match PgConnection::connect_with(&options).await {
            Ok(connection) => return Ok(connection.close().await?),
            Err(error) => error,
        };
        if !is_unavailable(&source) {
            return Err(DatabaseError::Refused(source));
        }
        let waited = begin.elapsed();
        if waited + pause > at_most {
            return Err(DatabaseError::Unreachable { waited, source });
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(ATTEMPT_PAUSE_MAX);
    }
}
