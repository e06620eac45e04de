//! Parallel calls that an instrumentation of a stream has glued together: it appended the pieces of all calls to one, so that
//! ids, names and arguments of several stand in a row (`call_1call_2`, `weatherweather`, `{…}{…}`).
//!
//! They are parted only where nothing is guessed about what was called: the arguments are several whole objects, and the name is
//! that many names of tools that the call was given, or that many times the same. An id that cannot be parted is left out; the
//! history of a later call has it.

use super::{object, remove};
use crate::json::Json;
use crate::json::parse::whole_value;
use crate::otel::Attributes;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;

/// Calls that are parted, and bytes of their names; more stay as they are.
const CALLS_MAX: usize = 128;
const NAME_BYTES_MAX: usize = 16_384;

/// Parts the calls of an answer (`tool_calls` with `id`, `name`, `arguments`).
pub(super) fn part(answer: &mut Json, attributes: &Attributes) {
    let Json::Object(fields) = answer else { return };
    let Some(Json::List(calls)) = remove(fields, "tool_calls") else { return };
    let parted = calls.into_iter().flat_map(|call| parts(&call, attributes).unwrap_or_else(|| vec![call])).collect();
    fields.push(("tool_calls".to_owned(), Json::List(parted)));
}

fn parts(call: &Json, attributes: &Attributes) -> Option<Vec<Json>> {
    let arguments = objects(call.get("arguments")?.as_text()?)?;
    let names = names(call.get("name")?.as_text()?, arguments.len(), attributes)?;
    let ids = call.get("id").and_then(Json::as_text).and_then(|id| ids(id, arguments.len()));
    let id = |n: usize| ids.as_ref().and_then(|ids| ids.get(n)).map_or(Json::Null, |id| Json::Text((*id).to_owned()));
    let parted = names.into_iter().zip(arguments).enumerate().map(|(n, (name, arguments))| {
        object([("id", id(n)), ("name", Json::Text(name)), ("arguments", Json::Text(arguments.to_owned()))])
    });
    Some(parted.collect())
}

