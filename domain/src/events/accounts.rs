//! Accounts and keys: that they exist, never their secrets. E-mail addresses and hashes stand in the identity tables only.

use crate::ids::{ApiKeyId, OwnerId};
use serde::{Deserialize, Serialize};

/// An account was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccountCreated {
    /// The account.
    pub account_id: OwnerId,
    /// `user` or `operator`.
    pub role: String,
    /// Whether the account may use reward models.
    pub reward_models_enabled: bool,
}

/// An operator switched reward models on or off for an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RewardModelsSwitched {
    /// The account.
    pub account_id: OwnerId,
    /// The new state.
    pub enabled: bool,
}

/// An account allowed a use of language models on its content, or forbade it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlmSwitched {
    /// The account.
    pub account_id: OwnerId,
    /// The use: `titles` or `learning` ([`LlmPurpose`](crate::llm::LlmPurpose)).
    pub purpose: String,
    /// The new state. An account that never said anything allows it.
    pub allowed: bool,
}

/// An API key was made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiKeyCreated {
    /// The key.
    pub api_key_id: ApiKeyId,
    /// Its account.
    pub account_id: OwnerId,
    /// `full` or `read-only`.
    pub scope: String,
}

/// An API key stopped working.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApiKeyRevoked {
    /// The key.
    pub api_key_id: ApiKeyId,
}
