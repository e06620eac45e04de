//! Trainings that learn from traces without any rating: by a model that judges, which here is a server that answers by script.

use crate::support::{Client, Folder, Stash, job_end};
use reqwest::Method;
use serde_json::{Value, json};
use stash_infra::testing::llm::judge::{critical, judgment, purpose, review};
use stash_infra::testing::llm::{Answer, Held, LlmServer};

/// Traces of one answer each.
fn traces(count: usize) -> String {
    (0..count)
        .map(|number| {
            let steps = json!([
                {"role": "user", "content": format!("Where is parcel {number}?")},
                {"role": "assistant", "content": format!("It is in Lyon, I guess, number {number}.")},
            ]);
            json!({ "id": format!("t{number}"), "steps": steps }).to_string() + "\n"
        })
        .collect()
}

async fn train(client: &Client, traces: &[String]) -> String {
    let body = json!({ "name": "judged", "trace_ids": traces, "base_model": "stash/tiny", "epochs": 1 });
    client.post("reward-models", &body).await.ok()["id"].as_str().unwrap().to_owned()
}

async fn over(client: &Client, model: &str) -> Value {
    job_end("the training's end", async || {
        let found = client.get(&format!("reward-models/{model}")).await.ok();
        (found["status"] != "queued" && found["status"] != "running").then_some(found)
    })
    .await
}

#[tokio::test]
async fn a_model_learns_without_any_rating_and_a_second_one_asks_nothing_again() {
    let server = LlmServer::start(critical).await;
    let folder = Folder::new();
    let stash = Stash::up_judged(&folder.data(), &server).await;
    let client = stash.operator();
    let ids = client.import(&traces(24)).await;
    let model = over(&client, &train(&client, &ids).await).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    // A judgment and a review of each answer; nobody reacted, so nobody is asked about reactions.
    assert_eq!(server.asked().len(), 48);
    let pairs = client.get(&format!("export/pairs?reward_model_id={}", model["id"].as_str().unwrap())).await;
    assert!(pairs.text.contains("ai_judgment") && pairs.text.contains("Better than"), "{}", pairs.text);

    let again = over(&client, &train(&client, &ids).await).await;
    assert_eq!(again["status"], "succeeded", "{again}");
    assert_eq!(server.asked().len(), 48, "answers are kept");
}

#[tokio::test]
async fn a_kill_between_calls_repeats_only_those_under_way() {
    let held = Held::default();
    let hold = held.clone();
    let server = LlmServer::start(move |asked| critical(asked).held(&hold)).await;
    let folder = Folder::new();
    let stash = Stash::up_judged(&folder.data(), &server).await;
    let client = stash.operator();
    // All in one conversation, so that three calls are under way at once.
    let steps: Vec<Value> = (0..6)
        .flat_map(|number| {
            let question = json!({"role": "assistant", "content": format!("It is in Lyon, number {number}.")});
            [json!({"role": "system", "content": format!("note {number}")}), question]
        })
        .collect();
    let ids = client.import(&json!({ "id": "long", "steps": steps }).to_string()).await;
    let model = train(&client, &ids).await;
    let mut stash = stash;
    let mut answered = 0;
    for answers in [1, 3] {
        server.wait_for(answered + 3).await;
        held.let_go(answers);
        answered += answers;
        // The calls that follow the answered ones have come: so those are kept.
        server.wait_for(answered + 3).await;
        let data = folder.data();
        stash.kill();
        stash = Stash::up_judged(&data, &server).await;
        // Those under way died with the process and are made again.
        answered += 3;
    }
    held.let_go(1000);
    let client = stash.operator();
    let model = over(&client, &model).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    let asked = server.asked().len();
    assert!(asked <= 12 + 2 * 3, "{asked} calls for 12 questions and two crashes");
}

#[tokio::test]
async fn malformed_answers_fail_the_job_and_are_asked_to_be_mended_once() {
    // About the third parcel the judge talks.
    let server = LlmServer::start(|asked| match asked.text().contains("parcel 2?") {
        true => Answer::says("I would rather not say."),
        false => critical(asked),
    })
    .await;
    let folder = Folder::new();
    let stash = Stash::up_judged(&folder.data(), &server).await;
    let client = stash.operator();
    let ids = client.import(&traces(4)).await;
    let model = over(&client, &train(&client, &ids).await).await;
    assert_eq!(model["status"], "failed", "{model}");
    assert!(model["error"].as_str().unwrap().contains("did not answer as asked"), "{model}");
    // Judgments and reviews of the first two, then one repair; no second attempt, nothing about the fourth.
    assert_eq!(server.asked().len(), 6);
    // What was found and what it took stays, and says that no dataset was made of it.
    let feedback = model["feedback"].as_array().unwrap();
    assert_eq!(feedback.iter().map(|found| found["trace_id"].clone()).collect::<Vec<_>>(), [ids[0].as_str(), &ids[1]]);
    assert!(feedback.iter().all(|found| found["included_in_training"] == false), "{feedback:?}");
    let learning = &model["learning"];
    assert_eq!((&learning["calls"], &learning["calls_made"]), (&json!(4), &json!(6)), "{learning}");
}

