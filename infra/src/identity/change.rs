//! What happened to accounts and keys, on its way to the log.
//!
//! The tables here are not made from the log (they hold what must not be in it), yet the log must know each change. So a change
//! stands in `identity_change` from the transaction that made it until its event is in the log: an event may be appended twice
//! (its command id is derived, so the second changes nothing), and never not at all.

use super::Identity;
use super::error::IdentityError;
use sqlx::PgConnection;
use stash_domain::events::{AccountCreated, ApiKeyCreated, ApiKeyRevoked, Event, RewardModelsSwitched};
use stash_domain::ids::{CommandId, OwnerId, derive};
use stash_domain::record::StreamId;
use uuid::Uuid;

/// Names a change until it is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangeId(pub Uuid);

/// A change whose event is to be appended.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its id, for [`Identity::settle`].
    pub id: ChangeId,
    /// Whose partition it goes to: the account's.
    pub owner: OwnerId,
    /// The stream.
    pub stream: StreamId,
    /// The event.
    pub event: Event,
}

impl Change {
    /// The id of its command: always the same one, so that appending it again changes nothing.
    pub fn command_id(&self) -> CommandId {
        CommandId(derive("identity-change", &[self.id.0.as_bytes()]))
    }

    /// Makes a change and writes it down, in the caller's transaction.
    pub(super) async fn record(
        connection: &mut PgConnection,
        owner: OwnerId,
        event: Event,
    ) -> Result<Self, IdentityError> {
        let payload = match &event {
            Event::AccountCreated(event) => serde_json::to_value(event),
            Event::RewardModelsSwitched(event) => serde_json::to_value(event),
            Event::ApiKeyCreated(event) => serde_json::to_value(event),
            Event::ApiKeyRevoked(event) => serde_json::to_value(event),
            _ => return Err(IdentityError::Damaged("kind of change")),
        };
        let payload = payload.map_err(|_| IdentityError::Damaged("change"))?;
        // Version 7: unsettled changes come back in the order in which they were made.
        let id = Uuid::now_v7();
        sqlx::query(include_str!("insert_change.sql"))
            .bind(id)
            .bind(owner.0)
            .bind(event.name())
            .bind(payload)
            .execute(connection)
            .await?;
        Self::new(id, owner, event)
    }

    fn new(id: Uuid, owner: OwnerId, event: Event) -> Result<Self, IdentityError> {
        let stream = match &event {
            Event::AccountCreated(event) => StreamId::Account(event.account_id),
            Event::RewardModelsSwitched(event) => StreamId::Account(event.account_id),
            Event::ApiKeyCreated(event) => StreamId::ApiKey(event.api_key_id),
            Event::ApiKeyRevoked(event) => StreamId::ApiKey(event.api_key_id),
            _ => return Err(IdentityError::Damaged("kind of change")),
        };
        Ok(Self { id: ChangeId(id), owner, stream, event })
    }
}

impl Identity {
    /// Changes whose events may not be in the log yet, oldest first, at most `max`: appended again when Stash starts.
    ///
    /// # Errors
    /// [`IdentityError`].
    pub async fn unsettled(&self, max: u32) -> Result<Vec<Change>, IdentityError> {
        let rows: Vec<(Uuid, Uuid, String, serde_json::Value)> =
            sqlx::query_as(include_str!("list_changes.sql")).bind(i64::from(max)).fetch_all(&self.pool).await?;
        rows.into_iter()
            .map(|(id, owner, kind, payload)| Change::new(id, OwnerId(owner), read(&kind, payload)?))
            .collect()
    }

    /// The change's event is in the log for good.
    ///
    /// # Errors
    /// [`IdentityError::Database`]; the change is then appended once more later, which does no harm.
    pub async fn settle(&self, change: ChangeId) -> Result<(), IdentityError> {
        sqlx::query(include_str!("delete_change.sql")).bind(change.0).execute(&self.pool).await?;
        Ok(())
    }
}

fn read(kind: &str, payload: serde_json::Value) -> Result<Event, IdentityError> {
    let event = match kind {
        "account_created" => serde_json::from_value::<AccountCreated>(payload).map(Event::from),
        "reward_models_switched" => serde_json::from_value::<RewardModelsSwitched>(payload).map(Event::from),
        "api_key_created" => serde_json::from_value::<ApiKeyCreated>(payload).map(Event::from),
        "api_key_revoked" => serde_json::from_value::<ApiKeyRevoked>(payload).map(Event::from),
        _ => return Err(IdentityError::Damaged("kind of change")),
    };
    event.map_err(|_| IdentityError::Damaged("change"))
}
