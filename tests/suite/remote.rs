//! `RM_COMPUTE=remote`: a worker elsewhere shares the log, Postgres and the artifact store with the API, and nothing else.

use crate::learning::{over, rate, traces, train};
use crate::support::{Folder, Stash, command};
use serde_json::json;
use sqlx::{Connection as _, PgConnection};
use stash_infra::postgres::embedded;
use stash_infra::testing::S3Server;
use std::path::Path;

/// A worker on a data folder of its own, of this class.
fn worker(data: &Path, of: &Path, server: &S3Server, class: &str) -> Stash {
    let mut serve = command(data, &["serve", "--role", "worker", "--listen", "127.0.0.1:0"]);
    serve.env("DATABASE_URL", embedded::running_url(of).expect("the embedded Postgres runs"));
    serve.env("STASH_MASTER_KEY_FILE", of.join("master.keys")).env("RM_COMPUTE", class);
    serve.envs(server.variables("bucket"));
    let mut worker = Stash::spawn(serve, data);
    worker.served();
    worker
}

/// Kind, state, class and attempt of each job, and the process of its worker.
async fn jobs(connection: &mut PgConnection) -> Vec<(String, String, String, i32, Option<String>)> {
    let jobs = "SELECT kind, state, compute, attempt, substring(worker from '-([0-9]+)-[0-9a-f]{32}$') FROM rm.rm_jobs
        ORDER BY created_at, job_id";
    sqlx::query_as(jobs).fetch_all(connection).await.unwrap()
}

// The bucket answers while this test waits for the programs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_elsewhere_trains_and_scores_what_the_one_beside_the_api_leaves_alone() {
    let (here, there, server) = (Folder::new(), Folder::new(), S3Server::start().await);
    let mut up = command(&here.data(), &["up", "--listen", "127.0.0.1:0", "--no-sample"]);
    up.env("RM_COMPUTE", "remote").envs(server.variables("bucket"));
    let mut stash = Stash::spawn(up, &here.data());
    stash.served();
    let client = stash.operator();
    let ids = client.import(&traces(20)).await;
    for (number, id) in ids.iter().enumerate() {
        rate(&client, id, number, true).await;
    }
    let options = embedded::running(&here.data()).expect("the embedded Postgres runs");
    let mut connection = PgConnection::connect_with(&options).await.unwrap();

    // A job that nobody takes while only workers of the other class are there: the one beside the API, and another one that
    // starts after it was asked for.
    let body = json!({ "name": "waits", "trace_ids": ids, "base_model": "stash/tiny", "compute": "local" });
    let waiting = client.post("reward-models", &body).await.ok();
    assert_eq!(waiting["compute"], "remote", "no request chooses");
    let local = Folder::new();
    let local_worker = worker(&local.data(), &here.data(), &server, "local");
    assert_eq!(local_worker.terminate().code(), Some(0));
    let job = |kind: &str, state: &str, attempt: i32, worker: Option<String>| {
        (kind.to_owned(), state.to_owned(), "remote".to_owned(), attempt, worker)
    };
    assert_eq!(jobs(&mut connection).await, [job("train", "queued", 0, None)]);

    let remote = worker(&there.data(), &here.data(), &server, "remote");
    let id = waiting["id"].as_str().unwrap();
    let model = over(&client, &format!("reward-models/{id}")).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    let second = train(&client, "at once", &ids).await;
    assert_eq!(second["status"], "succeeded", "{second}");
    let later = client.import(traces(21).lines().last().unwrap()).await;
    let run = client.post(&format!("traces/{}/score", later[0]), &json!({ "reward_model_id": id })).await.ok();
    let run = over(&client, &format!("scoring-runs/{}", run["id"].as_str().unwrap())).await;
    assert_eq!(run["status"], "succeeded", "{run}");
    let detail = client.get(&format!("traces/{}", later[0])).await.ok();
    assert_eq!(detail["action_scores"].as_array().map(Vec::len), Some(1));
    let pid = Some(remote.pid().to_string());
    let by_it = |kind: &str| job(kind, "succeeded", 1, pid.clone());
    assert_eq!(jobs(&mut connection).await, [by_it("train"), by_it("train"), by_it("score")]);

    // What it made is had from the store; on neither machine anything is left of it.
    assert!(server.folder("bucket").join("reward-models").is_dir());
    for data in [here.data(), there.data()] {
        assert!(!data.join("artifacts").exists());
        assert_eq!(std::fs::read_dir(data.join("jobs")).unwrap().count(), 0);
    }
    for process in [remote, stash] {
        assert_eq!(process.terminate().code(), Some(0));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_without_the_master_keys_does_not_start() {
    let (here, there) = (Folder::new(), Folder::new());
    let stash = Stash::up(&here.data()).await;
    let mut serve = command(&there.data(), &["serve", "--role", "worker", "--listen", "127.0.0.1:0"]);
    serve.env("DATABASE_URL", embedded::running_url(&here.data()).expect("the embedded Postgres runs"));
    let output = serve.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("master"), "{said}");
    assert_eq!(stash.terminate().code(), Some(0));
}
