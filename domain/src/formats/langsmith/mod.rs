//! `langsmith`: runs exported from LangSmith.
//!
//! | record | runs |
//! |---|---|
//! | `{"id", "run_type", "inputs", "outputs", …}` | itself, and its `child_runs` |
//! | `{"runs": […], "cursors"?}` | each element |
//! | `{"post": […], "patch": […]}`: what the library sends | each element; a patch is merged into the run of its id |
//! | `{"key", "run_id", "score" …}`: feedback | none; it is a judgment of its run |
//!
//! Runs of a trace may stand anywhere in the input, so all are held until it ends, up to
//! [`IMPORT_HELD_BYTES_MAX`](crate::limits::IMPORT_HELD_BYTES_MAX) bytes of them.
//!
//! 1. [`runs`] gathers runs, united by id and grouped by trace.
//! 2. [`run`] makes of each a span, and what the merging needs of it.
//! 3. [`trace`] makes the trace of a group; [`feedback`] what was judged of it.

mod feedback;
mod run;
mod runs;
mod trace;

use super::Format;
use super::common::fault::issue;
use super::common::look::Look;
use super::common::source::Source;
use super::common::values::Values;
use super::detect::Fit;
use super::report::{ReadError, ReadOptions, Report, TraceSink};
use crate::json::Json;
use runs::Runs;

/// The format.
pub(super) struct Langsmith;

const NAME: &str = "langsmith";

impl Format for Langsmith {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Runs exported from LangSmith: JSONL or an array of runs, {\"runs\": [...]}, runs with child_runs, the bodies that its \
         library sends. Runs are grouped by trace; those of models are merged to one conversation."
    }

    fn fits(&self, look: &Look) -> Fit {
        let is_run = |run: &Json| {
            let marks = ["trace_id", "dotted_order", "inputs", "child_runs"];
            run.get("run_type").is_some() && marks.iter().any(|key| run.get(key).is_some())
        };
        let listed = ["runs", "post", "patch"].iter().any(|key| look.items(&[key]).iter().any(is_run));
        Fit::yes_if(is_run(&look.value) || listed)
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        options: ReadOptions,
        sink: &mut dyn TraceSink,
    ) -> Result<Report, ReadError> {
        let mut values = Values::new(NAME, options, sink);
        let mut runs = Runs::default();
        values.read_each(source, &mut |values, place, fields| match runs.take(place, Json::Object(fields)) {
            Ok(true) => Ok(()),
            Ok(false) => values.fault_at(place, runs::no_run()),
            Err(bad) => Err(ReadError::Input(issue(place, bad))),
        })?;
        let (traces, feedback) = runs.traces();
        for group in traces {
            let mut out = values.out();
            let place = group.place;
            match trace::take(group, &feedback, &options.score_map, &mut out) {
                Ok((head, judgments)) => values.trace_at(place, head, out, judgments)?,
                Err(bad) => values.fault_at(place, bad)?,
            }
        }
        Ok(values.finish())
    }
}
