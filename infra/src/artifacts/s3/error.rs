//! Errors of the service by kind.

use crate::artifacts::ArtifactError;
use aws_sdk_s3::config::http::HttpResponse;
use aws_sdk_s3::error::{DisplayErrorContext, ProvideErrorMetadata, SdkError};

/// Codes by which services say that there is no room.
const FULL_CODES: [&str; 5] =
    ["EntityTooLarge", "InsufficientStorage", "QuotaExceeded", "QuotaExceededException", "XMinioStorageFull"];

/// The error of a failed request. Its text holds the service's code and words, never a credential.
pub(super) fn error<E>(source: SdkError<E, HttpResponse>) -> ArtifactError
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    let status = status(&source);
    let code = source.code().unwrap_or_default();
    let text = match &source {
        SdkError::ServiceError(_) => {
            let status = status.map(|status| format!("status {status}"));
            let words: Vec<&str> = [source.code(), source.message(), status.as_deref()].into_iter().flatten().collect();
            words.join(", ")
        }
        _ => DisplayErrorContext(&source).to_string(),
    };
    if FULL_CODES.contains(&code) || status == Some(507) {
        ArtifactError::Full(text)
    } else {
        ArtifactError::Unavailable(text)
    }
}

/// `None` when the object is not there.
pub(super) fn if_there<T, E>(result: Result<T, SdkError<E, HttpResponse>>) -> Result<Option<T>, ArtifactError>
where
    E: ProvideErrorMetadata + std::error::Error + 'static,
{
    match result {
        Ok(value) => Ok(Some(value)),
        // A HEAD has no body, so it has no code but `NotFound`.
        Err(source) if status(&source) == Some(404) && source.code() != Some("NoSuchBucket") => Ok(None),
        Err(source) => Err(error(source)),
    }
}

fn status<E>(source: &SdkError<E, HttpResponse>) -> Option<u16> {
    source.raw_response().map(|response| response.status().as_u16())
}

/// What cannot be, since every part of a request is set.
pub(super) fn unavailable(source: impl std::fmt::Display) -> ArtifactError {
    ArtifactError::Unavailable(source.to_string())
}
