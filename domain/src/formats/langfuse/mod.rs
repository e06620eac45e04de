//! `langfuse`: traces exported from Langfuse, by its API or from its pages.
//!
//! | record | traces |
//! |---|---|
//! | `{"id", …, "observations": [{…}], "scores": […]}`: the API's trace | itself |
//! | `{"trace": {…}, "observations": [{…}]}`: the download of the page | itself |
//! | `{"data": […], "meta": {…}}`: a page of a list | each element that is one of the above |
//! | an observation by itself, or within such a page | one for each `traceId`, at the end of the input |
//!
//! A record that is a trace is handed on at once. Observations by themselves are held until the input ends, up to
//! [`IMPORT_HELD_BYTES_MAX`](crate::limits::IMPORT_HELD_BYTES_MAX) bytes.
//!
//! 1. [`record`] takes a trace apart: its head, its observations, what was judged.
//! 2. [`observation`] makes of each observation a span, and what the merging needs of it.
//! 3. [`scores`] makes judgments of scores, comments and corrections.

mod media;
mod observation;
mod record;
mod rows;
mod scores;

use super::Format;
use super::common::look::Look;
use super::common::record::Bad;
use super::common::source::{Place, Source};
use super::common::values::Values;
use super::detect::Fit;
use super::judgment::ScoreMap;
use super::report::{ReadError, ReadOptions, Report, TraceSink};
use crate::json::Json;
use rows::Rows;
use std::collections::BTreeSet;

/// The format.
pub(super) struct Langfuse;

const NAME: &str = "langfuse";

/// Trace ids remembered to warn of those that stand twice; ids beyond are not looked for.
const IDS_REMEMBERED_MAX: usize = 100_000;

impl Format for Langfuse {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Traces exported from Langfuse: JSON or JSONL of {\"id\", ..., \"observations\": [...]} as its API gives them, the \
         download of a trace's page, pages of lists. Generations are merged to one conversation."
    }

    fn fits(&self, look: &Look) -> Fit {
        let is_object = |item: &Json| matches!(item, Json::Object(_));
        let is_row = |item: &Json| {
            item.get("traceId").is_some() && item.get("type").is_some() && item.get("startTime").is_some()
        };
        let is_trace = |item: &Json| item.get("observations").is_some() && item.get("id").is_some();
        let observations = look.items(&["observations"]).iter().chain(look.items(&["trace", "observations"]));
        let marked =
            look.has("observations") && ["timestamp", "htmlPath", "trace", "scores"].iter().any(|key| look.has(key));
        let paged = look.items(&["data"]).iter().any(|item| is_row(item) || is_trace(item));
        Fit::yes_if(observations.into_iter().any(is_object) || marked || paged || is_row(&look.value))
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        options: ReadOptions,
        sink: &mut dyn TraceSink,
    ) -> Result<Report, ReadError> {
        let mut values = Values::new(NAME, options, sink);
        let mut reading = Reading { scores: options.score_map, rows: Rows::default(), ids: BTreeSet::new() };
        values.read_each(source, &mut |values, place, fields| reading.object(values, place, Json::Object(fields)))?;
        for (place, trace) in std::mem::take(&mut reading.rows).traces() {
            reading.trace(&mut values, place, trace)?;
        }
        Ok(values.finish())
    }
}

struct Reading {
    scores: ScoreMap,
    rows: Rows,
    /// Ids of the traces so far.
    ids: BTreeSet<String>,
}

impl Reading {
    fn object(&mut self, values: &mut Values<'_>, place: Place, object: Json) -> Result<(), ReadError> {
        let is_trace = object.get("observations").is_some() || matches!(object.get("trace"), Some(Json::Object(_)));
        if is_trace {
            return self.trace(values, place, object);
        }
        if rows::is_row(&object) {
            return match self.rows.take(place, object) {
                Ok(()) => Ok(()),
                Err(bad) => Err(ReadError::Input(super::common::fault::issue(place, bad))),
            };
        }
        let Json::Object(fields) = object else { return Ok(()) };
        match fields.into_iter().find(|(key, _)| key == "data") {
            Some((_, Json::List(items))) => items.into_iter().try_for_each(|item| match item {
                Json::Object(_) => self.object(values, place, item),
                _ => Ok(()),
            }),
            _ => values.fault_at(
                place,
                Bad::new("observations", "is missing; a trace of Langfuse is exported with its observations"),
            ),
        }
    }

    fn trace(&mut self, values: &mut Values<'_>, place: Place, object: Json) -> Result<(), ReadError> {
        let mut out = values.out();
        match record::take(object, &self.scores, &mut out) {
            Ok((head, judgments)) => {
                if let Some(id) = head.external_id.as_ref().filter(|_| self.ids.len() < IDS_REMEMBERED_MAX)
                    && !self.ids.insert(id.clone())
                {
                    values.warn(
                        place,
                        Bad::new("id", "is the id of an earlier trace in this input; this later one stands"),
                    );
                }
                values.trace_at(place, head, out, judgments)
            }
            Err(bad) => values.fault_at(place, bad),
        }
    }
}
