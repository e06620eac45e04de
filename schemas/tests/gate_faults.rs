//! Each gate catches the faults it is there for, and the structural one those that the Avro library lets pass.

#![allow(clippy::unwrap_used, reason = "a failed set-up is a failed test")]

use stash_schemas::gates::fingerprint::{Landed, read_lock};
use stash_schemas::gates::golden::{self, Golden};
use stash_schemas::gates::{Fault, SchemaFile, compatibility, fingerprint, sample, structure};
use stash_schemas::registry::{Registry, parse};
use stash_schemas::sources::Source;

/// A field list, as a whole schema of one record.
fn record(fields: &str) -> String {
    format!(r#"{{"type": "record", "name": "shop.Order", "doc": "An order.", "fields": [{fields}]}}"#)
}

const ID: &str = r#"{"name": "id", "doc": "Its id.", "type": "long"}"#;

fn versions<'t>(texts: &'t [&'t str]) -> Vec<SchemaFile<'t>> {
    (1..).zip(texts).map(|(version, text)| SchemaFile { family: "order", version, text }).collect()
}

/// What the gates say of version 2 where version 1 is sound: compatibility, fingerprint (locked as they are), structure.
fn judge(before: &str, after: &str) -> [Vec<String>; 3] {
    let texts = [record(before), record(after)];
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let files = versions(&texts);
    let lock: Vec<Landed> = files.iter().map(|file| Landed::of(file).unwrap()).collect();
    [compatibility::check(&files), fingerprint::check(&files, &lock), structure::check(&files)].map(|faults| {
        faults
            .into_iter()
            .map(|fault| {
                assert_eq!(fault.file, "order/v2.avsc");
                fault.what
            })
            .collect()
    })
}

const SAME_FINGERPRINT: &str =
    "has the fingerprint of order/v1.avsc: documentation, defaults and logical types do not tell them apart";

#[test]
fn a_new_field_with_a_default_passes_all_gates() {
    let more = format!(r#"{ID}, {{"name": "note", "doc": "A note.", "type": ["null", "string"], "default": null}}"#);
    assert_eq!(judge(ID, &more), [const { Vec::<String>::new() }; 3]);
}

#[test]
fn another_unit_of_a_timestamp_is_caught_where_the_library_sees_nothing() {
    let at = |unit: &str| {
        format!(r#"{{"name": "at", "doc": "When.", "type": {{"type": "long", "logicalType": "timestamp-{unit}"}}}}"#)
    };
    let [compatibility, fingerprint, structure] = judge(&at("millis"), &at("micros"));
    assert!(compatibility.is_empty());
    assert_eq!(fingerprint, [SAME_FINGERPRINT]);
    assert_eq!(structure, [r#"at: logicalType "timestamp-millis" became "timestamp-micros""#]);
}

#[test]
fn a_logical_type_taken_on_is_caught() {
    let plain = r#"{"name": "at", "doc": "When.", "type": "long"}"#;
    let timed = r#"{"name": "at", "doc": "When.", "type": {"type": "long", "logicalType": "timestamp-micros"}}"#;
    let [_, fingerprint, structure] = judge(plain, timed);
    assert_eq!(fingerprint, [SAME_FINGERPRINT]);
    assert_eq!(structure, [r#"at: logicalType absent became "timestamp-micros""#]);
}

#[test]
fn an_enum_symbol_added_is_caught() {
    let state = |symbols: &str| {
        format!(
            r#"{{"name": "state", "doc": "Its state.",
                "type": {{"type": "enum", "name": "State", "doc": "States.", "symbols": [{symbols}]}}}}"#
        )
    };
    let [compatibility, _, structure] = judge(&state(r#""open""#), &state(r#""open", "shut""#));
    assert_eq!(compatibility, ["v1 does not read all that it writes"]);
    assert_eq!(structure, ["state: symbols of the enum changed: use a string where the set may grow"]);
}

#[test]
fn a_union_branch_added_is_caught() {
    let note = |union: &str| format!(r#"{{"name": "note", "doc": "A note.", "type": {union}, "default": null}}"#);
    let [compatibility, _, structure] = judge(&note(r#"["null", "string"]"#), &note(r#"["null", "string", "long"]"#));
    assert_eq!(compatibility, ["v1 does not read all that it writes"]);
    assert_eq!(
        structure,
        [r#"note: a union must be ["null", T] with default null"#, "note: a union of 2 branches became one of 3"]
    );
}

#[test]
fn a_default_edited_is_caught_where_the_library_sees_nothing() {
    let count =
        |default: &str| format!(r#"{{"name": "count", "doc": "How many.", "type": "int", "default": {default}}}"#);
    let [compatibility, fingerprint, structure] = judge(&count("0"), &count("1"));
    assert!(compatibility.is_empty());
    assert_eq!(fingerprint, [SAME_FINGERPRINT]);
    assert_eq!(structure, ["count: default 0 became 1"]);
}

#[test]
fn a_field_removed_is_caught_even_where_it_had_a_default() {
    let with_default = format!(r#"{ID}, {{"name": "count", "doc": "How many.", "type": "int", "default": 0}}"#);
    let [compatibility, _, structure] = judge(&with_default, ID);
    assert!(compatibility.is_empty(), "readers of version 1 would read 0 for it, and nobody would know");
    assert_eq!(structure, ["count: was removed or renamed: keep it, even unused"]);

    let without = format!(r#"{ID}, {{"name": "count", "doc": "How many.", "type": "int"}}"#);
    let [compatibility, _, structure] = judge(&without, ID);
    assert!(compatibility[0].starts_with("v1 does not read all that it writes"), "{compatibility:?}");
    assert_eq!(structure, ["count: was removed or renamed: keep it, even unused"]);
}

#[test]
fn a_new_field_without_default_or_in_the_middle_is_caught() {
    let bare = format!(r#"{ID}, {{"name": "count", "doc": "How many.", "type": "int"}}"#);
    let [compatibility, _, structure] = judge(ID, &bare);
    assert!(compatibility[0].starts_with("does not read all that v1 wrote"), "{compatibility:?}");
    assert_eq!(structure, ["count: is new and has no default"]);

    let first = format!(r#"{{"name": "count", "doc": "How many.", "type": "int", "default": 0}}, {ID}"#);
    assert_eq!(judge(ID, &first)[2], ["id: moved: new fields go to the end"]);
}

#[test]
fn promotions_sizes_names_and_nesting_are_caught() {
    let of = |schema: &str| format!(r#"{{"name": "x", "doc": "X.", "type": {schema}}}"#);
    for (before, after, what) in [
        (r#""int""#, r#""long""#, "x: type int became long"),
        (r#""string""#, r#""bytes""#, "x: type string became bytes"),
        (r#""string""#, r#"{"type": "array", "items": "string"}"#, "x: type string became array"),
        (r#"{"type": "array", "items": "int"}"#, r#"{"type": "array", "items": "long"}"#, "x[]: type int became long"),
        (
            r#"{"type": "fixed", "name": "Key", "doc": "A key.", "size": 16}"#,
            r#"{"type": "fixed", "name": "Key", "doc": "A key.", "size": 32}"#,
            "x: size 16 became 32",
        ),
        (
            r#"{"type": "fixed", "name": "Key", "doc": "A key.", "size": 16}"#,
            r#"{"type": "fixed", "name": "Lock", "doc": "A key.", "size": 16}"#,
            "x: name shop.Key became shop.Lock",
        ),
        (
            r#"{"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}"#,
            r#"{"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 3}"#,
            "x: scale 2 became 3",
        ),
    ] {
        assert_eq!(judge(&of(before), &of(after))[2], [what]);
    }
}

#[test]
fn a_change_inside_a_type_used_twice_is_reported_once() {
    let fields = |kind: &str| {
        format!(
            r#"{{"name": "a", "doc": "A.", "type": {{"type": "record", "name": "Part", "doc": "A part.",
                "fields": [{{"name": "size", "doc": "Its size.", "type": "{kind}"}}]}}}},
               {{"name": "b", "doc": "B.", "type": {{"type": "array", "items": "Part"}}}}"#
        )
    };
    assert_eq!(judge(&fields("int"), &fields("long"))[2], ["a.size: type int became long"]);
}

#[test]
fn a_file_without_documentation_is_caught() {
    let text = r#"{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long", "doc": " "}]}"#;
    let faults: Vec<String> = structure::check(&versions(&[text])).into_iter().map(|fault| fault.what).collect();
    assert_eq!(faults, ["Order: has no documentation", "id: has no documentation"]);
}

#[test]
fn two_families_with_one_fingerprint_are_caught() {
    let text = record(ID);
    let other = text.replace("An order.", "Something else.");
    let files = [
        SchemaFile { family: "order", version: 1, text: &text },
        SchemaFile { family: "purchase", version: 1, text: &other },
    ];
    let lock: Vec<Landed> = files.iter().map(|file| Landed::of(file).unwrap()).collect();
    let faults = fingerprint::check(&files, &lock);
    assert_eq!(faults, [Fault { file: "purchase/v1.avsc".into(), what: SAME_FINGERPRINT.into() }]);
}

#[test]
fn an_edited_a_missing_and_an_unlocked_file_are_caught() {
    let text = record(ID);
    let texts = [text.as_str()];
    let files = versions(&texts);
    let lock = vec![Landed::of(&files[0]).unwrap()];
    assert_eq!(read_lock(&format!("# comment\n\n{}\n", lock[0].line())).unwrap(), lock);
    assert!(fingerprint::check(&files, &lock).is_empty());

    // Documentation only, so that the fingerprint stays: the text is what landed.
    let edited = text.replace("An order.", "An order, edited.");
    let whats = |faults: Vec<Fault>| faults.into_iter().map(|fault| fault.what).collect::<Vec<_>>();
    assert_eq!(
        whats(fingerprint::check(&versions(&[&edited]), &lock)),
        ["was edited after it landed: restore it and add a new version instead"]
    );
    assert_eq!(whats(fingerprint::check(&[], &lock)), ["is gone, but the log may hold events in it: restore it"]);
    assert_eq!(
        whats(fingerprint::check(&files, &[])),
        ["is not in registry.lock: run `cargo run -p stash-schemas --example lock`"]
    );
    let mut other = lock[0].clone();
    other.fingerprint ^= 1;
    assert!(whats(fingerprint::check(&files, &[other]))[0].contains("but the log knows it by"));
    assert_eq!(whats(fingerprint::check(&files, &[lock[0].clone(), lock[0].clone()])), ["lists order/v1.avsc twice"]);
    assert_eq!(read_lock("nonsense").unwrap_err().file, "registry.lock");
}

#[test]
fn golden_files_that_no_longer_match_are_caught() {
    const V1: Source = Source {
        family: "order",
        version: 1,
        text: r#"{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"}]}"#,
    };
    const V2: Source = Source {
        family: "order",
        version: 2,
        text: r#"{"type": "record", "name": "Order", "fields": [{"name": "id", "type": "long"},
            {"name": "count", "type": "int", "default": 1}]}"#,
    };
    let schemas = parse(&[V1, V2]).unwrap();
    let registry = Registry::new(&schemas, &[]).unwrap();
    let value = sample::sample(&schemas[0].schema, &|_| None).unwrap();
    let bytes = sample::object(&schemas[0].schema, schemas[0].fingerprint, &value).unwrap();
    let (json, upcast) = (r#"{"id": 2199023255552}"#, r#"{"id": 2199023255552, "count": 1}"#);
    let sound = Golden { avro: Some(&bytes), json: Some(json), upcast: Some(upcast) };
    let check = |golden: Golden<'_>| {
        golden::check(&registry, "order", 1, 2, golden).iter().map(ToString::to_string).collect::<Vec<String>>()
    };
    assert_eq!(check(sound), [""; 0]);

    let other = Golden { json: Some(r#"{"id": 1}"#), ..sound };
    assert_eq!(check(other), [r#"golden/order/v1.json: the bytes decode to {"id":2199023255552} now"#]);
    // As if a default or a step had been edited.
    let other = Golden { upcast: Some(r#"{"id": 2199023255552, "count": 0}"#), ..sound };
    assert!(check(other)[0].starts_with("golden/order/v1.upcast.json: the bytes decode to "));
    let cut = Golden { avro: Some(&bytes[..bytes.len() - 1]), ..sound };
    assert_eq!(
        check(cut)[0],
        "golden/order/v1.json: the bytes no longer decode: order: the bytes end before the value does"
    );
    let mut foreign = bytes.clone();
    foreign[2..10].copy_from_slice(&schemas[1].fingerprint.to_le_bytes());
    assert_eq!(
        check(Golden { avro: Some(&foreign), ..sound }),
        ["golden/order/v1.avro: has the fingerprint of order/v2"]
    );
    foreign[2] ^= 1;
    assert!(check(Golden { avro: Some(&foreign), ..sound })[0].contains("no schema here has the fingerprint"));
    assert!(check(Golden::default())[0].starts_with("golden/order/v1.avro: is missing"));
    assert!(check(Golden { upcast: None, ..sound })[0].starts_with("golden/order/v1.upcast.json: is missing"));
}
