//! `stash import` on folders: each file in its format, unchanged ones passed over, bad ones named without stopping the others.

use crate::support::{Folder, Stash, command, run, run_json, sessions};
use serde_json::{Value, json};
use std::path::Path;

/// A chat without an id.
const CHAT: &str = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":"hello"}]}"#;

/// Each file's state, by its name.
fn states(said: &Value) -> Vec<(String, String)> {
    let name = |path: &str| Path::new(path).file_name().unwrap().to_string_lossy().into_owned();
    let files = said.as_array().unwrap().iter();
    files.map(|file| (name(file["file"].as_str().unwrap()), file["state"].as_str().unwrap().to_owned())).collect()
}

fn all(said: &Value, state: &str) -> bool {
    states(said).iter().all(|(_, found)| found == state)
}

#[tokio::test]
async fn folders_of_sessions_are_imported_and_only_what_changed_is_sent_again() {
    let folder = Folder::new();
    let data = folder.data();
    let stash = Stash::up(&data).await;
    let client = stash.operator();
    let home = folder.path().join("home");
    let session = sessions::claude_code(&home, "a");
    sessions::codex(&home);
    std::fs::write(home.join("notes.txt"), "no trace").unwrap();
    std::fs::write(home.join("chats.jsonl"), format!("{CHAT}\n")).unwrap();
    let import = |more: &[&str]| run_json(&data, &[&["import", home.to_str().unwrap()], more].concat());

    let first = import(&[]);
    assert_eq!(first.as_array().unwrap().len(), 3);
    assert!(all(&first, "imported"), "{first}");
    let mut formats: Vec<_> = first.as_array().unwrap().iter().map(|file| file["format"].clone()).collect();
    formats.sort_by_key(ToString::to_string);
    assert_eq!(formats, ["claude_code", "codex", "openai_chat"]);
    assert_eq!(client.get("traces").await.ok()["total"], 3);

    assert!(all(&import(&[]), "unchanged"));
    // Written again with the same bytes: another time, the same digest.
    std::fs::write(&session, std::fs::read(&session).unwrap()).unwrap();
    assert!(all(&import(&[]), "unchanged"));
    // Two files grew: the same traces, a further one.
    sessions::claude_code_goes_on(&session, "b");
    std::fs::write(home.join("chats.jsonl"), format!("{CHAT}\n{CHAT}\n")).unwrap();
    let grown = import(&[]);
    let updated: i64 = grown.as_array().unwrap().iter().filter_map(|file| file["updated"].as_i64()).sum();
    assert_eq!((updated, states(&grown).iter().filter(|(_, state)| state == "unchanged").count()), (2, 1));
    assert_eq!(client.get("traces").await.ok()["total"], 4);

    let again = import(&["--again"]);
    assert!(all(&again, "imported"));
    assert!(again.as_array().unwrap().iter().all(|file| file["updated"] == file["imported"]), "{again}");
    let said = run(&data, &["import", home.to_str().unwrap()]);
    assert_eq!(said.trim(), "0 traces; 0 files imported, 3 unchanged");
}

