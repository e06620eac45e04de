//! Texts that begin as an earlier one does.
//!
//! A call of a model is recorded with the whole history that it was given, so that its text begins as the one of the call before
//! does. In a frame such a beginning stands once: of the later text only the rest is kept, and a [`Repeat`] says what comes before
//! it. With ten calls a tenth of the bytes is left, to be written, sealed, opened and stored.

use super::OtelSpan;
use crate::frame::BadFrame;
use crate::json::Json;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Bytes in common that are worth a [`Repeat`], which takes about twenty.
const COMMON_BYTES_MIN: usize = 64;

/// Bytes that are compared at once.
const STRIDE_BYTES: usize = 64;

/// Bytes that the repeats of one frame may stand for. A frame is cut by the size of what was sent, far below this; only damage
/// says more.
const REPEATED_BYTES_MAX: usize = 1024 * 1024 * 1024;

/// That the text of an attribute begins as an earlier one in the same frame: place of the span, of the attribute in it, the same of
/// the earlier one, and how many bytes they have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Repeat(u32, u32, u32, u32, u32);

impl Repeat {
    /// Bytes in common.
    pub(super) fn bytes(&self) -> usize {
        index(self.4)
    }
}

/// Takes beginnings out that stand in an earlier text of the same name.
pub(super) fn take_out(spans: &mut [OtelSpan]) -> Vec<Repeat> {
    let mut repeats = Vec::new();
    let mut last: BTreeMap<&str, (usize, usize, &str)> = BTreeMap::new();
    let mut repeated = 0_usize;
    for (at, span) in spans.iter().enumerate() {
        for (nth, (name, value)) in span.attributes.0.iter().enumerate() {
            let Some(text) = value.as_text().filter(|text| text.len() >= COMMON_BYTES_MIN) else { continue };
            let Some((of, of_nth, earlier)) = last.insert(name, (at, nth, text)) else { continue };
            let common = common(earlier, text);
            let sum = repeated.saturating_add(common);
            let numbers = [at, nth, of, of_nth, common].map(u32::try_from);
            if let ([Ok(at), Ok(nth), Ok(of), Ok(of_nth), Ok(bytes)], true) =
                (numbers, common >= COMMON_BYTES_MIN && sum <= REPEATED_BYTES_MAX)
            {
                repeated = sum;
                repeats.push(Repeat(at, nth, of, of_nth, bytes));
            }
        }
    }
    for Repeat(at, nth, _, _, bytes) in &repeats {
        if let Some(text) = text_at(spans, *at, *nth) {
            *text = text.split_off(index(*bytes).min(text.len()));
        }
    }
    repeats
}

/// Puts back what [`take_out`] took, in the same order, so that each earlier text is whole by then.
///
/// # Errors
/// [`BadFrame`] for what no [`take_out`] gave.
pub(super) fn put_back(spans: &mut [OtelSpan], repeats: &[Repeat]) -> Result<(), BadFrame> {
    let wrong = || BadFrame("a repeated text is not there".to_owned());
    let sum = repeats.iter().map(Repeat::bytes).fold(0, usize::saturating_add);
    if sum > REPEATED_BYTES_MAX {
        return Err(BadFrame("texts repeat too much".to_owned()));
    }
    for Repeat(at, nth, of, of_nth, bytes) in repeats {
        if (of, of_nth) >= (at, nth) {
            return Err(wrong());
        }
        let rest = std::mem::take(text_at(spans, *at, *nth).ok_or_else(wrong)?);
        let earlier = text_at(spans, *of, *of_nth).ok_or_else(wrong)?;
        let mut whole = String::with_capacity(index(*bytes).saturating_add(rest.len()));
        whole.push_str(earlier.get(..index(*bytes)).ok_or_else(wrong)?);
        whole.push_str(&rest);
        *text_at(spans, *at, *nth).ok_or_else(wrong)? = whole;
    }
    Ok(())
}

fn text_at(spans: &mut [OtelSpan], span: u32, nth: u32) -> Option<&mut String> {
    match spans.get_mut(index(span))?.attributes.0.get_mut(index(nth))? {
        (_, Json::Text(text)) => Some(text),
        _ => None,
    }
}

fn index(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Bytes that both begin with, whole characters only.
fn common(a: &str, b: &str) -> usize {
    let strides = a.as_bytes().chunks_exact(STRIDE_BYTES).zip(b.as_bytes().chunks_exact(STRIDE_BYTES));
    let whole = strides.take_while(|(a, b)| a == b).count() * STRIDE_BYTES;
    let ends = a.bytes().skip(whole).zip(b.bytes().skip(whole)).take_while(|(a, b)| a == b).count();
    let mut common = whole + ends;
    while !b.is_char_boundary(common) {
        common = common.saturating_sub(1);
    }
    common
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::otel::{Attributes, OtelSpanId, OtelTraceId};
    use proptest::prelude::*;

    fn spans(texts: &[Vec<(usize, String)>]) -> Vec<OtelSpan> {
        let ids = || (OtelTraceId::from_bytes(&[1; 16]).unwrap(), OtelSpanId::from_bytes(&[2; 8]).unwrap());
        let span = |texts: &Vec<(usize, String)>| {
            let (trace_id, span_id) = ids();
            let named = texts.iter().map(|(name, text)| (format!("n{name}"), Json::Text(text.clone())));
            let mut span = OtelSpan::new(trace_id, span_id);
            span.attributes = Attributes(named.collect());
            span
        };
        texts.iter().map(span).collect()
    }

    /// Texts that often begin alike, of characters of one to four bytes.
    fn text() -> impl Strategy<Value = String> {
        let word = prop::sample::select(vec!["a", "é", "è", "€", "₭", "😀", "😁"]);
        (0_usize..200, prop::collection::vec(word, 0..5))
            .prop_map(|(same, rest)| format!("{}{}", "wörd ".repeat(same / 5), rest.concat()))
    }

    proptest! {
        #[test]
        fn everything_is_put_back(texts in prop::collection::vec(prop::collection::vec((0_usize..3, text()), 0..4), 0..6)) {
            let whole = spans(&texts);
            let mut cut = whole.clone();
            let repeats = take_out(&mut cut);
            put_back(&mut cut, &repeats).unwrap();
            prop_assert_eq!(cut, whole);
        }

        #[test]
        fn hostile_repeats_are_refused_without_panic(
            texts in prop::collection::vec(prop::collection::vec((0_usize..3, text()), 0..4), 0..4),
            numbers in prop::collection::vec(any::<[u8; 5]>(), 0..4),
        ) {
            let repeats: Vec<Repeat> = numbers
                .iter()
                .map(|[a, b, c, d, e]| Repeat((a % 5).into(), (b % 5).into(), (c % 5).into(), (d % 5).into(), (*e).into()))
                .collect();
            let _ = put_back(&mut spans(&texts), &repeats);
        }
    }

    #[test]
    fn a_history_stands_once() {
        let messages = |n: usize| (0..n).map(|n| format!("message {n} ")).collect::<String>();
        let texts: Vec<_> = (10..20).map(|n| vec![(0, messages(n))]).collect();
        let mut cut = spans(&texts);
        let repeats = take_out(&mut cut);
        assert_eq!(repeats.len(), 9);
        let left: usize = cut.iter().filter_map(|span| span.attributes.text("n0")).map(str::len).sum();
        assert_eq!(left, messages(19).len());
    }
}
