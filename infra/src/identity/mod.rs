//! Accounts and API keys.
//!
//! ```text
//! stash_<22 characters: the key's id><44 characters: 256 random bits>
//!         └ not secret: finds the row      └ secret: the row holds its SHA-256 only
//! ```
//!
//! - A slow hash would add nothing: the secret is random, so guessing it is as hard as guessing a hash's input.
//! - What was looked up is kept for [`CACHE_TTL`]: that long a revoked key, or a switched-off account, may still work.
//! - Every change leaves an event for the log in the same transaction ([`Change`]); whoever appends it settles it then, and what
//!   a crash left unsettled is found by [`Identity::unsettled`]. Events hold neither secrets nor addresses.
//! - All statements run as the system role: the role that answers requests cannot read these tables.

mod accounts;
mod authenticate;
mod change;
mod error;
mod key_text;
mod keys;

pub use accounts::{Account, NewAccount, Role};
pub use authenticate::{CACHE_TTL, Caller, LookUpError};
pub use change::{Change, ChangeId};
pub use error::IdentityError;
pub use key_text::KeyText;
pub use keys::{ApiKey, NewKey, Scope};

use crate::clock::Clock;
use authenticate::KeyCache;
use sqlx::PgPool;
use std::sync::Arc;

/// The accounts and keys of one database.
#[derive(Clone)]
pub struct Identity {
    pool: PgPool,
    cache: KeyCache,
    clock: Arc<dyn Clock>,
}

impl Identity {
    /// `pool` is that of the system role.
    pub fn new(pool: PgPool, clock: Arc<dyn Clock>) -> Self {
        Self { pool, cache: authenticate::new_cache(), clock }
    }
}

impl std::fmt::Debug for Identity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Identity")
    }
}
