//! Artifacts in a bucket instead of a folder.

use super::support::{Folder, command};

#[test]
fn a_bucket_that_cannot_be_used_is_told_with_its_cure_and_without_its_secret() {
    let folder = Folder::new();
    let mut doctor = command(&folder.data(), &["doctor"]);
    doctor.env("STASH_S3_BUCKET", "nobody").env("STASH_S3_ENDPOINT", "http://127.0.0.1:1");
    doctor.env("AWS_ACCESS_KEY_ID", "visible-id").env("AWS_SECRET_ACCESS_KEY", "hidden-secret");
    let output = doctor.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("STASH_S3_"), "{said}");
    assert!(!said.contains("hidden-secret"), "{said}");
}
