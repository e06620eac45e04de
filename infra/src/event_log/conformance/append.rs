//! Cases about appending.

use super::support::{noise, patiently, put, reader, record, sized, some, tail, take, text, whole};
use super::{PARTITIONS, Place};
use crate::event_log::{EventLog, KEY_BYTES_MAX, LogError, NewRecord};
use bytes::Bytes;
use stash_domain::limits::RECORD_BYTES_MAX;
use stash_domain::position::{Partition, Position};
use std::collections::HashMap;
use std::sync::Arc;
use tokio::task::JoinSet;

pub(super) async fn a_new_log_is_empty(place: Place) {
    let log = place.open().await;
    assert_eq!(log.partitions(), PARTITIONS);
    for partition in 0..PARTITIONS {
        assert_eq!(tail(log.as_ref(), partition).await, 0);
    }
}

pub(super) async fn a_log_made_by_many_at_once_is_one(place: Place) {
    let makers: JoinSet<_> = (0..6)
        .map(|n| {
            let place = place.clone();
            async move {
                let log = place.open().await;
                put(log.as_ref(), vec![record(0, &format!("maker {n}"))]).await;
                log.id()
            }
        })
        .collect();
    let ids = makers.join_all().await;
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let log = place.open().await;
    assert_eq!((log.id(), whole(log.as_ref(), 0).await.len()), (ids[0], ids.len()));
}

pub(super) async fn no_records_give_no_positions(place: Place) {
    let log = place.open().await;
    assert_eq!(put(log.as_ref(), Vec::new()).await, Vec::new());
    for partition in 0..PARTITIONS {
        assert_eq!(tail(log.as_ref(), partition).await, 0);
    }
}

pub(super) async fn offsets_are_gapless_under_concurrent_writers(place: Place) {
    const WRITERS: u16 = 8;
    const CALLS: u16 = 20;
    let handles = [place.open().await, place.open().await];
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let log = Arc::clone(&handles[usize::from(writer) % handles.len()]);
        writers.spawn(async move {
            let mut acknowledged: Vec<(Position, String)> = Vec::new();
            for call in 0..CALLS {
                // One to three records, over all partitions.
                let count = call % 3 + 1;
                let records: Vec<NewRecord> = (0..count)
                    .map(|n| {
                        record((writer + call + n) % PARTITIONS, &format!("writer {writer} call {call} record {n}"))
                    })
                    .collect();
                let positions = put(log.as_ref(), records.clone()).await;
                acknowledged.extend(
                    positions
                        .into_iter()
                        .zip(records)
                        .map(|(position, record)| (position, String::from_utf8_lossy(&record.value).into_owned())),
                );
            }
            acknowledged
        });
    }
    let acknowledged: HashMap<Position, String> = writers.join_all().await.into_iter().flatten().collect();

    let mut found = 0;
    for partition in 0..PARTITIONS {
        for record in whole(handles[0].as_ref(), partition).await {
            assert_eq!(acknowledged.get(&record.position), Some(&text(&record)), "at {:?}", record.position);
            found += 1;
        }
    }
    let expected: u16 = WRITERS * (0..CALLS).map(|call| call % 3 + 1).sum::<u16>();
    assert_eq!((found, acknowledged.len()), (usize::from(expected), usize::from(expected)));
}

pub(super) async fn the_records_of_a_call_keep_their_order(place: Place) {
    let log = place.open().await;
    put(log.as_ref(), vec![record(1, "before")]).await;
    let sent = [(2, "a"), (1, "b"), (2, "c"), (0, "d"), (1, "e"), (2, "f")];
    let positions = put(log.as_ref(), sent.iter().map(|(partition, value)| record(*partition, value)).collect()).await;
    let offsets: Vec<u64> = positions.iter().map(|position| position.offset.0).collect();
    assert_eq!(offsets, [0, 1, 1, 0, 2, 2]);
    for (partition, expected) in [(0, vec!["d"]), (1, vec!["before", "b", "e"]), (2, vec!["a", "c", "f"])] {
        let found: Vec<String> = whole(log.as_ref(), partition).await.iter().map(text).collect();
        assert_eq!(found, expected);
    }
}

pub(super) async fn bytes_are_kept_verbatim(place: Place) {
    let log = place.open().await;
    let every_byte: Vec<u8> = (0..=255).collect();
    let values = [Vec::new(), vec![0], every_byte.clone(), vec![0; 5000], noise(1, 3000), noise(2, 300 * 1024)];
    let keys = [every_byte, Vec::new(), vec![0], vec![0xff, 0xfe], b"k".to_vec(), noise(3, KEY_BYTES_MAX)];
    let sent: Vec<NewRecord> = keys
        .into_iter()
        .zip(values)
        .map(|(key, value)| NewRecord { partition: Partition(3), key: Bytes::from(key), value: Bytes::from(value) })
        .collect();
    put(log.as_ref(), sent.clone()).await;
    let found = whole(log.as_ref(), 3).await;
    assert_eq!(found.len(), sent.len());
    for (index, (found, sent)) in found.into_iter().zip(sent).enumerate() {
        assert!(found.key == sent.key && found.value == sent.value, "record {index} came back changed");
    }
}

