use super::*;
use crate::clock::ManualClock;
use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Notify;

/// Answers by script, one line after the other, and counts how often it was asked.
struct Scripted {
    answers: Mutex<VecDeque<Result<Incoming, Fault>>>,
    asked: AtomicUsize,
}

fn answer(status: u16, retry_after: Option<&str>, body: &str) -> Result<Incoming, Fault> {
    Ok(Incoming { status, retry_after: retry_after.map(str::to_owned), body: body.as_bytes().to_vec() })
}

#[async_trait]
impl Post for Scripted {
    async fn post(&self, _request: Outgoing<'_>) -> Result<Incoming, Fault> {
        self.asked.fetch_add(1, Ordering::AcqRel);
        self.answers.lock().unwrap().pop_front().unwrap_or_else(|| answer(500, None, ""))
    }
}

type Sent = Result<Result<String, Incoming>, LlmError>;

async fn send(answers: Vec<Result<Incoming, Fault>>) -> (Sent, usize) {
    let post = Arc::new(Scripted { answers: Mutex::new(answers.into()), asked: AtomicUsize::new(0) });
    let transport = Transport::new(post.clone(), 2, quick(), Arc::new(ManualClock::default()));
    let sent = send_with(&transport).await;
    (sent, post.asked.load(Ordering::Acquire))
}

async fn send_with(transport: &Transport) -> Sent {
    let url = Url::parse("http://h/").unwrap();
    let request = Outgoing { provider: "openai", url: &url, headers: &[], body: Bytes::new() };
    let read = |bytes: &[u8]| match bytes {
        b"" => Err("it is empty".to_owned()),
        bytes => Ok(String::from_utf8_lossy(bytes).into_owned()),
    };
    transport.send("h", request, read).await
}

/// Pauses that nobody notices.
fn quick() -> Pace {
    Pace { pause: Duration::from_millis(1), ..Pace::default() }
}

#[tokio::test]
async fn what_may_pass_is_sent_again() {
    let broken = || Err(Fault::Connection("no connection".into()));
    let answers = vec![broken(), answer(503, None, ""), answer(200, None, ""), answer(200, None, "good")];
    let (sent, asked) = send(answers).await;
    assert_eq!(sent, Ok(Ok("good".to_owned())));
    assert_eq!(asked, 4);
}

#[test]
fn a_wait_that_the_server_asks_for_is_kept_by_all_and_bounded() {
    let next = |wait: Option<u64>, tried| {
        let error = LlmError::Journal(String::new());
        Failed { error, wait: wait.map(Duration::from_secs) }.next(&Pace::default(), tried)
    };
    assert_eq!(next(Some(7), 1), Next::WaitTogether(Duration::from_secs(7)));
    assert_eq!(next(Some(120), 4), Next::WaitTogether(Duration::from_secs(120)));
    assert_eq!(next(Some(121), 1), Next::Stop);
    assert!(matches!(next(None, 4), Next::Wait(_)));
    assert_eq!(next(None, 5), Next::Stop);
    assert_eq!(next(Some(0), 5), Next::Stop);
}

#[tokio::test]
async fn a_wait_that_is_too_long_fails_at_once() {
    let (sent, asked) = send(vec![answer(429, Some("3600"), "")]).await;
    let retry_after = Some(Duration::from_secs(3600));
    assert_eq!(sent, Err(LlmError::RateLimited { host: "h".into(), retry_after }));
    assert_eq!(asked, 1);
}

#[tokio::test]
async fn a_pause_lets_nobody_in_until_it_is_over() {
    let gates = Gates::new(2);
    let gate = gates.of("h");
    let until = tokio::time::Instant::now() + Duration::from_millis(20);
    gate.pause(Duration::from_millis(20));
    gate.pause(Duration::ZERO);
    assert!(gate.enter().await.is_some());
    assert!(tokio::time::Instant::now() >= until);
    assert!(gates.of("other").enter().await.is_some());
}

#[tokio::test]
async fn sending_again_ends() {
    let (sent, asked) = send(Vec::new()).await;
    assert_eq!(sent, Err(LlmError::Unavailable { host: "h".into(), reason: "it answers with status 500".into() }));
    assert_eq!(asked, 5);
}

#[tokio::test]
async fn what_would_not_change_is_sent_once() {
    let (sent, asked) = send(vec![answer(400, None, "no")]).await;
    assert_eq!(sent.unwrap().unwrap_err().status, 400);
    assert_eq!(asked, 1);
    let (sent, asked) = send(vec![Err(Fault::TooLarge(5))]).await;
    assert!(matches!(sent, Err(LlmError::BadResponse { .. })));
    assert_eq!(asked, 1);
}

/// Lets every request wait until it is told to go on.
struct Waiting {
    running: AtomicUsize,
    most: AtomicUsize,
    came: Notify,
    go: tokio::sync::Semaphore,
}

#[async_trait]
impl Post for Waiting {
    async fn post(&self, _request: Outgoing<'_>) -> Result<Incoming, Fault> {
        let now = self.running.fetch_add(1, Ordering::AcqRel) + 1;
        self.most.fetch_max(now, Ordering::AcqRel);
        self.came.notify_one();
        self.go.acquire().await.unwrap().forget();
        self.running.fetch_sub(1, Ordering::AcqRel);
        answer(200, None, "good")
    }
}

#[tokio::test]
async fn a_host_gets_no_more_requests_at_once_than_allowed() {
    let watch = Arc::new(Waiting {
        running: AtomicUsize::new(0),
        most: AtomicUsize::new(0),
        came: Notify::new(),
        go: tokio::sync::Semaphore::new(0),
    });
    let transport = Arc::new(Transport::new(watch.clone(), 2, Pace::default(), Arc::new(ManualClock::default())));
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let transport = transport.clone();
            tokio::spawn(async move { send_with(&transport).await })
        })
        .collect();
    while watch.running.load(Ordering::Acquire) < 2 {
        watch.came.notified().await;
    }
    watch.go.add_permits(6);
    for call in calls {
        assert_eq!(call.await.unwrap(), Ok(Ok("good".to_owned())));
    }
    assert_eq!(watch.most.load(Ordering::Acquire), 2);
}
