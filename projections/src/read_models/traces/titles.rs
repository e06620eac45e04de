//! What people and language models say of titles (`rm_trace_titles`), and what `rm_traces` shows of it.
//!
//! It is kept apart from what imports say, so that what is shown depends on the newest of each and never on how an import and a
//! title fell into batches.

use crate::error::ApplyError;
use crate::read_models::{Accepted, Tools, without_nul};
use sqlx::PgConnection;
use stash_domain::events::{Event, TitleFailed, TraceTitled};
use stash_domain::ids::{Digest, SubjectId, TraceId};
use stash_domain::sealed::{Opened, Sealed};
use stash_domain::titling::TitleFrame;
use stash_infra::seal::{self, Purpose};

/// Plain bytes of a title's frame: far above what the bounds on titles add up to.
const FRAME_BYTES_MAX: usize = 64 * 1024;

const RETITLE: &str =
    concat!(include_str!("retitle.sql"), include_str!("resolve_title.sql"), include_str!("retitle_end.sql"));

/// One thing that was said.
#[derive(Default)]
struct Said<'a> {
    what: &'static str,
    text: Option<String>,
    basis: Option<Digest>,
    model: Option<&'a str>,
    code: Option<&'a str>,
}

/// Whether an event says something of a title.
pub(super) fn is_about_titles(event: &Event) -> bool {
    matches!(event, Event::TraceTitled(_) | Event::TitleFailed(_) | Event::TitleRequested(_))
}

/// Notes what an event says. All rows of its trace are written.
pub(super) async fn apply(
    tx: &mut PgConnection,
    item: &Accepted<'_>,
    event: &Event,
    tools: &Tools,
) -> Result<(), ApplyError> {
    match event {
        Event::TraceTitled(event) => {
            let Some(frame) = open(item, event.subject_id, &event.title, tools).await? else { return Ok(()) };
            match said(event, frame) {
                Some(said) => note(tx, item, event.trace_id, said).await,
                None => Ok(()),
            }
        }
        Event::TitleFailed(TitleFailed { trace_id, code, message, subject_id, basis, .. }) => {
            let Some(frame) = open(item, *subject_id, basis, tools).await? else { return Ok(()) };
            let text = Some(without_nul(message.clone()));
            note(tx, item, *trace_id, Said { what: "failed", text, basis: frame.basis, code: Some(code), model: None })
                .await
        }
        Event::TitleRequested(event) => {
            note(tx, item, event.trace_id, Said { what: "requested", ..Said::default() }).await
        }
        _ => Ok(()),
    }
}

/// None for a generated title that is none, and for a source of a newer Stash.
fn said(event: &TraceTitled, frame: TitleFrame) -> Option<Said<'_>> {
    let TitleFrame { title, basis } = frame;
    let title = title.map(without_nul);
    match event.title_source.as_str() {
        "edited" => Some(Said { what: "edited", text: title, ..Said::default() }),
        "generated" if title.is_some() => {
            Some(Said { what: "generated", text: title, basis, model: event.model.as_deref(), code: None })
        }
        _ => None,
    }
}

async fn note(tx: &mut PgConnection, item: &Accepted<'_>, trace: TraceId, said: Said<'_>) -> Result<(), ApplyError> {
    let owner = item.record.owner_id;
    sqlx::query(include_str!("note_title.sql"))
        .bind(owner.0)
        .bind(trace.0)
        .bind(said.what)
        .bind(said.text)
        .bind(said.basis.map(|basis| basis.0.to_vec()))
        .bind(said.model)
        .bind(said.code)
        .bind(item.context().recorded_at.0)
        .execute(&mut *tx)
        .await?;
    sqlx::query(RETITLE).bind(owner.0).bind(trace.0).execute(tx).await?;
    Ok(())
}

/// The frame; none when its trace was deleted later in the log.
async fn open(
    item: &Accepted<'_>,
    subject: SubjectId,
    sealed: &Sealed,
    tools: &Tools,
) -> Result<Option<TitleFrame>, ApplyError> {
    let keys = tools.keys.get(item.record.owner_id, &[subject]).await;
    let keys = keys.map_err(|error| ApplyError::Unavailable(error.to_string()))?;
    let opened = seal::open(keys.get(&subject), Purpose::TITLE_FRAME, sealed, FRAME_BYTES_MAX)
        .map_err(|error| ApplyError::poison("title_damaged", error))?;
    let Opened::Clear(plain) = opened else { return Ok(None) };
    TitleFrame::decode(&plain).map(Some).map_err(|error| ApplyError::poison("title_damaged", error))
}
