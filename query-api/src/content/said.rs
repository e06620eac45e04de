//! Inputs and outputs of spans that were sent live. They are not kept beside their rows: calls repeat each other's histories, and
//! what was sent is kept in frames that say a history once.

use super::SpanRow;
use crate::body::BodyError;
use sqlx::PgConnection;
use stash_domain::ids::OwnerId;
use stash_domain::otel::frame::OtelFrame;
use stash_domain::otel::said;
use std::collections::BTreeMap;
use uuid::Uuid;

/// Frames that are read at once. Most have some ten kilobytes, the largest about half a megabyte.
const FRAMES_AT_ONCE: usize = 8;

/// Makes the inputs and outputs that are left out of these rows of a trace.
///
/// # Errors
/// [`BodyError::Damaged`] when what was sent is not there; those of the database.
pub(super) async fn fill(
    connection: &mut PgConnection,
    owner: OwnerId,
    trace: Uuid,
    rows: &mut [SpanRow],
) -> Result<(), BodyError> {
    let mut of_frames: BTreeMap<(Uuid, i32), Vec<(usize, usize)>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.said_bytes.is_some()) {
        let place = row.place.and_then(|place| usize::try_from(place).ok());
        let (Some(subject), Some(frame), Some(place)) = (row.subject_id, row.frame, place) else {
            return Err(missing());
        };
        of_frames.entry((subject, frame)).or_default().push((at, place));
    }
    while !of_frames.is_empty() {
        let now: Vec<(Uuid, i32)> = of_frames.keys().take(FRAMES_AT_ONCE).copied().collect();
        let (subjects, numbers): (Vec<Uuid>, Vec<i32>) = now.iter().copied().unzip();
        let frames: Vec<(Uuid, i32, Vec<u8>)> = sqlx::query_as(include_str!("frames.sql"))
            .bind(owner.0)
            .bind(trace)
            .bind(subjects)
            .bind(numbers)
            .fetch_all(&mut *connection)
            .await?;
        for (subject, number, content) in frames {
            let OtelFrame { spans, .. } = OtelFrame::decode(&content).map_err(|_| missing())?;
            for (at, place) in of_frames.remove(&(subject, number)).unwrap_or_default() {
                let (Some(row), Some(sent)) = (rows.get_mut(at), spans.get(place)) else { return Err(missing()) };
                (row.span.input, row.span.output) = said(sent);
            }
            tokio::task::yield_now().await;
        }
        if now.iter().any(|frame| of_frames.contains_key(frame)) {
            return Err(missing());
        }
    }
    Ok(())
}

fn missing() -> BodyError {
    BodyError::Damaged("what was sent of a span is not there".to_owned())
}
