//! Judgments that came with an import's traces.

use super::super::{Accepted, Tools, bundle_error, without_nul};
use super::{Key, load, save};
use crate::error::ApplyError;
use crate::fresh::Fresh;
use sqlx::PgConnection;
use stash_domain::annotation::{JudgmentsFrame, StoredJudgment};
use stash_domain::events::{Event, JudgmentsImported};
use stash_domain::sealed::Opened;
use stash_domain::views::judgment::{self, Import};
use stash_infra::bundle::BundleReader;
use stash_infra::seal::Purpose;
use std::collections::HashSet;
use uuid::Uuid;

/// Judgments that are folded at once.
const CHUNK: usize = 1000;

/// The judgments that a record brings.
pub(super) fn of<'a>(item: &Accepted<'a>) -> impl Iterator<Item = &'a JudgmentsImported> {
    item.record.events().filter_map(|(_, event)| match event {
        Event::JudgmentsImported(event) => Some(event),
        _ => None,
    })
}

/// Folds them into the tables, a chunk at a time. Those whose key is gone are passed over: their trace was deleted later.
pub(super) async fn import(
    tx: &mut PgConnection,
    item: &Accepted<'_>,
    event: &JudgmentsImported,
    tools: &Tools,
) -> Result<(), ApplyError> {
    let (owner_id, recorded_at) = (item.record.owner_id, item.context().recorded_at);
    let (keys, store) = (tools.keys.clone(), tools.store.clone());
    let mut reader = BundleReader::open(keys, store, owner_id, Purpose::JUDGMENT_FRAMES, event.bundle.clone())
        .map_err(bundle_error)?;
    while let Some(frame) = reader.next().await.map_err(bundle_error)? {
        let Opened::Clear(plain) = frame.content else { continue };
        let decoded = JudgmentsFrame::decode(&plain).map_err(|error| ApplyError::poison("frame_damaged", error))?;
        let import = Import { owner_id, trace_id: decoded.trace_id, subject_id: frame.subject, recorded_at };
        for chunk in decoded.judgments.chunks(CHUNK) {
            fold(tx, import, chunk, &tools.fresh).await?;
        }
    }
    Ok(())
}

async fn fold(
    tx: &mut PgConnection,
    import: Import,
    chunk: &[StoredJudgment],
    fresh: &Fresh,
) -> Result<(), ApplyError> {
    let owner = import.owner_id;
    let keys: Vec<Key> = chunk.iter().map(|judgment| (owner, judgment.annotation_id)).collect();
    let ids: Vec<Uuid> = keys.iter().map(|(_, id)| id.0).collect();
    let known: Vec<(Uuid,)> =
        sqlx::query_as(include_str!("known_judgments.sql")).bind(owner.0).bind(&ids).fetch_all(&mut *tx).await?;
    let mut known: HashSet<Uuid> = known.into_iter().map(|(id,)| id).collect();
    let mut rows = load(tx, &keys).await?;
    for judgment in chunk {
        let id = judgment.annotation_id;
        let row = rows.entry((owner, id)).or_default();
        *row = judgment::fold(row.take(), !known.insert(id.0), clean(judgment.clone()), import);
    }
    sqlx::query(include_str!("note_judgments.sql"))
        .bind(owner.0)
        .bind(&ids)
        .bind(import.trace_id.0)
        .execute(&mut *tx)
        .await?;
    save(tx, &rows, fresh).await
}

fn clean(mut judgment: StoredJudgment) -> StoredJudgment {
    judgment.comment = judgment.comment.map(without_nul);
    let source = &mut judgment.source;
    for text in [&mut source.name, &mut source.id, &mut source.judged].into_iter().chain(source.origin.as_mut()) {
        *text = without_nul(std::mem::take(text));
    }
    judgment
}
