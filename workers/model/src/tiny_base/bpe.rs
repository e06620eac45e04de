//! Byte-pair merges learnt from a text (Sennrich, Haddow and Birch, 2016), over the byte alphabet of GPT-2. Ties go to
//! the pair of lower ids, so that the same text gives the same merges in every build.

use std::collections::BTreeMap;

use tokenizers::pre_tokenizers::byte_level::ByteLevel;
use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer};

use crate::error::ModelError;

/// A learnt vocabulary.
pub(super) struct Bpe {
    /// Token texts, all different; the index is the id before the special tokens are counted.
    pub(super) tokens: Vec<String>,
    /// Pairs of token texts, in the order they are merged.
    pub(super) merges: Vec<(String, String)>,
}

struct Word {
    ids: Vec<usize>,
    count: usize,
}

/// Learns merges until there are `size` tokens or no pair comes twice.
pub(super) fn train(text: &str, size: usize) -> Result<Bpe, ModelError> {
    let mut alphabet: Vec<char> = ByteLevel::alphabet().into_iter().collect();
    alphabet.sort_unstable();
    let ids: BTreeMap<char, usize> = alphabet.iter().enumerate().map(|(id, c)| (*c, id)).collect();
    let mut tokens: Vec<String> = alphabet.iter().map(char::to_string).collect();
    let mut merges = Vec::new();
    let mut words: Vec<Word> = count_words(text)?
        .into_iter()
        .map(|(word, count)| Word { ids: word.chars().filter_map(|c| ids.get(&c).copied()).collect(), count })
        .collect();
    let mut pairs = PairCounts::new();
    words.iter().for_each(|word| count_pairs(&mut pairs, word, usize::wrapping_add));
    while tokens.len() < size {
        // The most common pair; the last of equals in reverse order is the one of lowest ids.
        let Some((&(a, b), _)) = pairs.iter().rev().max_by_key(|(_, count)| **count).filter(|(_, count)| **count > 1)
        else {
            break;
        };
        let text = format!("{}{}", tokens[a], tokens[b]);
        merges.push((tokens[a].clone(), tokens[b].clone()));
        // Two ways to the same text share one id.
        let merged = tokens.iter().position(|token| *token == text).unwrap_or(tokens.len());
        if merged == tokens.len() {
            tokens.push(text);
        }
        for word in words.iter_mut().filter(|word| word.ids.windows(2).any(|pair| *pair == [a, b])) {
            count_pairs(&mut pairs, word, usize::wrapping_sub);
            merge(&mut word.ids, (a, b), merged);
            count_pairs(&mut pairs, word, usize::wrapping_add);
        }
        pairs.retain(|_, count| *count > 0);
    }
    Ok(Bpe { tokens, merges })
}

type PairCounts = BTreeMap<(usize, usize), usize>;

fn count_pairs(pairs: &mut PairCounts, word: &Word, change: fn(usize, usize) -> usize) {
    for pair in word.ids.windows(2) {
        let count = pairs.entry((pair[0], pair[1])).or_insert(0);
        *count = change(*count, word.count);
    }
}

/// The words of the text as the tokenizer will split it, in byte alphabet, with their counts.
fn count_words(text: &str) -> Result<BTreeMap<String, usize>, ModelError> {
    let mut split = PreTokenizedString::from(text);
    ByteLevel::new(false, false, true).pre_tokenize(&mut split).map_err(|e| ModelError::Tokenizer(e.to_string()))?;
    let mut counts = BTreeMap::new();
    for (word, _, _) in split.get_splits(OffsetReferential::Normalized, OffsetType::None) {
        *counts.entry(word.to_owned()).or_insert(0) += 1;
    }
    Ok(counts)
}

fn merge(ids: &mut Vec<usize>, pair: (usize, usize), merged: usize) {
    let mut out = 0;
    let mut at = 0;
    while at < ids.len() {
        let hit = ids[at] == pair.0 && ids.get(at + 1) == Some(&pair.1);
        ids[out] = if hit { merged } else { ids[at] };
        at += if hit { 2 } else { 1 };
        out += 1;
    }
    ids.truncate(out);
}
