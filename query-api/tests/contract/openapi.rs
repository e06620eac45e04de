//! The API description names every route, and types every answer.

use crate::common::routes;
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn every_route_is_described_and_every_answer_typed() {
    let api = serde_json::to_value(stash_query_api::openapi()).unwrap();
    assert_eq!(api["openapi"], "3.1.0");
    let described: BTreeSet<String> = api["paths"].as_object().unwrap().keys().cloned().collect();
    let id = uuid::Uuid::nil().to_string();
    let pattern = |path: &str| {
        path.split('/')
            .map(|part| if part.starts_with('{') { id.as_str() } else { part }.to_owned())
            .collect::<Vec<_>>()
            .join("/")
    };
    let routed = routes().into_iter().map(|route| format!("/api/v1/rm{}", route.split('?').next().unwrap()));
    let mut routed: BTreeSet<String> = routed.collect();
    routed.insert(format!("/artifacts/{id}/{id}/{id}"));
    assert_eq!(described.iter().map(|path| pattern(path)).collect::<BTreeSet<_>>(), routed);

    let mut names = BTreeSet::new();
    for (path, item) in api["paths"].as_object().unwrap() {
        let operation = &item["get"];
        assert!(names.insert(operation["operationId"].as_str().unwrap()), "{path}: its operation's name is taken");
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{path} has no summary");
        for (status, response) in operation["responses"].as_object().unwrap() {
            for (media, content) in response["content"].as_object().expect("every answer has a body") {
                assert!(is_typed(&content["schema"]), "{path} {status} {media} is not typed");
            }
        }
        for status in ["403", "500", "503"] {
            let problem = &operation["responses"][status]["content"]["application/problem+json"]["schema"]["$ref"];
            assert_eq!(problem, "#/components/schemas/ProblemBody", "{path} {status}");
        }
    }
    references(&api, &mut |name| assert!(api["components"]["schemas"][name].is_object(), "{name} is not described"));
}

fn is_typed(schema: &Value) -> bool {
    ["$ref", "type", "oneOf", "allOf"].iter().any(|key| schema.get(key).is_some())
}

fn references(value: &Value, found: &mut impl FnMut(&str)) {
    match value {
        Value::Object(members) => {
            if let Some(name) = members.get("$ref").and_then(Value::as_str) {
                found(name.rsplit('/').next().unwrap_or_default());
            }
            members.values().for_each(|member| references(member, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}
