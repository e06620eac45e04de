//! Choices that follow from a seed alone, the same on every machine and in every version.

/// SplitMix64 (Steele, Lea and Flood, 2014): 64 bits of state, every 64-bit value once per period. Not for secrets.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// Starts from a seed and the name of what is chosen, so that two uses of one seed choose independently.
    pub fn new(seed: i64, purpose: &str) -> Self {
        let mixed = crate::ids::derive(purpose, &[&seed.to_be_bytes()]).as_u64_pair();
        Self(mixed.0 ^ mixed.1)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `bound`; 0 for a bound of 0. The high half of a 128-bit product (Lemire, 2019), without its correction: the
    /// bias is below 2⁻³² for every bound that we use.
    pub fn below(&mut self, bound: usize) -> usize {
        let product = u128::from(self.next_u64()) * bound as u128;
        usize::try_from(product >> 64).unwrap_or(0)
    }

    /// Puts a list into an order that follows from the seed (Fisher and Yates, from the end).
    pub fn shuffle<T>(&mut self, list: &mut [T]) {
        for end in (1..list.len()).rev() {
            let other = self.below(end + 1);
            list.swap(end, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_never_changes() {
        // A changed value here would change the split of every model trained with this seed.
        let mut list: Vec<u32> = (0..10).collect();
        Seeded::new(0, "split").shuffle(&mut list);
        let mut again: Vec<u32> = (0..10).collect();
        Seeded::new(0, "split").shuffle(&mut again);
        assert_eq!(list, again);
        let mut other: Vec<u32> = (0..10).collect();
        Seeded::new(1, "split").shuffle(&mut other);
        assert_ne!(list, other);
        list.sort_unstable();
        assert_eq!(list, (0..10).collect::<Vec<_>>());
    }

    #[test]
    fn numbers_stay_below_their_bound() {
        let mut seeded = Seeded::new(7, "test");
        assert!((0..1000).map(|_| seeded.below(3)).all(|n| n < 3));
        assert_eq!(seeded.below(0), 0);
    }
}
