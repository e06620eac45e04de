//! Importing traces, in constant memory whatever the size of the input.
//!
//! 1. The body is spooled to a file (or stays in memory, for a JSON body), inflated and bounded: [`spool`].
//! 2. The whole input is checked, so that an error in its last line is known before anything is stored.
//!    Where no trace may be without a title, those that are get one from a language model now: [`titles`].
//! 3. A blocking thread reads it again, takes out what must not be stored ([`Redactor`]) and cuts it into batches of pieces ([`pieces`]); meanwhile the traces of the batch before
//!    are given ids, rendered, sealed and written to the artifact store ([`sealer`]).
//! 4. What was in the log by then is waited for, and how many of the traces there were before is counted.
//! 5. One record points at all of it. It is acknowledged once it is durable.
//!
//! Every id is derived from the command or from the external id, and sealing is deterministic, so a retried import finds the
//! blobs of the first attempt and its record changes nothing.

mod judgments;
pub mod pieces;
pub mod sealer;
pub mod spool;
pub mod titles;
mod trace_ids;

use pieces::{Batch, Pieces};
use sealer::Sealer;
use spool::Source;
use stash_domain::events::TracesImported;
use stash_domain::formats::{self, ReadError, ReadOptions, Report};
use stash_domain::ids::{CommandId, ImportId, OwnerId, TraceId, made_by};
use stash_domain::limits::TRACES_PER_IMPORT_MAX;
use stash_domain::record::{Append, Expected, StreamId};
use stash_domain::redaction::{RedactingSink, Redactor};
use stash_infra::artifacts::ArtifactStore;
use stash_infra::bundle::BundleError;
use stash_infra::llm::LlmError;
use stash_infra::subject_keys::{KeyError, SubjectKeys};
use std::sync::Arc;
use titles::{Survey, Titles};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use trace_ids::{Noted, TraceIds};

/// Batches on their way from the reading thread to the sealer: one being made, one waiting, one being sealed.
const BATCHES_IN_FLIGHT: usize = 1;

/// Why an import failed.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The input breaks its format's rules.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// It cannot be sealed or stored.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Keys cannot be made.
    #[error(transparent)]
    Keys(#[from] KeyError),
    /// The database cannot be asked.
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    /// A title that the import may not do without cannot be written.
    #[error("a missing title cannot be written: {0}")]
    Title(LlmError),
    /// Titles are to be written, and nobody is there to write them.
    #[error("missing titles cannot be written: {0}")]
    NoTitles(String),
    /// More traces than titles are written for while an import waits.
    #[error(
        "where each trace must have a title, an import may have at most {} traces; send it in parts",
        titles::TITLED_TRACES_MAX
    )]
    TooManyTitles,
    /// More traces than one answer can name.
    #[error("the import has {0} traces, at most {TRACES_PER_IMPORT_MAX} are taken at once; send it in parts")]
    TooManyTraces(u64),
    /// A frame cannot be written: a fault of ours.
    #[error("a trace cannot be written: {0}")]
    Frame(String),
    /// The process is shutting down.
    #[error("the import was stopped")]
    Stopped,
}

/// What to import, and how.
pub struct Input {
    /// The bytes.
    pub bytes: Source,
    /// Name of their format, or `auto`.
    pub format: String,
    /// How to read them.
    pub options: ReadOptions,
    /// What the caller calls the place they come from: traces in it that have no id are then known by their number in it.
    pub source: Option<String>,
    /// Its turn among imports. Whoever reads the bytes holds it: a thread that reads goes on when the caller has hung up.
    pub turn: Option<Turn>,
}

/// A permit to read an import, given back when nobody holds it any more.
pub type Turn = Arc<OwnedSemaphorePermit>;

/// An import that is ready to be appended.
#[derive(Debug)]
pub struct Prepared {
    /// The events.
    pub appends: Vec<Append>,
    /// What to answer.
    pub summary: Summary,
}

/// What an import takes in.
#[derive(Debug)]
pub struct Summary {
    /// Ids of the traces, in the order of the input.
    pub trace_ids: Vec<TraceId>,
    /// How many of them there were before; [`Importer::count_updated`] adds those of earlier imports.
    pub updated: u64,
    /// Those that may have been imported earlier.
    named: Vec<TraceId>,
    /// What was read.
    pub report: Report,
}

impl Summary {
    fn new(noted: Noted, report: Report) -> Self {
        Self { trace_ids: noted.ids, updated: noted.repeated, named: noted.named, report }
    }

    /// Whether any trace can have been imported earlier.
    pub fn may_update(&self) -> bool {
        !self.named.is_empty()
    }
}

/// What an import is made with.
#[derive(Clone)]
pub struct Importer {
    /// Makes the traces' keys.
    pub keys: Arc<SubjectKeys>,
    /// Takes the blobs.
    pub store: Arc<dyn ArtifactStore>,
    /// Answers which traces there are already.
    pub pool: sqlx::PgPool,
    /// Takes out of the text what must not be stored.
    pub redactor: Redactor,
    /// Who writes missing titles while an import waits; none: nobody, they are written later.
    pub titles: Option<titles::Required>,
}

