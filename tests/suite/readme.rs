//! The commands of the README, as they stand there.

use super::support::{Folder, Stash, command, run, run_json, sessions};
use serde_json::{Value, json};

/// A section of the README.
fn section(heading: &str) -> String {
    let readme = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")).unwrap();
    readme.split(heading).nth(1).unwrap().split("\n## ").next().unwrap().to_owned()
}

/// The lines of a section that begin with the program's name, in order.
fn commands(heading: &str) -> Vec<String> {
    section(heading)
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
    let commands = commands("## A first session");
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
            // One that has a step 4, as the person who wrote it saw.
            let traces = client.get("traces?limit=40").await.ok();
            let mut traces = traces["traces"].as_array().unwrap().iter();
            let long = traces.find(|trace| trace["step_count"].as_u64().unwrap() > 4).unwrap();
            trace = long["id"].as_str().unwrap().to_owned();
        }
        if command.starts_with("train ") {
            let models: Value = run_json(&folder.data(), &["models", "list"]);
            model = models[0]["id"].as_str().unwrap().to_owned();
        }
    }
    assert!(std::fs::read_to_string(output).unwrap().contains("asked before it refunded"));
}

#[tokio::test]
async fn the_formats_are_listed_and_folders_are_imported_and_watched_as_written() {
    let folder = Folder::new();
    let data = folder.data();
    let stash = Stash::up(&data).await;
    let listed = section("## What it reads");
    let formats = run_json(&data, &["traces", "formats"]);
    let formats = formats.as_array().unwrap();
    assert!(formats.len() >= 8, "{formats:?}");
    for format in formats {
        let row = format!("| [`{0}`](docs/formats/{0}.md) |", format["name"].as_str().unwrap());
        assert!(listed.contains(&row), "{row}");
    }

    let home = folder.path().join("home");
    let session = sessions::claude_code(&home, "a");
    sessions::codex(&home);
    let commands = commands("## What it reads");
    assert_eq!(commands.len(), 2, "{commands:?}");
    for line in commands {
        let line = line.replace('~', home.to_str().unwrap());
        let arguments = words(&line);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        if arguments[0] == "import" {
            assert!(run(&data, &arguments).contains("2 traces; 2 files imported"));
            continue;
        }
        let mut watch = Stash::spawn(command(&data, &arguments), &data);
        sessions::claude_code_goes_on(&session, "b");
        watch.line("1 of them there before");
        assert_eq!(watch.terminate().code(), Some(0));
    }
    assert_eq!(stash.operator().get("traces").await.ok()["total"], 2);
}
