//! This crate's part of the OpenAPI description, and the error answers that every command shares.

use crate::dispatch::PendingBody;
use stash_infra::http::ProblemBody;
use utoipa::{IntoResponses, OpenApi};

/// Error answers of every command.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "only its description is used")]
pub(crate) enum CommandProblems {
    /// The request cannot be read.
    #[response(status = 400, content_type = "application/problem+json")]
    Invalid(#[to_schema] ProblemBody),
    /// No key, or one that does not work.
    #[response(status = 401, content_type = "application/problem+json")]
    Unauthorized(#[to_schema] ProblemBody),
    /// The key is read-only, or reward models are off.
    #[response(status = 403, content_type = "application/problem+json")]
    Forbidden(#[to_schema] ProblemBody),
    /// There is no such thing, or it belongs to someone else.
    #[response(status = 404, content_type = "application/problem+json")]
    NotFound(#[to_schema] ProblemBody),
    /// It was changed in the meantime.
    #[response(status = 409, content_type = "application/problem+json")]
    Conflict(#[to_schema] ProblemBody),
    /// Too large.
    #[response(status = 413, content_type = "application/problem+json")]
    TooLarge(#[to_schema] ProblemBody),
    /// Media type or coding not supported.
    #[response(status = 415, content_type = "application/problem+json")]
    UnsupportedMediaType(#[to_schema] ProblemBody),
    /// Understood, but wrong.
    #[response(status = 422, content_type = "application/problem+json")]
    Unprocessable(#[to_schema] ProblemBody),
    /// The log or the database does not answer, the disk is full, or a setting is missing.
    #[response(status = 503, content_type = "application/problem+json")]
    Unavailable(#[to_schema] ProblemBody),
}

/// The answer of a command whose verdict is still to come.
#[derive(IntoResponses)]
#[allow(dead_code, reason = "only its description is used")]
pub(crate) enum Pending {
    /// Not decided yet: ask what became of it at `Location`, or send it again with its `Idempotency-Key`.
    #[response(status = 202)]
    Pending(#[to_schema] PendingBody),
}

#[derive(OpenApi)]
#[openapi(
    paths(
        crate::routes::traces::import::handle,
        crate::routes::otel::traces::handle,
        crate::routes::otel::logs::handle,
        crate::routes::traces::delete::handle,
        crate::routes::traces::edit::handle,
        crate::routes::traces::title::handle,
        crate::routes::traces::score::handle,
        crate::routes::annotations::create::handle,
        crate::routes::annotations::change::handle,
        crate::routes::annotations::delete::handle,
        crate::routes::reward_models::create::handle,
        crate::routes::reward_models::cancel::handle,
        crate::routes::reward_models::rename::handle,
        crate::routes::reward_models::delete::handle,
        crate::routes::llm::switch::handle,
    ),
    components(schemas(PendingBody, ProblemBody))
)]
struct Commands;

/// The paths of this crate, from the server's root, with their schemas.
pub fn openapi() -> utoipa::openapi::OpenApi {
    utoipa::openapi::OpenApi::default().nest("/api/v1/rm", Commands::openapi())
}
