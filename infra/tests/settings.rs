//! Settings: what is read, what is refused, and that the page says the same.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests")]

use stash_infra::config::{CONCERNS, Compute, Environment, LogBackend, Settings, settings_page, unknown_settings};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

fn read(variables: &[(&str, &str)]) -> Result<Settings, String> {
    let home = [("HOME", "/home/ada")];
    let variables = home.iter().chain(variables).map(|(name, value)| (name.to_string(), value.to_string()));
    Settings::read(&Environment::of(variables)).map_err(|error| error.to_string())
}

#[test]
fn the_page_is_the_one_that_the_code_makes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/settings.md");
    let made = settings_page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        page == made,
        "docs/settings.md is not what the code says; run: UPDATE_DOCS=1 cargo test -p stash-infra --test settings"
    );
}

#[test]
fn every_setting_is_named_once_and_says_what_it_is_for() {
    let mut seen = HashSet::new();
    for row in CONCERNS.iter().flat_map(|concern| concern.settings).map(|setting| setting.row()) {
        assert!(seen.insert(row.name), "{} stands twice", row.name);
        assert!(row.doc.ends_with('.') && !row.default.is_empty() && !row.allowed.is_empty(), "{}", row.name);
        assert!(![&row.default, &row.allowed, row.doc].iter().any(|text| text.contains(['|', '\n'])), "{}", row.name);
    }
}

#[test]
fn without_any_setting_the_embedded_default_holds() {
    let settings = read(&[]).unwrap();
    assert_eq!(settings.server.listen.to_string(), "127.0.0.1:8080");
    assert!(settings.postgres.connect_options().is_none());
    assert_eq!((settings.log.backend, settings.log.partitions), (LogBackend::Postgres, 16));
    assert_eq!(settings.compute.compute, None);
    assert_eq!(settings.limits.wait_budget, Duration::from_secs(2));
    assert_eq!(settings.telemetry.filter, "info");
    let data = if nix::unistd::geteuid().is_root() { "/var/lib/stash" } else { "/home/ada/.local/share/stash" };
    assert_eq!(settings.data.folder, PathBuf::from(data));
    let moved = settings.data.with_folder(Path::new("/d"));
    assert_eq!(moved.artifacts(), PathBuf::from("/d/artifacts"));
    assert_eq!(settings.keys.master_key_file(&moved.folder), PathBuf::from("/d/master.keys"));
}

#[test]
fn every_setting_is_read() {
    let settings = read(&[
        ("STASH_LISTEN", "[::1]:9"),
        ("STASH_DATA", "/srv/stash"),
        ("RM_ARTIFACT_DIR", "/srv/blobs"),
        ("DATABASE_URL", "postgres://ada:pw@db:5433/stash"),
        ("STASH_POSTGRES_API_CONNECTIONS", "30"),
        ("STASH_POSTGRES_SYSTEM_CONNECTIONS", "31"),
        ("STASH_LOG", "kafka"),
        ("STASH_KAFKA_BROKERS", "a:9092, b:9092"),
        ("STASH_KAFKA_TOPIC", "traces"),
        ("STASH_LOG_PARTITIONS", "64"),
        ("RM_COMPUTE", "local"),
        ("RM_TRAINER", "/opt/trainer"),
        ("ORT_DYLIB_PATH", "/opt/ort.so"),
        ("ORT_EP_OPENVINO_PATH", "/opt/openvino.so"),
        ("RM_SCORE_PRECISION", "bf16"),
        ("RM_THREADS", "3"),
        ("STASH_MASTER_KEY_FILE", "/run/keys"),
        ("STASH_IMPORT_JSON_BYTES_MAX", "1048576"),
        ("STASH_IMPORT_BYTES_MAX", "2097152"),
        ("STASH_WAIT_BUDGET_MS", "50"),
        ("STASH_READY_LAG_MAX", "7"),
        ("RUST_LOG", "warn,stash_infra=trace"),
        ("STASH_LOG_FORMAT", "json"),
    ])
    .unwrap();
    let options = settings.postgres.connect_options().unwrap();
    assert_eq!((options.get_host(), options.get_port(), options.get_username()), ("db", 5433, "ada"));
    assert_eq!((settings.postgres.sizes.api, settings.postgres.sizes.system), (30, 31));
    assert_eq!(settings.data.artifacts(), PathBuf::from("/srv/blobs"));
    let kafka = settings.log.kafka.clone().unwrap();
    assert_eq!(
        (kafka.brokers.as_str(), kafka.topic.as_str(), settings.log.partitions),
        ("a:9092, b:9092", "traces", 64)
    );
    assert_eq!((settings.compute.compute, settings.compute.threads), (Some(Compute::Local), Some(3)));
    assert_eq!(settings.compute.worker_class(), Compute::Local);
    assert_eq!(settings.compute.trainer, Some("/opt/trainer".into()));
    assert_eq!(settings.compute.onnx_runtime, Some("/opt/ort.so".into()));
    assert_eq!(settings.keys.master_key_file(Path::new("/d")), PathBuf::from("/run/keys"));
    assert_eq!((settings.limits.import_json_bytes_max, settings.limits.import_bytes_max), (1 << 20, 2 << 20));
    assert_eq!((settings.limits.wait_budget, settings.limits.ready_lag_max), (Duration::from_millis(50), 7));
    assert!(!format!("{settings:?}").contains("pw"), "a secret is not shown");
}

