//! Cases about reading.

use super::support::{PATIENCE, noise, patiently, put, reader, record, sized, some, take, text, whole};
use super::{PARTITIONS, Place};
use crate::event_log::{LogError, READ_BYTES_MAX};
use stash_domain::position::{Offset, Partition};
use std::sync::Arc;
use std::time::Duration;

pub(super) async fn reading_begins_anywhere(place: Place) {
    const COUNT: u64 = 12;
    let log = place.open().await;
    for n in 0..COUNT {
        // Alternately alone and in pairs with another partition, so that backends that batch have batches of several kinds.
        let mut records = vec![record(1, &n.to_string())];
        if n % 2 == 0 {
            records.push(record(2, "another"));
        }
        put(log.as_ref(), records).await;
    }
    for from in 0..COUNT {
        let mut reader = reader(log.as_ref(), &[(1, from)]).await;
        let count = usize::try_from(COUNT - from).unwrap_or(0);
        for (expected, record) in (from..).zip(take(reader.as_mut(), count).await) {
            assert_eq!((record.position.offset.0, text(&record)), (expected, expected.to_string()));
        }
    }
}

pub(super) async fn reading_at_the_tail_ends_with_its_wait(place: Place) {
    let log = place.open().await;
    put(log.as_ref(), vec![record(0, "old")]).await;
    let mut reader = reader(log.as_ref(), &[(0, 1), (1, 0)]).await;
    for wait in [Duration::ZERO, Duration::from_millis(20), Duration::from_millis(400)] {
        let records = patiently!(reader.next(10, wait));
        assert_eq!(records, Ok(Vec::new()), "within {wait:?}");
    }
    put(log.as_ref(), vec![record(1, "new")]).await;
    assert_eq!(text(&some(reader.as_mut(), 10).await[0]), "new");
}

pub(super) async fn reading_beyond_the_tail_is_refused(place: Place) {
    let log = place.open().await;
    put(log.as_ref(), vec![record(0, "only")]).await;
    for beyond in [(0, 2), (0, u64::MAX), (1, 1), (PARTITIONS, 0)] {
        let refused = patiently!(log.read(&[(Partition(2), Offset(0)), (Partition(beyond.0), Offset(beyond.1))]));
        assert!(matches!(refused, Err(LogError::Corrupt(_))), "{beyond:?} was accepted");
    }
}

pub(super) async fn a_waiting_reader_is_woken(place: Place) {
    let (here, elsewhere) = (place.open().await, place.open().await);
    let mut reader = reader(here.as_ref(), &[(0, 0), (1, 0)]).await;
    for (n, log) in [&here, &elsewhere, &here, &elsewhere].into_iter().enumerate() {
        let partition = u16::try_from(n % 2).unwrap_or(0);
        let text_of_it = n.to_string();
        let (records, _) =
            tokio::join!(some(reader.as_mut(), 10), put(log.as_ref(), vec![record(partition, &text_of_it)]));
        assert_eq!((records.len(), text(&records[0])), (1, text_of_it));
    }
}

pub(super) async fn readers_do_not_disturb_each_other(place: Place) {
    let log = place.open().await;
    put(log.as_ref(), (0..30).map(|n| record(0, &n.to_string())).collect()).await;
    let (mut fast, mut slow) = (reader(log.as_ref(), &[(0, 0)]).await, reader(log.as_ref(), &[(0, 5)]).await);
    let slow_start = take(slow.as_mut(), 3).await;
    let all = take(fast.as_mut(), 30).await;
    let slow_rest = take(slow.as_mut(), 22).await;
    assert_eq!(all.len(), 30);
    let seen: Vec<u64> = slow_start.iter().chain(&slow_rest).map(|record| record.position.offset.0).collect();
    assert_eq!(seen, (5..30).collect::<Vec<u64>>());
    drop(slow);
    put(log.as_ref(), vec![record(0, "more")]).await;
    assert_eq!(text(&some(fast.as_mut(), 1).await[0]), "more");
}

