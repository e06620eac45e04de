//! Asks for a generated title: after one failed, for an older trace, or in the place of the one that is there.

use crate::commands::Rejection;
use crate::error::Code;
use crate::events::TitleRequested;
use crate::ids::TraceId;
use crate::record::{Append, Expected, StreamId};

/// What the decision depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State<'a> {
    /// Where the trace's title is from.
    pub title_source: &'a str,
    /// Whether a language model writes titles here.
    pub is_configured: bool,
    /// Whether the account allows it.
    pub is_allowed: bool,
}

/// The events.
///
/// # Errors
/// [`Code::TitleIsOwn`], [`Code::NotConfigured`], [`Code::LlmSwitchedOff`].
pub fn decide(trace_id: TraceId, state: State<'_>) -> Result<Vec<Append>, Rejection> {
    let State { title_source, is_configured, is_allowed } = state;
    if !matches!(title_source, "derived" | "generated") {
        let detail = format!(
            "the trace has a title of its own ({title_source}); a title that was edited here can be taken back"
        );
        return Err(Rejection::new(Code::TitleIsOwn, detail));
    }
    if !is_allowed {
        let detail =
            "this account does not allow language models to be used for titles; allow it with PATCH /llm-processing";
        return Err(Rejection::new(Code::LlmSwitchedOff, detail));
    }
    if !is_configured {
        let detail = "no language model writes titles here: the operator names one in RM_TITLE_MODEL and sets the key of its provider";
        return Err(Rejection::new(Code::NotConfigured, detail));
    }
    let event = TitleRequested { trace_id };
    Ok(vec![Append { stream: StreamId::Trace(trace_id), expected: Expected::Any, events: vec![event.into()] }])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn a_title_of_ones_own_and_what_is_switched_off_stand() {
        let trace = TraceId(uuid::Uuid::nil());
        let state = State { title_source: "derived", is_configured: true, is_allowed: true };
        assert_eq!(decide(trace, state).unwrap().len(), 1);
        assert!(decide(trace, State { title_source: "generated", ..state }).is_ok());
        let code = |state: State<'_>| decide(trace, state).unwrap_err().code;
        assert_eq!(code(State { title_source: "given", ..state }), Code::TitleIsOwn);
        assert_eq!(code(State { title_source: "edited", ..state }), Code::TitleIsOwn);
        assert_eq!(code(State { is_allowed: false, is_configured: false, ..state }), Code::LlmSwitchedOff);
        assert_eq!(code(State { is_configured: false, ..state }), Code::NotConfigured);
    }
}
