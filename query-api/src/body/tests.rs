use super::*;
use axum::body::HttpBody as _;
use axum::body::to_bytes;
use futures::StreamExt as _;

async fn lines(mut writer: Writer, count: usize, fail_at: Option<usize>) -> Result<Writer, BodyError> {
    for n in 0..count {
        if fail_at == Some(n) {
            return Err(BodyError::Damaged("a test".to_owned()));
        }
        writer.json(&"x".repeat(1000))?;
        writer.raw("\n");
        writer.pause().await?;
    }
    Ok(writer)
}

#[tokio::test]
async fn a_short_answer_is_sent_whole_with_its_length() {
    let places = LongAnswers::new(0);
    let response = respond(JSON_LINES, &places, |writer| lines(writer, 3, None)).await.unwrap();
    let body = response.into_body();
    assert_eq!(body.size_hint().exact(), Some(3 * 1003));
    assert_eq!(to_bytes(body, usize::MAX).await.unwrap().len(), 3 * 1003);
}

#[tokio::test]
async fn a_long_answer_is_streamed_to_its_end() {
    let places = LongAnswers::new(1);
    let response = respond(JSON_LINES, &places, |writer| lines(writer, 5000, None)).await.unwrap();
    assert_eq!(response.body().size_hint().exact(), None);
    assert_eq!(to_bytes(response.into_body(), usize::MAX).await.unwrap().len(), 5000 * 1003);
    assert_eq!(places.free(), 1, "the place is free again");
}

#[tokio::test]
async fn an_early_error_is_an_answer_and_a_late_one_breaks_off() {
    let places = LongAnswers::new(1);
    let early = respond(JSON_LINES, &places, |writer| lines(writer, 5000, Some(10))).await;
    assert!(matches!(early, Err(BodyError::Damaged(_))));
    let late = respond(JSON_LINES, &places, |writer| lines(writer, 5000, Some(4000))).await.unwrap();
    to_bytes(late.into_body(), usize::MAX).await.unwrap_err();
}

#[tokio::test]
async fn a_long_answer_without_a_place_is_refused() {
    let places = LongAnswers::with_patience(1, Duration::ZERO, STALL_MAX);
    let first = respond(JSON_LINES, &places, |writer| lines(writer, 5000, None)).await.unwrap();
    assert!(matches!(respond(JSON_LINES, &places, |writer| lines(writer, 5000, None)).await, Err(BodyError::Busy)));
    drop(first);
}

#[tokio::test]
async fn a_client_that_reads_nothing_is_broken_off() {
    let places = LongAnswers::with_patience(1, PLACE_WAIT_MAX, Duration::from_millis(1));
    let response = respond(JSON_LINES, &places, |writer| lines(writer, 5000, None)).await.unwrap();
    // Resolves when the writer has given up its place.
    let _place = places.take().await.unwrap();
    let chunks: Vec<_> = response.into_body().into_data_stream().collect().await;
    assert!(chunks.last().unwrap().is_err());
}
