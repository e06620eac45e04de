//! Allows uses of language models on the account's content, or forbids them.

use crate::commands::Rejection;
use crate::error::Code;
use crate::events::{Event, LlmSwitched};
use crate::ids::OwnerId;
use crate::llm::LlmPurpose;
use crate::record::{Append, Expected, StreamId};

/// The events: one for each use that is named, also where it changes nothing, so that the history shows what was asked for.
///
/// # Errors
/// [`Code::InvalidField`] when none is named.
pub fn decide(
    account_id: OwnerId,
    wanted: impl IntoIterator<Item = (LlmPurpose, Option<bool>)>,
) -> Result<Vec<Append>, Rejection> {
    let event = |(purpose, allowed): (LlmPurpose, Option<bool>)| -> Option<Event> {
        Some(LlmSwitched { account_id, purpose: purpose.name().to_owned(), allowed: allowed? }.into())
    };
    let events: Vec<Event> = wanted.into_iter().filter_map(event).collect();
    if events.is_empty() {
        let names: Vec<&str> = LlmPurpose::ALL.iter().map(|purpose| purpose.name()).collect();
        let detail = format!("name at least one of {} with true or false", names.join(", "));
        return Err(Rejection::new(Code::InvalidField, detail));
    }
    Ok(vec![Append { stream: StreamId::Account(account_id), expected: Expected::Any, events }])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn what_is_named_is_switched_and_something_must_be() {
        let account = OwnerId(uuid::Uuid::nil());
        let decided = decide(account, [(LlmPurpose::Titles, Some(false)), (LlmPurpose::Learning, None)]).unwrap();
        assert_eq!(decided[0].events.len(), 1);
        let refused = decide(account, [(LlmPurpose::Titles, None)]).unwrap_err();
        assert_eq!(refused.code, Code::InvalidField);
    }
}
