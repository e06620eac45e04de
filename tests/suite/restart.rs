//! What was acknowledged is there after a restart, in order or by `kill -9`.

use crate::support::{Client, Folder, Stash, eventually, run_json};
use serde_json::json;

const TRACE: &str =
    r#"{"id":"a","title":"A","steps":[{"role":"user","content":"hello"},{"role":"assistant","content":"good day"}]}"#;

/// Imports and annotates a trace; returns its id.
async fn fill(client: &Client) -> String {
    let id = client.import(TRACE).await.remove(0);
    let step = client.get(&format!("traces/{id}")).await.ok()["steps"][1]["id"].clone();
    let body = json!({ "step_id": step, "rating": 1, "comment": "polite" });
    client.post(&format!("traces/{id}/annotations"), &body).await.ok();
    id
}

async fn assert_filled(client: &Client, id: &str) {
    let trace = client.get(&format!("traces/{id}")).await.ok();
    assert_eq!(trace["steps"][1]["content"], "good day");
    assert_eq!(trace["annotations"][0]["comment"], "polite");
    assert_eq!(trace["positive_count"], 1);
}

#[tokio::test]
async fn a_restart_keeps_everything_and_makes_no_second_account() {
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let id = fill(&stash.operator()).await;
    assert_eq!(stash.terminate().code(), Some(0));

    let stash = Stash::up(&folder.data()).await;
    assert_filled(&stash.operator(), &id).await;
    assert_eq!(run_json(&folder.data(), &["users", "list"]).as_array().unwrap().len(), 1);
    assert_eq!(run_json(&folder.data(), &["keys", "list"]).as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_kill_loses_nothing_that_was_acknowledged() {
    let folder = Folder::new();
    let mut id = String::new();
    for round in 0..3 {
        let stash = Stash::up(&folder.data()).await;
        let client = stash.operator();
        if round == 0 {
            id = fill(&client).await;
        } else {
            assert_filled(&client, &id).await;
        }
        client.import(&format!(r#"{{"id":"r{round}","steps":[{{"role":"user","content":"round {round}"}}]}}"#)).await;
        stash.kill();
    }
    let stash = Stash::up(&folder.data()).await;
    // A new client knows no position to wait for.
    let client = stash.operator();
    eventually("all traces", async || (client.get("traces").await.ok()["total"] == 4).then_some(())).await;
    let rebuilt = run_json(&folder.data(), &["projections", "rebuild"]);
    assert_eq!(rebuilt["different"], json!([]));
    assert_filled(&stash.operator(), &id).await;
    let status = run_json(&folder.data(), &["projections", "status"]);
    assert_eq!((&status["lag"], &status["dead_letters"]), (&json!(0), &json!(0)));
}

#[tokio::test]
async fn a_deleted_trace_is_gone_and_stays_gone() {
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let client = stash.operator();
    let id = fill(&client).await;
    client.delete(&format!("traces/{id}")).await.ok();
    assert_eq!(client.get(&format!("traces/{id}")).await.status.as_u16(), 404);
    assert_eq!(client.get("traces").await.ok()["total"], 0);
    stash.kill();

    let stash = Stash::up(&folder.data()).await;
    let client = stash.operator();
    assert_eq!(client.get(&format!("traces/{id}")).await.status.as_u16(), 404);
    assert_eq!(run_json(&folder.data(), &["projections", "rebuild"])["different"], json!([]));
    assert_eq!(client.get("traces").await.ok()["total"], 0);
}
