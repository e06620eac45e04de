//! Models that are renamed and deleted, by the commands a person has.

use crate::learning::{rate, traces, train};
use crate::support::{Folder, Stash, command, eventually, run, run_json};
use serde_json::json;

#[tokio::test]
async fn a_model_is_renamed_and_deleted_with_its_checkpoint_and_its_scores() {
    let folder = Folder::new();
    let data = folder.data();
    let stash = Stash::up(&data).await;
    let client = stash.operator();
    let ids = client.import(&traces(20)).await;
    for (number, id) in ids.iter().enumerate() {
        rate(&client, id, number, true).await;
    }
    let model = train(&client, "first", &ids).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    let id = model["id"].as_str().unwrap();

    assert!(run(&data, &["models", "rename", id, "asks first"]).contains("asks first"));
    let detail = client.get(&format!("traces/{}", ids[0])).await.ok();
    assert_eq!(detail["scores"][0]["reward_model_name"], "asks first");
    let refused = command(&data, &["models", "rename", id, " "]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.status.code() == Some(1) && said.contains("name"), "{said}");

    let owner = std::fs::read_dir(data.join("artifacts/named/reward-models")).unwrap().next().unwrap().unwrap().path();
    let archive = owner.join(format!("{id}.tar.gz"));
    assert!(archive.is_file());
    assert_eq!(run(&data, &["models", "delete", id]).trim(), format!("deleted {id}"));
    let detail = client.get(&format!("traces/{}", ids[0])).await.ok();
    assert_eq!((&detail["scores"], &detail["action_scores"]), (&json!([]), &json!([])));
    assert_eq!(detail["positive_count"], 1, "what people said stays");
    assert_eq!(run_json(&data, &["models", "list"]), json!([]));
    eventually("the removal of the checkpoint", async || (!archive.exists()).then_some(())).await;
    let again = command(&data, &["models", "delete", id]).output().unwrap();
    assert_eq!(again.status.code(), Some(1));

    // A training that nobody has begun, or that has ended, is cancelled and deleted in one go.
    let body = json!({ "name": "second", "trace_ids": ids, "base_model": "stash/none" });
    let second = client.post("reward-models", &body).await.ok()["id"].as_str().unwrap().to_owned();
    eventually("the failure of a training without its base", async || {
        let found = client.get(&format!("reward-models/{second}")).await.ok();
        (found["status"] == "failed").then_some(())
    })
    .await;
    run(&data, &["models", "delete", &second]);
    assert_eq!(run_json(&data, &["models", "list"]), json!([]));
    assert_eq!(stash.terminate().code(), Some(0));
}
