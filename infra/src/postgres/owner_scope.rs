//! Reading as one owner.
//!
//! Every read model has a row-level-security policy that compares `owner_id` with the setting `stash.owner_id`, so a query
//! without it, or one that forgets its `WHERE`, sees nothing of anybody else. The setting lives as long as the transaction and
//! cannot leak into the next use of the connection.

use super::error::is_broken_connection;
use sqlx::postgres::PgConnection;
use sqlx::{AssertSqlSafe, PgPool, Postgres, Transaction};
use stash_domain::ids::OwnerId;
use std::ops::{Deref, DerefMut};

/// A read-only transaction that sees one snapshot of one owner's rows. Use it as the `PgConnection` it derefs to; dropping it
/// ends it without a round trip for the caller.
#[derive(Debug)]
pub struct OwnerTx {
    transaction: Transaction<'static, Postgres>,
}

impl OwnerTx {
    /// Begins, in one round trip. `pool` is [`super::Pools::api`], whose role the policies bind.
    ///
    /// # Errors
    /// Those of the database; a connection that broke while it was idle is replaced and is no error.
    pub async fn begin(pool: &PgPool, owner: OwnerId) -> Result<Self, sqlx::Error> {
        // After a restart of the server every idle connection is broken, so in the worst case all are tried, and a new one.
        let attempts = pool.options().get_max_connections() + 1;
        let mut attempt = 1;
        loop {
            // A UUID's text holds hexadecimal digits and hyphens only, so it can stand in a literal.
            let begin = format!(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL stash.owner_id = '{}'",
                owner.0.as_hyphenated()
            );
            match pool.begin_with(AssertSqlSafe(begin)).await {
                Ok(transaction) => return Ok(Self { transaction }),
                Err(error) if attempt < attempts && is_broken_connection(&error) => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Deref for OwnerTx {
    type Target = PgConnection;
    fn deref(&self) -> &PgConnection {
        &self.transaction
    }
}

impl DerefMut for OwnerTx {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.transaction
    }
}
