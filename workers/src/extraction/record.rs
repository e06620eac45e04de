//! The findings of a training, recorded before anybody asks whether they are enough.

use super::Extracted;
use crate::jobs::{Failure, Running, subjects};
use stash_domain::events::FindingsRecorded;
use stash_domain::ids::{RewardModelId, TraceId};
use stash_domain::learning::extraction::frame::FindingFrame;
use stash_domain::learning::extraction::{Arranged, PROMPT_VERSION};
use stash_domain::record::{Append, Expected, StreamId};
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::Purpose;

/// Records the findings, each sealed under its trace; those of a trace that was deleted meanwhile are left out. Without
/// `arranged` no dataset was made of them, so that none is included in one.
///
/// # Errors
/// Those of the store and of the log.
pub async fn record(
    running: &Running,
    model: RewardModelId,
    extracted: &Extracted,
    arranged: Option<&Arranged>,
) -> Result<(), Failure> {
    let (worker, owner) = (&running.worker, running.job.owner);
    let findings = extracted.harvest.findings();
    let mut traces: Vec<TraceId> = findings.iter().map(|finding| finding.trace_id).collect();
    traces.sort_unstable();
    traces.dedup();
    let keys = subjects::keys(worker, owner, &traces).await?;
    let mut writer = BundleWriter::new(worker.store.clone(), owner, Purpose::FINDING_FRAMES);
    let mut included = arranged.into_iter().flat_map(Arranged::included);
    for (ordinal, finding) in (0_u32..).zip(findings) {
        let included = included.next().unwrap_or(false);
        let Some(key) = keys.get(&finding.trace_id) else { continue };
        let frame = FindingFrame { ordinal, included_in_training: included, finding: finding.clone() };
        writer.push(key, frame.encode().map_err(Failure::internal)?).await?;
    }
    let spent = extracted.spent;
    let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let usage = spent.usage;
    let event = FindingsRecorded {
        reward_model_id: model,
        job_id: running.job.job,
        attempt: running.job.attempt,
        prompt_version: i32::try_from(PROMPT_VERSION).unwrap_or(i32::MAX),
        calls: count(extracted.calls),
        calls_made: count(spent.calls),
        input_tokens: count(usage.total().saturating_sub(usage.output)),
        output_tokens: count(usage.output),
        cost_micros: (spent.cost_is_whole).then(|| count(spent.cost_microusd)),
        findings: writer.finish().await?,
    };
    let append = Append { stream: StreamId::RewardModel(model), expected: Expected::Any, events: vec![event.into()] };
    let key = format!("findings/{}", running.job.attempt);
    worker.say(owner, running.job.job, &key, vec![append]).await?;
    Ok(())
}
