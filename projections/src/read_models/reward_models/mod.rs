//! `rm_reward_models`, the traces selected for each, and the exact pairs it was trained on; of deleted ones
//! `rm_deleted_reward_models`.
//!
//! This fold comes before those of what models make. What is said of a model after its deletion changes nothing; so a fold that
//! finds the model deleted by a later record of the same batch passes over what the deletion would have taken anyway.

use super::{Accepted, Kind, Shredded, Tools, bundle_error, without_nul};
use crate::error::ApplyError;
use serde_json::json;
use sqlx::PgConnection;
use stash_domain::events::{Event, RewardModelCreated, RewardModelDeleted, RewardModelTrained, TraceDeleted};
use stash_domain::ids::{OwnerId, RewardModelId};
use stash_domain::learning::frame::{Granularity, PairEvidence, PairSideFrame, Side, Split};
use stash_domain::sealed::{Opened, Sealed};
use stash_domain::time::Timestamp;
use stash_domain::trace::ActionType;
use stash_domain::views::reward_model;
use stash_infra::bundle::BundleReader;
use stash_infra::seal::{self, Purpose};

pub(super) const DDL: &str = include_str!("table.sql");

/// Most plain bytes of a model's name: far above the limit on its characters.
const NAME_BYTES_MAX: usize = 16 * 1024;

/// Sides of pairs written at once. At 4 KiB a text, 2 MiB.
const SIDES_PER_INSERT: usize = 512;