#[tokio::test]
async fn a_training_asks_no_more_once_its_account_forbids_it() {
    let held = Held::default();
    let hold = held.clone();
    let server = LlmServer::start(move |asked| critical(asked).held(&hold)).await;
    let folder = Folder::new();
    let stash = Stash::up_judged(&folder.data(), &server).await;
    let client = stash.operator();
    let ids = client.import(&traces(6)).await;
    let model = train(&client, &ids).await;
    server.wait_for(1).await;
    let forbid = client.request(Method::PATCH, "llm-processing").json(&json!({ "learning": false }));
    assert_eq!(client.send(forbid).await.ok()["learning"]["allowed"], false);
    held.let_go(1000);
    let model = over(&client, &model).await;
    assert!(model["error"].as_str().unwrap().contains("switched off while this training asked"), "{model}");
    assert_eq!(server.asked().len(), 1, "the call under way came to its end");
    assert_eq!((&model["feedback"], &model["learning"]["calls_made"]), (&json!([]), &json!(1)), "{model}");
}

#[tokio::test]
async fn abstentions_are_recorded_before_it_is_asked_whether_there_are_pairs_enough() {
    let server = LlmServer::start(|asked| match purpose(asked) {
        "judgment" if asked.text().contains("parcel 0?") => judgment(asked, "negative", "I cannot see where it is."),
        "judgment" => judgment(asked, "unclear", ""),
        _ => review(asked, "I cannot see"),
    })
    .await;
    let folder = Folder::new();
    let stash = Stash::up_judged(&folder.data(), &server).await;
    let client = stash.operator();
    let ids = client.import(&traces(3)).await;
    let model = over(&client, &train(&client, &ids).await).await;
    let error = model["error"].as_str().unwrap();
    assert!(error.contains("1 preference pairs") && error.contains("of its 3 findings"), "{error}");
    let labels: Vec<&Value> = model["feedback"].as_array().unwrap().iter().map(|found| &found["label"]).collect();
    assert_eq!(labels, ["negative", "unclear", "unclear"]);
    assert!(model["feedback"].as_array().unwrap().iter().all(|found| found["included_in_training"] == false));
    let pairs = client.get(&format!("export/pairs?reward_model_id={}", model["id"].as_str().unwrap())).await;
    assert_eq!(pairs.text, "", "what was found is kept apart from pairs");
}

#[tokio::test]
async fn a_model_learns_from_the_selected_traces_alone_and_scoring_asks_no_judge() {
    let server = LlmServer::start(critical).await;
    let folder = Folder::new();
    let stash = Stash::up_judged(&folder.data(), &server).await;
    let client = stash.operator();
    let ids = client.import(&traces(20)).await;
    // All are rated, so that each would make pairs both ways.
    for (number, id) in ids.iter().enumerate() {
        let rating = if number.is_multiple_of(2) { 1 } else { -1 };
        client.post(&format!("traces/{id}/annotations"), &json!({ "rating": rating })).await.ok();
    }
    let (selected, others) = ids.split_at(12);
    let model = over(&client, &train(&client, selected).await).await;
    assert_eq!(model["status"], "succeeded", "{model}");
    let pairs = client.get(&format!("export/pairs?reward_model_id={}", model["id"].as_str().unwrap())).await.text;
    for source in ["explicit_rating", "ai_judgment"] {
        assert!(pairs.contains(source), "{pairs}");
    }
    assert!(!others.iter().any(|id| pairs.contains(id.as_str())), "{pairs}");
    let others: Vec<String> = (12..20).map(|number| format!("parcel {number}?")).collect();
    assert!(!others.iter().any(|text| pairs.contains(text)), "{pairs}");
    let asked = server.asked();
    assert!(!asked.iter().any(|asked| others.iter().any(|text| asked.text().contains(text))));
    let found = model["feedback"].as_array().unwrap();
    assert!(found.iter().all(|found| selected.iter().any(|id| found["trace_id"] == id.as_str())), "{found:?}");

    // A trace that came later, and one that was there: neither needs a judge, nor gets a comment.
    let later = client.import(&traces(21).lines().skip(20).fold(String::new(), |all, line| all + line + "\n")).await;
    for trace in [&later[0], &ids[13]] {
        let run = client.post(&format!("traces/{trace}/score"), &json!({ "reward_model_id": model["id"] })).await.ok();
        let path = format!("scoring-runs/{}", run["id"].as_str().unwrap());
        let done = job_end("the run's end", async || {
            let found = client.get(&path).await.ok();
            (found["status"] != "queued" && found["status"] != "running").then_some(found)
        })
        .await;
        assert_eq!(done["status"], "succeeded", "{done}");
        let detail = client.get(&format!("traces/{trace}")).await.ok();
        assert_eq!(detail["action_scores"].as_array().unwrap().len(), 1);
        let comments = detail["annotations"].as_array().unwrap().iter().filter(|one| !one["comment"].is_null()).count();
        assert_eq!(comments, 0);
    }
    assert_eq!(server.asked().len(), asked.len());
}
