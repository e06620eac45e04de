//! `rm_learning_reports`, `rm_findings` and `rm_judge_calls`: what trainings found out, and the answers it rests on.
//!
//! All content of a finding or a call is sealed under its trace, and its rows go with the trace. The report stays: that a training
//! looked and what it cost is no content.

use super::reward_models::is_deleted;
use super::{Accepted, Tools, bundle_error, without_nul};
use crate::error::ApplyError;
use sqlx::PgConnection;
use stash_domain::events::{Event, FindingsRecorded, JudgeAnswered, TraceDeleted};
use stash_domain::ids::{OwnerId, RewardModelId};
use stash_domain::learning::extraction::EvidenceId;
use stash_domain::learning::extraction::frame::{FindingFrame, JudgeCallFrame};
use stash_domain::sealed::Opened;
use stash_domain::time::Timestamp;
use stash_infra::bundle::BundleReader;
use stash_infra::seal::Purpose;
use uuid::Uuid;

pub(super) const DDL: &str = include_str!("table.sql");

/// Findings written at once. At most 12 KiB of text each, so 6 MiB.
const FINDINGS_PER_INSERT: usize = 512;

pub(super) async fn apply(tx: &mut PgConnection, batch: &[Accepted<'_>], tools: &Tools) -> Result<(), ApplyError> {
    for item in batch {
        let (owner, at) = (item.record.owner_id, item.record.recorded_at);
        for event in item.events() {
            match event {
                Event::FindingsRecorded(event) => findings(tx, owner, event, at, tools).await?,
                Event::JudgeAnswered(event) => answered(tx, owner, event, at, tools).await?,
                Event::TraceDeleted(event) => erase(tx, owner, event).await?,
                Event::RewardModelDeleted(event) => forget(tx, owner, event.reward_model_id).await?,
                _ => {}
            }
        }
    }
    Ok(())
}

async fn findings(
    tx: &mut PgConnection,
    owner: OwnerId,
    event: &FindingsRecorded,
    at: Timestamp,
    tools: &Tools,
) -> Result<(), ApplyError> {
    if is_deleted(tx, owner, event.reward_model_id).await? {
        return Ok(());
    }
    let newest = sqlx::query(include_str!("upsert_report.sql"))
        .bind(owner.0)
        .bind(event.reward_model_id.0)
        .bind(event.attempt)
        .bind(event.prompt_version)
        .bind(event.calls)
        .bind(event.calls_made)
        .bind(event.input_tokens)
        .bind(event.output_tokens)
        .bind(event.cost_micros)
        .bind(at.0)
        .fetch_optional(&mut *tx)
        .await?;
    if newest.is_none() {
        return Ok(());
    }
    sqlx::query(include_str!("replaced_findings.sql"))
        .bind(owner.0)
        .bind(event.reward_model_id.0)
        .execute(&mut *tx)
        .await?;
    let (keys, store) = (tools.keys.clone(), tools.store.clone());
    let mut reader = BundleReader::open(keys, store, owner, Purpose::FINDING_FRAMES, event.findings.clone())
        .map_err(bundle_error)?;
    let mut frames = Vec::new();
    while let Some(frame) = reader.next().await.map_err(bundle_error)? {
        let Opened::Clear(plain) = frame.content else { continue };
        frames.push(FindingFrame::decode(&plain).map_err(|error| ApplyError::poison("frame_damaged", error))?);
        if frames.len() >= FINDINGS_PER_INSERT {
            insert(tx, owner, event, std::mem::take(&mut frames)).await?;
        }
    }
    insert(tx, owner, event, frames).await
}

/// The columns of some findings.
#[derive(Default)]
struct Columns {
    ordinals: Vec<i32>,
    traces: Vec<Uuid>,
    steps: Vec<Uuid>,
    indices: Vec<i32>,
    tools: Vec<Option<String>>,
    labels: Vec<&'static str>,
    confidences: Vec<&'static str>,
    sources: Vec<&'static str>,
    evidence: Vec<Uuid>,
    quotes: Vec<String>,
    reasons: Vec<String>,
    models: Vec<String>,
    exclusions: Vec<Option<&'static str>>,
    included: Vec<bool>,
}

impl Columns {
    fn push(&mut self, frame: FindingFrame) {
        let FindingFrame { ordinal, included_in_training, finding } = frame;
        self.ordinals.push(i32::try_from(ordinal).unwrap_or(i32::MAX));
        self.traces.push(finding.trace_id.0);
        self.steps.push(finding.step_id.0);
        self.indices.push(i32::try_from(finding.step_index).unwrap_or(i32::MAX));
        self.tools.push(finding.tool_name.map(without_nul));
        self.labels.push(finding.label.name());
        self.confidences.push(finding.confidence.name());
        self.sources.push(finding.source.name());
        self.evidence.push(match finding.evidence_id {
            EvidenceId::Step(id) => id.0,
            EvidenceId::Comment(id) => id.0,
        });
        self.quotes.push(without_nul(finding.evidence_quote));
        self.reasons.push(without_nul(finding.reason));
        self.models.push(without_nul(finding.classifier_model));
        self.exclusions.push(finding.exclusion.map(|exclusion| exclusion.name()));
        self.included.push(included_in_training);
    }
}

async fn insert(
    tx: &mut PgConnection,
    owner: OwnerId,
    event: &FindingsRecorded,
    frames: Vec<FindingFrame>,
) -> Result<(), ApplyError> {
    if frames.is_empty() {
        return Ok(());
    }
    let mut columns = Columns::default();
    frames.into_iter().for_each(|frame| columns.push(frame));
    sqlx::query(include_str!("insert_findings.sql"))
        .bind(owner.0)
        .bind(event.reward_model_id.0)
        .bind(columns.ordinals)
        .bind(columns.traces)
        .bind(columns.steps)
        .bind(columns.indices)
        .bind(columns.tools)
        .bind(columns.labels)
        .bind(columns.confidences)
        .bind(columns.sources)
        .bind(columns.evidence)
        .bind(columns.quotes)
        .bind(columns.reasons)
        .bind(columns.models)
        .bind(columns.exclusions)
        .bind(columns.included)
        .execute(tx)
        .await?;
    Ok(())
}

async fn answered(
    tx: &mut PgConnection,
    owner: OwnerId,
    event: &JudgeAnswered,
    at: Timestamp,
    tools: &Tools,
) -> Result<(), ApplyError> {
    let (keys, store) = (tools.keys.clone(), tools.store.clone());
    let mut reader =
        BundleReader::open(keys, store, owner, Purpose::JUDGE_CALL_FRAMES, event.call.clone()).map_err(bundle_error)?;
    while let Some(frame) = reader.next().await.map_err(bundle_error)? {
        let Opened::Clear(plain) = frame.content else { continue };
        let call = JudgeCallFrame::decode(&plain).map_err(|error| ApplyError::poison("frame_damaged", error))?;
        sqlx::query(include_str!("insert_call.sql"))
            .bind(owner.0)
            .bind(call.key.0.as_slice())
            .bind(call.trace_id.0)
            .bind(event.reward_model_id.0)
            .bind(event.job_id.0)
            .bind(call.purpose.name())
            .bind(without_nul(call.model))
            // JSON has its own way to write NUL, so that the text holds none.
            .bind(call.answer.to_string())
            .bind(event.input_tokens)
            .bind(event.output_tokens)
            .bind(event.cost_micros)
            .bind(at.0)
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

async fn erase(tx: &mut PgConnection, owner: OwnerId, event: &TraceDeleted) -> Result<(), ApplyError> {
    for statement in [include_str!("purge_findings.sql"), include_str!("purge_calls.sql")] {
        sqlx::query(statement).bind(owner.0).bind(event.trace_id.0).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Removes what a deleted model's training found.
async fn forget(tx: &mut PgConnection, owner: OwnerId, model: RewardModelId) -> Result<(), ApplyError> {
    sqlx::query(include_str!("purge_model.sql")).bind(owner.0).bind(model.0).execute(tx).await?;
    Ok(())
}
