//! The threads of a trace: each is what one line of calls has been given and has answered so far.

use super::mark::Mark;
use super::packed::Packed;
use serde::{Deserialize, Serialize};

/// Threads remembered. Of more, the one that was longest not gone on with is forgotten; if it does go on, its history counts as
/// new.
const THREADS_MAX: usize = 64;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Thread {
    pub(super) number: u32,
    /// Short id of the agent whose calls these are; 0 for the trace.
    pub(super) agent: u64,
    /// When it last went on, in calls.
    pub(super) used: u64,
    pub(super) marks: Vec<Mark>,
}

impl Packed for Thread {
    fn pack(&self, out: &mut Vec<u8>) {
        self.number.pack(out);
        self.agent.pack(out);
        self.used.pack(out);
        self.marks.pack(out);
    }

    fn unpack(bytes: &mut &[u8]) -> Option<Self> {
        let (number, agent, used) = (Packed::unpack(bytes)?, Packed::unpack(bytes)?, Packed::unpack(bytes)?);
        Some(Self { number, agent, used, marks: Packed::unpack(bytes)? })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Threads {
    #[serde(with = "super::packed")]
    pub(super) list: Vec<Thread>,
    made: u32,
    calls: u64,
}

impl Threads {
    pub(super) fn get(&self, number: u32) -> Option<&Thread> {
        self.list.iter().find(|thread| thread.number == number)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Thread> {
        self.list.iter_mut().find(|thread| thread.number == number)
    }

    /// The thread that an agent's calls last went on with.
    pub(super) fn newest_of(&self, agent: u64) -> Option<&Thread> {
        self.list.iter().filter(|thread| thread.agent == agent).max_by_key(|thread| thread.used)
    }

    /// Begins a thread; its number.
    pub(super) fn begin(&mut self, agent: u64) -> u32 {
        let oldest = self.list.iter().enumerate().min_by_key(|(_, thread)| thread.used).map(|(at, _)| at);
        if self.list.len() >= THREADS_MAX
            && let Some(at) = oldest
        {
            self.list.remove(at);
        }
        self.made = self.made.saturating_add(1);
        self.list.push(Thread { number: self.made, agent, ..Thread::default() });
        self.made
    }

    /// Notes that a call went on with a thread.
    pub(super) fn went_on(&mut self, number: u32) {
        self.calls = self.calls.saturating_add(1);
        let used = self.calls;
        if let Some(thread) = self.get_mut(number) {
            thread.used = used;
        }
    }
}
