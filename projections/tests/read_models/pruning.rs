//! Verdicts are forgotten after a while of log time, and removed, by every reader alike.

use crate::build::{changed, created, record, trace};
use crate::logs::Odd;
use crate::world::{World, owner};
use proptest::prelude::*;
use stash_domain::admit::{AdmissionState, forgotten_before};
use stash_domain::limits::VERDICT_WINDOW_US;
use stash_domain::record::Expected;
use stash_domain::time::Timestamp;
use stash_infra::event_log::{EventLog, LogRecord};
use std::collections::BTreeMap;
use std::sync::Arc;
use uuid::Uuid;

const HOUR_US: i64 = 3600 * 1_000_000;

/// Thirty hours and a bit between two records.
fn slow(record: &LogRecord) -> Timestamp {
    Timestamp(1_700_000_000_000_000 + record.position.offset.0.cast_signed() * (30 * HOUR_US + 77))
}

fn slowly(world: &World, batch: usize) -> Arc<dyn EventLog> {
    Arc::new(Odd { batch, time: Some(slow), ..Odd::new(&world.log) })
}

/// The commands of the test's records, in order: the third again within the window, the first again after it.
const COMMANDS: [u64; 12] = [1, 2, 3, 4, 5, 3, 6, 7, 8, 9, 1, 10];

async fn story(world: &World) {
    let (a, traced) = (owner(0), trace(owner(0), 1));
    for command in COMMANDS {
        let event = match command {
            1 => created(a, 1, traced, traced.into(), None),
            _ => changed(a, 1, traced, traced.into(), None),
        };
        world.append(&record(a, command, Expected::Any, vec![event])).await;
    }
}

/// What the plain fold knows of these records, and when each verdict was given.
async fn plain(world: &World) -> (BTreeMap<Uuid, i64>, Timestamp) {
    let (mut state, mut given, mut last) = (AdmissionState::default(), BTreeMap::new(), Timestamp(0));
    for log_record in world.records().await {
        let record = stash_schemas::decode_record(&log_record.value).unwrap();
        last = slow(&log_record);
        let judged = state.step(&record, last).into_judged();
        given.insert(record.command_id.0, judged.log_time.0);
    }
    (given, last)
}

#[tokio::test(flavor = "multi_thread")]
async fn verdicts_are_removed_alike_in_whatever_batches_and_repeats_within_the_window_find_theirs() {
    let mut digests = Vec::new();
    for batch in [1, 3, usize::MAX] {
        let world = World::new().await;
        story(&world).await;
        world.project(&slowly(&world, batch)).await;
        let (given, last) = plain(&world).await;
        let expected: BTreeMap<Uuid, i64> =
            given.into_iter().filter(|(_, time)| *time >= forgotten_before(last).0).collect();
        let rows: Vec<(Uuid, i64)> =
            sqlx::query_as("SELECT command_id, log_time FROM es_command").fetch_all(world.system()).await.unwrap();
        assert!(rows.len() < COMMANDS.len() - 2, "some are gone");
        assert_eq!(rows.into_iter().collect::<BTreeMap<_, _>>(), expected, "in batches of {batch}");
        // The repeat within the window changed nothing, the late one is a command of its own.
        assert_eq!(world.count("SELECT version FROM es_stream").await, 11);
        let live = world.digests().await;
        for rebuilt in [1, 5, usize::MAX] {
            assert_eq!(world.rebuild(&slowly(&world, rebuilt)).await.unwrap().digests, live);
        }
        digests.push(live);
    }
    assert!(digests.iter().all(|digest| *digest == digests[0]));
}

proptest! {
    #[test]
    fn what_is_still_remembered_is_never_removed(now: i64, age in 0..=VERDICT_WINDOW_US) {
        prop_assert!(forgotten_before(Timestamp(now)).0 <= now.saturating_sub(age));
    }
}
