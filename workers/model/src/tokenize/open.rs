//! Opening a base's tokenizer, and carrying it over into a checkpoint.

use std::path::Path;

use serde_json::{Map, Value, json};
use tokenizers::{AddedVocabulary, PostProcessorWrapper, Tokenizer};

use super::{Markers, SEGMENT_END, SEGMENT_START, SpecialToken, TextTokenizer};
use crate::config;
use crate::error::ModelError;
use crate::files;

const TOKENIZER_FILE: &str = "tokenizer.json";
const SETTINGS_FILE: &str = "tokenizer_config.json";
const TEMPLATE_FILE: &str = "chat_template.jinja";

/// Tokens that bases use to pad, by their text, tried when no file names one that can serve.
const PAD_CANDIDATES: [&str; 6] =
    ["<|endoftext|>", "<|finetune_right_pad_id|>", "<pad>", "[PAD]", "<|end_of_text|>", "<unk>"];

pub(super) fn open(dir: &Path) -> Result<TextTokenizer, ModelError> {
    let mut tokenizer = Tokenizer::from_bytes(files::read(&dir.join(TOKENIZER_FILE))?)
        .map_err(|e| ModelError::Tokenizer(format!("{TOKENIZER_FILE}: {e}")))?;
    let settings: Map<String, Value> = files::read_json_if_present(&dir.join(SETTINGS_FILE))?.unwrap_or_default();
    let model: Map<String, Value> = files::read_json_if_present(&dir.join(config::FILE))?.unwrap_or_default();

    let marker = |text| tokenizer.token_to_id(text);
    let markers = marker(SEGMENT_START).zip(marker(SEGMENT_END)).map(|(start, end)| Markers { start, end });
    let pad = pad_token(&tokenizer, &settings, &model, markers)?;
    let leading = leading_token(&tokenizer, &settings)?;
    let largest_added = tokenizer.get_added_tokens_decoder().keys().max().map_or(0, |id| *id as usize + 1);
    let vocab_size = tokenizer.get_vocab_size(false).max(largest_added);

    // Bodies are plain text: without the added tokens nothing in them can be read as one, and without the template no
    // leading or closing token is put around each piece.
    let refused = |e: tokenizers::Error| ModelError::Tokenizer(e.to_string());
    tokenizer.with_added_vocabulary(AddedVocabulary::new());
    tokenizer.with_post_processor(None::<PostProcessorWrapper>);
    tokenizer.with_truncation(None).map_err(refused)?;
    tokenizer.with_padding(None);

    let opened = TextTokenizer { body: tokenizer, markers, leading, pad, vocab_size };
    probe(&opened)?;
    Ok(opened)
}

/// A base whose own vocabulary spells a marker in one token would let a body close its segment: refused here, before
/// any text is encoded. Encoding checks again.
fn probe(tokenizer: &TextTokenizer) -> Result<(), ModelError> {
    for marker in [SEGMENT_START, SEGMENT_END] {
        for text in [marker.to_owned(), format!(" {marker}"), format!("a{marker}\n"), format!("a {marker} b")] {
            tokenizer.encode_body(&text, &mut Vec::new())?;
        }
    }
    Ok(())
}

/// A token's text in `tokenizer_config.json`: a string, or an object with `content`.
fn named<'a>(settings: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    let value = settings.get(key)?;
    value.as_str().or_else(|| value.get("content").and_then(Value::as_str))
}

fn pad_token(
    tokenizer: &Tokenizer,
    settings: &Map<String, Value>,
    model: &Map<String, Value>,
    markers: Option<Markers>,
) -> Result<SpecialToken, ModelError> {
    let configured = model.get("pad_token_id").and_then(Value::as_u64).and_then(|id| u32::try_from(id).ok());
    let by_text = named(settings, "pad_token").into_iter().chain(PAD_CANDIDATES);
    let mut added: Vec<u32> = tokenizer.get_added_tokens_decoder().into_keys().collect();
    added.sort_unstable();
    let candidates = configured
        .into_iter()
        .chain(by_text.filter_map(|text| tokenizer.token_to_id(text)))
        .chain(added.iter().copied());
    // transformers pools a text at its last token that is not the pad token: a base that pads with `<|im_end|>`
    // (SmolLM2 does) would have every text read one token early, so a marker never serves.
    let serves = |id: &u32| markers.is_none_or(|m| *id != m.start && *id != m.end);
    candidates
        .filter(serves)
        .find_map(|id| tokenizer.id_to_token(id).map(|text| SpecialToken { id, text }))
        .ok_or_else(|| ModelError::Tokenizer("no token to pad with; name one as pad_token".to_owned()))
}

fn leading_token(tokenizer: &Tokenizer, settings: &Map<String, Value>) -> Result<Option<u32>, ModelError> {
    if settings.get("add_bos_token").and_then(Value::as_bool) != Some(true) {
        return Ok(None);
    }
    let id = named(settings, "bos_token").and_then(|text| tokenizer.token_to_id(text));
    id.map(Some).ok_or_else(|| ModelError::Tokenizer("add_bos_token is set, but bos_token is no token".to_owned()))
}

/// Copies a base's tokenizer into a checkpoint folder, with `pad_token_id`, the token limit and the sides padding and
/// truncation use set as the reward model needs them.
///
/// # Errors
/// When a file cannot be read or written.
pub fn write_files(base: &Path, checkpoint: &Path, pad: &SpecialToken, token_limit: usize) -> Result<(), ModelError> {
    files::write(&checkpoint.join(TOKENIZER_FILE), &files::read(&base.join(TOKENIZER_FILE))?)?;
    if base.join(TEMPLATE_FILE).exists() {
        files::write(&checkpoint.join(TEMPLATE_FILE), &files::read(&base.join(TEMPLATE_FILE))?)?;
    }
    let mut settings: Map<String, Value> = files::read_json_if_present(&base.join(SETTINGS_FILE))?.unwrap_or_default();
    settings.entry("tokenizer_class").or_insert_with(|| json!("PreTrainedTokenizerFast"));
    let fields = [
        ("pad_token", json!(pad.text)),
        ("padding_side", json!("right")),
        ("truncation_side", json!("left")),
        ("model_max_length", json!(token_limit)),
    ];
    settings.extend(fields.map(|(key, value)| (key.to_owned(), value)));
    files::write_json(&checkpoint.join(SETTINGS_FILE), &settings)
}
