//! The clocks of this machine and of the database agree.

use super::Finding;
use sqlx::postgres::PgConnection;

const CHECK: &str = "clock";

/// Microseconds by which they may differ: links are valid for five minutes.
const DIFFERENCE_MAX_US: i64 = 30_000_000;

/// Compares them.
pub(super) async fn check(connection: &mut PgConnection) -> Finding {
    let theirs: Result<i64, sqlx::Error> = sqlx::query_scalar(include_str!("clock.sql")).fetch_one(connection).await;
    let ours = jiff::Timestamp::now().as_microsecond();
    match theirs {
        Ok(theirs) if (theirs - ours).abs() <= DIFFERENCE_MAX_US => Finding::ok(CHECK, "agrees with the database's"),
        Ok(theirs) => Finding::broken(
            CHECK,
            format!("differs from the database's by {} s", (theirs - ours).abs() / 1_000_000),
            "set both by NTP; keys and links expire by them",
        ),
        Err(error) => Finding::warning(CHECK, format!("unknown: {error}"), "see the check of postgres"),
    }
}