impl Importer {
    /// Checks the input, seals it and says what to append.
    ///
    /// # Errors
    /// [`ImportError`]; at most blobs that nothing points at are left behind.
    pub async fn prepare(&self, owner: OwnerId, command: CommandId, mut input: Input) -> Result<Prepared, ImportError> {
        let import_id = import_of(command);
        let source = input.source.take();
        let titles = self.required_titles(owner, command, &input, source.clone()).await?;
        let traces = TraceIds::new(owner, command, source);
        let mut sealer = Sealer::new(self.clone(), owner, import_id, traces, titles);
        let report = read_batches(input, self.redactor.clone(), &mut sealer).await?;
        let sealed = sealer.finish().await?;
        let event = TracesImported {
            import_id,
            source_format: report.format.to_owned(),
            trace_count: i64::try_from(sealed.traces.ids.len()).unwrap_or(i64::MAX),
            step_count: i64::try_from(report.steps).unwrap_or(i64::MAX),
            bundle: sealed.bundle,
        };
        let mut events = vec![event.into()];
        events.extend(sealed.judgments.map(Into::into));
        let append = Append { stream: StreamId::Import(import_id), expected: Expected::Any, events };
        Ok(Prepared { appends: vec![append], summary: Summary::new(sealed.traces, report) })
    }

    /// The titles that are written before the import goes on.
    async fn required_titles(
        &self,
        owner: OwnerId,
        command: CommandId,
        input: &Input,
        source: Option<String>,
    ) -> Result<Titles, ImportError> {
        let Some(required) = &self.titles else { return Ok(Titles::new()) };
        let mut survey = Survey::new(TraceIds::new(owner, command, source));
        let bytes = input.bytes.again().map_err(ReadError::Io)?;
        let again = Input {
            bytes,
            format: input.format.clone(),
            options: input.options,
            source: None,
            turn: input.turn.clone(),
        };
        read_batches(again, self.redactor.clone(), &mut survey).await?;
        survey.titles(&self.pool, owner, required).await
    }

    /// What an import said that was accepted earlier, for its repeat. Nothing is sealed or stored: the traces may have been
    /// deleted since, and must not leave anything behind again.
    ///
    /// # Errors
    /// [`ImportError`].
    pub async fn recall(&self, owner: OwnerId, command: CommandId, mut input: Input) -> Result<Summary, ImportError> {
        let mut traces = TraceIds::new(owner, command, input.source.take());
        let report = read_batches(input, self.redactor.clone(), &mut traces).await?;
        Ok(Summary::new(traces.finish(), report))
    }

    /// Counts the traces that the read models have from earlier imports. To be called once they are far enough.
    ///
    /// # Errors
    /// [`ImportError::Database`].
    pub async fn count_updated(
        &self,
        owner: OwnerId,
        command: CommandId,
        summary: &mut Summary,
    ) -> Result<(), ImportError> {
        summary.updated += trace_ids::existing(&self.pool, owner, import_of(command), &summary.named).await?;
        Ok(())
    }
}

fn import_of(command: CommandId) -> ImportId {
    ImportId(made_by(command, "import", 0))
}

/// Where the batches of an input go.
trait TakesBatches {
    /// Takes the next one. After an error no more come.
    fn take(&mut self, batch: Batch) -> impl Future<Output = Result<(), ImportError>> + Send;
}

/// Reads the input on a blocking thread and hands its batches on.
async fn read_batches(input: Input, redactor: Redactor, taker: &mut impl TakesBatches) -> Result<Report, ImportError> {
    let (sender, mut batches) = mpsc::channel(BATCHES_IN_FLIGHT);
    let reading = tokio::task::spawn_blocking(move || read(input, &redactor, sender));
    let mut taken = Ok(());
    while let Some(batch) = batches.recv().await {
        taken = taker.take(batch).await;
        if taken.is_err() {
            break;
        }
    }
    drop(batches);
    let read = reading.await.map_err(|_| ImportError::Stopped)?;
    // A batch that could not be taken is the cause of a reader that found the channel closed, never the other way round.
    taken?;
    read
}

fn not_too_many(traces: u64) -> Result<(), ImportError> {
    if traces > TRACES_PER_IMPORT_MAX { Err(ImportError::TooManyTraces(traces)) } else { Ok(()) }
}

/// Checks and then reads the input, on a blocking thread.
fn read(input: Input, redactor: &Redactor, sender: mpsc::Sender<Batch>) -> Result<Report, ImportError> {
    let Input { mut bytes, format, options, turn: _turn, .. } = input;
    // It may have been read before, for what an import needs to know first.
    bytes.rewind().map_err(ReadError::Io)?;
    let checked = formats::check(&format, &mut bytes, options)?;
    not_too_many(checked.traces)?;
    bytes.rewind().map_err(ReadError::Io)?;
    let mut pieces = Pieces::new(sender);
    // The format that `check` recognised, so that `auto` cannot decide otherwise the second time.
    let report = if redactor.is_empty() {
        formats::read(checked.format, &mut bytes, options, &mut pieces)?
    } else {
        let mut sink = RedactingSink::new(redactor, &mut pieces);
        let mut report = formats::read(checked.format, &mut bytes, options, &mut sink)?;
        sink.warning().into_iter().for_each(|warning| report.warnings.push(warning));
        report
    };
    pieces.finish()?;
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_traces_than_an_answer_can_name_are_sent_in_parts() {
        assert!(not_too_many(TRACES_PER_IMPORT_MAX).is_ok());
        let refused = not_too_many(TRACES_PER_IMPORT_MAX + 1).unwrap_err();
        assert!(refused.to_string().contains("send it in parts"), "{refused}");
    }
}
