//! `stash serve`: roles beside each other on one database.

use crate::support::{Folder, Stash, command, eventually};
use nix::sys::signal::{Signal, kill};
use sqlx::Connection as _;
use stash_infra::postgres::embedded;

/// A role on the database of a running `stash up`.
fn serve(folder: &Folder, role: &str) -> Stash {
    let data = folder.data();
    let mut process = Stash::spawn(command(&data, &["serve", "--role", role, "--listen", "127.0.0.1:0"]), &data);
    process.served();
    process
}

#[tokio::test]
async fn another_api_reads_what_the_first_one_wrote() {
    let folder = Folder::new();
    let up = Stash::up(&folder.data()).await;
    let api = serve(&folder, "api");
    up.operator().import(r#"{"id":"a","steps":[{"role":"user","content":"hello"}]}"#).await;
    let client = api.operator();
    eventually("the trace", async || client.get("traces/external:a").await.status.is_success().then_some(())).await;
    // A command through it is judged by the projector of the other process.
    let body = serde_json::json!({ "rating": 1 });
    assert_eq!(client.post("traces/external:a/annotations", &body).await.status.as_u16(), 201);
    assert_eq!(up.operator().get("traces/external:a").await.ok()["positive_count"], 1);
    assert_eq!(api.terminate().code(), Some(0));
    assert_eq!(up.terminate().code(), Some(0));
}

#[tokio::test]
async fn a_second_projector_and_a_worker_stand_by_and_end_when_told() {
    let folder = Folder::new();
    let up = Stash::up(&folder.data()).await;
    let (projector, worker) = (serve(&folder, "projector"), serve(&folder, "worker"));
    let client = up.operator();
    for number in 0..20 {
        client.import(&format!(r#"{{"id":"t{number}","steps":[{{"role":"user","content":"hello"}}]}}"#)).await;
    }
    assert_eq!(client.get("traces").await.ok()["total"], 20);
    for process in [projector, worker] {
        kill(process.pid(), Signal::SIGINT).unwrap();
        assert_eq!(process.ended().code(), Some(0));
    }
}

/// Jobs asked for at once.
const JOBS_AT_ONCE: usize = 12;

/// Rounds of them before the test gives up on a second worker.
const ROUNDS_MAX: usize = 20;

#[tokio::test]
async fn several_workers_at_once_claim_each_job_once() {
    let folder = Folder::new();
    let up = Stash::up(&folder.data()).await;
    let workers = [serve(&folder, "worker"), serve(&folder, "worker")];
    let client = up.operator();
    let traces = client.import(r#"{"id":"a","steps":[{"role":"user","content":"hello"}]}"#).await;
    let options = embedded::running(&folder.data()).expect("the embedded Postgres runs");
    let mut connection = sqlx::PgConnection::connect_with(&options).await.unwrap();
    // Without ratings a training ends as soon as it has looked: its job is short, and asked for again and again until workers
    // have shared the work.
    for round in 1..=ROUNDS_MAX {
        let body = serde_json::json!({ "name": "none", "trace_ids": traces });
        let create = async || client.post("reward-models", &body).await.status;
        let created = futures::future::join_all((0..JOBS_AT_ONCE).map(|_| create())).await;
        assert!(created.iter().all(|status| status.is_success()), "{created:?}");
        let jobs = i64::try_from(round * JOBS_AT_ONCE).unwrap();
        let open = "SELECT count(*) FROM rm.rm_jobs WHERE state <> 'failed'";
        eventually("the end of the jobs", async || {
            let (open,): (i64,) = sqlx::query_as(open).fetch_one(&mut connection).await.unwrap();
            (open == 0).then_some(())
        })
        .await;
        // Each claim that holds is another attempt.
        let once = "SELECT count(*) FILTER (WHERE attempt = 1), count(DISTINCT worker) FROM rm.rm_jobs";
        let (once, took_part): (i64, i64) = sqlx::query_as(once).fetch_one(&mut connection).await.unwrap();
        assert_eq!(once, jobs);
        if took_part > 1 {
            break;
        }
        assert!(round < ROUNDS_MAX, "one worker took all jobs");
    }
    for process in workers.into_iter().chain([up]) {
        assert_eq!(process.terminate().code(), Some(0));
    }
}

#[test]
fn a_role_without_a_database_says_what_to_do() {
    let folder = Folder::new();
    let output = command(&folder.data(), &["serve", "--role", "api", "--listen", "127.0.0.1:0"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("stash up") && said.contains("DATABASE_URL"), "{said}");
}
