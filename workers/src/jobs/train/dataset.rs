//! The pairs of a training: from the selected traces' ratings, and from findings about their actions, to rendered texts.
//!
//! Texts are rendered trace by trace into a spool file of the job directory, so that memory is bounded by the largest trace and
//! not by the number of pairs.

use super::found;
use super::spool::{Spool, Spooled};
use crate::context::Worker;
use crate::jobs::{Failure, Running, trace};
use stash_domain::ids::{Digest, OwnerId, RewardModelId, StepId, TraceId};
use stash_domain::learning::extraction::{Arranged, Finding};
use stash_domain::learning::frame::{Granularity, PairEvidence, Source, Split};
use stash_domain::learning::pairs::{Pair, Rated, from_ratings};
use stash_domain::learning::ratings::{Liking, Rating, TargetKey, resolve};
use stash_domain::learning::split::PairTraces;
use stash_domain::learning::{Judged, require_pairs};
use stash_domain::rendering::{Digester, Form, RenderedTrace, Revision};
use stash_domain::time::Timestamp;
use stash_domain::trace::{ActionType, Role};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use uuid::Uuid;

/// A target and where its text is.
pub struct Target {
    /// The target.
    pub rated: Rated,
    /// What stands in its place; none for what was done.
    pub revision: Option<Revision>,
    /// Its text; none if no pair has it.
    pub text: Option<Spooled>,
}

/// A pair, by the places of its targets.
pub struct DataPair {
    /// The good one.
    pub chosen: usize,
    /// The bad one.
    pub rejected: usize,
    /// What it compares.
    pub granularity: Granularity,
    /// Kind of the actions.
    pub action_type: Option<ActionType>,
    /// Where the preference comes from.
    pub source: Source,
    /// What it rests on; none for ratings.
    pub evidence: Option<PairEvidence>,
    /// What it is used for.
    pub split: Split,
}

/// A training's pairs.
pub struct Dataset {
    /// All rated targets.
    pub targets: Vec<Target>,
    /// The pairs.
    pub pairs: Vec<DataPair>,
    /// The texts.
    pub spool: Spool,
}

/// What is asked of a dataset.
#[derive(Clone, Copy)]
pub struct Request {
    /// Whose.
    pub owner: OwnerId,
    /// The model whose traces are selected.
    pub model: RewardModelId,
    /// Most pairs.
    pub max_pairs: usize,
    /// Seed.
    pub seed: i64,
}

/// What people's ratings say.
pub struct Explicit {
    /// What each rated target is worth.
    pub liking: BTreeMap<TargetKey, Liking>,
    targets: Vec<Target>,
    pairs: Vec<Pair>,
}

impl Explicit {
    /// Traces of both sides of each pair.
    pub fn traces(&self) -> Vec<PairTraces> {
        let trace = |index: usize| self.targets[index].rated.key.trace_id;
        self.pairs.iter().map(|pair| (trace(pair.chosen), trace(pair.rejected))).collect()
    }
}

/// The pairs before their texts are rendered.
pub struct Selected {
    targets: Vec<Target>,
    pairs: Vec<DataPair>,
}

/// Makes the pairs of ratings.
///
/// # Errors
/// Those of the database.
pub async fn explicit(running: &Running, request: Request) -> Result<Explicit, Failure> {
    let liking = resolve(ratings(&running.worker, request).await?);
    let targets = targets(running, request, &liking).await?;
    let rated: Vec<Rated> = targets.iter().map(|target| target.rated).collect();
    let pairs = from_ratings(&rated, request.max_pairs, request.seed);
    Ok(Explicit { liking, targets, pairs })
}

/// Puts the pairs of ratings and of findings together. Nothing of a base is looked at yet: too few pairs is the commonest
/// mistake, and is told at once.
///
/// # Errors
/// `too_few_pairs`.
pub fn select(
    explicit: Explicit,
    findings: &[Finding],
    arranged: &Arranged,
    judged: &Judged,
) -> Result<Selected, Failure> {
    let (positive, negative) = explicit.liking.values().fold((0, 0), |(good, bad), liking| match liking {
        Liking::Positive => (good + 1, bad),
        Liking::Negative => (good, bad + 1),
    });
    require_pairs(arranged.train_pairs, positive, negative, judged)
        .map_err(|refused| Failure::of_input(refused.code, refused.detail))?;
    let Explicit { mut targets, pairs, .. } = explicit;
    let mut pairs: Vec<DataPair> = pairs
        .into_iter()
        .zip(&arranged.explicit)
        .map(|(pair, split)| {
            let rated = &targets[pair.chosen].rated;
            let granularity = if rated.key.step_id.is_some() { Granularity::Action } else { Granularity::Trace };
            DataPair {
                chosen: pair.chosen,
                rejected: pair.rejected,
                granularity,
                action_type: rated.action_type,
                source: Source::ExplicitRating,
                evidence: None,
                split: *split,
            }
        })
        .collect();
    for (finding, split) in findings.iter().zip(&arranged.findings) {
        let Some(split) = split else { continue };
        pairs.extend(found::pair(finding, *split, &mut targets));
    }
    Ok(Selected { targets, pairs })
}

