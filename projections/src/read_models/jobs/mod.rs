//! `rm_jobs`: each job as it stands now. Models and scoring runs take their status from here when they are read.

use super::{Accepted, without_nul};
use crate::error::ApplyError;
use serde_json::json;
use sqlx::PgConnection;
use stash_domain::ids::{JobId, OwnerId};
use stash_domain::time::Timestamp;
use stash_domain::views::curve::Curve;
use stash_domain::views::job::{self, Job, JobState};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

pub(super) const DDL: &str = include_str!("table.sql");

type Key = (OwnerId, JobId);

pub(super) async fn apply(tx: &mut PgConnection, batch: &[Accepted<'_>]) -> Result<(), ApplyError> {
    let touched: BTreeSet<Key> = batch
        .iter()
        .flat_map(|item| item.events().filter_map(|event| Some((item.record.owner_id, job::key(event)?))))
        .collect();
    if touched.is_empty() {
        return Ok(());
    }
    let mut rows = load(tx, &touched).await?;
    for item in batch {
        for event in item.events() {
            let Some(id) = job::key(event) else { continue };
            let key = (item.record.owner_id, id);
            if let Some(row) = job::fold(rows.remove(&key), event, item.context()) {
                rows.insert(key, row);
            }
        }
    }
    save(tx, &rows).await
}

#[derive(sqlx::FromRow)]
struct Row {
    owner_id: Uuid,
    job_id: Uuid,
    kind: String,
    compute: String,
    reward_model_id: Option<Uuid>,
    run_id: Option<Uuid>,
    state: String,
    attempt: i32,
    worker: Option<String>,
    phase: Option<String>,
    fraction: f64,
    curve: Option<String>,
    error_code: Option<String>,
    error: Option<String>,
    cancel_requested: bool,
    created_at: i64,
    started_at: Option<i64>,
    updated_at: i64,
    finished_at: Option<i64>,
    version: i64,
}

async fn load(tx: &mut PgConnection, wanted: &BTreeSet<Key>) -> Result<BTreeMap<Key, Job>, ApplyError> {
    let (owners, ids): (Vec<Uuid>, Vec<Uuid>) = wanted.iter().map(|(owner, id)| (owner.0, id.0)).unzip();
    let rows: Vec<Row> = sqlx::query_as(include_str!("load.sql")).bind(owners).bind(ids).fetch_all(tx).await?;
    rows.into_iter()
        .map(|row| {
            let state = JobState::of_name(&row.state).ok_or_else(|| ApplyError::damaged("rm_jobs.state"))?;
            let curve = row.curve.as_deref().map(curve_of).transpose();
            let curve = curve.map_err(|_| ApplyError::damaged("rm_jobs.curve"))?;
            let job = Job {
                id: row.job_id.into(),
                kind: row.kind,
                compute: row.compute,
                reward_model_id: row.reward_model_id.map(Into::into),
                run_id: row.run_id.map(Into::into),
                state,
                attempt: row.attempt,
                worker: row.worker,
                phase: row.phase,
                fraction: row.fraction,
                curve,
                error_code: row.error_code,
                error: row.error,
                cancel_requested: row.cancel_requested,
                created_at: Timestamp(row.created_at),
                started_at: row.started_at.map(Timestamp),
                updated_at: Timestamp(row.updated_at),
                finished_at: row.finished_at.map(Timestamp),
                version: row.version.cast_unsigned(),
            };
            Ok(((row.owner_id.into(), row.job_id.into()), job))
        })
        .collect()
}

async fn save(tx: &mut PgConnection, rows: &BTreeMap<Key, Job>) -> Result<(), ApplyError> {
    if rows.is_empty() {
        return Ok(());
    }
    let owners: Vec<Uuid> = rows.keys().map(|(owner, _)| owner.0).collect();
    let jobs: Vec<&Job> = rows.values().collect();
    sqlx::query(include_str!("upsert.sql"))
        .bind(owners)
        .bind(jobs.iter().map(|job| job.id.0).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.kind.as_str()).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.compute.as_str()).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.reward_model_id.map(|id| id.0)).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.run_id.map(|id| id.0)).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.state.name()).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.attempt).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.worker.clone().map(without_nul)).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.phase.clone().map(without_nul)).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.fraction).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.curve.as_ref().map(curve_json)).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.error_code.clone().map(without_nul)).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.error.clone().map(without_nul)).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.cancel_requested).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.created_at.0).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.started_at.map(|time| time.0)).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.updated_at.0).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.finished_at.map(|time| time.0)).collect::<Vec<_>>())
        .bind(jobs.iter().map(|job| job.version.cast_signed()).collect::<Vec<_>>())
        .execute(tx)
        .await?;
    Ok(())
}

/// A curve as its row has it: numbers alone, which JSON can always say.
fn curve_json(curve: &Curve) -> String {
    json!(curve).to_string()
}

/// The curve of a row, bit for bit as it was written. Only by way of a `Value` are numbers read exactly; read at once, a last
/// digit may differ, and with it what a rebuild gives.
fn curve_of(text: &str) -> Result<Curve, serde_json::Error> {
    serde_json::from_str(text).and_then(serde_json::from_value::<Curve>)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stash_domain::events::CurvePoint;

    #[test]
    fn a_curve_is_read_as_it_was_written() {
        // Numbers of all sizes with as many digits as there are.
        let number = |step: i32| (f64::from(step) / 7.0).exp() * 10_f64.powi(step % 60 - 30) / 3.0;
        let point = |step| CurvePoint { step, loss: number(step), learning_rate: number(step + 1) };
        let curve = Curve { step: 200, steps: 500, eta_s: number(77), points: (1..=200).map(point).collect() };
        assert_eq!(curve_of(&curve_json(&curve)).unwrap(), curve);
    }
}
