//! The commands of the README's first session, as they stand there.

use super::support::{Folder, Stash, run, run_json};
use serde_json::{Value, json};

/// The lines of the README that begin with the program's name, in order.
fn commands() -> Vec<String> {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    let session = readme.split("## A first session").nth(1).unwrap().split("\n## ").next().unwrap();
    session
        .lines()
        .filter_map(|line| line.strip_prefix("stash "))
        .map(|line| line.split('#').next().unwrap().trim().to_owned())
        .collect()
}

/// Splits a line as a shell would: at spaces, quoted parts whole.
fn words(line: &str) -> Vec<String> {
    line.split('"')
        .enumerate()
        .flat_map(|(index, part)| match index % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect::<Vec<_>>(),
            _ => vec![part.to_owned()],
        })
        .collect()
}

#[tokio::test]
async fn the_first_session_works_as_written() {
    let commands = commands();
    assert!(commands.len() >= 7, "{commands:?}");
    let folder = Folder::new();
    let stash = Stash::up(&folder.data()).await;
    let client = stash.operator();
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/sample/traces.jsonl");
    let output = folder.path().join("annotations.jsonl");
    let mut trace = String::new();
    let mut model = String::new();
    for command in commands {
        if command.starts_with("train ") {
            // Two ratings do not make a model: a person would have rated more by now.
            let traces = client.get("traces?limit=40").await.ok();
            for (number, trace) in traces["traces"].as_array().unwrap().iter().enumerate() {
                let rating = if number.is_multiple_of(2) { 1 } else { -1 };
                let id = trace["id"].as_str().unwrap();
                let detail = client.get(&format!("traces/{id}")).await.ok();
                let steps = detail["steps"].as_array().unwrap();
                let action = steps.iter().rev().find(|step| step["role"] == "assistant").unwrap();
                let body = json!({ "rating": rating, "step_id": action["id"] });
                client.post(&format!("traces/{id}/annotations"), &body).await.ok();
            }
        }
        let arguments: Vec<String> = words(&command)
            .into_iter()
            .map(|word| match word.as_str() {
                "traces.jsonl" => sample.to_owned(),
                "annotations.jsonl" => output.display().to_string(),
                "TRACE" => trace.clone(),
                "MODEL" => model.clone(),
                _ => word,
            })
            .collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        run(&folder.data(), &arguments);
        if command.starts_with("import ") {
            let traces = client.get("traces?limit=1").await.ok();
            trace = traces["traces"][0]["id"].as_str().unwrap().to_owned();
        }
        if command.starts_with("train ") {
            let models: Value = run_json(&folder.data(), &["models", "list"]);
            model = models[0]["id"].as_str().unwrap().to_owned();
        }
    }
    assert!(std::fs::read_to_string(output).unwrap().contains("asked before it refunded"));
}
