//! `rm_reward_models`, the traces selected for each, and the exact pairs it was trained on.

use super::{Accepted, Tools, bundle_error, without_nul};
use crate::error::ApplyError;
use serde_json::json;
use sqlx::PgConnection;
use stash_domain::events::{Event, RewardModelCreated, RewardModelTrained, TraceDeleted};
use stash_domain::ids::OwnerId;
use stash_domain::learning::frame::{Granularity, PairEvidence, PairSideFrame, Side, Split};
use stash_domain::sealed::Opened;
use stash_domain::trace::ActionType;
use stash_domain::views::reward_model;
use stash_infra::bundle::BundleReader;
use stash_infra::seal::{self, Purpose};

pub(super) const DDL: &str = include_str!("table.sql");

/// Most plain bytes of a model's name: far above the limit on its characters.
const NAME_BYTES_MAX: usize = 16 * 1024;

/// Sides of pairs written at once. At 4 KiB a text, 2 MiB.
const SIDES_PER_INSERT: usize = 512;

pub(super) async fn apply(tx: &mut PgConnection, batch: &[Accepted<'_>], tools: &Tools) -> Result<(), ApplyError> {
    for item in batch {
        let owner = item.record.owner_id;
        for event in item.events() {
            match event {
                Event::RewardModelCreated(created) => create(tx, item, event, created, tools).await?,
                Event::RewardModelTrained(trained) => train(tx, owner, trained, tools).await?,
                Event::TraceDeleted(deleted) => erase(tx, owner, deleted).await?,
                _ => {}
            }
        }
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
    let name = open_name(owner, created, tools).await?;
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

async fn open_name(owner: OwnerId, event: &RewardModelCreated, tools: &Tools) -> Result<Opened<String>, ApplyError> {
    let subject = event.reward_model_id.into();
    let keys = tools.keys.get(owner, &[subject]).await.map_err(|error| ApplyError::Unavailable(error.to_string()))?;
    let opened = seal::open(keys.get(&subject), Purpose::MODEL_NAME, &event.name, NAME_BYTES_MAX)
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
    sqlx::query(include_str!("trained.sql"))
        .bind(owner.0)
        .bind(event.reward_model_id.0)
        .bind(event.num_pairs)
        .bind(&event.metrics)
        .bind(&event.artifact_key)
        .bind(&event.artifact_digest)
        .bind(event.action_mean)
        .bind(event.action_std)
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
