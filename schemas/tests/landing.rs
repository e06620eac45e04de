//! The `lock` example adds what is new and never touches what has landed.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

#[path = "../examples/lock/land.rs"]
mod land;

use std::fs;
use std::path::Path;

const V1: &str = r#"{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}"#;
const V2: &str = r#"{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"},
    {"name": "count", "type": "int", "default": 1}]}"#;

fn read(root: &Path, path: &str) -> String {
    fs::read_to_string(root.join(path)).unwrap()
}

#[test]
fn landing_twice_changes_nothing_and_a_new_version_only_adds() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("order")).unwrap();
    fs::write(root.join("order/v1.avsc"), V1).unwrap();
    assert_eq!(land::run(root).unwrap().len(), 3);
    let lock = read(root, "registry.lock");
    let golden =
        [fs::read(root.join("golden/order/v1.avro")).unwrap(), fs::read(root.join("golden/order/v1.json")).unwrap()];
    assert_eq!(land::run(root).unwrap(), [""; 0]);

    fs::write(root.join("order/v2.avsc"), V2).unwrap();
    land::run(root).unwrap();
    let both = read(root, "registry.lock");
    assert!(both.starts_with(&lock) && both.lines().count() == 2, "{both}");
    assert_eq!(fs::read(root.join("golden/order/v1.avro")).unwrap(), golden[0]);
    assert_eq!(fs::read(root.join("golden/order/v1.json")).unwrap(), golden[1]);
    assert!(read(root, "golden/order/v1.upcast.json").contains("\"count\": 1"));
}

#[test]
fn an_edited_or_removed_file_stops_everything() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir(root.join("order")).unwrap();
    fs::write(root.join("order/v1.avsc"), V1).unwrap();
    land::run(root).unwrap();
    let lock = read(root, "registry.lock");

    fs::write(root.join("order/v2.avsc"), V2).unwrap();
    fs::write(root.join("order/v1.avsc"), V1.replace("long", "int")).unwrap();
    assert!(land::run(root).unwrap_err()[0].starts_with("order/v1.avsc: was edited after it landed"));
    fs::remove_file(root.join("order/v1.avsc")).unwrap();
    assert!(land::run(root).unwrap_err()[0].starts_with("order/v1.avsc: is gone"));
    assert_eq!(read(root, "registry.lock"), lock);
    assert!(!root.join("golden/order/v2.avro").exists());
}

#[test]
fn golden_files_without_a_lock_line_are_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for path in ["order", "golden/order"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    fs::write(root.join("order/v1.avsc"), V1).unwrap();
    fs::write(root.join("golden/order/v1.avro"), "landed").unwrap();
    assert!(land::run(root).unwrap_err()[0].contains("v1.avro"));
    assert_eq!(read(root, "golden/order/v1.avro"), "landed");
    assert!(!root.join("registry.lock").exists());
}
