//! Scores of traces and their actions, sealed trace by trace.

use super::engine::{blocking, score_failure};
use super::score::Known;
use super::{Failure, Running, subjects, trace};
use crate::scoring::{Precision, Scored, TextScorer, TraceScores};
use stash_domain::ids::{Digest, StepId, TraceId};
use stash_domain::jobs::result::{check_count, check_trace};
use stash_domain::rendering::{Digester, Form, render_step};
use stash_domain::reward::credit::Statistics;
use stash_domain::reward::frame::{ActionScore, ScoresFrame, Truncated};
use stash_domain::sealed::Bundle;
use stash_infra::bundle::BundleWriter;
use stash_infra::seal::Purpose;
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
    /// What they were computed in; none where nothing was.
    pub precision: Option<Precision>,
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
    let mut scores = Scores { precision: Some(scorer.scorer().precision()), ..Scores::default() };
    // A model that was just trained has scored nothing yet.
    let known = Known::default();
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
            let Some(frame) = of_trace(running, scorer, form, trace_id, actions, &known).await? else { continue };
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

/// Scores one trace: none when it is gone, or has no text. Checked before it is handed out. What is `known` is taken as it is.
///
/// The trace is read page by page, and scored by its segments as they come: what is held does not grow with its length, but for
/// the scores themselves.
///
/// # Errors
/// [`Failure`].
pub async fn of_trace(
    running: &Running,
    scorer: &Arc<TextScorer>,
    form: Form,
    trace_id: TraceId,
    actions: Option<Statistics>,
    known: &Known,
) -> Result<Option<ScoresFrame>, Failure> {
    let mut stream = TraceScores::new(Arc::clone(scorer));
    let mut digester = Digester::new();
    let mut asked: Vec<Asked> = Vec::new();
    let mut after = None;
    while let Some((steps, last)) = trace::page(&running.worker, running.job.owner, trace_id, after).await? {
        running.check()?;
        after = Some(last);
        let mut segments: Vec<(String, bool)> = Vec::with_capacity(steps.len());
        for step in &steps {
            let digest = digester.step(&step.step);
            let Some(segment) = render_step(&step.step, form) else { continue };
            let action = digest.filter(|_| actions.is_some());
            let found = action.and_then(|digest| known.actions.get(&digest).copied());
            segments.push((segment, action.is_some() && found.is_none()));
            asked.extend(action.map(|digest| Asked { step: step.id, digest, known: found }));
        }
        stream = blocking(move || {
            for (segment, wanted) in &segments {
                stream.push(segment, *wanted).map_err(score_failure)?;
            }
            Ok(stream)
        })
        .await?;
    }
    let Some((scored, whole)) = blocking(move || stream.finish().map_err(score_failure)).await? else {
        return Ok(None);
    };
    let mut scored = scored.into_iter();
    let of_actions: Vec<Scored> = asked.iter().filter_map(|asked| asked.known.or_else(|| scored.next())).collect();
    frame(trace_id, digester.current(), whole, &asked, &of_actions, actions).map(Some)
}

/// The frame of a trace of which every score is known; none if one is not.
///
/// # Errors
/// [`Failure`].
pub async fn of_known(
    running: &Running,
    trace_id: TraceId,
    actions: Statistics,
    known: &Known,
) -> Result<Option<ScoresFrame>, Failure> {
    let Some((trace_digest, whole)) = known.trace else { return Ok(None) };
    let mut digester = Digester::new();
    let (mut asked, mut of_actions) = (Vec::new(), Vec::new());
    let mut after = None;
    while let Some((steps, last)) = trace::page(&running.worker, running.job.owner, trace_id, after).await? {
        after = Some(last);
        for step in &steps {
            let Some(digest) = digester.step(&step.step) else { continue };
            let Some(found) = known.actions.get(&digest).copied() else { return Ok(None) };
            asked.push(Asked { step: step.id, digest, known: Some(found) });
            of_actions.push(found);
        }
    }
    if after.is_none() || digester.current() != trace_digest {
        return Ok(None);
    }
    frame(trace_id, trace_digest, whole, &asked, &of_actions, Some(actions)).map(Some)
}

/// An action to score.
struct Asked {
    step: StepId,
    digest: Digest,
    known: Option<Scored>,
}

fn frame(
    trace_id: TraceId,
    digest: Digest,
    whole: Scored,
    asked: &[Asked],
    scored: &[Scored],
    actions: Option<Statistics>,
) -> Result<ScoresFrame, Failure> {
    let statistics = actions.unwrap_or(Statistics { mean: 0.0, std: 0.0, count: 0 });
    let of_action = |(asked, scored): (&Asked, &Scored)| ActionScore {
        step_id: asked.step,
        digest: asked.digest,
        score: f64::from(scored.score),
        credit: statistics.credit(f64::from(scored.score)),
        truncated: truncated(scored),
    };
    let frame = ScoresFrame {
        trace_id,
        digest,
        score: Some(f64::from(whole.score)),
        truncated: truncated(&whole),
        actions: asked.iter().zip(scored).map(of_action).collect(),
    };
    let ids: Vec<StepId> = asked.iter().map(|asked| asked.step).collect();
    check_trace(&ids, &frame).map_err(Failure::internal)?;
    Ok(frame)
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
