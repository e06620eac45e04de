//! An annotation as it stands now.

use super::Context;
use crate::annotation::{AnnotationSource, AnnotationText};
use crate::events::{AnnotationChanged, AnnotationCreated, Event};
use crate::ids::{AnnotationId, OwnerId, StepId, SubjectId, TraceId};
use crate::sealed::Opened;
use crate::time::Timestamp;

/// An annotation's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// Its id.
    pub id: AnnotationId,
    /// Its trace.
    pub trace_id: TraceId,
    /// Its step; none means the whole trace.
    pub step_id: Option<StepId>,
    /// 1, -1 or none.
    pub rating: Option<i32>,
    /// Subject whose key seals the text in the log.
    pub subject_id: SubjectId,
    /// Its text; empty when it was erased.
    pub text: AnnotationText,
    /// Whether the text was erased with its key.
    pub redacted: bool,
    /// Whether the label was flagged as wrong.
    pub label_error: bool,
    /// Who wrote it; of a judgment that came with its trace, who imported it.
    pub author_id: OwnerId,
    /// Where it comes from, if nobody wrote it here.
    pub source: Option<AnnotationSource>,
    /// When it was written.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
    /// Version of its stream: the number of its events. 0 for a judgment that nobody here has changed.
    pub version: u64,
}

/// The annotation that an event is about.
pub fn key(event: &Event) -> Option<AnnotationId> {
    match event {
        Event::AnnotationCreated(event) => Some(event.annotation_id),
        Event::AnnotationChanged(event) => Some(event.annotation_id),
        Event::AnnotationDeleted(event) => Some(event.annotation_id),
        _ => None,
    }
}

/// The row after an event; `text` is the event's text after opening. A change of what does not exist changes nothing.
pub fn fold(
    row: Option<Annotation>,
    event: &Event,
    text: Opened<AnnotationText>,
    context: Context,
) -> Option<Annotation> {
    match event {
        Event::AnnotationCreated(event) => Some(created(event, text, context)),
        Event::AnnotationChanged(event) => row.map(|row| changed(row, event, text, context)),
        Event::AnnotationDeleted(_) => None,
        _ => row,
    }
}

fn created(event: &AnnotationCreated, text: Opened<AnnotationText>, context: Context) -> Annotation {
    let redacted = text == Opened::Redacted;
    Annotation {
        id: event.annotation_id,
        trace_id: event.trace_id,
        step_id: event.step_id,
        rating: event.rating,
        subject_id: event.subject_id,
        text: text.clear().unwrap_or_default(),
        redacted,
        label_error: false,
        author_id: event.author_id,
        source: None,
        created_at: context.recorded_at,
        updated_at: context.recorded_at,
        version: 1,
    }
}

fn changed(row: Annotation, event: &AnnotationChanged, text: Opened<AnnotationText>, context: Context) -> Annotation {
    let redacted = text == Opened::Redacted;
    Annotation {
        rating: event.rating,
        subject_id: event.subject_id,
        text: text.clear().unwrap_or_default(),
        redacted,
        label_error: event.label_error,
        updated_at: context.recorded_at,
        version: row.version.saturating_add(1),
        ..row
    }
}
