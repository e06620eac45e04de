//! Artifacts in a bucket instead of a folder: large payloads, checkpoints and their links.

use super::learning::{rate, traces, train};
use super::support::{Folder, Stash, command, run, run_json};
use serde_json::json;
use stash_infra::testing::S3Server;

async fn up(folder: &Folder, server: &S3Server) -> Stash {
    let data = folder.data();
    let mut up = command(&data, &["up", "--listen", "127.0.0.1:0", "--no-sample"]);
    up.envs(server.variables("bucket"));
    let mut stash = Stash::spawn(up, &data);
    stash.served();
    stash
}

// The server answers while this test waits for the program.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn payloads_and_checkpoints_lie_in_a_bucket_and_links_lead_there() {
    let (folder, server) = (Folder::new(), S3Server::start().await);
    let stash = up(&folder, &server).await;
    let client = stash.operator();
    // Half a megabyte of words that do not compress to nothing.
    let long: String = (0..100_000_u32).map(|n| format!("{:x} ", n.wrapping_mul(2_654_435_761))).collect();
    let line = json!({"id": "long", "steps": [{"role": "user", "content": long}]});
    let ids = client.import(&line.to_string()).await;
    let detail = client.get(&format!("traces/{}", ids[0])).await.ok();
    assert_eq!(detail["steps"][0]["content"], long.as_str());
    assert!(server.folder("bucket").join("blobs").is_dir());
    assert!(!folder.data().join("artifacts").exists());

    let ids = client.import(&traces(20)).await;
    for (number, id) in ids.iter().enumerate() {
        rate(&client, id, number, true).await;
    }
    let model = train(&client, "in a bucket", &ids).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    let id = model["id"].as_str().unwrap();
    let data = folder.data();
    let link = run_json(&data, &["models", "weights", id])["url"].as_str().unwrap().to_owned();
    assert!(link.starts_with(&server.endpoint) && link.contains("X-Amz-Expires=300"), "{link}");
    let file = folder.path().join("weights.tar.gz");
    run(&data, &["models", "weights", id, "-o", file.to_str().unwrap()]);
    let objects = server.folder("bucket").join("reward-models");
    let owner = std::fs::read_dir(objects).unwrap().next().unwrap().unwrap().path();
    assert_eq!(std::fs::read(owner.join(format!("{id}.tar.gz"))).unwrap(), std::fs::read(&file).unwrap());

    // Another account gets no link.
    run(&data, &["users", "create", "--email", "grace@example.com"]);
    let key = run_json(&data, &["keys", "create", "--owner", "grace@example.com"])["key"].as_str().unwrap().to_owned();
    assert_eq!(stash.client(&key).get(&format!("reward-models/{id}/weights")).await.status.as_u16(), 404);
    assert_eq!(stash.terminate().code(), Some(0));
}

#[test]
fn a_bucket_that_cannot_be_used_ends_the_start_with_its_name() {
    let folder = Folder::new();
    let mut up = command(&folder.data(), &["doctor"]);
    up.env("STASH_S3_BUCKET", "nobody").env("STASH_S3_ENDPOINT", "http://127.0.0.1:1");
    up.env("AWS_ACCESS_KEY_ID", "visible-id").env("AWS_SECRET_ACCESS_KEY", "hidden-secret");
    let output = up.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("STASH_S3_"), "{said}");
    assert!(!said.contains("hidden-secret"), "{said}");
}
