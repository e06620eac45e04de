//! `stash serve`: roles beside each other on one database.

use crate::support::{Folder, Stash, command, eventually};
use nix::sys::signal::{Signal, kill};

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

#[test]
fn a_role_without_a_database_says_what_to_do() {
    let folder = Folder::new();
    let output = command(&folder.data(), &["serve", "--role", "api", "--listen", "127.0.0.1:0"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("stash up") && said.contains("DATABASE_URL"), "{said}");
}