#[test]
fn a_bucket_is_reached_as_its_service_wants_it() {
    assert_eq!(read(&[("STASH_S3_REGION", "eu-central-1")]).unwrap().s3, None, "without a bucket nothing else counts");
    let amazon = read(&[("STASH_S3_BUCKET", "stash")]).unwrap().s3.unwrap();
    assert_eq!((amazon.region, amazon.path_style, amazon.credentials), (None, false, None));
    let endpoint = ("STASH_S3_ENDPOINT", "http://127.0.0.1:9000");
    let keys = [("AWS_ACCESS_KEY_ID", "id"), ("AWS_SECRET_ACCESS_KEY", "hidden"), ("AWS_SESSION_TOKEN", "hidden-too")];
    let variables = [&[("STASH_S3_BUCKET", "stash"), endpoint][..], &keys].concat();
    let other = read(&variables).unwrap().s3.unwrap();
    assert_eq!((other.region.as_deref(), other.path_style), (Some("us-east-1"), true));
    assert!(!format!("{other:?}").contains("hidden"), "a secret is not shown");
    let alone = read(&[("STASH_S3_BUCKET", "stash"), keys[0]]).unwrap_err();
    assert!(alone.starts_with("AWS_SECRET_ACCESS_KEY: no value, with AWS_ACCESS_KEY_ID,"), "{alone}");
}

#[test]
fn a_wrong_value_is_named_with_what_is_allowed() {
    for (name, value, allowed) in [
        ("STASH_LISTEN", "localhost", "an IP address and a port"),
        ("STASH_LISTEN", "1.2.3.4:99999", "an IP address and a port"),
        ("STASH_POSTGRES_API_CONNECTIONS", "0", "1 to 500 connections"),
        ("STASH_POSTGRES_API_CONNECTIONS", "many", "1 to 500 connections"),
        ("STASH_LOG", "Kafka", "`postgres` or `kafka`"),
        ("STASH_LOG_PARTITIONS", "1025", "1 to 1024 partitions"),
        ("STASH_KAFKA_BROKERS", "a:9092,b", "a list such as"),
        ("STASH_KAFKA_TOPIC", "a b", "1 to 249 characters"),
        ("RM_COMPUTE", "gpu", "`local`"),
        ("STASH_S3_BUCKET", "No_Bucket", "a bucket's name"),
        ("RM_THREADS", "-1", "1 to 1024 threads"),
        ("STASH_WAIT_BUDGET_MS", "1e3", "1 to 60000 milliseconds"),
        ("RUST_LOG", "info,=x=", "a level"),
        ("STASH_LOG_FORMAT", "xml", "`text` or `json`"),
    ] {
        let error = read(&[(name, value)]).unwrap_err();
        assert!(error.starts_with(&format!("{name}: \"{value}\" is not allowed; it takes ")), "{error}");
        assert!(error.contains(allowed), "{error}");
    }
    assert!(read(&[("STASH_LOG", "kafka")]).unwrap_err().starts_with("STASH_KAFKA_BROKERS: no value"));
}

#[test]
fn a_wrong_secret_is_not_repeated() {
    for url in ["mysql://ada:hunter2@db/stash", "postgres://ada:hunter2@db:port/stash", "hunter2"] {
        let error = read(&[("DATABASE_URL", url)]).unwrap_err();
        assert!(error.starts_with("DATABASE_URL: ") && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn an_empty_value_counts_as_none() {
    let settings = read(&[("STASH_LISTEN", ""), ("DATABASE_URL", ""), ("RM_COMPUTE", "")]).unwrap();
    assert_eq!(settings.server.listen.port(), 8080);
    assert!(settings.postgres.url.is_none() && settings.compute.compute.is_none());
}

#[test]
fn a_misspelt_setting_is_warned_of_with_the_one_that_may_be_meant() {
    let names = ["STASH_LISTN", "STASH_NONSENSE", "STASH_LISTEN", "STASH_TEST_ANYTHING", "STASH_CACHE_DIR", "HOME"];
    let warnings = unknown_settings(&Environment::of(names.map(|name| (name, "x"))));
    assert_eq!(
        warnings,
        [
            "STASH_LISTN is not a setting; was STASH_LISTEN meant?",
            "STASH_NONSENSE is not a setting; docs/settings.md lists them"
        ]
    );
}
