//! What tokens cost. Known list prices of common models (checked in November 2026); a setting adds others and changes these.

use super::call::Usage;
use std::collections::HashMap;

/// Millionths of a US dollar per million tokens, so that a token of a price of $1 per million costs one of them, divided by a
/// million: sums are made before the division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    read: u64,
    written: u64,
    cache_read: u64,
    cache_written: u64,
}

/// Tokens that a price is given for.
const TOKENS: u128 = 1_000_000;

impl Price {
    /// From US dollars per million tokens; none when one is no price. Tokens from a cache count as read ones: what a provider
    /// takes off for them is not known.
    pub fn of_dollars(read: f64, written: f64) -> Option<Self> {
        // A price above this is a mistake of units.
        let price = |dollars: f64| (0.0..=100_000.0).contains(&dollars).then(|| (dollars * 1e6).round() as u64);
        let (read, written) = (price(read)?, price(written)?);
        Some(Self { read, written, cache_read: read, cache_written: read })
    }

    /// Anthropic's: reading from the cache is given, writing to it costs a quarter more than reading.
    const fn anthropic(read: u64, written: u64, cache_read: u64) -> Self {
        Self { read, written, cache_read, cache_written: read + read / 4 }
    }

    /// What these tokens cost, in millionths of a US dollar, rounded up.
    pub fn cost_microusd(self, usage: Usage) -> u64 {
        let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        let sum = of(usage.input, self.read)
            + of(usage.output, self.written)
            + of(usage.cache_read, self.cache_read)
            + of(usage.cache_written, self.cache_written);
        u64::try_from(sum.div_ceil(TOKENS)).unwrap_or(u64::MAX)
    }
}

/// Dollars per million as millionths.
const USD: u64 = 1_000_000;

/// Known prices, by how a model's string begins; a longer beginning stands before a shorter one.
const KNOWN: &[(&str, Price)] = &[
    ("anthropic/claude-haiku-4-5", Price::anthropic(USD, 5 * USD, USD / 10)),
    ("anthropic/claude-haiku-5-5", Price::anthropic(USD / 10, USD / 2, USD / 100)),
    ("anthropic/claude-sonnet-5-5", Price::anthropic(2 * USD, 10 * USD, USD / 5)),
    ("anthropic/claude-sonnet-5", Price::anthropic(2 * USD, 10 * USD, USD / 5)),
    ("anthropic/claude-sonnet-4", Price::anthropic(3 * USD, 15 * USD, 3 * USD / 10)),
    ("anthropic/claude-opus-5-5", Price::anthropic(4 * USD, 20 * USD, USD / 5)),
    ("anthropic/claude-opus-5", Price::anthropic(5 * USD, 25 * USD, USD / 2)),
    ("anthropic/claude-opus-4-", Price::anthropic(5 * USD, 25 * USD, USD / 2)),
];

/// Prices by model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    set: HashMap<String, Price>,
}

impl Prices {
    /// Sets the price of a model.
    pub fn set(&mut self, model: &str, price: Price) {
        self.set.insert(model.to_owned(), price);
    }

    /// The price of a model's string; none where it is not known.
    pub fn of(&self, model: &str) -> Option<Price> {
        let known = || {
            let whole = if model.starts_with("claude-") { format!("anthropic/{model}") } else { model.to_owned() };
            KNOWN.iter().find(|(begin, _)| whole.starts_with(begin)).map(|(_, price)| *price)
        };
        self.set.get(model).copied().or_else(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_summed_before_they_are_rounded() {
        let price = Prices::default().of("claude-haiku-4-5-20251001").unwrap();
        let usage = Usage { input: 1_000_000, output: 100_000, cache_read: 10, cache_written: 4 };
        // $1 + $0.50 + 10 × $0.1/M + 4 × $1.25/M
        assert_eq!(price.cost_microusd(usage), 1_500_006);
        assert_eq!(Prices::default().of("openai/gpt-x"), None);
    }

    #[test]
    fn a_price_that_is_set_wins() {
        let mut prices = Prices::default();
        prices.set("claude-haiku-4-5", Price::of_dollars(2.0, 2.0).unwrap());
        let usage = Usage { output: 1_000_000, ..Usage::default() };
        assert_eq!(prices.of("claude-haiku-4-5").unwrap().cost_microusd(usage), 2_000_000);
    }
}
