//! Scores of traces and their actions, sealed trace by trace.

use super::engine::{blocking, ends_of, score_failure};
use super::{Failure, Running, subjects, trace};
use crate::scoring::{Scored, TextScorer};
use stash_domain::ids::{Digest, StepId, TraceId};
use stash_domain::jobs::result::{check_count, check_trace};
use stash_domain::rendering::{Digester, Form, RenderedTrace};
use stash_domain::reward::credit::Statistics;
use stash_domain::reward::frame::{ActionScore, ScoresFrame, Truncated};
use stash_domain::sealed::Bundle;
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::Purpose;
use stash_model::tokenize::Segmented;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

/// Scores, ready to be published.
#[derive(Debug, Default)]
pub struct Scores {
    /// Traces scored.
    pub traces: i64,
    /// Actions scored.
    pub actions: i64,
    /// One frame per trace.
    pub bundle: Bundle,
}

/// Scores every trace of the owner, and its actions if there are `actions` statistics to place them by.
///
/// # Errors
/// [`Failure`]; nothing is published then.
pub async fn of_all_traces(
    running: &Running,
    scorer: &Arc<TextScorer>,
    form: Form,
    actions: Option<Statistics>,
    folder: &Path,
) -> Result<Scores, Failure> {
    let owner = running.job.owner;
    let mut writer = BundleWriter::new(running.worker.store.clone(), owner, Purpose::SCORE_FRAMES);
    let mut files = Files::create(folder).map_err(Failure::may_pass)?;
    let mut scores = Scores::default();
    let (mut asked, mut scored) = (0, 0);
    let mut after: Option<Uuid> = None;
    loop {
        let page: Vec<(Uuid,)> = sqlx::query_as(include_str!("traces_page.sql"))
            .bind(owner.0)
            .bind(after)
            .fetch_all(&running.worker.pool)
            .await?;
        let Some((last,)) = page.last() else { break };
        after = Some(*last);
        let traces: Vec<TraceId> = page.into_iter().map(|(id,)| id.into()).collect();
        let keys = subjects::keys(&running.worker, owner, &traces).await?;
        for trace_id in traces {
            running.check()?;
            // Deleted since the page was read.
            let Some(key) = keys.get(&trace_id) else { continue };
            let Some(frame) = of_trace(running, scorer, form, trace_id, actions).await? else { continue };
            asked += 1;
            scores.traces += 1;
            scores.actions += i64::try_from(frame.actions.len()).unwrap_or(0);
            files.write(&frame).map_err(Failure::may_pass)?;
            writer.push(key, frame.encode().map_err(Failure::internal)?).await?;
            scored += 1;
        }
    }
    check_count(asked, scored).map_err(Failure::internal)?;
    files.finish().map_err(Failure::may_pass)?;
    scores.bundle = writer.finish().await?;
    Ok(scores)
}

/// Scores one trace: none when it is gone, or has no text. Checked before it is handed out.
///
/// # Errors
/// [`Failure`].
pub async fn of_trace(
    running: &Running,
    scorer: &Arc<TextScorer>,
    form: Form,
    trace_id: TraceId,
    actions: Option<Statistics>,
) -> Result<Option<ScoresFrame>, Failure> {
    let steps = trace::steps(&running.worker, running.job.owner, trace_id).await?;
    let mut digester = Digester::new();
    let digests: Vec<Option<Digest>> = steps.iter().map(|step| digester.step(&step.step)).collect();
    let rendered = RenderedTrace::of(steps.iter().map(|step| &step.step), form);
    if rendered.segments().is_empty() {
        return Ok(None);
    }
    // The last segment's score is the trace's.
    let last = rendered.segments().len() - 1;
    let mut wanted: Vec<(usize, StepId, Digest)> = Vec::new();
    if actions.is_some() {
        for (index, segment) in rendered.segments().iter().enumerate() {
            let at = segment.step_index as usize;
            if let (Some(step), Some(Some(digest))) = (steps.get(at), digests.get(at)) {
                wanted.push((index, step.id, *digest));
            }
        }
    }
    let asked: Vec<StepId> = wanted.iter().map(|(_, id, _)| *id).collect();
    let segments: Vec<usize> = wanted.iter().map(|(index, ..)| *index).chain([last]).collect();
    let mut scored = score(scorer, rendered, segments).await?;
    let whole = scored.pop().ok_or_else(|| Failure::internal("no score came back"))?;
    let statistics = actions.unwrap_or(Statistics { mean: 0.0, std: 0.0, count: 0 });
    let frame = ScoresFrame {
        trace_id,
        digest: digester.current(),
        score: Some(f64::from(whole.score)),
        truncated: truncated(&whole),
        actions: wanted
            .into_iter()
            .zip(scored)
            .map(|((_, step_id, digest), scored)| ActionScore {
                step_id,
                digest,
                score: f64::from(scored.score),
                credit: statistics.credit(f64::from(scored.score)),
                truncated: truncated(&scored),
            })
            .collect(),
    };
    check_trace(&asked, &frame).map_err(Failure::internal)?;
    Ok(Some(frame))
}

async fn score(
    scorer: &Arc<TextScorer>,
    rendered: RenderedTrace,
    segments: Vec<usize>,
) -> Result<Vec<Scored>, Failure> {
    let scorer = scorer.clone();
    blocking(move || {
        let text = rendered.trace_text();
        let cuts = ends_of(&text.cuts, text.text.len());
        scorer.score_segments(&Segmented { text: &text.text, cuts: &cuts }, &segments).map_err(score_failure)
    })
    .await
}

fn truncated(scored: &Scored) -> Option<Truncated> {
    scored.truncation.map(|cut| Truncated { dropped_tokens: cut.dropped_tokens as u64, target_cut: cut.target_cut })
}

/// `scores.jsonl` and `action_scores.jsonl` of the job directory.
struct Files {
    traces: BufWriter<File>,
    actions: BufWriter<File>,
}

impl Files {
    fn create(folder: &Path) -> std::io::Result<Self> {
        let open = |name: &str| File::create(folder.join(name)).map(BufWriter::new);
        Ok(Self { traces: open("scores.jsonl")?, actions: open("action_scores.jsonl")? })
    }

    fn write(&mut self, frame: &ScoresFrame) -> std::io::Result<()> {
        let trace_id = frame.trace_id;
        let line = serde_json::json!({"trace_id": trace_id, "score": frame.score});
        writeln!(self.traces, "{line}")?;
        for action in &frame.actions {
            let line = serde_json::json!({
                "trace_id": trace_id, "step_id": action.step_id, "score": action.score, "credit": action.credit,
            });
            writeln!(self.actions, "{line}")?;
        }
        Ok(())
    }

    fn finish(mut self) -> std::io::Result<()> {
        self.traces.flush()?;
        self.actions.flush()
    }
}
