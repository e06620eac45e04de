//! Language models: which are used for what, how they are reached, what they may take.
//!
//! Addresses and keys of providers stand in variables of their own ([`crate::llm::providers`]), as other tools have them.

use super::environment::{Environment, SettingError};
use super::kinds::{Choice, Count, OptionalCount, Setting, Text};
use super::secret::Secret;
use crate::llm::model::Model;
use crate::llm::prices::{Price, Prices};
use crate::llm::providers::{PROVIDERS, Provider};
use std::collections::HashMap;
use std::time::Duration;

/// The word that switches a use off.
const NONE: &str = "none";

const LEARNING_MODEL: Text = Text {
    name: "RM_LEARNING_MODEL",
    default: LEARNING_MODEL_DEFAULT,
    allowed: "a model's string, such as `anthropic/claude-haiku-4-5`, or `none`",
    secret: false,
    is_valid: is_model_or_none,
    doc: "Judges what agents did, for trainings; nothing is sent unless its key is set. `none` switches it off, and models learn \
          from ratings alone.",
};

const LEARNING_MODEL_DEFAULT: &str = "anthropic/claude-sonnet-5-5";

const TITLE_MODEL: Text = Text {
    name: "RM_TITLE_MODEL",
    default: TITLE_MODEL_DEFAULT,
    allowed: "a model's string, such as `anthropic/claude-haiku-4-5`, or `none`",
    secret: false,
    is_valid: is_model_or_none,
    doc: "Writes titles for traces that come without one; nothing is sent unless its key is set. `none` switches it off, and \
          titles are the first words of the first user message.",
};

const TITLE_MODEL_DEFAULT: &str = "anthropic/claude-haiku-4-5";

const TITLE_POLICY: Choice<TitlePolicy> = Choice {
    name: "RM_TITLE_POLICY",
    default: "`background`",
    choices: &[("background", TitlePolicy::Background), ("required", TitlePolicy::Required)],
    doc: "When missing titles are written: after the import, or during it (`required`), which then fails if a title cannot be \
          written and takes at most 100 traces.",
};

/// When titles are written for traces that come without one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TitlePolicy {
    /// After the import, by a worker.
    Background,
    /// During the import, which fails if that fails.
    Required,
}

const JOB_TOKENS: Count = Count {
    name: "RM_LEARNING_TOKENS_MAX",
    default: 50_000_000,
    min: 1,
    max: 1_000_000_000_000,
    unit: "tokens",
    doc: "What one training may take of language models. A training that reaches it fails; what was found until then is kept, \
          and costs nothing the next time.",
};

const JOB_COST: OptionalCount = OptionalCount {
    name: "RM_LEARNING_COST_MAX_CENTS",
    default: "no bound but that on tokens",
    min: 1,
    max: 100_000_000,
    unit: "US cents",
    doc: "What one training may spend on language models, where prices are known.",
};

const PRICES: Text = Text {
    name: "STASH_LLM_PRICES",
    default: "known prices of common models",
    allowed: "a list such as `openai/my-model=0.5/1.5`: US dollars per million tokens read and written",
    secret: false,
    is_valid: |text| prices(text).is_some(),
    doc: "Prices of models that have none here, or other ones than here.",
};

const CONCURRENCY: Count = Count {
    name: "STASH_LLM_CONCURRENCY",
    default: 8,
    min: 1,
    max: 256,
    unit: "calls",
    doc: "Calls of language models at once at one host.",
};

const TIMEOUT: Count = Count {
    name: "STASH_LLM_TIMEOUT_S",
    default: 180,
    min: 1,
    max: 3600,
    unit: "seconds",
    doc: "How long one call of a language model may take before it is tried again.",
};

pub(super) const SETTINGS: &[&dyn Setting] =
    &[&LEARNING_MODEL, &TITLE_MODEL, &TITLE_POLICY, &JOB_TOKENS, &JOB_COST, &PRICES, &CONCURRENCY, &TIMEOUT];

