//! `stash watch`: what grows in a folder is imported, one trace per session, also after the server was away.

use crate::support::{Client, Folder, Stash, command, eventually, sessions};
use serde_json::Value;
use std::path::Path;

/// A watch that imports what was quiet for a moment.
fn watch(data: &Path, folder: &Path, more: &[&str]) -> Stash {
    let arguments = [&["watch", folder.to_str().unwrap(), "--quiet-ms", "50"], more].concat();
    Stash::spawn(command(data, &arguments), data)
}

/// The steps of the only trace, once there are so many.
async fn steps(client: &Client, count: usize) -> Vec<Value> {
    eventually("the steps of the session", async || {
        let traces = client.get("traces").await.ok();
        let id = traces["traces"][0]["id"].as_str()?;
        assert_eq!(traces["total"], 1, "a session is one trace, however often it grows");
        let steps = client.get(&format!("traces/{id}")).await.ok()["steps"].as_array()?.clone();
        (steps.len() == count).then_some(steps)
    })
    .await
}

#[tokio::test]
async fn a_session_that_grows_is_one_trace_and_a_restart_of_the_server_is_waited_for() {
    let folder = Folder::new();
    let data = folder.data();
    let stash = Stash::up(&data).await;
    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    let mut watch = watch(&data, &home, &[]);

    // In folders that are made after the watch began.
    let session = sessions::claude_code(&home, "a");
    watch.line("1 traces (claude_code)");
    let first = steps(&stash.operator(), 2).await;
    sessions::claude_code_goes_on(&session, "b");
    watch.line("1 of them there before");
    let second = steps(&stash.operator(), 4).await;
    assert_eq!(second[..2], first, "steps that did not change keep their ids");

    assert_eq!(stash.terminate().code(), Some(0));
    sessions::claude_code_goes_on(&session, "c");
    let stash = Stash::up(&data).await;
    watch.line("1 of them there before");
    assert_eq!(steps(&stash.operator(), 6).await[5]["content"], "answer c");
    assert_eq!(watch.terminate().code(), Some(0));
}

#[tokio::test]
async fn a_watch_by_looking_takes_what_was_there_and_goes_on_after_a_bad_file() {
    let folder = Folder::new();
    let data = folder.data();
    let stash = Stash::up(&data).await;
    let home = folder.path().join("home");
    let session = sessions::claude_code(&home, "a");
    let bad = home.join("bad.jsonl");
    std::fs::write(&bad, "{\"steps\":[{\"role\":\"nobody\",\"content\":\"\"}]}\n").unwrap();

    let mut watch = watch(&data, &home, &["--poll", "--json"]);
    let mut state = |file: &Path| loop {
        let said: Value = serde_json::from_str(&format!("{{\"file\"{}", watch.line("{\"file\""))).unwrap();
        if Path::new(said["file"].as_str().unwrap()) == file {
            return said["state"].as_str().unwrap().to_owned();
        }
    };
    assert_eq!(state(&bad), "failed");
    sessions::claude_code_goes_on(&session, "b");
    steps(&stash.operator(), 4).await;
    std::fs::write(&bad, "{\"id\":\"x\",\"steps\":[{\"role\":\"user\",\"content\":\"mended\"}]}\n").unwrap();
    assert_eq!(state(&bad), "imported");
    assert_eq!(watch.terminate().code(), Some(0));
}

#[tokio::test]
async fn a_watch_of_nothing_is_refused() {
    let folder = Folder::new();
    let said = |place: &Path| {
        let output = command(&folder.data(), &["watch", place.to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(said(&folder.path().join("missing")).contains("cannot be watched"));
    let file = folder.path().join("file.jsonl");
    std::fs::write(&file, "").unwrap();
    assert!(said(&file).contains("is no folder"));
}
