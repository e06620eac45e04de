//! Files of sessions as coding agents leave them, made up here.

use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A session of Claude Code with a question and an answer; returns its file.
pub(crate) fn claude_code(home: &Path, text: &str) -> PathBuf {
    let folder = home.join(".claude/projects/-work-shop");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("5b1c9d52-0000-4000-8000-000000000001.jsonl");
    std::fs::write(&file, turn(None, text)).unwrap();
    file
}

/// The session goes on by a turn.
pub(crate) fn claude_code_goes_on(file: &Path, text: &str) {
    let before = std::fs::read_to_string(file).unwrap();
    let last: Value = serde_json::from_str(before.lines().last().unwrap()).unwrap();
    let mut file = std::fs::OpenOptions::new().append(true).open(file).unwrap();
    file.write_all(turn(last["uuid"].as_str(), text).as_bytes()).unwrap();
}

fn turn(parent: Option<&str>, text: &str) -> String {
    let (asked, answered) = (format!("u-{text}"), format!("a-{text}"));
    let session = "5b1c9d52-0000-4000-8000-000000000001";
    let at = "2025-11-03T10:00:00.000Z";
    let question = json!({"type": "user", "uuid": asked, "parentUuid": parent, "sessionId": session, "timestamp": at,
        "cwd": "/work/shop", "version": "2.0.31", "message": {"role": "user", "content": format!("question {text}")}});
    let answer = json!({"type": "assistant", "uuid": answered, "parentUuid": asked, "sessionId": session, "timestamp": at,
        "cwd": "/work/shop", "version": "2.0.31", "message": {"id": format!("m-{text}"), "type": "message",
        "role": "assistant", "model": "claude-x", "content": [{"type": "text", "text": format!("answer {text}")}]}});
    format!("{question}\n{answer}\n")
}

/// A rollout of the Codex CLI, compressed as it keeps old ones.
pub(crate) fn codex(home: &Path) {
    let folder = home.join(".codex/sessions/2025/11/03");
    std::fs::create_dir_all(&folder).unwrap();
    let line = |kind: &str, payload: Value| {
        json!({"timestamp": "2025-11-03T10:00:00.000Z", "type": kind, "payload": payload}).to_string() + "\n"
    };
    let said = |role: &str, kind: &str, text: &str| {
        line("response_item", json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
    };
    let meta = json!({"id": "0199f0a0-0000-7000-8000-000000000001", "timestamp": "2025-11-03T10:00:00.000Z",
        "cwd": "/work/shop", "originator": "codex_cli_rs", "cli_version": "0.50.0", "instructions": null});
    let text = line("session_meta", meta)
        + &said("user", "input_text", "run the tests")
        + &said("assistant", "output_text", "they pass");
    let packed = zstd::encode_all(text.as_bytes(), 3).unwrap();
    std::fs::write(folder.join("rollout-2025-11-03T10-00-00-0199f0a0.jsonl.zst"), packed).unwrap();
}
