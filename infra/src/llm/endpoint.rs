//! Where a model is and with which key, from its string and the settings.

use super::error::LlmError;
use super::model::Model;
use super::providers::{Provider, Wire};
use crate::config::{LlmSettings, Secret};
use reqwest::Url;

/// Where a model is.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// The model.
    pub model: Model,
    /// Where calls go.
    pub url: Url,
    /// Host and port: what limits and memories are kept by, and what errors name.
    pub host: String,
    /// The key; none for a server that takes calls without.
    pub key: Option<Secret>,
    /// Whether the address is the provider's own, and not one that a setting or a request names.
    pub is_own: bool,
}

impl Endpoint {
    /// Finds it. `base` stands before all settings: the address that a request gave.
    ///
    /// # Errors
    /// [`LlmError::UnknownModel`]; [`LlmError::NotConfigured`] when the address or the key is missing, naming the variable.
    pub fn find(settings: &LlmSettings, model: &str, base: Option<&str>) -> Result<Self, LlmError> {
        let model = Model::parse(model)?;
        let provider = model.provider;
        let refuse = |reason: String| LlmError::NotConfigured { model: model.string.clone(), reason };
        let set = base.or_else(|| settings.base(provider));
        let Some(text) = set.or(provider.base) else {
            return Err(refuse(format!("its server's address is not set ({})", provider.base_variables.join(" or "))));
        };
        let url = url_of(provider, text).ok_or_else(|| refuse("its server's address is no http(s) URL".to_owned()))?;
        let host = match (url.host_str(), url.port()) {
            (Some(host), Some(port)) => format!("{host}:{port}"),
            (Some(host), None) => host.to_owned(),
            (None, _) => return Err(refuse("its server's address names no host".to_owned())),
        };
        // The operator's key is not sent to wherever a request says.
        let key = if base.is_some() { None } else { settings.key(provider).cloned() };
        if key.is_none() && !provider.key_optional && base.is_none() {
            let variable = provider.key_variable.unwrap_or_default();
            return Err(refuse(format!("set {variable}, or {variable}_FILE to a file with the key")));
        }
        Ok(Self { url, host, key, is_own: set.is_none(), model })
    }
}

/// The address of calls below a base, which may end with the version or with the whole path, as people paste it.
fn url_of(provider: &Provider, base: &str) -> Option<Url> {
    let base = base.trim_end_matches('/');
    let text = match provider.wire {
        Wire::Anthropic => {
            let root = base.strip_suffix("/v1/messages").or_else(|| base.strip_suffix("/v1")).unwrap_or(base);
            format!("{root}/v1/messages")
        }
        Wire::OpenAi => {
            let root = base.strip_suffix("/chat/completions").unwrap_or(base);
            // Ollama's own variable is without a path; what is spoken here is its OpenAI door.
            let version = if provider.name.starts_with("ollama") && !root.ends_with("/v1") { "/v1" } else { "" };
            format!("{root}{version}/chat/completions")
        }
    };
    let mut url = Url::parse(&text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    // A name and password in an address would go into logs with it.
    url.set_username("").ok()?;
    url.set_password(None).ok()?;
    Some(url)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Environment;

    fn find(variables: &[(&str, &str)], model: &str) -> Result<Endpoint, LlmError> {
        let settings = LlmSettings::read(&Environment::of(variables.iter().copied())).unwrap();
        Endpoint::find(&settings, model, None)
    }

    #[test]
    fn addresses_come_from_the_table_or_the_usual_variables() {
        let key = ("ANTHROPIC_API_KEY", "k");
        let url = |variables: &[(&str, &str)], model| find(variables, model).unwrap().url.to_string();
        assert_eq!(url(&[key], "claude-x"), "https://api.anthropic.com/v1/messages");
        assert_eq!(url(&[key, ("ANTHROPIC_BASE_URL", "http://h:1/p/")], "claude-x"), "http://h:1/p/v1/messages");
        assert_eq!(url(&[key, ("ANTHROPIC_API_BASE", "http://h/v1")], "claude-x"), "http://h/v1/messages");
        assert_eq!(url(&[("OPENAI_API_KEY", "k")], "gpt-x"), "https://api.openai.com/v1/chat/completions");
        let other = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", "http://h/v1")];
        assert_eq!(url(&other, "openai/x"), "http://h/v1/chat/completions");
        assert_eq!(url(&[], "ollama/x"), "http://localhost:11434/v1/chat/completions");
        assert_eq!(url(&[("OLLAMA_API_BASE", "http://o:9")], "ollama/x"), "http://o:9/v1/chat/completions");
        assert_eq!(
            url(&[("HOSTED_VLLM_API_BASE", "http://u:p@v/v1")], "hosted_vllm/x"),
            "http://v/v1/chat/completions"
        );
    }

    #[test]
    fn what_is_missing_is_named() {
        let refused = |variables: &[(&str, &str)], model| find(variables, model).unwrap_err().to_string();
        assert!(refused(&[], "claude-x").contains("ANTHROPIC_API_KEY_FILE"));
        assert!(refused(&[], "hosted_vllm/x").contains("HOSTED_VLLM_API_BASE"));
        assert!(refused(&[("HOSTED_VLLM_API_BASE", "file:///etc")], "hosted_vllm/x").contains("no http(s) URL"));
    }

    #[test]
    fn a_key_of_the_provider_does_not_go_to_an_address_that_a_request_names() {
        let settings = LlmSettings::read(&Environment::of([("OPENAI_API_KEY", "k")])).unwrap();
        let endpoint = Endpoint::find(&settings, "openai/x", Some("http://elsewhere/v1")).unwrap();
        assert!(endpoint.key.is_none());
        assert!(Endpoint::find(&settings, "openai/x", None).unwrap().key.is_some());
    }
}
