//! The verdict on records: any interleaving and duplication gives each command one verdict, and streams stay gapless.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use proptest::prelude::*;
use stash_domain::admit::{Admission, AdmissionState, Judged, Known, Verdict, admit};
use stash_domain::events::{Event, TraceDeleted};
use stash_domain::ids::{CommandId, Digest, OwnerId, TraceId};
use stash_domain::limits::VERDICT_WINDOW_US;
use stash_domain::record::{Actor, Append, Expected, Record, StreamId};
use stash_domain::time::Timestamp;
use std::collections::BTreeMap;
use uuid::Uuid;

fn stream(number: u128) -> StreamId {
    StreamId::Trace(TraceId(Uuid::from_u128(number)))
}

/// A command that appends to some streams: number, expected version (none for any), count of events.
fn record(command: u128, appends: &[(u128, Option<u64>, usize)]) -> Record {
    let event = |number| Event::from(TraceDeleted { trace_id: TraceId(Uuid::from_u128(number)) });
    let append = |(number, expected, count): &(u128, Option<u64>, usize)| Append {
        stream: stream(*number),
        expected: expected.map_or(Expected::Any, Expected::Version),
        events: vec![event(*number); *count],
    };
    Record {
        command_id: CommandId(Uuid::from_u128(command)),
        owner_id: OwnerId(Uuid::from_u128(1)),
        request_digest: Digest::of(&command.to_be_bytes()),
        actor: Actor::System,
        causation_id: None,
        correlation_id: Uuid::from_u128(command),
        recorded_at: Timestamp(0),
        appends: appends.iter().map(append).collect(),
    }
}

/// Commands on few streams, so that they meet; what each expects is often right and often not.
fn commands() -> impl Strategy<Value = Vec<Record>> {
    let append = (0_u128..4, prop::option::of(0_u64..6), 1_usize..4);
    prop::collection::vec(prop::collection::vec(append, 1..4), 1..12).prop_map(|commands| {
        let records = commands.iter().enumerate().map(|(number, appends)| record(number as u128, appends));
        records.collect()
    })
}

/// A log: commands in any order, each at least as often as it is drawn.
fn log() -> impl Strategy<Value = Vec<Record>> {
    (commands(), prop::collection::vec(any::<prop::sample::Index>(), 1..40))
        .prop_map(|(commands, order)| order.into_iter().map(|at| at.get(&commands).clone()).collect())
}

/// Judges a log from the start; log time passes a microsecond per record.
fn judge(log: &[Record]) -> (AdmissionState, Vec<Admission>) {
    let mut state = AdmissionState::default();
    let admissions = log.iter().zip(0..).map(|(record, time)| state.step(record, Timestamp(time))).collect();
    (state, admissions)
}

