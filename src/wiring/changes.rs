//! Changes of accounts and keys, on their way from their tables to the log.

use super::Foundation;
use stash_domain::ids::Digest;
use stash_domain::record::{Actor, Append, Expected, Record};
use stash_infra::identity::Change;

/// Changes that one look takes up.
const CHANGES_AT_ONCE: u32 = 100;

impl Foundation {
    /// Appends every change whose event may not be in the log yet. What cannot be appended now is found again at the next
    /// start.
    pub(crate) async fn settle_changes(&self) -> anyhow::Result<()> {
        loop {
            let changes = self.identity.unsettled(CHANGES_AT_ONCE).await?;
            if changes.is_empty() {
                return Ok(());
            }
            for change in &changes {
                self.settle(change).await?;
            }
        }
    }

    /// Appends a change that was just made. The change itself holds already, so a log that does not answer is only told of.
    pub(crate) async fn record_change(&self, change: Option<Change>) {
        let Some(change) = change else { return };
        if let Err(error) = self.settle(&change).await {
            tracing::warn!(error = %format_args!("{error:#}"), "the change holds; its event follows when Stash starts next");
        }
    }

    async fn settle(&self, change: &Change) -> anyhow::Result<()> {
        let command_id = change.command_id();
        let append = Append { stream: change.stream, expected: Expected::Any, events: vec![change.event.clone()] };
        let record = Record {
            command_id,
            owner_id: change.owner,
            request_digest: Digest::of(command_id.0.as_bytes()),
            actor: Actor::System,
            causation_id: None,
            correlation_id: command_id.0,
            recorded_at: self.clock.now(),
            appends: vec![append],
        };
        match self.submitter.append(&record).await? {
            Some(_) => Ok(self.identity.settle(change.id).await?),
            None => anyhow::bail!("the event log did not answer"),
        }
    }
}
