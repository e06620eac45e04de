//! What all steps of a message have: a name, a time. What is small stands in each of them; what is not goes to the first alone, since a
//! message may have a hundred thousand steps.

use crate::json::Object;

/// Bytes of memory of what stands in each step of a message.
const EACH_BYTES_MAX: usize = 1_000;

/// Metadata for the next step.
pub(crate) fn metadata(shared: &mut Object) -> Object {
    if shared.bytes_held() > EACH_BYTES_MAX { std::mem::take(shared) } else { shared.clone() }
}

/// An id or a name for the next step.
pub(crate) fn text(shared: &mut Option<String>) -> Option<String> {
    if shared.as_ref().is_some_and(|text| text.len() > EACH_BYTES_MAX) { shared.take() } else { shared.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_large_is_given_once() {
        let mut small = Object::of("name", "ada");
        assert_eq!([metadata(&mut small), metadata(&mut small)], [small.clone(), small]);
        let large = Object::of("name", "a".repeat(EACH_BYTES_MAX));
        let mut shared = large.clone();
        assert_eq!([metadata(&mut shared), metadata(&mut shared)], [large, Object::new()]);
        let mut id = Some("a".repeat(EACH_BYTES_MAX + 1));
        assert_eq!([text(&mut id).is_some(), text(&mut id).is_some()], [true, false]);
    }
}
