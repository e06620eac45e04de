//! `stash_manifest.json`: what a checkpoint says about its own making, so that it is scored by the rules it was trained
//! by.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::ModelError;
use crate::files;
use crate::tokenize::Form;

/// Name of the file in a checkpoint.
pub const FILE: &str = "stash_manifest.json";
/// The rendering this code tokenises.
pub const RENDERING_VERSION: u32 = 1;

/// How a text longer than the limit is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TruncationRule {
    /// Every text by itself keeps its last tokens.
    Strict,
}

/// The arithmetic that a model is scored in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floats.
    Fp32,
    /// Bfloat16, accumulated in 32 bits.
    Bf16,
    /// Products of 8-bit integers, rounded for each row and for each output; all else in 32-bit floats.
    Int8,
}

impl Precision {
    /// Its name, as the manifest and the settings have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Bf16 => "bf16",
            Self::Int8 => "int8",
        }
    }
}

/// The manifest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the rendering the model was trained on.
    pub rendering_version: u32,
    /// How segments were tokenised.
    pub form: Form,
    /// Most tokens of a text.
    pub token_limit: usize,
    /// How longer texts are cut.
    pub truncation: TruncationRule,
    /// [`crate::checksum::of_model`] of the base.
    pub base_checksum: String,
    /// Seed of the training.
    pub seed: u64,
    /// Version of the code that trained.
    pub code_version: String,
    /// The arithmetic in which the statistics beside the model were made; none before they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub precision: Option<Precision>,
}

impl Manifest {
    /// Reads the manifest of a checkpoint.
    ///
    /// # Errors
    /// When it is missing or malformed, or names a rule this code does not implement.
    pub fn read(checkpoint: &Path) -> Result<Self, ModelError> {
        let manifest: Self = files::read_json(&checkpoint.join(FILE))?;
        if manifest.rendering_version != RENDERING_VERSION {
            let version = manifest.rendering_version;
            return Err(ModelError::Manifest(format!(
                "rendering version {version} is not known, only {RENDERING_VERSION}"
            )));
        }
        if manifest.token_limit == 0 {
            return Err(ModelError::Manifest("the token limit is 0".to_owned()));
        }
        Ok(manifest)
    }

    /// Writes the manifest into a checkpoint.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn write(&self, checkpoint: &Path) -> Result<(), ModelError> {
        files::write_json(&checkpoint.join(FILE), self)
    }
}
