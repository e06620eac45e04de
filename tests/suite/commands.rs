//! The commands that talk to a server.

use crate::support::{Folder, Stash, command, run, run_json};
use serde_json::Value;

/// Two traces with the same question, one answered well.
const TRACES: &str = concat!(
    r#"{"id":"good","steps":[{"role":"user","content":"Where is it?"},{"role":"assistant","content":"In the post."}]}"#,
    "\n",
    r#"{"id":"bad","steps":[{"role":"user","content":"Where is it?"},{"role":"assistant","content":"No idea."}]}"#,
    "\n",
);

#[tokio::test]
async fn traces_are_imported_annotated_shown_exported_and_deleted() {
    let folder = Folder::new();
    let data = folder.data();
    let _stash = Stash::up(&data).await;
    assert!(run(&data, &["traces", "list"]).contains("stash import"), "an empty list says what to do next");

    let file = folder.path().join("two.jsonl");
    std::fs::write(&file, TRACES).unwrap();
    let imported = run_json(&data, &["import", file.to_str().unwrap()]);
    assert_eq!((&imported[0]["imported"], &imported[0]["format"]), (&Value::from(2), &Value::from("stash")));

    // Each command reads what the one before it wrote.
    run(&data, &["annotate", "external:good", "--step", "1", "--rating", "+", "--comment", "helpful"]);
    run(&data, &["annotate", "external:bad", "--step", "1", "--rating", "-"]);
    let shown = run(&data, &["traces", "show", "external:good"]);
    assert!(shown.contains("In the post.") && shown.contains("+ helpful"), "{shown}");
    let rated = run_json(&data, &["traces", "list", "--rating", "-"]);
    assert_eq!((&rated["total"], &rated["traces"][0]["external_id"]), (&Value::from(1), &Value::from("bad")));

    let pairs = run(&data, &["export", "pairs"]);
    let pair: Value = serde_json::from_str(pairs.lines().next().unwrap()).unwrap();
    assert!(pair["chosen"].as_str().unwrap().contains("In the post."), "{pair}");
    let out = folder.path().join("out.jsonl");
    run(&data, &["export", "traces", "-o", out.to_str().unwrap()]);
    assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), 2);
    assert_eq!(run(&data, &["export", "annotations"]).lines().count(), 2);

    run(&data, &["traces", "delete", "external:bad"]);
    assert_eq!(run_json(&data, &["traces", "list"])["total"], 1);
}

#[tokio::test]
async fn failures_are_told_in_words_and_by_the_exit_code() {
    let folder = Folder::new();
    let data = folder.data();
    let said = |arguments: &[&str]| {
        let output = command(&data, arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, text) = said(&["traces", "list"]);
    assert!(code == Some(1) && text.contains("stash keys create"), "{text}");
    let (code, _) = said(&["annotate", "x"]);
    assert_eq!(code, Some(2), "neither rating nor comment is wrong usage");

    let stash = Stash::up(&data).await;
    let (code, text) = said(&["traces", "show", "external:none"]);
    assert!(code == Some(1) && text.contains("none"), "{text}");
    let file = folder.path().join("broken.jsonl");
    std::fs::write(&file, "{\"steps\":[{\"role\":\"nobody\",\"content\":\"\"}]}\n").unwrap();
    let (code, text) = said(&["import", "--format", "stash", file.to_str().unwrap()]);
    assert!(code == Some(1) && text.contains("broken.jsonl") && text.contains("line 1"), "{text}");

    assert_eq!(stash.terminate().code(), Some(0));
    let (code, text) = said(&["traces", "list"]);
    assert!(code == Some(1) && text.contains("stash up"), "{text}");
}

#[tokio::test]
async fn doctor_says_what_is_there_before_and_during_a_run() {
    let folder = Folder::new();
    let data = folder.data();
    let checks = |arguments: &[&str]| -> (bool, Vec<(String, String)>) {
        let output = command(&data, &[arguments, &["--json"]].concat()).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let checks = report["checks"].as_array().unwrap();
        let text = |check: &Value, name: &str| check[name].as_str().unwrap_or_default().to_owned();
        (report["ok"] == true, checks.iter().map(|check| (text(check, "check"), text(check, "state"))).collect())
    };
    let (ok, before) = checks(&["doctor", "--listen", "127.0.0.1:0"]);
    assert!(ok, "{before:?}");
    let stash = Stash::up(&data).await;
    let address = stash.url().trim_start_matches("http://").replace("localhost", "127.0.0.1");
    let (ok, during) = checks(&["doctor", "--listen", &address]);
    assert!(ok, "{during:?}");
    for name in ["postgres", "event log", "clock", "port"] {
        assert!(during.contains(&(name.to_owned(), "ok".to_owned())), "{name}: {during:?}");
    }

    // A file where the folder should be.
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let nowhere = command(&file.join("data"), &["doctor", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert!(nowhere.status.code().is_some());
}
