//! Providers: what a model's string begins with, where its server is, and which variables say otherwise.
//!
//! Names and variables are those of LiteLLM, which users of other tools know. To add one: a line in [`PROVIDERS`]; the table in
//! `docs/llm.md` is written from it.

use std::fmt::Write as _;

/// A wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's chat completions, which most others speak too.
    OpenAi,
}

/// A provider.
#[derive(Debug)]
pub struct Provider {
    /// What its models' strings begin with, before the slash.
    pub name: &'static str,
    /// How it is spoken to.
    pub wire: Wire,
    /// Where it is; none: a variable must say so. For [`Wire::Anthropic`] without, for [`Wire::OpenAi`] with the version's part.
    pub base: Option<&'static str>,
    /// Variables that say where it is instead, first one first.
    pub base_variables: &'static [&'static str],
    /// The variable with its key.
    pub key_variable: Option<&'static str>,
    /// Whether it takes calls without a key: servers that people run themselves.
    pub key_optional: bool,
}

const fn hosted(
    name: &'static str,
    base: &'static str,
    variables: &'static [&'static str],
    key: &'static str,
) -> Provider {
    Provider {
        name,
        wire: Wire::OpenAi,
        base: Some(base),
        base_variables: variables,
        key_variable: Some(key),
        key_optional: false,
    }
}

const fn own(
    name: &'static str,
    base: Option<&'static str>,
    variables: &'static [&'static str],
    key: Option<&'static str>,
) -> Provider {
    Provider { name, wire: Wire::OpenAi, base, base_variables: variables, key_variable: key, key_optional: true }
}

/// All providers.
pub static PROVIDERS: &[Provider] = &[
    Provider {
        name: "anthropic",
        wire: Wire::Anthropic,
        base: Some("https://api.anthropic.com"),
        base_variables: &["ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL"],
        key_variable: Some("ANTHROPIC_API_KEY"),
        key_optional: false,
    },
    hosted("openai", "https://api.openai.com/v1", &["OPENAI_BASE_URL", "OPENAI_API_BASE"], "OPENAI_API_KEY"),
    own("custom_openai", None, &["CUSTOM_OPENAI_API_BASE"], Some("CUSTOM_OPENAI_API_KEY")),
    own("hosted_vllm", None, &["HOSTED_VLLM_API_BASE"], Some("HOSTED_VLLM_API_KEY")),
    own("ollama", Some("http://localhost:11434/v1"), &["OLLAMA_API_BASE"], Some("OLLAMA_API_KEY")),
    own("ollama_chat", Some("http://localhost:11434/v1"), &["OLLAMA_API_BASE"], Some("OLLAMA_API_KEY")),
    own("lm_studio", Some("http://localhost:1234/v1"), &["LM_STUDIO_API_BASE"], Some("LM_STUDIO_API_KEY")),
    own("llamafile", Some("http://localhost:8080/v1"), &["LLAMAFILE_API_BASE"], Some("LLAMAFILE_API_KEY")),
    own("litellm_proxy", None, &["LITELLM_PROXY_API_BASE"], Some("LITELLM_PROXY_API_KEY")),
    hosted("openrouter", "https://openrouter.ai/api/v1", &["OPENROUTER_API_BASE"], "OPENROUTER_API_KEY"),
    hosted("groq", "https://api.groq.com/openai/v1", &["GROQ_API_BASE"], "GROQ_API_KEY"),
    hosted("mistral", "https://api.mistral.ai/v1", &["MISTRAL_API_BASE"], "MISTRAL_API_KEY"),
    hosted("deepseek", "https://api.deepseek.com/v1", &["DEEPSEEK_API_BASE"], "DEEPSEEK_API_KEY"),
    hosted("xai", "https://api.x.ai/v1", &["XAI_API_BASE"], "XAI_API_KEY"),
    hosted("together_ai", "https://api.together.xyz/v1", &["TOGETHER_AI_API_BASE"], "TOGETHERAI_API_KEY"),
    hosted("fireworks_ai", "https://api.fireworks.ai/inference/v1", &["FIREWORKS_AI_API_BASE"], "FIREWORKS_AI_API_KEY"),
    hosted("cerebras", "https://api.cerebras.ai/v1", &["CEREBRAS_API_BASE"], "CEREBRAS_API_KEY"),
    hosted("gemini", "https://generativelanguage.googleapis.com/v1beta/openai", &["GEMINI_API_BASE"], "GEMINI_API_KEY"),
    hosted(
        "dashscope",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        &["DASHSCOPE_API_BASE"],
        "DASHSCOPE_API_KEY",
    ),
    hosted("moonshot", "https://api.moonshot.ai/v1", &["MOONSHOT_API_BASE"], "MOONSHOT_API_KEY"),
];

/// Beginnings of models' names that need no provider before them.
pub(super) const BARE: &[(&str, &str)] = &[
    ("claude-", "anthropic"),
    ("gpt-", "openai"),
    ("chatgpt-", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
];

/// The provider of this name.
pub fn provider(name: &str) -> Option<&'static Provider> {
    PROVIDERS.iter().find(|provider| provider.name == name)
}

/// The table of providers in `docs/llm.md`.
pub fn providers_table() -> String {
    let mut table = String::from("| model | server | its address from | key from |\n|---|---|---|---|\n");
    for provider in PROVIDERS {
        let variables: Vec<String> = provider.base_variables.iter().map(|name| format!("`{name}`")).collect();
        let server = provider.base.map_or("none: must be set".to_owned(), |base| format!("`{base}`"));
        let key = provider.key_variable.map_or(String::new(), |name| format!("`{name}`"));
        let optional = if provider.key_optional { " (may be left out)" } else { "" };
        let _ = writeln!(table, "| `{}/…` | {server} | {} | {key}{optional} |", provider.name, variables.join(", "));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_the_table_that_the_code_makes() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/llm.md");
        let page = std::fs::read_to_string(&path).unwrap();
        let (before, rest) = page.split_once("<!-- providers -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- /providers -->").unwrap();
        let made = format!("{before}<!-- providers -->\n{}<!-- /providers -->{after}", providers_table());
        if std::env::var_os("UPDATE_DOCS").is_some() {
            std::fs::write(&path, &made).unwrap();
        }
        assert!(
            page == made || std::env::var_os("UPDATE_DOCS").is_some(),
            "docs/llm.md is not what the code says; run: UPDATE_DOCS=1 cargo test -p stash-infra --lib providers"
        );
    }

    #[test]
    fn names_are_unique() {
        let names: std::collections::HashSet<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
        assert_eq!(names.len(), PROVIDERS.len());
        assert!(BARE.iter().all(|(_, name)| provider(name).is_some()));
    }
}