#[tokio::test]
async fn a_bad_file_is_named_and_the_others_are_imported() {
    let folder = Folder::new();
    let data = folder.data();
    let stash = Stash::up(&data).await;
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("a.jsonl"), "{\"steps\":[{\"role\":\"nobody\",\"content\":\"\"}]}\n").unwrap();
    std::fs::write(files.join("b.json"), r#"{"theme":"dark"}"#).unwrap();
    std::fs::write(files.join("c.jsonl.gz"), "no gzip").unwrap();
    std::fs::write(files.join("d.jsonl"), format!("{CHAT}\n")).unwrap();
    let missing = folder.path().join("missing.jsonl");
    let arguments = ["import", files.to_str().unwrap(), missing.to_str().unwrap()];

    let output = command(&data, &arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let (said, named) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(said.contains("d.jsonl: 1 traces (openai_chat)"), "{said}");
    assert!(said.contains("1 traces; 1 files imported, 1 not recognised, 3 failed"), "{said}");
    for (file, reason) in
        [("a.jsonl", "line 1"), ("b.json", "no known format"), ("c.jsonl.gz", "gzip"), ("missing", "No such")]
    {
        assert!(named.lines().any(|line| line.contains(file) && line.contains(reason)), "{file}: {named}");
    }
    assert_eq!(stash.operator().get("traces").await.ok()["total"], 1);

    // A folder with other files in it is no failure; a file that was named is.
    for file in ["a.jsonl", "c.jsonl.gz"] {
        std::fs::remove_file(files.join(file)).unwrap();
    }
    assert_eq!(
        states(&run_json(&data, &arguments[..2])),
        [("b.json".to_owned(), "not_recognised".to_owned()), ("d.jsonl".to_owned(), "unchanged".to_owned())]
    );
    let named = command(&data, &["import", files.join("b.json").to_str().unwrap()]).output().unwrap();
    assert_eq!(named.status.code(), Some(1));
}

#[tokio::test]
async fn a_run_that_was_stopped_goes_on_where_it_stopped() {
    let folder = Folder::new();
    let data = folder.data();
    let stash = Stash::up(&data).await;
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    for number in 0..3 {
        std::fs::write(files.join(format!("{number}.jsonl")), format!("{CHAT}\n")).unwrap();
    }
    let first = files.join("0.jsonl");
    assert!(all(&run_json(&data, &["import", first.to_str().unwrap()]), "imported"));
    let stash = stash.restart().await;
    let said = run_json(&data, &["import", files.to_str().unwrap()]);
    let states: Vec<_> = states(&said).into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["unchanged", "imported", "imported"]);
    let ledgers = data.with_extension("state").join("stash/imports");
    let ledger = std::fs::read_dir(ledgers).unwrap().next().unwrap().unwrap().path();
    // What was noted of the third file is lost, as when the power fails: its repeat is answered, not done twice.
    let text = std::fs::read_to_string(&ledger).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("2.jsonl")).collect();
    std::fs::write(&ledger, kept.join("\n") + "\n").unwrap();
    let said = run_json(&data, &["import", files.to_str().unwrap()]);
    assert_eq!((&said[2]["state"], &said[2]["imported"]), (&json!("imported"), &json!(1)));
    let client = stash.operator();
    assert_eq!(client.get("traces").await.ok()["total"], 3);
}

#[tokio::test]
async fn another_log_at_the_same_address_gets_everything() {
    let folder = Folder::new();
    let file = folder.path().join("a.jsonl");
    std::fs::write(&file, format!("{CHAT}\n")).unwrap();
    let arguments = ["import", file.to_str().unwrap(), "--url", "http://127.0.0.1:1"];
    let output = command(&folder.data(), &arguments).env("STASH_API_KEY", "stash_none").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("no Stash answers"), "{said}");

    // Each data folder has a log of its own, and what a user's commands remember is the same folder for both.
    for name in ["one", "two"] {
        let data = folder.path().join(name);
        let stash = Stash::up(&data).await;
        let connection = std::fs::read_to_string(data.join("connection.json")).unwrap();
        let connection: Value = serde_json::from_str(&connection).unwrap();
        let import = || {
            let mut import = command(&data, &["import", file.to_str().unwrap(), "--json"]);
            import
                .env("XDG_STATE_HOME", folder.path().join("state"))
                .env("STASH_API_KEY", connection["key"].as_str().unwrap());
            let output = import.output().unwrap();
            serde_json::from_slice::<Value>(&output.stdout).unwrap()
        };
        assert!(all(&import(), "imported"));
        assert!(all(&import(), "unchanged"));
        assert_eq!(stash.operator().get("traces").await.ok()["total"], 1);
    }
}
