//! Cutting the records of one call into parts that a backend appends at once. Nearly every call is one part; an import or a
//! copied log may be many.

use super::{LogError, NewRecord};
use stash_domain::position::Position;

/// Records of one part.
pub(super) const PART_RECORDS_MAX: usize = 2048;

/// Bytes at which a part takes no further record.
pub(super) const PART_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Bytes of a record, with so many for the structs that hold it.
pub(super) fn size_of(record: &NewRecord, overhead: usize) -> usize {
    record.key.len() + record.value.len() + overhead
}

/// Bytes of all these records.
pub(super) fn size_of_all(records: &[NewRecord], overhead: usize) -> usize {
    records.iter().map(|record| size_of(record, overhead)).sum()
}

/// Appends part after part with `append`, and answers for the whole call.
///
/// # Errors
/// That of the first part that fails; but once a part is in the log, "surely not appended" would be false, and it becomes
/// [`LogError::Unknown`].
pub(super) async fn append_in_parts<F>(
    records: Vec<NewRecord>,
    append: impl Fn(Vec<NewRecord>) -> F,
) -> Result<Vec<Position>, LogError>
where
    F: Future<Output = Result<Vec<Position>, LogError>>,
{
    let mut positions = Vec::with_capacity(records.len());
    for part in split(records) {
        match append(part).await {
            Ok(more) => positions.extend(more),
            Err(error) if !positions.is_empty() => {
                return Err(LogError::Unknown(format!("only the first {} records: {error}", positions.len())));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(positions)
}

fn split(records: Vec<NewRecord>) -> Vec<Vec<NewRecord>> {
    let mut parts = Vec::new();
    let (mut part, mut bytes) = (Vec::new(), 0);
    for record in records {
        if part.len() == PART_RECORDS_MAX || bytes >= PART_BYTES_MAX {
            parts.push(std::mem::take(&mut part));
            bytes = 0;
        }
        bytes += size_of(&record, 0);
        part.push(record);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use stash_domain::position::{Offset, Partition};
    use std::cell::RefCell;

    fn records(count: usize, bytes: usize) -> Vec<NewRecord> {
        let record = NewRecord { partition: Partition(0), key: Bytes::new(), value: Bytes::from(vec![0; bytes]) };
        vec![record; count]
    }

    #[test]
    fn parts_are_bounded_by_count_and_by_bytes() {
        let sizes = |records| split(records).iter().map(Vec::len).collect::<Vec<_>>();
        assert_eq!(sizes(records(0, 1)), Vec::<usize>::new());
        assert_eq!(sizes(records(PART_RECORDS_MAX, 1)), [PART_RECORDS_MAX]);
        assert_eq!(sizes(records(PART_RECORDS_MAX + 1, 1)), [PART_RECORDS_MAX, 1]);
        assert_eq!(sizes(records(9, PART_BYTES_MAX / 4)), [4, 4, 1]);
        assert_eq!(sizes(records(2, PART_BYTES_MAX + 1)), [1, 1]);
    }

    #[tokio::test]
    async fn a_refusal_after_the_first_part_is_unknown() {
        let refused = LogError::Full("disk".into());
        for (good_parts, expected_unknown) in [(0, false), (1, true), (2, true)] {
            let calls = RefCell::new(0);
            let outcome = append_in_parts(records(3, PART_BYTES_MAX), |part| {
                *calls.borrow_mut() += 1;
                let good = *calls.borrow() <= good_parts;
                let position = Position { partition: Partition(0), offset: Offset(0) };
                let answer = if good { Ok(vec![position; part.len()]) } else { Err(refused.clone()) };
                async move { answer }
            })
            .await;
            assert_eq!(matches!(outcome, Err(LogError::Unknown(_))), expected_unknown, "{outcome:?}");
            assert_eq!(*calls.borrow(), good_parts + 1, "nothing is sent after a failure");
        }
    }
}
