//! Whether a folder in Hugging Face layout can serve as a base: architecture, tensors, tokenizer.

use std::path::Path;

use crate::arch::{self, Role};
use crate::config::ModelConfig;
use crate::error::ModelError;
use crate::safetensors::Weights;
use crate::tokenize::{Form, TextTokenizer};

/// What a base is.
#[derive(Debug, Clone)]
pub struct Base {
    /// Its sizes.
    pub config: ModelConfig,
    /// Its parameters, without a head.
    pub parameters: u64,
    /// How it sees a segment.
    pub form: Form,
}

/// Looks at a base as training and scoring will: reads the config, opens the tokenizer, and compares every tensor's shape and
/// stored type with what the config asks for. The numbers are not read.
///
/// # Errors
/// When a file is missing or malformed, the architecture or a setting unsupported, a tensor missing or of another shape, or the
/// tokenizer has ids beyond the vocabulary.
pub fn check(dir: &Path) -> Result<Base, ModelError> {
    let config = ModelConfig::read(dir)?;
    let tokenizer = TextTokenizer::open(dir)?;
    if tokenizer.vocab_size() > config.vocab_size {
        let (ids, rows) = (tokenizer.vocab_size(), config.vocab_size);
        return Err(ModelError::Tokenizer(format!("{ids} ids, but the model embeds only {rows}")));
    }
    let weights = Weights::open(dir)?;
    let mut parameters = 0_u64;
    for spec in arch::tensors(&config).into_iter().filter(|spec| spec.role != Role::Score) {
        weights.require(&spec.name, &spec.shape)?;
        parameters += spec.shape.iter().map(|d| *d as u64).product::<u64>();
    }
    Ok(Base { config, parameters, form: tokenizer.form() })
}
