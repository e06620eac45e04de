//! Joins tool calls and their results when ids are missing or used twice.
//!
//! A call without an id gets one, and the result that answers it gets the same: by the tool's name first, then first in first
//! out among the calls still open. An id used again belongs to the nearest call before that is still open.

use std::collections::VecDeque;

/// Open calls remembered. A trace that leaves more calls without a result forgets the oldest, whose late result then keeps
/// whatever id it has. Each result looks through them all, so that the bound keeps a hostile trace from taking long.
const OPEN_CALLS_MAX: usize = 1_000;

/// What ids that are made begin with.
const MADE: &str = "stash-call-";

struct Call {
    id: String,
    tool: String,
}

/// The calls of a trace that wait for their result.
#[derive(Default)]
pub(crate) struct CallIds {
    open: VecDeque<Call>,
    made: u64,
}

impl CallIds {
    /// Takes a call; its id.
    pub(crate) fn call(&mut self, id: Option<String>, tool: &str) -> String {
        let id = match id.filter(|id| !id.is_empty()) {
            Some(id) => {
                self.pass_over(&id);
                id
            }
            None => self.make(),
        };
        if self.open.len() >= OPEN_CALLS_MAX {
            self.open.pop_front();
        }
        self.open.push_back(Call { id: id.clone(), tool: tool.to_owned() });
        id
    }

    /// Takes a result; its id, and the name of the tool if its call is known.
    pub(crate) fn result(&mut self, id: Option<String>, tool: Option<&str>) -> (String, Option<String>) {
        let at = match &id {
            Some(id) if !id.is_empty() => self.open.iter().rposition(|call| call.id == *id),
            _ => {
                let by_name = tool.and_then(|tool| self.open.iter().position(|call| call.tool == tool));
                by_name.or(if self.open.is_empty() { None } else { Some(0) })
            }
        };
        match at.and_then(|at| self.open.remove(at)) {
            Some(call) => (call.id, Some(call.tool)),
            None => (id.filter(|id| !id.is_empty()).unwrap_or_else(|| self.make()), None),
        }
    }

    /// Whether any call waits for its result.
    pub(crate) fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// An id that depends on nothing but the number of those made before in the trace, so that a re-import makes the same.
    fn make(&mut self) -> String {
        self.made = self.made.saturating_add(1);
        format!("{MADE}{}", self.made)
    }

    /// An id that an earlier import made is not made again for another call.
    pub(crate) fn pass_over(&mut self, id: &str) {
        if let Some(number) = id.strip_prefix(MADE).and_then(|number| number.parse().ok()) {
            self.made = self.made.max(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn a_missing_id_is_made_and_shared() {
        let mut calls = CallIds::default();
        let (one, two) = (calls.call(None, "a"), calls.call(None, "b"));
        assert_ne!(one, two);
        assert_eq!(calls.result(None, Some("b")), (two, id("b")));
        assert_eq!(calls.result(None, None), (one, id("a")));
        assert_eq!(calls.result(None, None).1, None);
    }

    #[test]
    fn an_id_that_was_made_before_is_not_made_for_another_call() {
        let mut calls = CallIds::default();
        calls.call(id("stash-call-2"), "a");
        calls.call(id("stash-call-x"), "b");
        assert_eq!(calls.call(None, "c"), "stash-call-3");
    }

    #[test]
    fn a_reused_id_belongs_to_the_nearest_open_call() {
        let mut calls = CallIds::default();
        calls.call(id("x"), "first");
        calls.call(id("x"), "second");
        assert_eq!(calls.result(id("x"), None).1, id("second"));
        assert_eq!(calls.result(id("x"), None).1, id("first"));
        assert_eq!(calls.result(id("x"), None), ("x".to_owned(), None));
    }
}
