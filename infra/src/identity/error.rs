//! Why a change of an account or a key was refused.

/// A refused or failed operation.
#[derive(Debug, thiserror::Error)]
pub enum IdentityError {
    /// Not an address that can be an account's.
    #[error("{0:?} is not an e-mail address")]
    BadEmail(String),
    /// A name is too long or holds control characters.
    #[error("a name may have up to {0} characters, without line breaks or other control characters")]
    BadName(usize),
    /// There is no such account.
    #[error("there is no such account")]
    NoAccount,
    /// The account has as many keys as one may have.
    #[error("the account has {0} API keys that work, and that is the limit; revoke one first")]
    TooManyKeys(i64),
    /// An expiry in the past.
    #[error("the key would expire in the past")]
    AlreadyExpired,
    /// A row does not hold what the program writes.
    #[error("the identity tables hold an unknown {0}")]
    Damaged(&'static str),
    /// The system has no randomness to give.
    #[error("the system's random generator failed")]
    NoRandomness,
    /// The database failed.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
}
