//! `stash`: Stash Trace Format, what is imported, exported and made by every other format: one trace per line.
//!
//! Steps are taken as they are, one for one: nothing is split or dropped, so that step indices and round trips hold. Only a
//! call without an id is given one, and the result without an id that answers it: what is exported then has them.

mod call_ids;
mod span;
mod step;
pub(super) mod write;

use super::Format;
use super::common::call_ids::CallIds;
use super::common::head::HeadBuilder;
use super::common::look::Look;
use super::common::read::read_records;
use super::common::record::{ArrayOf, Bad, HeadField, Holds, Out, RecordFormat, Stop};
use super::common::source::Source;
use super::detect::Fit;
use super::report::{ReadError, ReadOptions, Report, TraceSink};
use crate::json::Json;
use crate::trace::TraceHead;
use span::Spans;

/// The format.
pub(super) struct Stash;

const NAME: &str = "stash";

impl Format for Stash {
    fn name(&self) -> &'static str {
        NAME
    }

    fn description(&self) -> &'static str {
        "Stash Trace Format: JSONL with one trace per line, {\"id\"?, \"title\"?, \"metadata\"?, \"steps\": [...], \"spans\"?}. \
         What the export writes. One pretty-printed object or an array of them is taken too."
    }

    fn fits(&self, look: &Look) -> Fit {
        let steps = look.items(&["steps"]);
        let mark = steps.iter().any(|step| step.get("role").is_some());
        // Steps without roles are another format's, or have a fault that reading will name.
        let foreign = steps.iter().any(|step| step.get("source").is_some());
        Fit::yes_if(mark).or_maybe_if(look.has("steps") && !foreign)
    }

    fn read(
        &self,
        source: &mut Source<'_>,
        options: ReadOptions,
        sink: &mut dyn TraceSink,
    ) -> Result<Report, ReadError> {
        read_records::<Self>(NAME, source, options, sink)
    }
}

const STEPS: usize = 0;
const SPANS: usize = 1;

/// What is known of a trace from its earlier steps and spans.
#[derive(Default)]
pub(super) struct Builder {
    calls: CallIds,
    spans: Spans,
}

impl RecordFormat for Stash {
    const LISTS: usize = 2;

    type Builder = Builder;

    fn holds(path: &[String]) -> Holds {
        match path {
            [key] if key == "steps" => Holds::Items(STEPS),
            [key] if key == "spans" => Holds::Items(SPANS),
            _ => Holds::Head,
        }
    }

    fn array_of(_: &Look) -> ArrayOf {
        ArrayOf::Records
    }

    fn begin(fields: Vec<HeadField>, out: &mut Out<'_>) -> Result<(TraceHead, Builder), Bad> {
        let mut head = HeadBuilder::default();
        for (path, value) in fields {
            match path.last().map_or("", String::as_str) {
                "id" => head.external_id("id", value)?,
                "title" => head.title(value)?,
                "metadata" => head.metadata(value)?,
                _ => head.extra(path, value)?,
            }
        }
        Ok((head.finish(out), Builder::default()))
    }

    fn item(builder: &mut Builder, list: usize, item: Json, out: &mut Out<'_>) -> Result<(), Stop> {
        if list == STEPS {
            let mut step = step::step(item)?;
            call_ids::complete(&mut step, &mut builder.calls);
            return out.step(step);
        }
        let span = builder.spans.take(item, out)?;
        out.span(span)
    }

    fn end(builder: Builder, _: &mut Out<'_>) -> Result<(), Stop> {
        Ok(builder.spans.check_parents()?)
    }
}