/// Language models.
#[derive(Clone, Debug)]
pub struct LlmSettings {
    /// Judges what agents did; none: switched off.
    pub learning_model: Option<String>,
    /// Writes titles; none: switched off.
    pub title_model: Option<String>,
    /// When titles are written.
    pub title_policy: TitlePolicy,
    /// Tokens of one training.
    pub learning_tokens_max: u64,
    /// Millionths of a US dollar of one training.
    pub learning_cost_microusd_max: Option<u64>,
    /// Prices.
    pub prices: Prices,
    /// Calls at once at one host.
    pub concurrency: usize,
    /// Time of one call.
    pub timeout: Duration,
    bases: HashMap<&'static str, String>,
    keys: HashMap<&'static str, Secret>,
}

impl LlmSettings {
    /// Names the setting of the model that judges.
    pub const LEARNING_MODEL_NAME: &'static str = LEARNING_MODEL.name;

    /// Names the setting of the model that writes titles.
    pub const TITLE_MODEL_NAME: &'static str = TITLE_MODEL.name;

    /// Reads them, and the files that hold keys.
    ///
    /// # Errors
    /// [`SettingError`].
    pub fn read(environment: &Environment) -> Result<Self, SettingError> {
        let learning_model = LEARNING_MODEL.read(environment)?.unwrap_or_else(|| LEARNING_MODEL_DEFAULT.to_owned());
        let title_model = TITLE_MODEL.read(environment)?.unwrap_or_else(|| TITLE_MODEL_DEFAULT.to_owned());
        let (mut bases, mut keys) = (HashMap::new(), HashMap::new());
        for provider in PROVIDERS {
            if let Some(base) = provider.base_variables.iter().find_map(|name| text(environment, name)) {
                bases.insert(provider.name, base);
            }
            if let Some(variable) = provider.key_variable
                && let Some(key) = key(environment, variable)?
            {
                keys.insert(variable, key);
            }
        }
        Ok(Self {
            learning_model: Some(learning_model).filter(|model| model != NONE),
            title_model: Some(title_model).filter(|model| model != NONE),
            title_policy: TITLE_POLICY.read(environment)?.unwrap_or(TitlePolicy::Background),
            learning_tokens_max: JOB_TOKENS.read(environment)?,
            learning_cost_microusd_max: JOB_COST.read(environment)?.map(|cents| cents.saturating_mul(10_000)),
            prices: PRICES.read(environment)?.as_deref().and_then(prices).unwrap_or_default(),
            concurrency: CONCURRENCY.read_usize(environment)?,
            timeout: Duration::from_secs(TIMEOUT.read(environment)?),
            bases,
            keys,
        })
    }

    /// The address that a variable gives a provider.
    pub fn base(&self, provider: &Provider) -> Option<&str> {
        self.bases.get(provider.name).map(String::as_str)
    }

    /// A provider's key.
    pub fn key(&self, provider: &Provider) -> Option<&Secret> {
        self.keys.get(provider.key_variable?)
    }

    /// Whether what it takes to call a model is there: its key, or an address of one's own.
    pub fn is_ready(&self, model: &str) -> bool {
        crate::llm::endpoint::Endpoint::find(self, model, None).is_ok()
    }
}

fn is_model_or_none(text: &str) -> bool {
    text == NONE || Model::parse(text).is_ok()
}

