//! The client: credentials, timeouts, retries.

use crate::config::S3Settings;
use aws_config::BehaviorVersion;
use aws_config::retry::RetryConfig;
use aws_config::stalled_stream_protection::StalledStreamProtectionConfig;
use aws_config::timeout::TimeoutConfig;
use aws_sdk_s3::Client;
use aws_sdk_s3::config::{Credentials, Region, RequestChecksumCalculation, ResponseChecksumValidation};
use aws_smithy_http_client::Builder;
use aws_smithy_http_client::tls::Provider;
use aws_smithy_http_client::tls::rustls_provider::CryptoMode;
use std::time::Duration;

/// How long a connection may take to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// How long one try of a request may take until its answer begins: a part of an upload takes this on a line of 140 kB/s.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(120);

/// How long a request may take with all its tries.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);

/// How long a body may stand still.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);

/// Tries of a request, the first included; the pauses between them grow.
const ATTEMPTS_MAX: u32 = 4;

/// The region where none is named and none is found.
const REGION_DEFAULT: &str = "us-east-1";

/// Makes a client. Nothing is asked of the service yet; without credentials in the settings, the AWS tools' places are looked
/// through at the first request.
pub(super) async fn connect(settings: &S3Settings) -> Client {
    // The settings of behaviour stand below, so the SDK's own defaults matter little.
    let mut shared = aws_config::defaults(BehaviorVersion::v2026_01_12())
        .http_client(Builder::new().tls_provider(Provider::Rustls(CryptoMode::AwsLc)).build_https());
    if let Some(region) = &settings.region {
        shared = shared.region(Region::new(region.clone()));
    }
    if let Some(credentials) = &settings.credentials {
        shared = shared.credentials_provider(Credentials::new(
            credentials.access_key.expose(),
            credentials.secret_key.expose(),
            credentials.session_token.as_ref().map(|token| token.expose().to_owned()),
            None,
            "settings",
        ));
    }
    let shared = shared.load().await;
    let region = shared.region().cloned().unwrap_or_else(|| Region::new(REGION_DEFAULT));
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(ATTEMPT_TIMEOUT)
        .operation_timeout(REQUEST_TIMEOUT)
        .build();
    let mut config = aws_sdk_s3::config::Builder::from(&shared)
        .region(region)
        .force_path_style(settings.path_style)
        .timeout_config(timeouts)
        .retry_config(RetryConfig::standard().with_max_attempts(ATTEMPTS_MAX))
        .stalled_stream_protection(StalledStreamProtectionConfig::enabled().grace_period(STALL_TIMEOUT).build())
        // What is sent is signed with its SHA-256, and what is read is compared with a digest of ours; the SDK's further
        // checksums are unknown to many services.
        .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
        .response_checksum_validation(ResponseChecksumValidation::WhenRequired);
    if let Some(endpoint) = &settings.endpoint {
        config = config.endpoint_url(endpoint);
    }
    Client::from_conf(config.build())
}
