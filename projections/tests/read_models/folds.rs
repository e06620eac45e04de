//! Whatever happened, in whatever batches it was read: the same rows.

use crate::generate::{Command, commands, records};
use crate::logs::Odd;
use crate::world::World;
use proptest::prelude::*;
use stash_domain::admit::{AdmissionState, Known as _, Verdict};
use stash_domain::ids::CommandId;
use stash_domain::record::StreamId;
use uuid::Uuid;

/// Cases of an ordinary run, each with a database of its own; `PROPTEST_CASES` asks for more.
const CASES: u32 = 12;

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(CASES)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: cases(),
        max_shrink_iters: 60,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn a_rebuild_gives_the_live_rows_whatever_the_batches(commands in commands(), live in 0..3_usize) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(check(&commands, [1, 3, usize::MAX][live]));
    }
}

async fn check(commands: &[Command], live_batch: usize) {
    let world = World::new().await;
    for record in records(&world, commands).await {
        world.append(&record).await;
    }
    world.project(&Odd::in_batches(&world.log, live_batch)).await;
    let live = world.digests().await;
    assert_eq!(world.count("SELECT count(*) FROM dead_letter").await, 0, "folding is total");
    for batch in [1, 3, usize::MAX] {
        // Fails by itself when a table differs.
        let rebuilt = world.rebuild(&Odd::in_batches(&world.log, batch)).await.unwrap();
        assert_eq!(rebuilt.digests, live, "live in batches of {live_batch}, rebuilt in batches of {batch}");
    }
    verdicts_are_those_of_the_plain_fold(&world).await;
}

/// Command, verdict, and of a conflict its stream, the version named and the version there was; then the log's time.
type VerdictRow = (Uuid, String, Option<String>, Option<i64>, Option<i64>, i64);

async fn verdicts_are_those_of_the_plain_fold(world: &World) {
    let mut state = AdmissionState::default();
    let mut commands = 0;
    for log_record in world.records().await {
        let record = stash_schemas::decode_record(&log_record.value).unwrap();
        state.step(&record, log_record.time);
    }
    let rows: Vec<VerdictRow> =
        sqlx::query_as("SELECT command_id, verdict, stream, expected, actual, log_time FROM es_command")
            .fetch_all(world.system())
            .await
            .unwrap();
    for (command, verdict, stream, expected, actual, time) in rows {
        let judged = state.judged(CommandId(command)).expect("a verdict on a command of the log");
        let same = match judged.verdict {
            Verdict::Accepted => verdict == "accepted" && stream.is_none() && expected.is_none() && actual.is_none(),
            Verdict::Conflict { stream: of, expected: named, actual: had } => {
                verdict == "conflict"
                    && stream == Some(of.to_string())
                    && expected == Some(named.cast_signed())
                    && actual == Some(had.cast_signed())
            }
        };
        assert!(same, "{command}: {verdict}, and not {judged:?}");
        assert_eq!(time, judged.log_time.0);
        commands += 1;
    }
    let streams: Vec<(String, i64)> =
        sqlx::query_as("SELECT stream, version FROM es_stream").fetch_all(world.system()).await.unwrap();
    for (stream, version) in streams {
        let stream: StreamId = stream.parse().unwrap();
        assert_eq!(version.cast_unsigned(), state.version(stream), "{stream}");
    }
    let distinct: std::collections::HashSet<CommandId> = world
        .records()
        .await
        .iter()
        .map(|record| stash_schemas::decode_record(&record.value).unwrap().command_id)
        .collect();
    assert_eq!(commands, distinct.len());
}
