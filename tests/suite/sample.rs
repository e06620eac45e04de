//! The sample of the first start: it trains for real, and leaves the server free meanwhile.

use crate::support::{Folder, Stash, run};
use serde_json::Value;

#[tokio::test]
async fn the_first_start_learns_from_the_sample_and_the_second_does_nothing_of_it() {
    let folder = Folder::new();
    let data = folder.data();
    let mut stash = Stash::up_with(&data, &[]).await;
    let client = stash.operator();
    // Answered while the sample is at work.
    client.get("reward-models").await.ok();
    stash.line("Best and worst of ");

    let models = client.get("reward-models").await.ok();
    assert_eq!(
        (&models[0]["status"], &models[0]["base_model"]),
        (&Value::from("succeeded"), &Value::from("stash/tiny"))
    );
    let accuracy = models[0]["metrics"]["eval_accuracy"].as_f64().unwrap();
    assert!(accuracy > 0.6, "the sample's rules are learnt: {accuracy}");
    let traces = client.get("traces?sort=highest_score&limit=500").await.ok();
    assert_eq!(traces["total"], 40);
    let best = traces["traces"][0]["id"].as_str().unwrap();
    assert!(!client.get(&format!("traces/{best}")).await.ok()["action_scores"].as_array().unwrap().is_empty());

    let checkpoint = folder.path().join("model.tar.gz");
    run(&data, &["models", "weights", models[0]["id"].as_str().unwrap(), "-o", checkpoint.to_str().unwrap()]);
    assert_eq!(std::fs::read(&checkpoint).unwrap()[..2], [0x1f, 0x8b], "a gzip file");
    assert_eq!(stash.terminate().code(), Some(0));

    let stash = Stash::up_with(&data, &[]).await;
    assert_eq!(stash.operator().get("reward-models").await.ok().as_array().unwrap().len(), 1);
    assert_eq!(stash.terminate().code(), Some(0));
}
