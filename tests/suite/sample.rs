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
    let traces = client.get("traces?limit=500").await.ok();
    assert_eq!(traces["total"], 40);
    let (mut good, mut bad) = (Vec::new(), Vec::new());
    for trace in traces["traces"].as_array().unwrap() {
        let trace = client.get(&format!("traces/{}", trace["id"].as_str().unwrap())).await.ok();
        for annotation in trace["annotations"].as_array().unwrap().iter().filter(|one| !one["step_id"].is_null()) {
            let scores = trace["action_scores"].as_array().unwrap();
            let score = scores.iter().find(|score| score["step_id"] == annotation["step_id"]).unwrap();
            let credits = if annotation["rating"] == 1 { &mut good } else { &mut bad };
            credits.push(score["credit"].as_f64().unwrap());
        }
    }
    let mean = |credits: &[f64]| credits.iter().sum::<f64>() / credits.len() as f64;
    assert!(mean(&good) > mean(&bad) + 0.2, "the sample's rules are learnt: {good:?} {bad:?}");

    let checkpoint = folder.path().join("model.tar.gz");
    run(&data, &["models", "weights", models[0]["id"].as_str().unwrap(), "-o", checkpoint.to_str().unwrap()]);
    assert_eq!(std::fs::read(&checkpoint).unwrap()[..2], [0x1f, 0x8b], "a gzip file");
    assert_eq!(stash.terminate().code(), Some(0));

    let stash = Stash::up_with(&data, &[]).await;
    assert_eq!(stash.operator().get("reward-models").await.ok().as_array().unwrap().len(), 1);
    assert_eq!(stash.terminate().code(), Some(0));
}
