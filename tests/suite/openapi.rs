//! The committed description of the API is the one that the program gives.

use crate::support::{Folder, run};
use std::path::Path;

#[test]
fn the_committed_description_is_current() {
    let folder = Folder::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas/openapi.json");
    let made = run(&folder.data(), &["openapi"]);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, &made).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == made,
        "schemas/openapi.json is not current; run the tests with UPDATE_DOCS=1 and commit what they write"
    );
}

#[test]
fn every_operation_is_typed_and_says_who_may_call_it() {
    let folder = Folder::new();
    let api: serde_json::Value = serde_json::from_str(&run(&folder.data(), &["openapi"])).unwrap();
    assert_eq!(api["openapi"].as_str().map(|version| version.starts_with("3.1")), Some(true));
    assert!(api["components"]["securitySchemes"]["api_key"].is_object());
    for (path, operations) in api["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let bodiless = status == "204";
                let contents = response["content"].as_object();
                let typed = contents.is_some_and(|kinds| kinds.values().all(|kind| kind["schema"].is_object()));
                assert!(bodiless || typed, "{method} {path} {status} has no typed body");
            }
        }
    }
}
