//! Postgres is there, or can be started; and if it is there, its clock agrees with ours and the log can be read.

use super::{Finding, clock};
use sqlx::postgres::{PgConnectOptions, PgConnection};
use sqlx::{ConnectOptions as _, Connection as _};
use stash_infra::config::{LogBackend, Settings};
use stash_infra::postgres::embedded::{self, Search};
use std::time::Duration;

const CHECK: &str = "postgres";
const LOG: &str = "event log";

/// How long an answer may take.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Looks at the database of the settings.
pub(super) async fn check(settings: &Settings) -> Vec<Finding> {
    if let Some(options) = settings.postgres.connect_options() {
        return running(settings, options, "DATABASE_URL").await;
    }
    if let Some(options) = embedded::running(&settings.data.folder) {
        return running(settings, options, "the embedded one, which runs").await;
    }
    vec![match Search::from_environment().find(None) {
        Ok(found) => Finding::ok(CHECK, format!("version {} in {}, not running", found.major, found.folder.display())),
        Err(error) => Finding::broken(CHECK, error.to_string(), "make run fetches one where none is installed"),
    }]
}

async fn running(settings: &Settings, options: PgConnectOptions, what: &str) -> Vec<Finding> {
    let options = options.disable_statement_logging();
    let connecting = PgConnection::connect_with(&options);
    let mut connection = match tokio::time::timeout(ANSWER_MAX, connecting).await {
        Ok(Ok(connection)) => connection,
        Ok(Err(error)) => {
            return vec![Finding::broken(CHECK, format!("{what}: {error}"), "start it, or mend DATABASE_URL")];
        }
        Err(_) => return vec![Finding::broken(CHECK, format!("{what}: no answer"), "start it, or mend DATABASE_URL")],
    };
    let mut findings = vec![Finding::ok(CHECK, what.to_owned())];
    findings.push(clock::check(&mut connection).await);
    if settings.log.backend == LogBackend::Postgres {
        findings.push(log(&mut connection).await);
    }
    let _ = connection.close().await;
    findings
}

async fn log(connection: &mut PgConnection) -> Finding {
    let records: Result<Option<i64>, sqlx::Error> =
        sqlx::query_scalar(include_str!("count_records.sql")).fetch_one(connection).await;
    match records {
        Ok(records) => Finding::ok(LOG, format!("{} records", records.unwrap_or_default())),
        Err(error) if is_absent(&error) => Finding::ok(LOG, "made at first start"),
        Err(error) => Finding::broken(LOG, error.to_string(), "see the database's own log"),
    }
}

/// Whether the tables are not there yet: `undefined_table`.
fn is_absent(error: &sqlx::Error) -> bool {
    error.as_database_error().and_then(|error| error.code()).is_some_and(|code| code == "42P01")
}
