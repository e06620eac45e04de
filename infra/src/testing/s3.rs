//! A server that speaks S3, for one test: it checks signatures and the ends of links, and keeps objects in a folder.

use super::made;
use crate::config::{S3Credentials, S3Settings, Secret};
use axum::Router;
use axum::error_handling::HandleError;
use axum::http::StatusCode;
use s3s::auth::SimpleAuth;
use s3s::service::S3ServiceBuilder;
use s3s_fs::FileSystem;
use std::path::PathBuf;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const ACCESS_KEY: &str = "test-access-key";
const SECRET_KEY: &str = "test-secret-key";

/// The server. It ends when dropped.
pub struct S3Server {
    /// Its URL.
    pub endpoint: String,
    root: TempDir,
    serving: JoinHandle<()>,
}

impl S3Server {
    /// Starts one without buckets, in the runtime of the test.
    ///
    /// # Panics
    /// When it cannot be had.
    pub async fn start() -> Self {
        let root = made(tempfile::tempdir(), "a folder for objects");
        let files =
            made(FileSystem::new(root.path()).map_err(|error| format!("{error:?}")), "the folder of the S3 server");
        let mut service = S3ServiceBuilder::new(files);
        service.set_auth(SimpleAuth::from_single(ACCESS_KEY, SECRET_KEY));
        let service = HandleError::new(service.build(), async |error: s3s::HttpError| {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("{error:?}"))
        });
        let listener = made(TcpListener::bind("127.0.0.1:0").await, "a port for the S3 server");
        let address = made(listener.local_addr(), "the port of the S3 server");
        let router = Router::new().fallback_service(service);
        let serving = tokio::spawn(async move {
            // It ends by being aborted.
            let _ = axum::serve(listener, router).await;
        });
        Self { endpoint: format!("http://{address}"), root, serving }
    }

    /// Settings for a bucket, which is made if it is not there.
    ///
    /// # Panics
    /// When it cannot be made.
    pub fn bucket(&self, name: &str) -> S3Settings {
        made(std::fs::create_dir_all(self.folder(name)), "a bucket");
        S3Settings {
            bucket: name.to_owned(),
            endpoint: Some(self.endpoint.clone()),
            region: Some("us-east-1".to_owned()),
            path_style: true,
            credentials: Some(S3Credentials {
                access_key: Secret::new(ACCESS_KEY.to_owned()),
                secret_key: Secret::new(SECRET_KEY.to_owned()),
                session_token: None,
            }),
        }
    }

    /// The same settings as variables, for a process.
    pub fn variables(&self, bucket: &str) -> Vec<(&'static str, String)> {
        self.bucket(bucket);
        vec![
            ("STASH_S3_BUCKET", bucket.to_owned()),
            ("STASH_S3_ENDPOINT", self.endpoint.clone()),
            ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", SECRET_KEY.to_owned()),
        ]
    }

    /// Where a bucket's objects lie, each under its key.
    pub fn folder(&self, bucket: &str) -> PathBuf {
        self.root.path().join(bucket)
    }
}

impl Drop for S3Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}
