//! What a record is about, as far as the order of records matters: two records without a common scope may be applied in either
//! order with the same rows.
//!
//! A stream alone would not do. Two imports of one trace have streams of their own, and a deletion reaches the rows that other
//! streams wrote. So a record has, besides its streams,
//! - the run that a scoring was asked for as, which its scores are a stream of;
//! - the trace that an event names, for annotations and scoring runs, which the deletion of that trace removes;
//! - all traces of the owner, for events that reach traces which the record does not name in the clear (they stand in a bundle),
//!   for titles, which change what an import wrote, and for deletions. Thus a deletion waits behind an import that is put aside, and then finds and shreds its keys;
//! - all judgments of the owner, for imports that bring some and for what people do to annotations, which may be such ones.

use stash_domain::events::Event;
use stash_domain::ids::TraceId;
use stash_domain::record::{Record, StreamId};
use std::collections::BTreeSet;

/// The scopes of a record, each once. At most one for each append, two for each event, and two more.
pub(crate) fn of(record: &Record) -> Vec<String> {
    let mut scopes: BTreeSet<String> = record.appends.iter().map(|append| append.stream.to_string()).collect();
    for (_, event) in record.events() {
        let named = match event {
            Event::AnnotationCreated(event) => Some(event.trace_id),
            Event::AnnotationChanged(event) => Some(event.trace_id),
            Event::AnnotationDeleted(event) => Some(event.trace_id),
            Event::ScoringRequested(event) => Some(event.trace_id),
            Event::TraceDeleted(event) => Some(event.trace_id),
            _ => None,
        };
        scopes.extend(named.map(trace));
        if let Event::ScoringRequested(event) = event {
            scopes.insert(StreamId::ScoringRun(event.run_id).to_string());
        }
        let reaches_others = matches!(
            event,
            Event::TracesImported(_)
                | Event::OtelReceived(_)
                | Event::TraceDeleted(_)
                | Event::TraceTitled(_)
                | Event::TitleFailed(_)
                | Event::TitleRequested(_)
                | Event::RewardModelCreated(_)
                | Event::RewardModelTrained(_)
                | Event::ScoresRecorded(_)
        );
        if reaches_others {
            scopes.insert(format!("traces_of/{}", record.owner_id));
        }
        let may_be_judged = matches!(
            event,
            Event::JudgmentsImported(_)
                | Event::AnnotationChanged(_)
                | Event::AnnotationDeleted(_)
                | Event::TraceDeleted(_)
        );
        if may_be_judged {
            scopes.insert(format!("judgments_of/{}", record.owner_id));
        }
    }
    scopes.into_iter().collect()
}

/// The same text as that of the trace's stream.
fn trace(id: TraceId) -> String {
    StreamId::Trace(id).to_string()
}
