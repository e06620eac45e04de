//! This crate's part of the API description, made from the code.

use crate::routes;
use crate::types;
use stash_infra::http::ProblemBody;
use utoipa::OpenApi;
use utoipa::openapi::header::HeaderBuilder;
use utoipa::openapi::path::{Operation, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required, ResponseBuilder};

#[derive(OpenApi)]
#[openapi(
    paths(
        routes::formats::list::list,
        routes::traces::list::list,
        routes::traces::get::get,
        routes::otel::pending::pending,
        routes::annotations::get::get,
        routes::exports::traces::traces,
        routes::exports::annotations::annotations,
        routes::exports::pairs::pairs,
        routes::reward_models::list::list,
        routes::reward_models::get::get,
        routes::reward_models::weights::weights,
        routes::scoring_runs::get::get,
        routes::llm::processing::processing,
        routes::commands::get::get,
    ),
    components(schemas(ProblemBody, types::Moment, types::JsonText))
)]
struct Reads;

#[derive(OpenApi)]
#[openapi(paths(routes::artifacts::get::get), components(schemas(ProblemBody)))]
struct Artifacts;

/// The paths of this crate, from the server's root, with their schemas.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let (mut reads, mut artifacts) = (Reads::openapi(), Artifacts::openapi());
    for operation in operations(&mut reads) {
        add_min_position(operation);
        add_errors(operation, &[400, 401, 403, 404, 422, 429, 500, 503]);
    }
    for operation in operations(&mut artifacts) {
        add_errors(operation, &[403, 404, 500, 503]);
    }
    artifacts.nest("/api/v1/rm", reads)
}

fn operations(openapi: &mut utoipa::openapi::OpenApi) -> impl Iterator<Item = &mut Operation> {
    openapi.paths.paths.values_mut().filter_map(|item| item.get.as_mut())
}

/// Every read may be told how new its answer must be.
fn add_min_position(operation: &mut Operation) {
    let parameter = ParameterBuilder::new()
        .name("X-Stash-Min-Position")
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .description(Some("The `X-Stash-Position` of an earlier answer: wait until it can be read."))
        .schema(Some(ObjectBuilder::new().schema_type(Type::String)))
        .build();
    operation.parameters.get_or_insert_default().push(parameter.into());
}

/// The errors that an operation may answer with: 404 where a path names something, 422 where there are parameters.
fn add_errors(operation: &mut Operation, statuses: &[u16]) {
    let has = |place: ParameterIn| {
        let parameters = operation.parameters.iter().flatten();
        parameters.filter_map(|p| if let RefOr::T(p) = p { Some(p) } else { None }).any(|p| p.parameter_in == place)
    };
    let (has_id, has_query) = (has(ParameterIn::Path), has(ParameterIn::Query));
    for status in statuses {
        if (*status == 404 && !has_id && !has_query) || (*status == 422 && !has_query) {
            continue;
        }
        let responses = &mut operation.responses.responses;
        responses.entry(status.to_string()).or_insert_with(|| RefOr::T(problem(*status)));
    }
}

fn problem(status: u16) -> utoipa::openapi::Response {
    let body = ContentBuilder::new().schema(Some(Ref::from_schema_name("ProblemBody"))).build();
    let response = ResponseBuilder::new().description(meaning(status)).content("application/problem+json", body);
    if status != 429 && status != 503 {
        return response.build();
    }
    let seconds = ObjectBuilder::new().schema_type(Type::Integer);
    let header = HeaderBuilder::new().schema(Some(seconds)).description(Some("Seconds after which to try again"));
    response.header("Retry-After", header.build()).build()
}

fn meaning(status: u16) -> &'static str {
    match status {
        400 => "The request cannot be read: an id, a header or the query string",
        401 => "No API key, or one that does not work",
        403 => "Not allowed: reward models are switched off for the account, or a link has expired",
        404 => "There is no such thing, or it is someone else's",
        422 => "A parameter has a wrong value",
        429 => "Too many requests at once",
        503 => "The database does not answer, or has not come as far as `X-Stash-Min-Position` yet",
        _ => "A fault of Stash",
    }
}