fn text(environment: &Environment, name: &str) -> Option<String> {
    environment.raw(name)?.to_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Bytes of a file that holds a key; what is larger is some other file.
const KEY_FILE_BYTES_MAX: u64 = 64 * 1024;

/// A key from its variable, or from the file that the variable's name with `_FILE` names.
fn key(environment: &Environment, variable: &'static str) -> Result<Option<Secret>, SettingError> {
    if let Some(key) = text(environment, variable) {
        return Ok(Some(Secret::new(key)));
    }
    let Some(path) = environment.raw(&format!("{variable}_FILE")) else { return Ok(None) };
    let wrong = |what: &str| SettingError {
        name: variable,
        value: format!("the file that {variable}_FILE names {what}, which"),
        allowed: "a key, or nothing with a readable file of one line in that variable".to_owned(),
    };
    let is_small = std::fs::metadata(path).is_ok_and(|found| found.len() <= KEY_FILE_BYTES_MAX);
    let read = if is_small { std::fs::read_to_string(path).ok() } else { None };
    let held = read.map(zeroize::Zeroizing::new).ok_or_else(|| wrong("cannot be read"))?;
    match held.trim() {
        "" => Err(wrong("is empty")),
        key => Ok(Some(Secret::new(key.to_owned()))),
    }
}

fn prices(text: &str) -> Option<Prices> {
    let mut prices = Prices::default();
    for entry in text.split(',').map(str::trim).filter(|entry| !entry.is_empty()) {
        let (model, price) = entry.rsplit_once('=')?;
        let (read, written) = price.split_once('/')?;
        prices.set(model, Price::of_dollars(read.trim().parse().ok()?, written.trim().parse().ok()?)?);
    }
    Some(prices)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::providers::provider;

    fn read(variables: &[(&str, &str)]) -> Result<LlmSettings, SettingError> {
        LlmSettings::read(&Environment::of(variables.iter().copied()))
    }

    #[test]
    fn judging_is_switched_off_by_none_and_needs_a_key_otherwise() {
        let plain = read(&[]).unwrap();
        assert_eq!(plain.learning_model.as_deref(), Some(LEARNING_MODEL_DEFAULT));
        assert!(!plain.is_ready(LEARNING_MODEL_DEFAULT));
        assert!(read(&[("ANTHROPIC_API_KEY", "k")]).unwrap().is_ready(LEARNING_MODEL_DEFAULT));
        assert_eq!(read(&[("RM_LEARNING_MODEL", "none")]).unwrap().learning_model, None);
        assert_eq!(read(&[("RM_LEARNING_MODEL", "what")]).unwrap_err().name, "RM_LEARNING_MODEL");
    }

    #[test]
    fn titles_have_a_model_of_their_own() {
        let plain = read(&[]).unwrap();
        assert_eq!(plain.title_model.as_deref(), Some(TITLE_MODEL_DEFAULT));
        assert_eq!(plain.title_policy, TitlePolicy::Background);
        let set = read(&[("RM_TITLE_MODEL", "none"), ("RM_TITLE_POLICY", "required")]).unwrap();
        assert_eq!((set.title_model, set.title_policy), (None, TitlePolicy::Required));
        assert_eq!(read(&[("RM_TITLE_POLICY", "maybe")]).unwrap_err().name, "RM_TITLE_POLICY");
    }

    #[test]
    fn a_key_may_be_in_a_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "secret-key\n").unwrap();
        let path = file.path().to_str().unwrap();
        let settings = read(&[("OPENAI_API_KEY_FILE", path)]).unwrap();
        assert_eq!(settings.key(provider("openai").unwrap()).unwrap().expose(), "secret-key");
        assert!(!format!("{settings:?}").contains("secret-key"));
        std::fs::write(file.path(), "\n").unwrap();
        assert!(read(&[("OPENAI_API_KEY_FILE", path)]).is_err());
        assert!(read(&[("OPENAI_API_KEY_FILE", "/does/not/exist")]).is_err());
    }

    #[test]
    fn prices_are_a_list() {
        let settings = read(&[("STASH_LLM_PRICES", "openai/a=0.5/1.5, ollama/b:7b=0/0")]).unwrap();
        assert!(settings.prices.of("openai/a").is_some());
        assert!(settings.prices.of("ollama/b:7b").is_some());
        for wrong in ["a", "a=1", "a=x/1", "a=-1/1", "a=nan/1"] {
            assert!(read(&[("STASH_LLM_PRICES", wrong)]).is_err(), "{wrong}");
        }
    }
}
