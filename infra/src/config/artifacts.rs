//! Large payloads and checkpoints in a bucket.

use super::environment::{Environment, SettingError};
use super::kinds::{Choice, Setting, Text};
use super::secret::Secret;

const BUCKET: Text = Text {
    name: "STASH_S3_BUCKET",
    default: "not set: the folder `RM_ARTIFACT_DIR`",
    allowed: "a bucket's name: 3 to 63 of `a`-`z`, `0`-`9`, `.` and `-`",
    secret: false,
    is_valid: |text| {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
        (3..=63).contains(&text.len()) && text.bytes().all(allowed)
    },
    doc: "The private bucket that large payloads and model checkpoints are kept in. All roles of a deployment need the same one. \
          Changing it moves nothing.",
};

const ENDPOINT: Text = Text {
    name: "STASH_S3_ENDPOINT",
    default: "Amazon's, of the region",
    allowed: "a URL such as `https://s3.example.com`",
    secret: false,
    is_valid: |text| {
        let host = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
        host.is_some_and(|host| !host.is_empty() && !host.contains(char::is_whitespace) && !host.contains('@'))
    },
    doc: "Another service that speaks S3. Links to checkpoints lead there too, so its name must be known to whoever fetches one.",
};

const REGION: Text = Text {
    name: "STASH_S3_REGION",
    default: "with `STASH_S3_ENDPOINT` `us-east-1`, else as the AWS tools find it",
    allowed: "a region such as `eu-central-1`",
    secret: false,
    is_valid: |text| {
        !text.is_empty() && text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    },
    doc: "Region of the bucket.",
};

const PATH_STYLE: Choice<bool> = Choice {
    name: "STASH_S3_PATH_STYLE",
    default: "`true` with `STASH_S3_ENDPOINT`, else `false`",
    choices: &[("true", true), ("false", false)],
    doc: "Whether the bucket's name stands in the path of a URL rather than in its host.",
};

const ACCESS_KEY: Text = Text {
    name: "AWS_ACCESS_KEY_ID",
    default: "as the AWS tools find credentials: profile, web identity, container, instance",
    allowed: "an access key, with `AWS_SECRET_ACCESS_KEY`",
    secret: true,
    is_valid: is_key,
    doc: "Who reads and writes the bucket.",
};

const SECRET_KEY: Text = Text {
    name: "AWS_SECRET_ACCESS_KEY",
    default: "see `AWS_ACCESS_KEY_ID`",
    allowed: "its secret key",
    secret: true,
    is_valid: is_key,
    doc: "Proof of `AWS_ACCESS_KEY_ID`.",
};

const SESSION_TOKEN: Text = Text {
    name: "AWS_SESSION_TOKEN",
    default: "none",
    allowed: "a session's token",
    secret: true,
    is_valid: is_key,
    doc: "Belongs to a temporary `AWS_ACCESS_KEY_ID`.",
};

pub(super) const SETTINGS: &[&dyn Setting] =
    &[&BUCKET, &ENDPOINT, &REGION, &PATH_STYLE, &ACCESS_KEY, &SECRET_KEY, &SESSION_TOKEN];

/// A bucket, and how it is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Settings {
    /// Its name.
    pub bucket: String,
    /// Where it is, if not with Amazon.
    pub endpoint: Option<String>,
    /// Its region; `None`: as the AWS tools find it.
    pub region: Option<String>,
    /// Whether its name stands in the path.
    pub path_style: bool,
    /// Who reads and writes it; `None`: as the AWS tools find credentials.
    pub credentials: Option<S3Credentials>,
}

/// Credentials from variables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct S3Credentials {
    /// Access key.
    pub access_key: Secret,
    /// Secret key.
    pub secret_key: Secret,
    /// Token of a session, for temporary ones.
    pub session_token: Option<Secret>,
}

/// Reads them; `None` when no bucket is named.
///
/// # Errors
/// [`SettingError`]; also when an access key comes without its secret.
pub(super) fn read(environment: &Environment) -> Result<Option<S3Settings>, SettingError> {
    let Some(bucket) = BUCKET.read(environment)? else { return Ok(None) };
    let endpoint = ENDPOINT.read(environment)?;
    let region = REGION.read(environment)?.or_else(|| endpoint.as_ref().map(|_| "us-east-1".to_owned()));
    let path_style = PATH_STYLE.read(environment)?.unwrap_or(endpoint.is_some());
    let credentials = match (ACCESS_KEY.read_secret(environment)?, SECRET_KEY.read_secret(environment)?) {
        (Some(access_key), Some(secret_key)) => {
            Some(S3Credentials { access_key, secret_key, session_token: SESSION_TOKEN.read_secret(environment)? })
        }
        (None, None) => None,
        (Some(_), None) => return Err(alone(&SECRET_KEY, ACCESS_KEY.name)),
        (None, Some(_)) => return Err(alone(&ACCESS_KEY, SECRET_KEY.name)),
    };
    Ok(Some(S3Settings { bucket, endpoint, region, path_style, credentials }))
}

fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

fn alone(missing: &Text, other: &str) -> SettingError {
    SettingError { name: missing.name, value: format!("no value, with {other},"), allowed: missing.allowed.to_owned() }
}
