//! Cases about the times that the log gives.

use super::Place;
use super::support::{patiently, put, record, whole};
use crate::event_log::LogRecord;
use stash_domain::position::{Offset, Partition};
use stash_domain::time::Timestamp;
use std::sync::Arc;

pub(super) async fn times_never_decrease(place: Place) {
    let (one, two) = (place.open().await, place.open().await);
    let writers: Vec<_> = [&one, &two]
        .into_iter()
        .map(|log| {
            let log = Arc::clone(log);
            tokio::spawn(async move {
                for n in 0..50 {
                    put(log.as_ref(), vec![record(0, &n.to_string())]).await;
                }
            })
        })
        .collect();
    for writer in writers {
        assert!(writer.await.is_ok(), "a writer failed");
    }
    let records = whole(one.as_ref(), 0).await;
    assert_eq!(records.len(), 100);
    assert!(records.is_sorted_by_key(|record| record.time));
    assert!(records[0].time > Timestamp(0));
}

pub(super) async fn a_time_is_found(place: Place) {
    let log = place.open().await;
    for n in 0..40 {
        put(log.as_ref(), vec![record(0, &n.to_string())]).await;
    }
    let records: Vec<LogRecord> = whole(log.as_ref(), 0).await;
    let ends = [i64::MIN, -1, 0, i64::MAX];
    let around = records.iter().flat_map(|record| [record.time.0 - 1, record.time.0, record.time.0 + 1]);
    for time in ends.into_iter().chain(around) {
        let expected = records.iter().position(|record| record.time.0 >= time).unwrap_or(records.len());
        let found = patiently!(log.offset_for_time(Partition(0), Timestamp(time)));
        assert_eq!(found, Ok(Offset(expected as u64)), "for {time}");
        let in_empty = patiently!(log.offset_for_time(Partition(1), Timestamp(time)));
        assert_eq!(in_empty, Ok(Offset(0)));
    }
}
