//! The bucket for artifacts can be used. A folder is looked at with the data folder.

use super::Finding;
use stash_infra::artifacts::S3Store;
use stash_infra::config::Settings;

const CHECK: &str = "artifacts";

/// Asks for the bucket; none if artifacts are kept in a folder.
pub(super) async fn check(settings: &Settings) -> Option<Finding> {
    let s3 = settings.s3.as_ref()?;
    Some(match S3Store::open(s3).await {
        Ok(_) => Finding::ok(CHECK, format!("in the bucket {}", s3.bucket)),
        Err(error) => Finding::broken(CHECK, error.to_string(), "mend the settings STASH_S3_*; see docs/artifacts.md"),
    })
}
