//! Safetensors files: round trip, alignment, shards, and files that lie.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking, its helper functions too")]

use std::path::Path;

use serde_json::json;
use stash_model::safetensors::{DATA_ALIGN, Dtype, Weights, WeightsFile, Writer};

fn write(path: &Path, dtype: Dtype) {
    let tensors = [("b".to_owned(), vec![2, 3]), ("a".to_owned(), vec![4])];
    let mut writer = Writer::create(path, dtype, &tensors).unwrap();
    assert_eq!(writer.next_name(), Some("a"));
    writer.tensor("a", &[1.0, -2.0, 0.5, 3.0]).unwrap();
    writer.tensor("b", &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
    writer.finish().unwrap();
}

fn file_with_header(dir: &Path, header: &str, data: &[u8]) -> std::path::PathBuf {
    let path = dir.join("model.safetensors");
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn what_is_written_is_read_in_both_types() {
    for dtype in [Dtype::F32, Dtype::Bf16] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("model.safetensors");
        write(&path, dtype);
        let mut file = WeightsFile::open(&path).unwrap();
        assert_eq!(file.read_f32("a", &[4]).unwrap(), [1.0, -2.0, 0.5, 3.0]);
        assert_eq!(file.read_f32("b", &[2, 3]).unwrap(), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        assert_eq!(file.info("a").unwrap().offset as usize % DATA_ALIGN, 0);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "no .part file stays");
    }
}

#[test]
fn an_unfinished_file_is_never_seen() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.safetensors");
    let mut writer =
        Writer::create(&path, Dtype::F32, &[("a".to_owned(), vec![1]), ("b".to_owned(), vec![1])]).unwrap();
    assert!(writer.tensor("b", &[0.0]).is_err(), "out of order");
    drop(writer);
    let mut writer =
        Writer::create(&path, Dtype::F32, &[("a".to_owned(), vec![1]), ("b".to_owned(), vec![1])]).unwrap();
    writer.tensor("a", &[0.0]).unwrap();
    assert!(writer.finish().unwrap_err().to_string().contains("tensor b was never written"));
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_missing_or_misshapen_tensor_is_named() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("model.safetensors"), Dtype::F32);
    let mut weights = Weights::open(dir.path()).unwrap();
    let missing = weights.read_f32("c", &[1]).unwrap_err().to_string();
    assert!(missing.contains("tensor c is missing"), "{missing}");
    let shape = weights.read_f32("a", &[2, 2]).unwrap_err().to_string();
    assert!(shape.contains("tensor a has shape [4]") && shape.contains("[2, 2]"), "{shape}");
}

#[test]
fn shards_are_found_by_the_index_and_stay_in_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    write(&dir.path().join("model-00001-of-00001.safetensors"), Dtype::F32);
    let index = |name: &str| json!({"weight_map": {"a": name, "b": name}}).to_string();
    let path = dir.path().join("model.safetensors.index.json");
    std::fs::write(&path, index("model-00001-of-00001.safetensors")).unwrap();
    assert_eq!(Weights::open(dir.path()).unwrap().read_f32("model.a", &[4]).unwrap(), [1.0, -2.0, 0.5, 3.0]);
    std::fs::write(&path, index("../model-00001-of-00001.safetensors")).unwrap();
    assert!(Weights::open(dir.path()).is_err());
}

#[test]
fn a_lying_header_is_refused_before_anything_is_allocated() {
    let huge = u64::MAX;
    let cases = [
        "not json".to_owned(),
        "[]".to_owned(),
        r#"{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,99]}}"#.to_owned(),
        r#"{"a":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}}"#.to_owned(),
        r#"{"a":{"dtype":"F32","shape":[5],"data_offsets":[0,16]}}"#.to_owned(),
        format!(r#"{{"a":{{"dtype":"F32","shape":[{huge},{huge}],"data_offsets":[0,16]}}}}"#),
        format!(r#"{{"a":{{"dtype":"F32","shape":[4],"data_offsets":[0,{huge}]}}}}"#),
        r#"{"a":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}}"#.to_owned(),
    ];
    for header in cases {
        let dir = tempfile::tempdir().unwrap();
        let path = file_with_header(dir.path(), &header, &[0; 16]);
        assert!(WeightsFile::open(&path).is_err(), "{header}");
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("short"), u64::MAX.to_le_bytes()).unwrap();
    assert!(WeightsFile::open(&dir.path().join("short")).is_err());
    let path = file_with_header(dir.path(), r#"{"a":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}}"#, &[0; 16]);
    let error = WeightsFile::open(&path).unwrap().read_f32("a", &[2]).unwrap_err().to_string();
    assert!(error.contains("not stored as"), "{error}");
}
