//! The vocabulary in the metadata to `tokenizer.json`: byte-level BPE, as GPT-2, Qwen, Llama 3 and SmolLM use it.
//!
//! GGUF names only how text is split before merging (`tokenizer.ggml.pre`); the rules are those of the models' own
//! `tokenizer.json`. A name that is not known here is refused: with a wrong split the ids, and so the scores, would be wrong
//! without a sign.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Map, Value as Json, json};

use super::read::GgufFile;
use super::value::Value;
use crate::error::ModelError;
use crate::files;

/// Kinds of tokens (`llama_token_type`).
const CONTROL: u32 = 3;
const USER_DEFINED: u32 = 4;
/// A number that no text becomes: fills the vocabulary up to a round size.
const UNUSED: u32 = 5;

const QWEN2_SPLIT: &str =
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const LLAMA3_SPLIT: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// Writes `tokenizer.json` and `tokenizer_config.json`.
///
/// # Errors
/// When the vocabulary is of another kind or contradicts itself, or a file cannot be written.
pub(super) fn write(file: &GgufFile, dir: &Path, context_length: usize) -> Result<(), ModelError> {
    let vocabulary = Vocabulary::read(file)?;
    // Not indented: merges would take a line per token.
    files::write(&dir.join("tokenizer.json"), vocabulary.tokenizer(file)?.to_string().as_bytes())?;
    files::write_json(&dir.join("tokenizer_config.json"), &vocabulary.settings(file, context_length))
}

struct Vocabulary<'a> {
    /// Token texts in the byte alphabet; special tokens as they are.
    tokens: &'a [String],
    kinds: &'a [u32],
    merges: Vec<(&'a str, &'a str)>,
}

impl<'a> Vocabulary<'a> {
    fn read(file: &'a GgufFile) -> Result<Self, ModelError> {
        let get = |name: &str| file.get(&format!("tokenizer.ggml.{name}"));
        let model = get("model").and_then(Value::text).unwrap_or("(none named)");
        if model != "gpt2" {
            return Err(file.error(format!(
                "its tokenizer is of the kind {model:?}; only byte-level BPE (\"gpt2\") is read from GGUF, use the model's folder \
                 from the hub"
            )));
        }
        let texts = |name: &str| {
            let texts = get(name).and_then(Value::texts);
            texts.ok_or_else(|| file.error(format!("tokenizer.ggml.{name} is missing or no list of texts")))
        };
        let tokens = texts("tokens")?;
        let kinds = get("token_type").and_then(Value::numbers).unwrap_or_default();
        if !kinds.is_empty() && kinds.len() != tokens.len() {
            return Err(file.error("there are not as many token types as tokens"));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = tokens.iter().find(|token| !seen.insert(token.as_str())) {
            return Err(file.error(format!("the token {twice:?} stands twice")));
        }
        // Spaces are never part of a token here: the byte alphabet writes them as another letter.
        let merges = texts("merges")?.iter().map(|merge| merge.split_once(' '));
        let merges = merges.collect::<Option<_>>().ok_or_else(|| file.error("a merge is no pair of tokens"))?;
        Ok(Self { tokens, kinds, merges })
    }

    fn kind(&self, id: usize) -> u32 {
        self.kinds.get(id).copied().unwrap_or_default()
    }

    fn tokenizer(&self, file: &GgufFile) -> Result<Json, ModelError> {
        let splitting = splitting(file)?;
        let used = || self.tokens.iter().enumerate().filter(|(id, _)| self.kind(*id) != UNUSED);
        let added: Vec<Json> = used()
            .filter(|(id, _)| [CONTROL, USER_DEFINED].contains(&self.kind(*id)))
            .map(|(id, text)| {
                json!({"id": id, "content": text, "single_word": false, "lstrip": false, "rstrip": false,
                       "normalized": false, "special": self.kind(id) == CONTROL})
            })
            .collect();
        let vocab: Map<String, Json> = used().map(|(id, text)| (text.clone(), json!(id))).collect();
        Ok(json!({
            "version": "1.0",
            "truncation": null,
            "padding": null,
            "added_tokens": added,
            "normalizer": splitting.normalizer,
            "pre_tokenizer": splitting.pre_tokenizer,
            "post_processor": self.leading(file),
            "decoder": byte_level(true),
            "model": {
                "type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false,
                "ignore_merges": splitting.ignore_merges, "vocab": vocab, "merges": self.merges,
            },
        }))
    }

    /// The text of the token that an entry names by its id.
    fn named(&self, file: &GgufFile, entry: &str) -> Option<&'a str> {
        let id = file.get(&format!("tokenizer.ggml.{entry}"))?.unsigned()?;
        self.tokens.get(usize::try_from(id).ok()?).map(String::as_str)
    }