#[derive(sqlx::FromRow)]
struct RatingRow {
    annotation_id: Uuid,
    trace_id: Uuid,
    step_id: Option<Uuid>,
    author_id: Uuid,
    rating: i16,
    label_error: bool,
    updated_at: i64,
    imported: bool,
}

async fn ratings(worker: &Worker, request: Request) -> Result<Vec<Rating>, Failure> {
    let rows: Vec<RatingRow> = sqlx::query_as(include_str!("ratings.sql"))
        .bind(request.owner.0)
        .bind(request.model.0)
        .fetch_all(&worker.pool)
        .await?;
    Ok(rows
        .into_iter()
        .map(|row| Rating {
            annotation_id: row.annotation_id.into(),
            target: TargetKey { trace_id: row.trace_id.into(), step_id: row.step_id.map(StepId) },
            author_id: row.author_id.into(),
            imported: row.imported,
            rating: row.rating.into(),
            label_error: row.label_error,
            at: Timestamp(row.updated_at),
        })
        .collect())
}

/// Everything about the rated targets but their texts. Ratings of steps that are no actions (user messages, tool results) say
/// nothing about an action and are passed over.
async fn targets(
    running: &Running,
    request: Request,
    liking: &BTreeMap<TargetKey, Liking>,
) -> Result<Vec<Target>, Failure> {
    let traces: BTreeSet<TraceId> = liking.keys().map(|key| key.trace_id).collect();
    let mut targets = Vec::with_capacity(liking.len());
    for trace_id in traces {
        running.check()?;
        let steps = trace::steps(&running.worker, request.owner, trace_id).await?;
        let first_user =
            steps.iter().find(|step| step.step.role == Role::User).map(|step| Digest::of(step.step.content.as_bytes()));
        let mut digester = Digester::new();
        for step in &steps {
            let context = digester.current();
            let digest = digester.step(&step.step);
            let key = TargetKey { trace_id, step_id: Some(step.id) };
            if let (Some(digest), Some(liking)) = (digest, liking.get(&key)) {
                let action_type = step.step.action_type();
                let rated = Rated { key, action_type, liking: *liking, digest, context: Some(context), first_user };
                targets.push(Target { rated, revision: None, text: None });
            }
        }
        let key = TargetKey { trace_id, step_id: None };
        if let Some(liking) = liking.get(&key)
            && !steps.is_empty()
        {
            let digest = digester.current();
            let rated = Rated { key, action_type: None, liking: *liking, digest, context: None, first_user };
            targets.push(Target { rated, revision: None, text: None });
        }
    }
    Ok(targets)
}

/// Renders the texts that pairs need, in the form of the base, trace by trace.
///
/// # Errors
/// Those of the database and the disk.
pub async fn render(running: &Running, selected: Selected, form: Form, folder: &Path) -> Result<Dataset, Failure> {
    let Selected { mut targets, pairs } = selected;
    let needed: BTreeSet<usize> = pairs
        .iter()
        .filter(|pair| pair.split != Split::Excluded)
        .flat_map(|pair| [pair.chosen, pair.rejected])
        .collect();
    let mut by_trace: BTreeMap<TraceId, Vec<usize>> = BTreeMap::new();
    for index in needed {
        by_trace.entry(targets[index].rated.key.trace_id).or_default().push(index);
    }
    let mut spool = Spool::create(folder).map_err(Failure::may_pass)?;
    for (trace_id, indices) in by_trace {
        running.check()?;
        let steps = trace::steps(&running.worker, running.job.owner, trace_id).await?;
        let rendered = RenderedTrace::of(steps.iter().map(|step| &step.step), form);
        for index in indices {
            let text = match targets[index].rated.key.step_id {
                None => Some(rendered.trace_text()),
                Some(id) => {
                    steps.iter().position(|step| step.id == id).and_then(|at| u32::try_from(at).ok()).and_then(|at| {
                        match &targets[index].revision {
                            None => rendered.action_text(at),
                            Some(revision) => rendered.alternative_text(at, revision),
                        }
                    })
                }
            };
            // The trace was replaced between the two looks: the attempt is made again from what is there now.
            let text = text.ok_or_else(|| Failure::may_pass("a trace was replaced while its texts were rendered"))?;
            targets[index].text = Some(spool.put(&text).map_err(Failure::may_pass)?);
        }
    }
    spool.seal().map_err(Failure::may_pass)?;
    Ok(Dataset { targets, pairs, spool })
}
