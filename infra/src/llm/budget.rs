//! What a job may take.
//!
//! A call is refused when the budget is spent, before anything is sent. Calls that run at that moment still end and are counted,
//! so a budget may be overdrawn by as many calls as run at once.

use super::call::{Reply, Usage};
use super::error::LlmError;
use std::sync::{Mutex, PoisonError};

/// What was taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Calls that were answered.
    pub calls: u64,
    /// Tokens.
    pub usage: Usage,
    /// Millionths of a US dollar, of the calls whose price is known.
    pub cost_microusd: u64,
    /// Whether the price of every call was known.
    pub cost_is_whole: bool,
}

impl Spent {
    /// What of it was spent after `before` was. Whether the price of every call was known is said of all of them.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        let (now, then) = (self.usage, before.usage);
        Self {
            calls: self.calls.saturating_sub(before.calls),
            usage: Usage {
                input: now.input.saturating_sub(then.input),
                output: now.output.saturating_sub(then.output),
                cache_read: now.cache_read.saturating_sub(then.cache_read),
                cache_written: now.cache_written.saturating_sub(then.cache_written),
            },
            cost_microusd: self.cost_microusd.saturating_sub(before.cost_microusd),
            cost_is_whole: self.cost_is_whole,
        }
    }
}

/// A budget, shared by the calls of a job.
#[derive(Debug)]
pub struct Budget {
    tokens_max: Option<u64>,
    cost_microusd_max: Option<u64>,
    spent: Mutex<Spent>,
}

impl Budget {
    /// One with these bounds.
    pub fn new(tokens_max: Option<u64>, cost_microusd_max: Option<u64>) -> Self {
        let spent = Spent { cost_is_whole: true, ..Spent::default() };
        Self { tokens_max, cost_microusd_max, spent: Mutex::new(spent) }
    }

    /// One without.
    pub fn unbounded() -> Self {
        Self::new(None, None)
    }

    /// What was spent.
    pub fn spent(&self) -> Spent {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was spent before, by an earlier attempt at the same job.
    pub fn spend_before(&self, before: Spent) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.calls = spent.calls.saturating_add(before.calls);
        spent.usage = spent.usage.plus(before.usage);
        spent.cost_microusd = spent.cost_microusd.saturating_add(before.cost_microusd);
        spent.cost_is_whole &= before.cost_is_whole;
    }

    /// Takes what a reply took.
    pub fn spend(&self, reply: &Reply) {
        let mut spent = self.spent.lock().unwrap_or_else(PoisonError::into_inner);
        spent.calls = spent.calls.saturating_add(1);
        spent.usage = spent.usage.plus(reply.usage);
        spent.cost_microusd = spent.cost_microusd.saturating_add(reply.cost_microusd.unwrap_or(0));
        spent.cost_is_whole &= reply.cost_microusd.is_some();
    }

    /// Whether another call may be made.
    ///
    /// # Errors
    /// [`LlmError::BudgetSpent`], with the bound that was reached.
    pub fn check(&self) -> Result<(), LlmError> {
        let spent = self.spent();
        let tokens = spent.usage.total();
        if let Some(max) = self.tokens_max.filter(|max| tokens >= *max) {
            return Err(LlmError::BudgetSpent(format!("{tokens} of {max} tokens")));
        }
        if let Some(max) = self.cost_microusd_max.filter(|max| spent.cost_microusd >= *max) {
            let dollars = |microusd: u64| microusd as f64 / 1e6;
            let text = format!("${:.2} of ${:.2}", dollars(spent.cost_microusd), dollars(max));
            return Err(LlmError::BudgetSpent(text));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::call::Stop;
    use crate::llm::form::Form;

    fn reply(output: u64, cost_microusd: Option<u64>) -> Reply {
        Reply {
            text: String::new(),
            stop: Stop::End,
            model: "m".into(),
            usage: Usage { output, ..Usage::default() },
            cost_microusd,
            form: Form::Text,
        }
    }

    #[test]
    fn a_spent_budget_takes_no_more_calls() {
        let budget = Budget::new(Some(100), Some(50));
        budget.spend(&reply(99, Some(49)));
        assert_eq!(budget.check(), Ok(()));
        budget.spend(&reply(0, Some(1)));
        assert!(matches!(budget.check(), Err(LlmError::BudgetSpent(_))));
        assert!(budget.spent().cost_is_whole);
        let before = budget.spent();
        budget.spend(&reply(7, Some(3)));
        let since = budget.spent().since(before);
        assert_eq!((since.calls, since.usage.output, since.cost_microusd), (1, 7, 3));
        let budget = Budget::new(Some(100), None);
        budget.spend(&reply(100, None));
        assert!(budget.check().is_err());
        assert!(!budget.spent().cost_is_whole);
    }
}
