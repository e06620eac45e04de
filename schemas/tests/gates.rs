//! The four gates on the real files. Each failure names the file and the cure; `docs/how-to/change-an-event.md` has the steps.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

use stash_domain::events::Event;
use stash_schemas::decode_record;
use stash_schemas::gates::golden::{self, Golden};
use stash_schemas::gates::{Fault, SchemaFile, compatibility, fingerprint, structure};
use stash_schemas::registry::registry;
use stash_schemas::sources::SOURCES;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn files() -> Vec<SchemaFile<'static>> {
    SOURCES.iter().map(SchemaFile::from).collect()
}

fn newest() -> BTreeMap<&'static str, u32> {
    SOURCES.iter().map(|source| (source.family, source.version)).collect()
}

fn golden_path(family: &str, version: u32, suffix: &str) -> PathBuf {
    root().join(format!("golden/{family}/v{version}.{suffix}"))
}

#[track_caller]
fn assert_clean(faults: Vec<Fault>) {
    let lines: Vec<String> = faults.iter().map(ToString::to_string).collect();
    assert!(lines.is_empty(), "\n{}\n", lines.join("\n"));
}

/// Names of the files in a folder's subfolders, as `folder/file`.
fn listing(folder: &Path) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for file in fs::read_dir(&entry).unwrap().map(|file| file.unwrap().path()).filter(|path| path.is_file()) {
            found.insert(file.strip_prefix(folder).unwrap().to_string_lossy().into_owned());
        }
    }
    found
}

#[test]
fn every_version_reads_every_other_fully() {
    assert_clean(compatibility::check(&files()));
}

#[test]
fn fingerprints_are_unique_and_landed_files_unchanged() {
    let lock = fingerprint::read_lock(&fs::read_to_string(root().join("registry.lock")).unwrap()).unwrap();
    assert_clean(fingerprint::check(&files(), &lock));
}

#[test]
fn versions_differ_by_new_fields_only() {
    assert_clean(structure::check(&files()));
}

#[test]
fn golden_bytes_mean_what_they_meant() {
    let newest = newest();
    let registry = registry().unwrap();
    for source in SOURCES {
        let avro = fs::read(golden_path(source.family, source.version, "avro")).ok();
        let [json, upcast] = ["json", "upcast.json"]
            .map(|suffix| fs::read_to_string(golden_path(source.family, source.version, suffix)).ok());
        let golden = Golden { avro: avro.as_deref(), json: json.as_deref(), upcast: upcast.as_deref() };
        assert_clean(golden::check(registry, source.family, source.version, newest[source.family], golden));
    }
}

#[test]
fn golden_bytes_pass_the_door_and_come_out_as_the_newest_writes_them() {
    let newest = newest();
    for source in SOURCES {
        let bytes = fs::read(golden_path(source.family, source.version, "avro")).unwrap();
        let out = golden::through_the_door(&bytes).unwrap();
        if source.family == "record" {
            // Its events may be of older versions, and come out in the newest.
            assert_eq!(decode_record(&out).unwrap(), decode_record(&bytes).unwrap());
        } else if source.version == newest[source.family] {
            assert_eq!(out, bytes, "{}", source.family);
        } else {
            // It comes out in the newest version; what that says was compared with its upcast.json.
            assert_eq!(registry().unwrap().open(&out).unwrap().version(), newest[source.family]);
        }
    }
}

#[test]
fn every_schema_file_is_built_in_and_every_golden_file_belongs_to_one() {
    let built_in: BTreeSet<String> = files().iter().map(SchemaFile::path).collect();
    let on_disk: BTreeSet<String> = listing(root()).into_iter().filter(|path| path.ends_with(".avsc")).collect();
    assert_eq!(on_disk, built_in, "list the file in schemas/src/sources.rs");
    let golden = listing(&root().join("golden"));
    let orphans: Vec<&String> = golden
        .iter()
        .filter(|path| {
            let stem = path.split_once('.').map_or(path.as_str(), |(stem, _)| stem);
            !built_in.contains(&format!("{stem}.avsc"))
        })
        .collect();
    assert!(orphans.is_empty(), "golden files without a schema: {orphans:?}");
}

#[test]
fn every_event_kind_has_a_schema_named_like_its_type() {
    let families: BTreeSet<&str> = newest().into_keys().collect();
    let known: BTreeSet<&str> = Event::NAMES.iter().copied().chain(["record", "annotation_text"]).collect();
    assert_eq!(families, known);
    for source in SOURCES {
        let schema: serde_json::Value = serde_json::from_str(source.text).unwrap();
        let words = source.family.split('_').map(|word| word[..1].to_uppercase() + &word[1..]);
        assert_eq!(schema["name"], words.collect::<String>(), "{}", source.family);
    }
}