proptest! {
    #[test]
    fn each_command_has_one_verdict(log in log()) {
        let (state, admissions) = judge(&log);
        let mut verdicts: BTreeMap<CommandId, Judged> = BTreeMap::new();
        for (record, admission) in log.iter().zip(&admissions) {
            match (verdicts.get(&record.command_id), admission) {
                (None, Admission::Fresh { judged, .. }) => {
                    verdicts.insert(record.command_id, judged.clone());
                }
                (Some(first), Admission::Repeat(judged)) => prop_assert_eq!(first, judged),
                (known, _) => prop_assert!(false, "known {known:?}, found {admission:?}"),
            }
        }
        for (command, judged) in verdicts {
            prop_assert_eq!(state.judged(command), Some(judged));
        }
    }

    #[test]
    fn accepted_versions_are_gapless(log in log()) {
        let (state, admissions) = judge(&log);
        let mut lengths: BTreeMap<StreamId, u64> = BTreeMap::new();
        for (record, admission) in log.iter().zip(&admissions) {
            if !admission.takes_effect() {
                continue;
            }
            for append in &record.appends {
                let length = lengths.entry(append.stream).or_insert(0);
                if let Expected::Version(expected) = append.expected {
                    prop_assert_eq!(expected, *length, "accepted on another version than it named");
                }
                *length += append.events.len() as u64;
            }
        }
        for number in 0..4 {
            prop_assert_eq!(state.version(stream(number)), lengths.get(&stream(number)).copied().unwrap_or(0));
        }
    }

    #[test]
    fn a_void_record_changes_no_version_and_names_a_real_conflict(log in log()) {
        let mut state = AdmissionState::default();
        for (record, time) in log.iter().zip(0..) {
            let before: Vec<u64> = (0..4).map(|number| state.version(stream(number))).collect();
            let admission = state.step(record, Timestamp(time));
            if admission.takes_effect() {
                continue;
            }
            let after: Vec<u64> = (0..4).map(|number| state.version(stream(number))).collect();
            prop_assert_eq!(before, after);
            if let Admission::Fresh { judged: Judged { verdict: Verdict::Conflict { stream, expected, actual }, .. }, .. } = admission {
                prop_assert_ne!(expected, actual);
                prop_assert!(record.appends.iter().any(|append| append.stream == stream));
            }
        }
    }

    #[test]
    fn pieces_are_judged_as_the_whole(log in log(), cut in any::<prop::sample::Index>()) {
        let (whole, admissions) = judge(&log);
        let cut = cut.index(log.len());
        let (first, _) = judge(&log[..cut]);
        // A new reader that loads what the first one left, and nothing else.
        let mut second = AdmissionState::default();
        for number in 0..4 {
            second.set_version(stream(number), first.version(stream(number)));
        }
        for record in &log {
            if let Some(judged) = first.judged(record.command_id) {
                second.remember(record.command_id, judged);
            }
        }
        for (at, record) in log.iter().enumerate().skip(cut) {
            let admission = second.step(record, Timestamp(i64::try_from(at).unwrap()));
            prop_assert_eq!(&admission, &admissions[at]);
        }
        for number in 0..4 {
            prop_assert_eq!(second.version(stream(number)), whole.version(stream(number)));
        }
    }

    #[test]
    fn duplicates_of_what_was_judged_change_nothing(log in log()) {
        let (once, _) = judge(&log);
        let doubled: Vec<Record> = log.iter().chain(&log).cloned().collect();
        let (twice, admissions) = judge(&doubled);
        prop_assert!(admissions[log.len()..].iter().all(|admission| matches!(admission, Admission::Repeat(_))));
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn judging_is_pure(log in log()) {
        let (state, _) = judge(&log);
        for record in &log {
            prop_assert_eq!(admit(&state, record, Timestamp(99)), admit(&state, record, Timestamp(99)));
        }
    }
}

#[test]
fn a_verdict_is_remembered_for_its_window_of_log_time_whatever_was_pruned() {
    let mut state = AdmissionState::default();
    let command = record(1, &[(0, None, 1)]);
    assert!(state.step(&command, Timestamp(0)).takes_effect());
    assert!(matches!(state.step(&command, Timestamp(VERDICT_WINDOW_US)), Admission::Repeat(_)));
    // One microsecond later it is a new command, also for a reader that still has the old verdict in its table.
    assert!(state.step(&command, Timestamp(VERDICT_WINDOW_US + 1)).takes_effect());
    assert_eq!(state.version(stream(0)), 2);
}

#[test]
fn appends_of_one_record_see_those_before_them() {
    let mut state = AdmissionState::default();
    assert!(state.step(&record(1, &[(0, Some(0), 2), (0, Some(2), 1)]), Timestamp(0)).takes_effect());
    assert_eq!(state.version(stream(0)), 3);
    let void = state.step(&record(2, &[(1, Some(0), 1), (0, Some(9), 1)]), Timestamp(1));
    let conflict = Verdict::Conflict { stream: stream(0), expected: 9, actual: 3 };
    assert!(matches!(void, Admission::Fresh { judged: Judged { verdict, .. }, .. } if verdict == conflict));
    assert_eq!(state.version(stream(1)), 0, "all or nothing");
}
