//! Parts of Gemini: no type, but a key that tells.

use super::calls::{input, text};
use crate::formats::common::blocks::{Answer, Call, Piece, result_text_of};
use crate::json::{Json, Object};

/// The piece of a part, if it is of this dialect.
pub(super) fn piece(part: &Json, warnings: &mut Vec<String>) -> Option<Piece> {
    let at = |keys: &[&str]| keys.iter().find_map(|key| part.get(key)).filter(|value| matches!(value, Json::Object(_)));
    if let Some(call) = at(&["functionCall", "function_call"]) {
        let arguments = call.get("args").or_else(|| call.get("arguments"));
        let name = text(call, &["name"]).unwrap_or_else(|| "unknown".to_owned());
        let call = Call { id: text(call, &["id"]), name, input: input(arguments), metadata: Object::new() };
        return Some(call.into());
    }
    if let Some(response) = at(&["functionResponse", "function_response"]) {
        let content = response.get("response").or_else(|| response.get("content")).unwrap_or(&Json::Null);
        let (id, tool) = (text(response, &["id"]), text(response, &["name"]));
        return Some(Piece::from(Answer { id, tool, text: result_text_of(content, warnings), is_error: false }));
    }
    if part.get("type").is_some() {
        return None;
    }
    if let Some(data) = at(&["inlineData", "inline_data", "fileData", "file_data"]) {
        let kind = text(data, &["mimeType", "mime_type"]).unwrap_or_default();
        return Some(Piece::Mark(super::parts::mark_of(&kind).to_owned()));
    }
    if let Some(code) = at(&["executableCode", "executable_code"]) {
        return Some(Piece::Text(text(code, &["code"]).unwrap_or_default()));
    }
    if let Some(result) = at(&["codeExecutionResult", "code_execution_result"]) {
        return Some(Piece::Text(text(result, &["output"]).unwrap_or_default()));
    }
    let said = part.get("text").and_then(Json::as_text)?.to_owned();
    Some(if part.get("thought") == Some(&Json::Bool(true)) { Piece::Reasoning(said) } else { Piece::Text(said) })
}