    /// Whether every text begins with the token for the beginning.
    fn leads(&self, file: &GgufFile) -> bool {
        file.get("tokenizer.ggml.add_bos_token").and_then(Value::flag) == Some(true)
    }

    /// What puts that token before a text.
    fn leading(&self, file: &GgufFile) -> Json {
        let Some(text) = self.named(file, "bos_token_id").filter(|_| self.leads(file)) else { return Json::Null };
        let id = self.tokens.iter().position(|token| token == text);
        let begin = json!({"SpecialToken": {"id": text, "type_id": 0}});
        let first = json!({"Sequence": {"id": "A", "type_id": 0}});
        let second = json!({"Sequence": {"id": "B", "type_id": 1}});
        json!({
            "type": "TemplateProcessing",
            "single": [begin, first],
            "pair": [begin, first, begin, second],
            "special_tokens": {text: {"id": text, "ids": [id], "tokens": [text]}},
        })
    }

    fn settings(&self, file: &GgufFile, context_length: usize) -> Map<String, Json> {
        let mut settings = Map::new();
        let mut set = |key: &str, value: Json| settings.insert(key.to_owned(), value);
        set("tokenizer_class", json!("PreTrainedTokenizerFast"));
        set("model_max_length", json!(context_length));
        set("clean_up_tokenization_spaces", json!(false));
        set("add_bos_token", json!(self.leads(file)));
        for (key, entry) in [
            ("bos_token", "bos_token_id"),
            ("eos_token", "eos_token_id"),
            ("unk_token", "unknown_token_id"),
            ("pad_token", "padding_token_id"),
        ] {
            if let Some(text) = self.named(file, entry) {
                set(key, json!(text));
            }
        }
        if let Some(template) = file.get("tokenizer.chat_template").and_then(Value::text) {
            set("chat_template", json!(template));
        }
        settings
    }
}

/// How text is split before merging.
struct Splitting {
    normalizer: Json,
    pre_tokenizer: Json,
    ignore_merges: bool,
}

fn splitting(file: &GgufFile) -> Result<Splitting, ModelError> {
    let name = file.get("tokenizer.ggml.pre").and_then(Value::text).unwrap_or("gpt-2");
    let regex = |pattern: &str| {
        let split = json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
        json!({"type": "Sequence", "pretokenizers": [split, byte_level(false)]})
    };
    let plain = |pre_tokenizer| Splitting { normalizer: Json::Null, pre_tokenizer, ignore_merges: false };
    Ok(match name {
        "gpt-2" => plain(byte_level(true)),
        "smollm" => {
            let digits = json!({"type": "Digits", "individual_digits": true});
            plain(json!({"type": "Sequence", "pretokenizers": [digits, byte_level(true)]}))
        }
        "qwen2" => Splitting { normalizer: json!({"type": "NFC"}), ..plain(regex(QWEN2_SPLIT)) },
        "llama3" | "llama-v3" | "llama-bpe" => Splitting { ignore_merges: true, ..plain(regex(LLAMA3_SPLIT)) },
        _ => {
            return Err(file.error(format!(
                "its tokenizer splits text by the rule {name:?}, which is not known here (gpt-2, smollm, qwen2 and llama-bpe are)"
            )));
        }
    })
}

/// Bytes to the byte alphabet; with `splits`, by GPT-2's rule first.
fn byte_level(splits: bool) -> Json {
    json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": splits})
}
