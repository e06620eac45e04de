//! `stash keys` and `stash users`, with and without a running server.

use crate::support::{Folder, Stash, command, run, run_json};
use reqwest::StatusCode;
use serde_json::{Value, json};

/// Beside the `data` of `make run`, a command that names no folder means that one, not the user's.
#[tokio::test]
async fn a_command_beside_the_folder_of_make_run_works_on_it() {
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let mut create = command(&folder.data(), &["keys", "create", "--json"]);
    create.env_remove("STASH_DATA").env("XDG_DATA_HOME", folder.path()).current_dir(folder.path());
    let made = create.output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    stash.client(made["key"].as_str().unwrap()).get("traces").await.ok();
}

#[tokio::test]
async fn keys_are_made_while_stash_is_down_and_while_it_is_up() {
    let folder = Folder::new();
    let data = folder.data();
    let before = run_json(&data, &["keys", "create", "--owner", "ada@example.org", "--scope", "full"]);
    let stash = Stash::up(&data).await;
    let during = run_json(&data, &["keys", "create", "--owner", "Ada@example.org", "--scope", "read-only"]);
    assert_eq!(before["owner_id"], during["owner_id"]);

    let (full, reads) = (stash.client(before["key"].as_str().unwrap()), stash.client(during["key"].as_str().unwrap()));
    full.import(r#"{"id":"a","steps":[{"role":"user","content":"hello"}]}"#).await;
    full.get("traces").await.ok();
    assert_eq!(reads.get("traces/external:a").await.ok()["external_id"], "a");
    let refused = reads.delete("traces/external:a").await;
    assert_eq!(
        (refused.status, refused.body["type"].as_str()),
        (StatusCode::FORBIDDEN, Some("/docs/errors/forbidden_scope"))
    );

    // Another account sees nothing of it.
    let other = run_json(&data, &["keys", "create", "--owner", "bob@example.org", "--scope", "full"]);
    assert_eq!(stash.client(other["key"].as_str().unwrap()).get("traces").await.ok()["total"], 0);
}

#[tokio::test]
async fn a_revoked_key_stops_working_and_a_switched_off_account_is_told() {
    let folder = Folder::new();
    let data = folder.data();
    let stash = Stash::up(&data).await;
    let key = run_json(&data, &["keys", "create", "--owner", "ada@example.org"]);
    let client = stash.client(key["key"].as_str().unwrap());
    client.get("traces").await.ok();

    run(&data, &["users", "disable", "ada@example.org"]);
    let answer = crate::support::eventually("403", async || {
        Some(client.get("traces").await).filter(|answer| answer.status == StatusCode::FORBIDDEN)
    });
    assert_eq!(answer.await.body["type"], "/docs/errors/reward_models_disabled");
    run(&data, &["users", "enable", "ada@example.org"]);

    assert_eq!(run_json(&data, &["keys", "revoke", key["id"].as_str().unwrap()])["revoked"], true);
    crate::support::eventually("401", async || {
        Some(client.get("traces").await).filter(|answer| answer.status == StatusCode::UNAUTHORIZED)
    })
    .await;
    let listed = run_json(&data, &["keys", "list", "--owner", "ada@example.org"]);
    assert_ne!(listed[0]["revoked_at"], json!(null));
    assert!(!listed.to_string().contains(key["key"].as_str().unwrap()));
}

#[tokio::test]
async fn changes_of_accounts_and_keys_stand_in_the_log() {
    let folder = Folder::new();
    let data = folder.data();
    run_json(&data, &["keys", "create", "--owner", "ada@example.org"]);
    let records = run_json(&data, &["log", "tail"]);
    let events: Vec<&str> =
        records.as_array().unwrap().iter().map(|record| record["events"].as_str().unwrap()).collect();
    assert_eq!(events, ["account_created", "api_key_created"]);
    assert_eq!(run_json(&data, &["log", "info"])["records"], 2);
}

#[tokio::test]
async fn content_is_read_after_the_master_key_was_rotated() {
    let folder = Folder::new();
    let data = folder.data();
    let stash = Stash::up(&data).await;
    stash.operator().import(r#"{"id":"a","steps":[{"role":"user","content":"hello"}]}"#).await;
    let rotated = run_json(&data, &["keys", "rotate-master"]);
    assert!(rotated["rewrapped"].as_u64().unwrap() > 0);
    assert_eq!(stash.terminate().code(), Some(0));

    let stash = Stash::up(&data).await;
    let client = stash.operator();
    assert_eq!(client.get("traces/external:a").await.ok()["steps"][0]["content"], "hello");
    run(&data, &["projections", "rebuild"]);
    assert_eq!(client.get("traces/external:a").await.ok()["steps"][0]["content"], "hello");
}
