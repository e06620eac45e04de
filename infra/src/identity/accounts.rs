//! Accounts: the owners of everything.

use super::Identity;
use super::change::Change;
use super::error::IdentityError;
use stash_domain::events::{AccountCreated, RewardModelsSwitched};
use stash_domain::ids::OwnerId;
use stash_domain::limits::NAME_CHARS_MAX;
use stash_domain::time::Timestamp;
use uuid::Uuid;

/// Characters of an address (RFC 5321 allows 254 in practice).
const EMAIL_CHARS_MAX: usize = 254;

/// Accounts that one list returns.
const LIST_MAX: i64 = 10_000;

/// What an account may do beyond its own data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its own data.
    User,
    /// And the deployment: accounts, the audit of all.
    Operator,
}

impl Role {
    /// As it stands in tables, events and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Operator => "operator",
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, IdentityError> {
        match text {
            "user" => Ok(Self::User),
            "operator" => Ok(Self::Operator),
            _ => Err(IdentityError::Damaged("role")),
        }
    }
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its id: the owner of its data.
    pub id: OwnerId,
    /// Its address, in lower case; unique.
    pub email: String,
    /// A name for people; may be empty.
    pub name: String,
    /// Its role.
    pub role: Role,
    /// Whether it may use reward models.
    pub reward_models_enabled: bool,
    /// When it was made.
    pub created_at: Timestamp,
}

/// An account to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAccount {
    /// Its address, in any case.
    pub email: String,
    /// A name for people; may be empty.
    pub name: String,
    /// Its role.
    pub role: Role,
}

/// A row of `account`.
#[derive(sqlx::FromRow)]
struct Row {
    id: Uuid,
    email: String,
    name: String,
    role: String,
    reward_models_enabled: bool,
    created_at_us: i64,
}

impl Row {
    fn into_account(self) -> Result<Account, IdentityError> {
        Ok(Account {
            id: OwnerId(self.id),
            email: self.email,
            name: self.name,
            role: Role::parse(&self.role)?,
            reward_models_enabled: self.reward_models_enabled,
            created_at: Timestamp(self.created_at_us),
        })
    }
}

impl Identity {
    /// Makes the account unless there is one with its address, which then is returned as it is, without a change.
    ///
    /// # Errors
    /// [`IdentityError`].
    pub async fn create_account_if_new(&self, new: &NewAccount) -> Result<(Account, Option<Change>), IdentityError> {
        let email = normal_email(&new.email)?;
        let name = checked_name(&new.name)?;
        let mut transaction = self.pool.begin().await?;
        let made: Option<Row> = sqlx::query_as(include_str!("insert_account.sql"))
            .bind(Uuid::now_v7())
            .bind(&email)
            .bind(name)
            .bind(new.role.as_str())
            .bind(self.clock.now().0)
            .fetch_optional(&mut *transaction)
            .await?;
        let Some(row) = made else {
            transaction.rollback().await?;
            let account = self.account_by_email(&email).await?.ok_or(IdentityError::NoAccount)?;
            return Ok((account, None));
        };
        let account = row.into_account()?;
        let event = AccountCreated {
            account_id: account.id,
            role: account.role.as_str().to_owned(),
            reward_models_enabled: account.reward_models_enabled,
        };
        let change = Change::record(&mut transaction, account.id, event.into()).await?;
        transaction.commit().await?;
        Ok((account, Some(change)))
    }

    /// The account with this address, in any case.
    ///
    /// # Errors
    /// [`IdentityError`].
    pub async fn account_by_email(&self, email: &str) -> Result<Option<Account>, IdentityError> {
        let email = normal_email(email)?;
        let row: Option<Row> =
            sqlx::query_as(include_str!("find_account_by_email.sql")).bind(email).fetch_optional(&self.pool).await?;
        row.map(Row::into_account).transpose()
    }

    /// The account with this id.
    ///
    /// # Errors
    /// [`IdentityError`].
    pub async fn account(&self, id: OwnerId) -> Result<Option<Account>, IdentityError> {
        let row: Option<Row> =
            sqlx::query_as(include_str!("find_account.sql")).bind(id.0).fetch_optional(&self.pool).await?;
        row.map(Row::into_account).transpose()
    }

    /// All accounts, oldest first; the first 10,000.
    ///
    /// # Errors
    /// [`IdentityError`].
    pub async fn accounts(&self) -> Result<Vec<Account>, IdentityError> {
        let rows: Vec<Row> =
            sqlx::query_as(include_str!("list_accounts.sql")).bind(LIST_MAX).fetch_all(&self.pool).await?;
        rows.into_iter().map(Row::into_account).collect()
    }

    /// Switches reward models on or off for an account. No change if it is so already. The account's keys feel it within
    /// [`super::CACHE_TTL`].
    ///
    /// # Errors
    /// [`IdentityError::NoAccount`] and others.
    pub async fn set_reward_models_enabled(
        &self,
        account: OwnerId,
        enabled: bool,
    ) -> Result<Option<Change>, IdentityError> {
        let mut transaction = self.pool.begin().await?;
        let before: Option<bool> = sqlx::query_scalar(include_str!("lock_reward_models_enabled.sql"))
            .bind(account.0)
            .fetch_optional(&mut *transaction)
            .await?;
        match before {
            None => return Err(IdentityError::NoAccount),
            Some(now) if now == enabled => return Ok(None),
            Some(_) => {}
        }
        sqlx::query(include_str!("set_reward_models_enabled.sql"))
            .bind(account.0)
            .bind(enabled)
            .execute(&mut *transaction)
            .await?;
        let event = RewardModelsSwitched { account_id: account, enabled };
        let change = Change::record(&mut transaction, account, event.into()).await?;
        transaction.commit().await?;
        self.forget_account(account);
        Ok(Some(change))
    }
}

/// The address in lower case, if it can be one: something, an `@`, something; no spaces or control characters. Whether mail
/// arrives there is nothing that a pattern can tell.
fn normal_email(email: &str) -> Result<String, IdentityError> {
    let refuse = || IdentityError::BadEmail(email.chars().take(EMAIL_CHARS_MAX).collect());
    let normal = email.trim().to_lowercase();
    let (local, host) = normal.rsplit_once('@').ok_or_else(refuse)?;
    let odd = normal.chars().any(|c| c.is_whitespace() || c.is_control()) || local.contains('@');
    if local.is_empty() || host.is_empty() || odd || normal.chars().count() > EMAIL_CHARS_MAX {
        return Err(refuse());
    }
    Ok(normal)
}

/// A name, if it may be one.
pub(super) fn checked_name(name: &str) -> Result<&str, IdentityError> {
    let name = name.trim();
    if name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control) {
        return Err(IdentityError::BadName(NAME_CHARS_MAX));
    }
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_lower_cased_and_impossible_ones_refused() {
        assert_eq!(normal_email(" Ada@Example.ORG ").unwrap(), "ada@example.org");
        assert_eq!(normal_email("ÄDA@example.org").unwrap(), "äda@example.org");
        for bad in ["", "ada", "@example.org", "ada@", "a b@example.org", "a@b@c", "a\n@b", &"x".repeat(300)] {
            assert!(normal_email(bad).is_err(), "{bad:?}");
        }
    }
}
