//! References to media within texts: `@@@langfuseMedia:type=image/png|id=…|source=…@@@`.

use crate::json::Json;
use std::borrow::Cow;

const OPEN: &str = "@@@langfuseMedia:";
const CLOSE: &str = "@@@";

/// The same value with a mark in place of each reference; itself, if it has none.
pub(super) fn marked(value: &Json) -> Cow<'_, Json> {
    if refers(value) { Cow::Owned(in_value(value)) } else { Cow::Borrowed(value) }
}

fn refers(value: &Json) -> bool {
    match value {
        Json::Text(text) => text.contains(OPEN),
        Json::List(items) => items.iter().any(refers),
        Json::Object(fields) => fields.iter().any(|(_, value)| refers(value)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

fn in_value(value: &Json) -> Json {
    match value {
        Json::Text(text) if text.contains(OPEN) => Json::Text(in_text(text)),
        Json::List(items) => Json::List(items.iter().map(in_value).collect()),
        Json::Object(fields) => {
            Json::Object(fields.iter().map(|(key, value)| (key.clone(), in_value(value))).collect())
        }
        other => other.clone(),
    }
}

fn in_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, reference)) = rest.split_once(OPEN) {
        let Some((fields, after)) = reference.split_once(CLOSE) else { break };
        out.push_str(before);
        let kind = fields.split('|').find_map(|field| field.strip_prefix("type=")).unwrap_or("");
        out.push_str(match kind.split('/').next().unwrap_or("") {
            "image" => "[image]",
            "audio" => "[audio]",
            "video" => "[video]",
            _ => "[file]",
        });
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reference_leaves_a_mark() {
        let text = "See @@@langfuseMedia:type=image/jpeg|id=1|source=base64_data_uri@@@ and \
                    @@@langfuseMedia:type=application/pdf|id=2|source=bytes@@@.";
        assert_eq!(in_text(text), "See [image] and [file].");
        assert_eq!(in_text("@@@langfuseMedia:type=image"), "@@@langfuseMedia:type=image");
    }
}
