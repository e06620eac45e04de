//! The string that names a model: `provider/model`, or a name that everybody knows.

use super::error::LlmError;
use super::providers::{BARE, PROVIDERS, Provider, provider};

/// Characters of a model's string. Repository names with a revision fit.
pub const MODEL_CHARS_MAX: usize = 200;

/// A model of a provider.
#[derive(Clone, Debug)]
pub struct Model {
    /// Its string, whole.
    pub string: String,
    /// Who serves it.
    pub provider: &'static Provider,
    /// How the provider calls it: everything after the first slash, as it is.
    pub name: String,
}

impl Model {
    /// Reads a string.
    ///
    /// # Errors
    /// [`LlmError::UnknownModel`], which says what was expected.
    pub fn parse(string: &str) -> Result<Self, LlmError> {
        let refuse = |reason: String| {
            let model = string.chars().take(MODEL_CHARS_MAX).collect();
            Err(LlmError::UnknownModel { model, reason })
        };
        if string.chars().count() > MODEL_CHARS_MAX
            || string.chars().any(|char| char.is_control() || char.is_whitespace())
        {
            return refuse(format!("a model's string has at most {MODEL_CHARS_MAX} characters and no spaces"));
        }
        let found = string.split_once('/').and_then(|(first, rest)| Some((provider(first)?, rest)));
        let bare = || {
            let (_, name) = BARE.iter().find(|(begin, _)| string.starts_with(begin))?;
            Some((provider(name)?, string))
        };
        match found.or_else(bare) {
            Some((_, "")) => refuse("it lacks the model's name after the slash".to_owned()),
            Some((provider, name)) => Ok(Self { string: string.to_owned(), provider, name: name.to_owned() }),
            None => {
                let names: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
                refuse(format!("it should be provider/model, with one of the providers {}", names.join(", ")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(string: &str) -> (&'static str, String) {
        let model = Model::parse(string).unwrap();
        (model.provider.name, model.name)
    }

    #[test]
    fn the_provider_stands_before_the_first_slash() {
        assert_eq!(parse("anthropic/claude-haiku-4-5"), ("anthropic", "claude-haiku-4-5".into()));
        assert_eq!(parse("openrouter/anthropic/claude-x"), ("openrouter", "anthropic/claude-x".into()));
        assert_eq!(parse("hosted_vllm/Qwen/Qwen3-0.6B"), ("hosted_vllm", "Qwen/Qwen3-0.6B".into()));
    }

    #[test]
    fn known_names_need_none() {
        assert_eq!(parse("claude-haiku-4-5"), ("anthropic", "claude-haiku-4-5".into()));
        assert_eq!(parse("gpt-5-mini"), ("openai", "gpt-5-mini".into()));
        assert_eq!(parse("o3-mini"), ("openai", "o3-mini".into()));
    }

    #[test]
    fn what_is_not_known_is_refused_with_what_was_expected() {
        for string in ["", "x", "nobody/x", "openai/", "openai/a b", &"x".repeat(300)] {
            let refused = Model::parse(string).unwrap_err().to_string();
            assert!(refused.contains("is not known"), "{refused}");
        }
        assert!(Model::parse("nobody/x").unwrap_err().to_string().contains("anthropic, openai"));
    }
}
