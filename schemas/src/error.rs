//! What can go wrong at the door.

/// Why bytes were not written or not understood. The message may go to a log: it never holds content.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    /// Larger than a log record may be.
    #[error("{bytes} bytes, but a log record holds at most {limit}")]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// The bound.
        limit: usize,
    },
    /// The bytes do not start with the marker of a single object.
    #[error("not an Avro single object: it must start with the bytes c3 01")]
    NotSingleObject,
    /// No schema of this build has this fingerprint: damage, or a writer newer than this reader.
    #[error("no schema here has the fingerprint {0:016x}")]
    UnknownFingerprint(u64),
    /// A known schema, but of another thing than the one asked for.
    #[error("expected {expected}, found {found}")]
    WrongType {
        /// What the caller asked for.
        expected: &'static str,
        /// Whose schema it is.
        found: &'static str,
    },
    /// The bytes end before the value does.
    #[error("{schema}: the bytes end before the value does")]
    Truncated {
        /// Name of the schema.
        schema: &'static str,
    },
    /// Bytes are left after the value.
    #[error("{schema}: {bytes} bytes are left after the value")]
    TrailingBytes {
        /// Name of the schema.
        schema: &'static str,
        /// How many.
        bytes: usize,
    },
    /// The bytes contradict their schema.
    #[error("{schema}: {reason}")]
    Malformed {
        /// Name of the schema.
        schema: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A value that fits its schema but that the domain does not know, on the way in or out.
    #[error("{field}: {reason}")]
    InvalidValue {
        /// Where it stands.
        field: &'static str,
        /// What is wrong.
        reason: &'static str,
    },
    /// An older version could not be brought to the newest.
    #[error("{schema}: cannot be brought to version {version}: {reason}")]
    UpcastFailed {
        /// Name of the schema.
        schema: &'static str,
        /// The version it was being brought to.
        version: u32,
        /// Why not.
        reason: &'static str,
    },
    /// The built-in schemas themselves are at fault; only a broken build does this.
    #[error("built-in schemas: {0}")]
    SchemaDefect(String),
}

impl CodecError {
    /// The stable code, for dead letters and metrics.
    pub fn code(&self) -> &'static str {
        match self {
            Self::TooLarge { .. } => "record_too_large",
            Self::NotSingleObject => "not_single_object",
            Self::UnknownFingerprint(_) => "unknown_fingerprint",
            Self::WrongType { .. } => "wrong_type",
            Self::Truncated { .. } => "truncated",
            Self::TrailingBytes { .. } => "trailing_bytes",
            Self::Malformed { .. } => "malformed",
            Self::InvalidValue { .. } => "invalid_value",
            Self::UpcastFailed { .. } => "upcast_failed",
            Self::SchemaDefect(_) => "schema_defect",
        }
    }
}
