//! Scores that a model gave before, by the digest of the text: the same text under the same model has the same score, so only
//! what is new or changed is computed.

use crate::jobs::{Failure, Running};
use crate::scoring::Scored;
use stash_domain::ids::{Digest, RewardModelId, TraceId};
use stash_model::tokenize::Truncation;
use std::collections::HashMap;

/// Scores of one trace by one model.
#[derive(Debug, Default)]
pub struct Known {
    /// Of the trace's text. Kept of texts that were read whole only: what else was cut is not in the read model.
    pub trace: Option<(Digest, Scored)>,
    /// Of texts of actions.
    pub actions: HashMap<Digest, Scored>,
}

/// What is known of a trace.
///
/// # Errors
/// Those of the database.
pub(super) async fn load(running: &Running, model: RewardModelId, trace: TraceId) -> Result<Known, Failure> {
    let (owner, pool) = (running.job.owner.0, &running.worker.pool);
    let actions: Vec<(Vec<u8>, f64, i32, bool)> = sqlx::query_as(include_str!("known_actions.sql"))
        .bind(owner)
        .bind(model.0)
        .bind(trace.0)
        .fetch_all(pool)
        .await?;
    let whole: Option<(Vec<u8>, f64)> = sqlx::query_as(include_str!("known_trace.sql"))
        .bind(owner)
        .bind(model.0)
        .bind(trace.0)
        .fetch_optional(pool)
        .await?;
    let known = actions.into_iter().filter_map(|(digest, score, dropped, target_cut)| {
        let dropped_tokens = usize::try_from(dropped).ok()?;
        let truncation = (dropped_tokens > 0).then_some(Truncation { dropped_tokens, target_cut });
        Some((digest_of(digest)?, scored(score, truncation)))
    });
    Ok(Known {
        actions: known.collect(),
        trace: whole.and_then(|(digest, score)| Some((digest_of(digest)?, scored(score, None)))),
    })
}

fn digest_of(bytes: Vec<u8>) -> Option<Digest> {
    bytes.try_into().ok().map(Digest)
}

/// Scores are published as the engine's 32-bit floats, widened: narrowing gives the same number back.
fn scored(score: f64, truncation: Option<Truncation>) -> Scored {
    Scored { score: score as f32, truncation }
}