/// Applies the batch, and says whose keys are to be forgotten once it is committed.
pub(super) async fn apply(
    tx: &mut PgConnection,
    batch: &[Accepted<'_>],
    tools: &Tools,
) -> Result<Shredded, ApplyError> {
    let mut shredded = Shredded::new();
    for item in batch {
        let owner = item.record.owner_id;
        for event in item.events() {
            match event {
                Event::RewardModelCreated(created) => create(tx, item, event, created, tools).await?,
                Event::RewardModelTrained(trained) => train(tx, owner, trained, tools).await?,
                Event::RewardModelRenamed(renamed) => {
                    let name = open_name(owner, renamed.reward_model_id, &renamed.name, tools).await?;
                    sqlx::query(include_str!("rename.sql"))
                        .bind(owner.0)
                        .bind(renamed.reward_model_id.0)
                        .bind(name.clear())
                        .execute(&mut *tx)
                        .await?;
                }
                Event::RewardModelDeleted(deleted) => {
                    delete(tx, owner, deleted, item.record.recorded_at, tools).await?;
                    shredded.push((owner, vec![deleted.reward_model_id.into()]));
                }
                Event::TraceDeleted(deleted) => erase(tx, owner, deleted).await?,
                _ => {}
            }
        }
    }
    Ok(shredded)
}

/// Whether a model was deleted.
pub(super) async fn is_deleted(
    tx: &mut PgConnection,
    owner: OwnerId,
    model: RewardModelId,
) -> Result<bool, ApplyError> {
    Ok(sqlx::query_scalar(include_str!("deleted.sql")).bind(owner.0).bind(model.0).fetch_one(tx).await?)
}

/// Removes a model's rows, and with the live ones the key of its names.
async fn delete(
    tx: &mut PgConnection,
    owner: OwnerId,
    event: &RewardModelDeleted,
    at: Timestamp,
    tools: &Tools,
) -> Result<(), ApplyError> {
    let model = event.reward_model_id;
    sqlx::query(include_str!("delete.sql")).bind(owner.0).bind(model.0).bind(at.0).execute(&mut *tx).await?;
    if tools.kind == Kind::Live {
        let shredding = tools.keys.shred_in(tx, owner, &[model.into()]).await;
        shredding.map_err(|error| ApplyError::Unavailable(error.to_string()))?;
    }
    Ok(())
}

async fn create(
    tx: &mut PgConnection,
    item: &Accepted<'_>,
    event: &Event,
    created: &RewardModelCreated,
    tools: &Tools,
) -> Result<(), ApplyError> {
    let owner = item.record.owner_id;
    if is_deleted(tx, owner, created.reward_model_id).await? {
        return Ok(());
    }
    let name = open_name(owner, created.reward_model_id, &created.name, tools).await?;
    let Some(row) = reward_model::fold(None, event, name, item.context()) else { return Ok(()) };
    sqlx::query(include_str!("insert.sql"))
        .bind(owner.0)
        .bind(row.id.0)
        .bind(row.job_id.0)
        .bind(row.name)
        .bind(row.base_model)
        .bind(row.compute)
        .bind(row.epochs)
        .bind(row.max_pairs)
        .bind(row.seed)
        .bind(row.learning_rate)
        .bind(json!(row.training).to_string())
        .bind(row.trace_count)
        .bind(row.created_at.0)
        .execute(&mut *tx)
        .await?;
    sqlx::query(include_str!("insert_traces.sql"))
        .bind(owner.0)
        .bind(row.id.0)
        .bind(created.trace_ids.iter().map(|id| id.0).collect::<Vec<_>>())
        .execute(tx)
        .await?;
    Ok(())
}

async fn open_name(
    owner: OwnerId,
    model: RewardModelId,
    name: &Sealed,
    tools: &Tools,
) -> Result<Opened<String>, ApplyError> {
    let subject = model.into();
    let keys = tools.keys.get(owner, &[subject]).await.map_err(|error| ApplyError::Unavailable(error.to_string()))?;
    let opened = seal::open(keys.get(&subject), Purpose::MODEL_NAME, name, NAME_BYTES_MAX)
        .map_err(|error| ApplyError::poison("model_name_damaged", error))?;
    let Opened::Clear(plain) = opened else { return Ok(Opened::Redacted) };
    let name = String::from_utf8(plain).map_err(|error| ApplyError::poison("model_name_undecodable", error))?;
    Ok(Opened::Clear(without_nul(name)))
}

async fn train(
    tx: &mut PgConnection,
    owner: OwnerId,
    event: &RewardModelTrained,
    tools: &Tools,
) -> Result<(), ApplyError> {
    if is_deleted(tx, owner, event.reward_model_id).await? {
        return Ok(());
    }
    sqlx::query(include_str!("trained.sql"))
        .bind(owner.0)
        .bind(event.reward_model_id.0)
        .bind(event.num_pairs)
        .bind(&event.metrics)
        .bind(&event.artifact_key)
        .bind(&event.artifact_digest)
        .bind(event.action_mean)
        .bind(event.action_std)
        .bind(&event.dataset_digest)
        .bind(&event.base_checksum)
        .bind(&event.code_version)
        .execute(&mut *tx)
        .await?;
    // A training replaces the pairs of one before, so that none of them outlives it only where its text could still be read.
    sqlx::query(include_str!("replaced_pairs.sql"))
        .bind(owner.0)
        .bind(event.reward_model_id.0)
        .execute(&mut *tx)
        .await?;
    let mut reader =
        BundleReader::open(tools.keys.clone(), tools.store.clone(), owner, Purpose::PAIR_FRAMES, event.pairs.clone())
            .map_err(bundle_error)?;
    let mut sides = Vec::new();
    while let Some(frame) = reader.next().await.map_err(bundle_error)? {
        let Opened::Clear(plain) = frame.content else { continue };
        sides.push(PairSideFrame::decode(&plain).map_err(|error| ApplyError::poison("frame_damaged", error))?);
        if sides.len() >= SIDES_PER_INSERT {
            insert_sides(tx, owner, event, &std::mem::take(&mut sides)).await?;
        }
    }
    insert_sides(tx, owner, event, &sides).await?;
    sqlx::query(include_str!("purge_halves.sql")).bind(owner.0).bind(event.reward_model_id.0).execute(tx).await?;
    Ok(())
}

async fn insert_sides(
    tx: &mut PgConnection,
    owner: OwnerId,
    event: &RewardModelTrained,
    sides: &[PairSideFrame],
) -> Result<(), ApplyError> {
    if sides.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("insert_pairs.sql"))
        .bind(owner.0)
        .bind(event.reward_model_id.0)
        .bind(sides.iter().map(|side| i32::try_from(side.pair).unwrap_or(i32::MAX)).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| side_name(side.side)).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| side.trace_id.0).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| side.step_id.map(|id| id.0)).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| without_nul(side.text.clone())).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| granularity_name(side.granularity)).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| side.action_type.map(ActionType::name)).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| side.source.name()).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| split_name(side.split)).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| side.revised).collect::<Vec<_>>())
        .bind(sides.iter().map(|side| side.evidence.as_ref().map(evidence_json)).collect::<Vec<_>>())
        .execute(tx)
        .await?;
    Ok(())
}

async fn erase(tx: &mut PgConnection, owner: OwnerId, event: &TraceDeleted) -> Result<(), ApplyError> {
    for statement in [include_str!("mark_erased.sql"), include_str!("purge_pairs.sql")] {
        sqlx::query(statement).bind(owner.0).bind(event.trace_id.0).execute(&mut *tx).await?;
    }
    Ok(())
}

/// What a pair rests on, as the API shows it.
fn evidence_json(evidence: &PairEvidence) -> String {
    json!({
        "step_index": evidence.step_index,
        "tool_name": evidence.tool_name,
        "label": evidence.label,
        "evidence_id": evidence.evidence_id.to_string(),
        "evidence_quote": evidence.evidence_quote,
        "reason": evidence.reason,
        "classifier_model": evidence.classifier_model,
    })
    .to_string()
}

fn side_name(side: Side) -> &'static str {
    match side {
        Side::Chosen => "chosen",
        Side::Rejected => "rejected",
    }
}

fn granularity_name(granularity: Granularity) -> &'static str {
    match granularity {
        Granularity::Trace => "trace",
        Granularity::Action => "action",
    }
}

fn split_name(split: Split) -> &'static str {
    match split {
        Split::Train => "train",
        Split::Eval => "eval",
        Split::Excluded => "excluded",
    }
}
