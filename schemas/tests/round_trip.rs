//! Decoding is the exact inverse of encoding.

use proptest::prelude::*;
use stash_domain::events::Event;
use stash_schemas::{decode_record, decode_text, encode_record, encode_text, testing};

proptest! {
    #[test]
    fn every_record_comes_back_as_it_was(record in testing::record()) {
        let bytes = encode_record(&record).unwrap();
        prop_assert_eq!(decode_record(&bytes).unwrap(), record);
    }

    #[test]
    fn every_text_comes_back_as_it_was(text in testing::annotation_text()) {
        prop_assert_eq!(decode_text(&encode_text(&text).unwrap()).unwrap(), text);
    }
}

#[test]
fn every_event_kind_is_drawn_under_its_own_name() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategies = testing::events();
    assert_eq!(strategies.len(), Event::NAMES.len());
    for (name, strategy) in strategies {
        let event = strategy.new_tree(&mut runner).unwrap().current();
        assert_eq!(event.name(), name);
    }
}
