//! Titles that an import may not do without (`RM_TITLE_POLICY=required`): a language model writes them before anything is sealed, and
//! an import fails if one cannot be written.
//!
//! The input is read once more for it: what is begun, what came with a title, and the beginning of every other trace. A trace that has a
//! generated title already keeps it while it begins with the same message.

use super::pieces::{Batch, Piece};
use super::trace_ids::TraceIds;
use super::{ImportError, TakesBatches};
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use sqlx::PgPool;
use stash_domain::ids::{Digest, OwnerId, TraceId};
use stash_domain::llm::LlmPurpose;
use stash_domain::titling::Excerpt;
use stash_domain::trace::title::Titler;
use stash_infra::llm::{Consenting, Llm, consent};
use stash_infra::titles;
use std::collections::HashMap;
use std::sync::Arc;
use uuid::Uuid;

/// Traces of an import whose titles are written while it waits: a minute or so.
pub const TITLED_TRACES_MAX: usize = 100;

/// Calls under way.
const AT_ONCE: usize = 8;

/// Who writes titles during imports.
#[derive(Clone)]
pub struct Required {
    /// The model; why there is none, if there is none.
    pub llm: Result<Arc<dyn Llm>, String>,
}

/// Titles by the place of their trace in the input.
pub(super) type Titles = HashMap<usize, String>;

/// What is known of each trace of an input.
pub(super) struct Survey {
    traces: TraceIds,
    ids: Vec<TraceId>,
    /// Of the traces without a title.
    untitled: Vec<Untitled>,
    /// Whether the trace that is going by has none.
    open: bool,
}

struct Untitled {
    place: usize,
    titler: Titler,
    excerpt: Excerpt,
}

impl Survey {
    pub(super) fn new(traces: TraceIds) -> Self {
        Self { traces, ids: Vec::new(), untitled: Vec::new(), open: false }
    }
}

impl TakesBatches for Survey {
    async fn take(&mut self, batch: Batch) -> Result<(), ImportError> {
        self.ids.extend(self.traces.note(&batch));
        if self.ids.len() > TITLED_TRACES_MAX {
            return Err(ImportError::TooManyTitles);
        }
        let mut place = self.ids.len() - batch.iter().filter(|piece| matches!(piece, Piece::Begin(_))).count();
        for piece in &batch {
            match piece {
                Piece::Begin(head) => {
                    self.open = head.title.is_none();
                    if self.open {
                        let (titler, excerpt) = (Titler::new(None), Excerpt::default());
                        self.untitled.push(Untitled { place, titler, excerpt });
                    }
                    place += 1;
                }
                Piece::Step(step) if self.open => {
                    if let Some(untitled) = self.untitled.last_mut() {
                        untitled.titler.see(step);
                        untitled.excerpt.see(step);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Survey {
    /// Writes the titles. None for an account that forbids it, and for traces without any text: theirs are derived.
    ///
    /// # Errors
    /// [`ImportError::Title`] when one cannot be written, [`ImportError::NoTitles`] when no model is set up.
    pub(super) async fn titles(
        self,
        pool: &PgPool,
        owner: OwnerId,
        required: &Required,
    ) -> Result<Titles, ImportError> {
        if self.untitled.is_empty() || !consent::allows(pool, owner, LlmPurpose::Titles).await? {
            return Ok(Titles::new());
        }
        let known = known(pool, owner, &self.ids).await?;
        let (mut titles, mut wanted) = (Titles::new(), Vec::new());
        for untitled in self.untitled {
            let basis = untitled.titler.basis();
            let id = self.ids.get(untitled.place);
            match id.and_then(|id| known.get(id)).filter(|(_, about)| *about == basis) {
                Some((title, _)) => {
                    titles.insert(untitled.place, title.clone());
                }
                None => wanted.extend(untitled.excerpt.question().map(|question| (untitled.place, question))),
            }
        }
        if wanted.is_empty() {
            return Ok(titles);
        }
        let llm = required.llm.as_ref().map_err(|why| ImportError::NoTitles(why.clone()))?;
        let llm = Consenting { llm: &**llm, pool, owner, purpose: LlmPurpose::Titles };
        let mut written = FuturesUnordered::new();
        for (place, question) in wanted {
            if written.len() >= AT_ONCE
                && let Some(outcome) = written.next().await
            {
                titles.extend([outcome?]);
            }
            written.push(write(&llm, place, question));
        }
        while let Some(outcome) = written.next().await {
            titles.extend([outcome?]);
        }
        Ok(titles)
    }
}

/// Writes one.
async fn write(llm: &Consenting<'_>, place: usize, question: String) -> Result<(usize, String), ImportError> {
    let (outcome, _) = titles::title(llm, &question).await;
    outcome.map(|title| (place, title)).map_err(ImportError::Title)
}

/// Titles that traces have from a model, each with the message that it is about.
async fn known(
    pool: &PgPool,
    owner: OwnerId,
    ids: &[TraceId],
) -> Result<HashMap<TraceId, (String, Option<Digest>)>, sqlx::Error> {
    let ids: Vec<Uuid> = ids.iter().map(|id| id.0).collect();
    let rows: Vec<(Uuid, String, Option<Vec<u8>>)> =
        sqlx::query_as(include_str!("generated_titles.sql")).bind(owner.0).bind(ids).fetch_all(pool).await?;
    let digest = |bytes: Vec<u8>| bytes.try_into().ok().map(Digest);
    Ok(rows.into_iter().map(|(id, title, basis)| (TraceId(id), (title, basis.and_then(digest)))).collect())
}
