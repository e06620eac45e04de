//! A job's life under any order of events: fencing by attempt, and ends that are final.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use proptest::prelude::*;
use stash_domain::events::{
    Event, JobCancelRequested, JobCancelled, JobClaimed, JobCompleted, JobFailed, JobLeaseExpired, JobParked,
    JobProgressed, JobRequested,
};
use stash_domain::ids::JobId;
use stash_domain::time::Timestamp;
use stash_domain::views::Context;
use stash_domain::views::job::{Job, JobState, fold};
use uuid::Uuid;

fn requested() -> Event {
    let job_id = JobId(Uuid::from_u128(1));
    let (kind, compute) = ("train".to_owned(), "local".to_owned());
    JobRequested { job_id, kind, compute, reward_model_id: None, run_id: None }.into()
}

fn event() -> impl Strategy<Value = Event> {
    (0..9_u8, 0..4_i32, any::<bool>(), -1.0..2.0_f64).prop_map(|(kind, attempt, retry, fraction)| {
        let job_id = JobId(Uuid::from_u128(1));
        let (code, message) = ("internal".to_owned(), "it broke".to_owned());
        match kind {
            0 => JobClaimed { job_id, attempt, worker: "w".to_owned() }.into(),
            1 => JobProgressed { job_id, attempt, phase: "training".to_owned(), fraction, training: None }.into(),
            2 => JobCompleted { job_id, attempt }.into(),
            3 => JobFailed { job_id, attempt, code, message, retry }.into(),
            4 => JobCancelRequested { job_id }.into(),
            5 => JobCancelled { job_id, attempt }.into(),
            6 => JobLeaseExpired { job_id, attempt }.into(),
            7 => JobParked { job_id, attempt, code, message }.into(),
            _ => requested(),
        }
    })
}

/// The attempt that an event speaks for; none for those that people or nobody in particular cause, and for claims.
fn speaks_for(event: &Event) -> Option<i32> {
    match event {
        Event::JobProgressed(event) => Some(event.attempt),
        Event::JobCompleted(event) => Some(event.attempt),
        Event::JobFailed(event) => Some(event.attempt),
        Event::JobCancelled(event) => Some(event.attempt),
        Event::JobLeaseExpired(event) => Some(event.attempt),
        Event::JobParked(event) => Some(event.attempt),
        _ => None,
    }
}

fn context(at: i64) -> Context {
    Context { recorded_at: Timestamp(at) }
}

fn apart_from_version(job: &Job) -> Job {
    Job { version: 0, ..job.clone() }
}

proptest! {
    #[test]
    fn what_an_earlier_or_unknown_attempt_says_changes_nothing(events in prop::collection::vec(event(), 0..40)) {
        let mut job = fold(None, &requested(), context(0)).unwrap();
        for (event, at) in events.iter().zip(1..) {
            let next = fold(Some(job.clone()), event, context(at)).unwrap();
            prop_assert_eq!(next.version, job.version + 1);
            prop_assert!(next.attempt == job.attempt || (next.attempt == job.attempt + 1 && next.state == JobState::Running));
            prop_assert!((0.0..=1.0).contains(&next.fraction));
            prop_assert_eq!(next.finished_at.is_some(), next.state.is_over());
            if job.state.is_over() || speaks_for(event).is_some_and(|attempt| attempt != job.attempt) {
                prop_assert_eq!(apart_from_version(&next), apart_from_version(&job));
            }
            job = next;
        }
    }

    #[test]
    fn a_job_that_was_never_asked_for_does_not_exist(events in prop::collection::vec(event(), 0..10)) {
        let mut job = None;
        for event in events.iter().take_while(|event| !matches!(event, Event::JobRequested(_))) {
            job = fold(job, event, context(0));
        }
        prop_assert_eq!(job, None);
    }
}
