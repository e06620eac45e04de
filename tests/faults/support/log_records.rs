//! The log, read record by record beside the deployment.

use super::site::Site;
use stash_domain::events::Event;
use stash_domain::ids::{CommandId, JobId, RewardModelId};
use stash_domain::position::{Offset, Partition};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Records of one read.
const RECORDS_MAX: usize = 1000;

/// How long one read waits; the records it waits for are there.
const READ_WAIT: Duration = Duration::from_secs(30);

/// What stands in the log.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// All records, repeats included.
    pub(crate) count: u64,
    /// Each command once, with the events of its first record.
    pub(crate) commands: BTreeMap<CommandId, Vec<Event>>,
}

impl Records {
    /// Reads the log from its first record to its end.
    pub(crate) async fn read(site: &Site) -> Self {
        let log = site.log().await;
        let mut records = Self::default();
        for number in 0..log.partitions() {
            let partition = Partition(number);
            let mut left = log.tail(partition).await.expect("the tail").0;
            let mut reader = log.read(&[(partition, Offset(0))]).await.expect("a reader");
            while left > 0 {
                let found = reader.next(RECORDS_MAX, READ_WAIT).await.expect("the log can be read");
                assert!(!found.is_empty(), "partition {number} lacks its last {left} records");
                left = left.saturating_sub(found.len() as u64);
                for stored in found {
                    let record = stash_schemas::decode_record(&stored.value).expect("a record of ours");
                    records.count += 1;
                    let events = record.appends.into_iter().flat_map(|append| append.events).collect();
                    // The first one decides; a later one with the same id is a repeat.
                    records.commands.entry(record.command_id).or_insert(events);
                }
            }
        }
        records
    }

    /// How often each model was published, and each job ended, by commands that were accepted.
    pub(crate) fn endings(&self, accepted: &BTreeSet<CommandId>) -> Endings {
        let mut endings = Endings::default();
        for event in self.commands.iter().filter(|(id, _)| accepted.contains(id)).flat_map(|(_, events)| events) {
            match event {
                Event::RewardModelTrained(trained) => {
                    *endings.published.entry(trained.reward_model_id).or_default() += 1;
                }
                Event::JobCompleted(ended) => *endings.ended.entry(ended.job_id).or_default() += 1,
                Event::JobCancelled(ended) => *endings.ended.entry(ended.job_id).or_default() += 1,
                Event::JobParked(ended) => *endings.ended.entry(ended.job_id).or_default() += 1,
                _ => {}
            }
        }
        endings
    }
}

/// See [`Records::endings`].
#[derive(Debug, Default)]
pub(crate) struct Endings {
    /// Publications of each model.
    pub(crate) published: BTreeMap<RewardModelId, u32>,
    /// Final ends of each job, those by failure apart.
    pub(crate) ended: BTreeMap<JobId, u32>,
}