/// The texts of several JSON objects in a row; none if it is anything else.
fn objects(text: &str) -> Option<Vec<&str>> {
    if !text.starts_with('{') || serde_json::from_str::<IgnoredAny>(text).is_ok() {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    let mut found = Vec::new();
    let mut begin = 0;
    while let Some(value) = values.next() {
        let object = text.get(begin..values.byte_offset())?;
        if value.is_err() || !object.trim_ascii_start().starts_with('{') {
            return None;
        }
        found.push(object);
        begin = values.byte_offset();
    }
    (2..=CALLS_MAX).contains(&found.len()).then_some(found)
}

/// A text as this many names.
fn names(glued: &str, count: usize, attributes: &Attributes) -> Option<Vec<String>> {
    if glued.len() > NAME_BYTES_MAX {
        return None;
    }
    let once = glued.get(..glued.len() / count)?;
    if !once.is_empty() && once.repeat(count) == glued {
        return Some(vec![once.to_owned(); count]);
    }
    let given = given_tools(attributes);
    // For each number of names, where a text of that many can end, and the last of them.
    let mut ends: Vec<BTreeMap<usize, &str>> = vec![BTreeMap::from([(0, "")])];
    for _ in 0..count {
        let mut next = BTreeMap::new();
        for begin in ends.last()?.keys() {
            let rest = glued.get(*begin..)?;
            next.extend(given.iter().filter(|name| rest.starts_with(*name)).map(|name| (begin + name.len(), &**name)));
        }
        ends.push(next);
    }
    let mut found = Vec::new();
    let mut end = glued.len();
    for step in ends.iter().skip(1).rev() {
        let name = step.get(&end)?;
        found.push((*name).to_owned());
        end = end.checked_sub(name.len())?;
    }
    found.reverse();
    (end == 0).then_some(found)
}

/// Names of the tools that the call was given, as OpenInference records them.
fn given_tools(attributes: &Attributes) -> Vec<String> {
    let Some(Json::List(tools)) = attributes.value("llm.tools") else { return Vec::new() };
    let name_of = |tool: &Json| {
        let schema = tool.get("tool").unwrap_or(tool).get("json_schema")?;
        let schema = schema.as_text().map_or_else(|| Some(schema.clone()), whole_value)?;
        let name = schema.get("function").unwrap_or(&schema).get("name")?.as_text()?;
        (!name.is_empty()).then(|| name.to_owned())
    };
    tools.iter().take(CALLS_MAX).filter_map(name_of).collect()
}

/// A text as this many ids: each begins as the first does, up to its `_`, or all are of one length.
fn ids(glued: &str, count: usize) -> Option<Vec<&str>> {
    if let Some(at) = glued.find('_').filter(|at| *at > 0) {
        let start = glued.get(..=at)?;
        let begins: Vec<usize> = glued.match_indices(start).map(|(at, _)| at).collect();
        if begins.len() == count {
            let ends = begins.iter().skip(1).copied().chain([glued.len()]);
            return begins.iter().zip(ends).map(|(begin, end)| glued.get(*begin..end)).collect();
        }
    }
    let length = glued.len() / count;
    (length > 0 && length * count == glued.len())
        .then(|| (0..count).map(|n| glued.get(n * length..(n + 1) * length)).collect::<Option<_>>())?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(id: &str, name: &str, arguments: &str, tools: &[&str]) -> String {
        let attributes: serde_json::Map<String, serde_json::Value> = tools
            .iter()
            .enumerate()
            .map(|(n, name)| {
                let schema = serde_json::json!({"type": "function", "function": {"name": name}}).to_string();
                (format!("llm.tools.{n}.tool.json_schema"), schema.into())
            })
            .collect();
        let attributes: Attributes = serde_json::from_value(attributes.into()).unwrap();
        let text = |text: &str| Json::Text(text.to_owned());
        let call = object([("id", text(id)), ("name", text(name)), ("arguments", text(arguments))]);
        let mut answer = object([("tool_calls", Json::List(vec![call]))]);
        part(&mut answer, &attributes);
        answer.compact()
    }

    #[test]
    fn calls_of_one_tool_are_parted() {
        assert_eq!(
            parted("call_Acall_Bc", "wxwx", r#"{"c":"Ü"} {"c":"{"}"#, &[]),
            concat!(
                r#"{"tool_calls":[{"id":"call_A","name":"wx","arguments":"{\"c\":\"Ü\"}"},"#,
                r#"{"id":"call_Bc","name":"wx","arguments":" {\"c\":\"{\"}"}]}"#
            )
        );
    }

    #[test]
    fn calls_of_different_tools_are_parted_by_the_tools_given() {
        assert_eq!(
            parted("abcd", "wxwx_now", "{}{}", &["wx", "wx_now", "now"]),
            concat!(
                r#"{"tool_calls":[{"id":"ab","name":"wx","arguments":"{}"},"#,
                r#"{"id":"cd","name":"wx_now","arguments":"{}"}]}"#
            )
        );
    }

    #[test]
    fn an_id_that_cannot_be_parted_is_left_out() {
        assert_eq!(
            parted("abc", "wxwx", "{}{}", &[]),
            r#"{"tool_calls":[{"id":null,"name":"wx","arguments":"{}"},{"id":null,"name":"wx","arguments":"{}"}]}"#
        );
    }

    #[test]
    fn what_may_be_something_else_stays() {
        for (name, arguments, tools) in [
            ("wx", "{}{}", &["wx"][..]),
            ("wxnow", "{}{}", &["wx"]),
            ("", "{}{}", &["wx"]),
            ("wxwx", "{}", &["wx"]),
            ("wxwx", "{}{", &["wx"]),
            ("wxwx", "{}1", &["wx"]),
            ("éé", "{}{}{}", &[]),
        ] {
            let whole = object([
                ("id", Json::Text("c".to_owned())),
                ("name", Json::Text(name.to_owned())),
                ("arguments", Json::Text(arguments.to_owned())),
            ]);
            assert_eq!(
                parted("c", name, arguments, tools),
                format!("{{\"tool_calls\":[{}]}}", whole.compact()),
                "{name} {arguments}"
            );
        }
    }
}
