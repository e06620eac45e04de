//! Records of annotation commands, as the benchmarks of the log's path need them.

use stash_domain::events::{AnnotationCreated, Event};
use stash_domain::ids::{AnnotationId, ApiKeyId, CommandId, Digest, OwnerId, SubjectId, TraceId};
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};
use stash_domain::sealed::Sealed;
use stash_domain::time::Timestamp;
use uuid::Uuid;

/// The record of one command; another number gives another command on another annotation.
pub(crate) fn record(number: u64) -> Record {
    let id = |kind: u64| Uuid::from_u64_pair(kind, number);
    let event = AnnotationCreated {
        annotation_id: AnnotationId(id(1)),
        trace_id: TraceId(id(2)),
        step_id: None,
        rating: Some(1),
        author_id: OwnerId(Uuid::from_u128(3)),
        subject_id: SubjectId(id(2)),
        // A short comment, sealed.
        text: Some(Sealed(vec![7; 160])),
    };
    Record {
        command_id: CommandId(id(4)),
        owner_id: OwnerId(Uuid::from_u128(3)),
        request_digest: Digest([5; 32]),
        actor: Actor::ApiKey(ApiKeyId(Uuid::from_u128(6))),
        causation_id: None,
        correlation_id: id(7),
        recorded_at: Timestamp(1_700_000_000_000_000),
        appends: vec![Append {
            stream: StreamId::Annotation(AnnotationId(id(1))),
            expected: Expected::Version(0),
            events: vec![Event::AnnotationCreated(event)],
        }],
    }
}
