//! Which texts are computed together: those of like length, within a bound on memory.

/// Most texts of a batch.
pub const BATCH_TEXTS_MAX: usize = 64;
/// Most cells (texts times the longest of them) of a batch: the layers' intermediate values take about 50 KB a cell for
/// a model of Qwen3-0.6B's size, 400 MB in all. One text of any length up to the limit makes a batch by itself.
pub const BATCH_CELLS_MAX: usize = 8_192;

/// Batches of indices into `lengths`. Every index is in one of them; long texts come first, so that the memory needed is
/// known at the beginning.
pub fn batches(lengths: &[usize]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|index| std::cmp::Reverse(lengths[*index]));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    for index in order {
        match batches.last_mut() {
            // The first of a batch is its longest.
            Some(batch)
                if batch.len() < BATCH_TEXTS_MAX && lengths[batch[0]] * (batch.len() + 1) <= BATCH_CELLS_MAX =>
            {
                batch.push(index);
            }
            _ => batches.push(vec![index]),
        }
    }
    batches
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_text_is_in_one_bounded_batch(lengths in proptest::collection::vec(1usize..1500, 0..400)) {
            let batches = batches(&lengths);
            for batch in &batches {
                let longest = batch.iter().map(|index| lengths[*index]).max().unwrap();
                prop_assert!(batch.len() <= BATCH_TEXTS_MAX);
                prop_assert!(batch.len() == 1 || longest * batch.len() <= BATCH_CELLS_MAX);
            }
            let mut all = batches.concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..lengths.len()).collect::<Vec<_>>());
        }
    }
}
