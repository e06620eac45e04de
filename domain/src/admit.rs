//! The verdict on a record: a pure fold that every reader of the raw log runs identically.
//!
//! A log such as Kafka has no conditional append, so a record is judged after it is durable. The rules, in order:
//! 1. a command id seen within [`VERDICT_WINDOW_US`] of log time: the earlier verdict stands and this record changes nothing;
//! 2. an append whose expected version differs from its stream's version: the whole record is void;
//! 3. else it is accepted, and each stream's version grows by the number of its events.
//!
//! A record may name a stream in several appends; each sees the versions left by those before it.

use crate::ids::{CommandId, Digest};
use crate::limits::VERDICT_WINDOW_US;
use crate::record::{Expected, Record, StreamId};
use crate::time::Timestamp;
use std::collections::BTreeMap;

/// The outcome of a command, for good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Its events hold.
    Accepted,
    /// Void: a stream did not have the expected version.
    Conflict {
        /// The stream.
        stream: StreamId,
        /// The version the command named.
        expected: u64,
        /// The version it had.
        actual: u64,
    },
}

/// A verdict as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// Digest of the request it was given on.
    pub request_digest: Digest,
    /// Time of the record in the log; the verdict is forgotten [`VERDICT_WINDOW_US`] later.
    pub log_time: Timestamp,
}

/// What is known before a record: earlier verdicts and stream versions.
pub trait Known {
    /// The verdict on an earlier record with this command id.
    fn judged(&self, command: CommandId) -> Option<Judged>;
    /// The number of accepted events in a stream; 0 if there are none.
    fn version(&self, stream: StreamId) -> u64;
}

/// What [`admit`] decides about one record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Admission {
    /// The first record of its command.
    Fresh {
        /// The verdict to keep.
        judged: Judged,
        /// New versions of the streams it appended to; empty unless accepted.
        versions: BTreeMap<StreamId, u64>,
    },
    /// A repeat: the earlier verdict stands.
    Repeat(Judged),
}

impl Admission {
    /// Whether the record's events take effect.
    pub fn takes_effect(&self) -> bool {
        matches!(self, Self::Fresh { judged: Judged { verdict: Verdict::Accepted, .. }, .. })
    }

    /// The verdict that stands for the command: this record's, or the earlier one's.
    pub fn into_judged(self) -> Judged {
        match self {
            Self::Fresh { judged, .. } | Self::Repeat(judged) => judged,
        }
    }
}

/// Whether a verdict is still remembered at a later log time. A function of the log alone, so that all readers agree whatever
/// they have pruned from their tables.
pub fn is_remembered(judged: &Judged, now: Timestamp) -> bool {
    now.0.saturating_sub(judged.log_time.0) <= VERDICT_WINDOW_US
}

/// Readers that keep verdicts in tables remove them in steps of an hour of log time, so that not each record asks for it.
pub const PRUNE_STEP_US: i64 = 3600 * 1_000_000;

/// Verdicts given before this time are removed once a record of their partition has the time `now`. A function of the log alone,
/// so that a rebuild keeps the rows that the live tables keep; none that is still remembered is among them.
pub fn forgotten_before(now: Timestamp) -> Timestamp {
    let window = now.0.saturating_sub(VERDICT_WINDOW_US);
    Timestamp(window.saturating_sub(window.rem_euclid(PRUNE_STEP_US)))
}

/// Judges a record, given what is known and the record's time in the log.
pub fn admit(known: &impl Known, record: &Record, log_time: Timestamp) -> Admission {
    if let Some(judged) = known.judged(record.command_id).filter(|judged| is_remembered(judged, log_time)) {
        return Admission::Repeat(judged);
    }
    let mut versions = BTreeMap::new();
    let mut verdict = Verdict::Accepted;
    for append in &record.appends {
        let actual = versions.get(&append.stream).copied().unwrap_or_else(|| known.version(append.stream));
        if let Expected::Version(expected) = append.expected
            && expected != actual
        {
            verdict = Verdict::Conflict { stream: append.stream, expected, actual };
            versions.clear();
            break;
        }
        versions.insert(append.stream, actual.saturating_add(append.events.len() as u64));
    }
    Admission::Fresh { judged: Judged { verdict, request_digest: record.request_digest, log_time }, versions }
}

/// Everything a partition's records have established: [`Known`] plus the fold that keeps it. Readers that keep it in tables use
/// it as an overlay over what they loaded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdmissionState {
    judged: BTreeMap<CommandId, Judged>,
    versions: BTreeMap<StreamId, u64>,
}

impl AdmissionState {
    /// Adds a verdict loaded from elsewhere.
    pub fn remember(&mut self, command: CommandId, judged: Judged) {
        self.judged.insert(command, judged);
    }

    /// Adds a version loaded from elsewhere.
    pub fn set_version(&mut self, stream: StreamId, version: u64) {
        self.versions.insert(stream, version);
    }

    /// Judges a record and takes up the outcome.
    pub fn step(&mut self, record: &Record, log_time: Timestamp) -> Admission {
        let admission = admit(self, record, log_time);
        if let Admission::Fresh { judged, versions } = &admission {
            self.judged.insert(record.command_id, judged.clone());
            self.versions.extend(versions.iter().map(|(stream, version)| (*stream, *version)));
        }
        admission
    }
}

impl Known for AdmissionState {
    fn judged(&self, command: CommandId) -> Option<Judged> {
        self.judged.get(&command).cloned()
    }

    fn version(&self, stream: StreamId) -> u64 {
        self.versions.get(&stream).copied().unwrap_or(0)
    }
}
