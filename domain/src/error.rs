//! The public error codes. Each is the last part of the `type` of a problem answer, and the name of a page in `docs/errors/`.
//!
//! To add one: a line here, a page `docs/errors/<code>.md` (what happened, what to do, an example); a test compares the two.

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $status:literal, $title:literal;)+) => {
        /// What went wrong, for programs. The set only grows; a code keeps its meaning and its status.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Code {
            $($(#[$doc])* $variant),+
        }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The code as it stands in answers, records of jobs and file names.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name),+
                }
            }

            /// The HTTP status it is answered with.
            pub fn status(self) -> u16 {
                match self {
                    $(Self::$variant => $status),+
                }
            }

            /// A short summary that does not change from one occurrence to the next.
            pub fn title(self) -> &'static str {
                match self {
                    $(Self::$variant => $title),+
                }
            }
        }
    };
}

codes! {
    /// The request cannot be read: its JSON, a header, an id in its path.
    InvalidRequest = "invalid_request", 400, "The request cannot be read";
    /// No key, or one that does not work.
    Unauthorized = "unauthorized", 401, "A working API key is needed";
    /// The key may read and not write.
    ForbiddenScope = "forbidden_scope", 403, "The API key may not do this";
    /// Reward models are switched off for the account.
    RewardModelsDisabled = "reward_models_disabled", 403, "Reward models are switched off for this account";
    /// A signed link was changed, is incomplete, or its time is over.
    BadLink = "bad_link", 403, "The link does not work";
    /// There is no such thing, or it belongs to someone else.
    NotFound = "not_found", 404, "Not found";
    /// The path exists, with other methods.
    MethodNotAllowed = "method_not_allowed", 405, "The path does not take this method";
    /// The thing has changed since the version that `If-Match` names.
    VersionConflict = "version_conflict", 409, "It was changed in the meantime";
    /// A body, a step or another part is over its limit.
    TooLarge = "too_large", 413, "Too large";
    /// Media type or coding of the body is not taken here.
    UnsupportedMediaType = "unsupported_media_type", 415, "Media type or coding not supported";
    /// The idempotency key was used with another request.
    IdempotencyMismatch = "idempotency_mismatch", 422, "The idempotency key belongs to another request";
    /// The body is JSON, but a field is missing or has the wrong type or value.
    InvalidField = "invalid_field", 422, "A field has a wrong value";
    /// The name of an import format is unknown, or `auto` recognised none.
    UnknownFormat = "unknown_format", 422, "The format is not known";
    /// The input of an import breaks the rules of its format.
    BadImport = "bad_import", 422, "The input cannot be imported";
    /// An annotation breaks a rule.
    BadAnnotation = "bad_annotation", 422, "The annotation breaks a rule";
    /// The trace has no action to score.
    NoActions = "no_actions", 422, "The trace has no action";
    /// The model cannot do what is asked of it.
    IncompatibleModel = "incompatible_model", 422, "The model cannot do this";
    /// The account does not allow what it was asked for: its content would go to a language model.
    LlmSwitchedOff = "llm_switched_off", 422, "Language models are switched off for this account";
    /// The trace has a title that a person gave it, which no other replaces.
    TitleIsOwn = "title_is_own", 422, "The trace has a title of its own";
    /// There are too few pairs to train on.
    TooFewPairs = "too_few_pairs", 422, "Too few pairs to train on";
    /// The base model is not on the machine that trains, or cannot be used there.
    UnknownBaseModel = "unknown_base_model", 422, "The base model is not available";
    /// `limit`, `offset` or a cursor is out of range.
    BadLimit = "bad_limit", 422, "Page limit or offset out of range";
    /// Steps were replaced while a job worked on them.
    StepsReplaced = "steps_replaced", 422, "The steps were replaced meanwhile";
    /// A job was stopped because someone asked.
    Cancelled = "cancelled", 422, "The job was cancelled";
    /// The loss of a training was not a number.
    TrainingDiverged = "training_diverged", 422, "The training diverged";
    /// A language model refused a request, or its answer was not what was asked for.
    LlmFailed = "llm_failed", 422, "The language model did not do what was asked";
    /// What may be spent on language models is spent.
    LlmBudgetSpent = "llm_budget_spent", 422, "The budget for language models is spent";
    /// Too many requests.
    RateLimited = "rate_limited", 429, "Too many requests";
    /// A fault of Stash itself.
    Internal = "internal", 500, "Something went wrong in Stash";
    /// The log or the database does not answer now.
    Unavailable = "unavailable", 503, "Not available at the moment";
    /// The deployment lacks a setting that this needs.
    NotConfigured = "not_configured", 503, "A setting is missing on the server";
    /// A disk or a bucket is full.
    StorageFull = "storage_full", 503, "No space left on the server";
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Text that is no code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an error code")]
pub struct UnknownCode;

impl std::str::FromStr for Code {
    type Err = UnknownCode;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(UnknownCode)
    }
}
