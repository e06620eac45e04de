//! Gives a reward model another name, whatever its training is at.

use super::checked_name;
use crate::commands::Rejection;
use crate::events::RewardModelRenamed;
use crate::ids::RewardModelId;
use crate::record::{Append, Expected, StreamId};
use crate::sealed::Sealed;

/// The name as it will be kept.
///
/// # Errors
/// [`Code::InvalidField`](crate::error::Code::InvalidField), naming the field.
pub fn check(name: &str) -> Result<String, Rejection> {
    checked_name(name)
}

/// The events; the name comes sealed under the model's own key. Of two changes at once the last one stands.
pub fn decide(reward_model_id: RewardModelId, name: Sealed) -> Vec<Append> {
    let event = RewardModelRenamed { reward_model_id, name };
    vec![Append { stream: StreamId::RewardModel(reward_model_id), expected: Expected::Any, events: vec![event.into()] }]
}
