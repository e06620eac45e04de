//! Finding a quote in the content it was taken from.

use super::Quote;
use std::ops::Range;

/// Occurrences of the quoted text that are compared; a text that recurs more often is told by its first ones.
const OCCURRENCES_MAX: usize = 10_000;

/// Where the quote stands, in code points; none if its text does not occur.
///
/// Of several occurrences, the one with the most of the prefix before it and of the suffix behind it wins, the first of equals.
/// Offsets count code points, so that they mean the same in every language, whatever its strings are made of.
pub fn find_quote(content: &str, quote: &Quote) -> Option<Range<usize>> {
    if quote.text.is_empty() {
        return None;
    }
    // Occurrences may overlap, as "**" does in "***", so each search begins one character after the last find.
    let next = |at: &usize| {
        let from = at + content.get(*at..)?.chars().next()?.len_utf8();
        content.get(from..)?.find(&quote.text).map(|found| from + found)
    };
    let best = std::iter::successors(content.find(&quote.text), next)
        .take(OCCURRENCES_MAX)
        .map(|at| (context_length(content, at, quote), at))
        // max_by_key keeps the last of equals, so later places count as less.
        .max_by_key(|(length, at)| (*length, std::cmp::Reverse(*at)))?;
    let start = content.get(..best.1)?.chars().count();
    Some(start..start + quote.text.chars().count())
}

/// Code points of prefix and suffix that surround an occurrence.
fn context_length(content: &str, at: usize, quote: &Quote) -> usize {
    let before = content.get(..at).unwrap_or_default();
    let after = content.get(at + quote.text.len()..).unwrap_or_default();
    let same = |pair: &(char, char)| pair.0 == pair.1;
    before.chars().rev().zip(quote.prefix.chars().rev()).take_while(same).count()
        + after.chars().zip(quote.suffix.chars()).take_while(same).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quote(text: &str, prefix: &str, suffix: &str) -> Quote {
        Quote { text: text.to_owned(), prefix: prefix.to_owned(), suffix: suffix.to_owned() }
    }

    #[test]
    fn offsets_count_code_points() {
        assert_eq!(find_quote("👍🏽 yes\r\nyes", &quote("yes", "", "")), Some(3..6));
    }

    #[test]
    fn repeated_text_is_told_by_what_surrounds_it() {
        let content = "pay 5 now, or pay 5 later";
        assert_eq!(find_quote(content, &quote("pay 5", "", " now")), Some(0..5));
        assert_eq!(find_quote(content, &quote("pay 5", "or ", "")), Some(14..19));
        assert_eq!(find_quote(content, &quote("pay 5", "", "")), Some(0..5));
    }

    #[test]
    fn occurrences_may_overlap() {
        assert_eq!(find_quote("a***b", &quote("**", "a*", "b")), Some(2..4));
        assert_eq!(find_quote("a***b", &quote("**", "a", "*b")), Some(1..3));
    }

    #[test]
    fn what_does_not_occur_is_not_found() {
        assert_eq!(find_quote("abc", &quote("d", "", "")), None);
        assert_eq!(find_quote("abc", &quote("", "", "")), None);
    }

    proptest! {
        #[test]
        fn a_quote_cut_from_the_content_is_found_with_its_own_text(content in "\\PC{1,60}", from in 0_usize..60, len in 1_usize..10) {
            let chars: Vec<char> = content.chars().collect();
            let from = from % chars.len();
            let to = (from + len).min(chars.len());
            let text: String = chars[from..to].iter().collect();
            let prefix: String = chars[..from].iter().collect();
            let suffix: String = chars[to..].iter().collect();
            let found = find_quote(&content, &quote(&text, &prefix, &suffix)).unwrap();
            let again: String = chars[found.clone()].iter().collect();
            prop_assert_eq!(again, text);
            prop_assert_eq!(found, from..to);
        }
    }
}