pub(super) async fn a_record_at_the_limit_fits_and_one_byte_more_does_not(place: Place) {
    let log = place.open().await;
    let largest = noise(7, RECORD_BYTES_MAX);
    put(log.as_ref(), vec![sized(0, largest.clone())]).await;

    let mut too_large = largest.clone();
    too_large.push(0);
    let refused = patiently!(log.append(vec![record(0, "goes with it"), sized(0, too_large.clone())]));
    assert_eq!(refused, Err(LogError::TooLarge { size: RECORD_BYTES_MAX + 1, limit: RECORD_BYTES_MAX }));
    let long_key = NewRecord { key: Bytes::from(vec![1; KEY_BYTES_MAX + 1]), ..record(0, "x") };
    let refused = patiently!(log.append(vec![long_key.clone()]));
    assert_eq!(refused, Err(LogError::TooLarge { size: KEY_BYTES_MAX + 1, limit: KEY_BYTES_MAX }));

    put(log.as_ref(), vec![record(0, "next")]).await;
    let found = whole(log.as_ref(), 0).await;
    assert_eq!(found.len(), 2, "nothing of a refused call was kept");
    assert!(found[0].value == largest && text(&found[1]) == "next");
}

pub(super) async fn a_call_of_any_size_is_taken(place: Place) {
    let log = place.open().await;
    // Many small records, and then more bytes than any backend sends at once.
    let many: Vec<NewRecord> = (0..5000_u32).map(|n| record((n % 2) as u16, &format!("{n:0>400}"))).collect();
    let large: Vec<NewRecord> = (0..24_u64).map(|n| sized(2, noise(n, 1_000_000))).collect();
    for (calls, partitions) in [(many, vec![0, 1]), (large, vec![2])] {
        let positions = put(log.as_ref(), calls.clone()).await;
        for partition in partitions {
            let sent: Vec<&NewRecord> = calls.iter().filter(|record| record.partition.0 == partition).collect();
            let given: Vec<u64> =
                positions.iter().filter(|at| at.partition.0 == partition).map(|at| at.offset.0).collect();
            assert!(given.iter().copied().eq(0..sent.len() as u64), "offsets follow the order of the call");
            let found = whole(log.as_ref(), partition).await;
            assert!(found.iter().map(|record| &record.value).eq(sent.iter().map(|record| &record.value)));
        }
    }
}

pub(super) async fn a_partition_that_is_not_there_is_refused(place: Place) {
    let log = place.open().await;
    let refused = patiently!(log.append(vec![record(0, "goes with it"), record(PARTITIONS, "nowhere")]));
    assert!(matches!(refused, Err(LogError::Corrupt(_))), "{refused:?}");
    assert_eq!(tail(log.as_ref(), 0).await, 0, "nothing of a refused call was kept");
    assert!(matches!(patiently!(log.tail(Partition(PARTITIONS))), Err(LogError::Corrupt(_))));
}

pub(super) async fn what_one_handle_appends_another_reads(place: Place) {
    let (writer, other) = (place.open().await, place.open().await);
    let mut reader = reader(other.as_ref(), &[(0, 0)]).await;
    for n in 0..5_u64 {
        let positions = put(writer.as_ref(), vec![record(0, &n.to_string())]).await;
        assert_eq!(positions[0].offset.0, n);
        let records = some(reader.as_mut(), 10).await;
        assert_eq!((records.len(), text(&records[0])), (1, n.to_string()));
        assert_eq!(tail(other.as_ref(), 0).await, n + 1);
    }
}

pub(super) async fn a_log_that_is_opened_again_is_the_same(place: Place) {
    let first = place.open().await;
    let id = first.id();
    put(first.as_ref(), vec![record(0, "a"), record(0, "b")]).await;
    drop(first);
    // Several at once, as the processes of one start do.
    let (one, two) = tokio::join!(place.open(), place.open());
    for log in [one, two] {
        assert_eq!((log.id(), log.partitions()), (id, PARTITIONS));
        let mut reader = reader(log.as_ref(), &[(0, 0)]).await;
        let found: Vec<String> = take(reader.as_mut(), 2).await.iter().map(text).collect();
        assert_eq!(found, ["a", "b"]);
    }
    let log: Arc<dyn EventLog> = place.open().await;
    assert_eq!(put(log.as_ref(), vec![record(0, "c")]).await[0].offset.0, 2);
}