pub(super) async fn only_the_named_partitions_are_read(place: Place) {
    let log = place.open().await;
    for partition in 0..PARTITIONS {
        put(log.as_ref(), vec![record(partition, "first"), record(partition, "second")]).await;
    }
    let mut some_of_them = reader(log.as_ref(), &[(1, 1), (3, 0)]).await;
    let mut places: Vec<(u16, u64)> = take(some_of_them.as_mut(), 3)
        .await
        .iter()
        .map(|record| (record.position.partition.0, record.position.offset.0))
        .collect();
    places.sort_unstable();
    assert_eq!(places, [(1, 1), (3, 0), (3, 1)]);
    assert_eq!(patiently!(some_of_them.next(10, Duration::ZERO)), Ok(Vec::new()));
    let mut none_of_them = reader(log.as_ref(), &[]).await;
    assert_eq!(patiently!(none_of_them.next(10, Duration::from_millis(10))), Ok(Vec::new()));
}

pub(super) async fn a_read_is_bounded_by_count_and_by_bytes(place: Place) {
    const LARGE: usize = 1_500_000;
    let log = place.open().await;
    put(log.as_ref(), (0..20_u64).map(|n| sized(0, noise(n, LARGE))).collect()).await;
    put(log.as_ref(), (0..20).map(|n| record(1, &n.to_string())).collect()).await;
    let mut reader = reader(log.as_ref(), &[(0, 0), (1, 0)]).await;
    // `some` and `take` check the count at each call.
    let mut left = 40 - take(reader.as_mut(), 7).await.len();
    while left > 0 {
        let records = some(reader.as_mut(), 1000).await;
        let bytes: usize = records.iter().map(|record| record.value.len()).sum();
        assert!(bytes <= READ_BYTES_MAX + LARGE, "{bytes} bytes in one read");
        left -= records.len();
    }
    assert_eq!(patiently!(reader.next(10, Duration::ZERO)), Ok(Vec::new()));
}

pub(super) async fn a_cancelled_read_loses_nothing(place: Place) {
    const COUNT: usize = 200;
    let log = place.open().await;
    let mut reader = reader(log.as_ref(), &[(0, 0), (1, 0)]).await;
    let writer = {
        let log = Arc::clone(&log);
        tokio::spawn(async move {
            for n in 0..COUNT {
                put(log.as_ref(), vec![record(u16::try_from(n % 2).unwrap_or(0), &n.to_string())]).await;
            }
        })
    };
    let mut next = [0_u64; 2];
    let mut seen = 0;
    let mut patience_us = 0;
    while seen < COUNT {
        // Cut off after ever other times: before the query, during it, just after.
        patience_us = (patience_us + 137) % 3000;
        let call = reader.next(3, PATIENCE);
        let Ok(outcome) = tokio::time::timeout(Duration::from_micros(patience_us), call).await else { continue };
        for record in outcome.unwrap_or_default() {
            let expected = &mut next[usize::from(record.position.partition.0)];
            assert_eq!(record.position.offset.0, *expected, "skipped or repeated");
            *expected += 1;
            seen += 1;
        }
    }
    assert!(writer.await.is_ok(), "the writer failed");
}

pub(super) async fn a_reader_follows_concurrent_writers(place: Place) {
    const PER_WRITER: usize = 100;
    let (log, other) = (place.open().await, place.open().await);
    let all: Vec<(u16, u64)> = (0..PARTITIONS).map(|partition| (partition, 0)).collect();
    let mut reader = reader(log.as_ref(), &all).await;
    let writers: Vec<_> = (0..4_u16)
        .map(|writer| {
            let log = Arc::clone(if writer % 2 == 0 { &log } else { &other });
            tokio::spawn(async move {
                for n in 0..PER_WRITER {
                    let partition = (writer + u16::try_from(n).unwrap_or(0)) % PARTITIONS;
                    put(log.as_ref(), vec![record(partition, &format!("{writer}/{n}"))]).await;
                }
            })
        })
        .collect();
    let mut next = [0_u64; PARTITIONS as usize];
    let mut seen = Vec::new();
    while seen.len() < 4 * PER_WRITER {
        for record in some(reader.as_mut(), 64).await {
            let expected = &mut next[usize::from(record.position.partition.0)];
            assert_eq!(record.position.offset.0, *expected, "a record was seen before one below it");
            *expected += 1;
            seen.push(record);
        }
    }
    for writer in writers {
        assert!(writer.await.is_ok(), "a writer failed");
    }
    for partition in 0..PARTITIONS {
        let again = whole(log.as_ref(), partition).await;
        assert!(again.iter().eq(seen.iter().filter(|record| record.position.partition.0 == partition)));
    }
}
