//! Fingerprints are those of the Avro specification, so that any implementation finds the schema of a record in the log.

use serde_json::json;
use stash_schemas::fingerprint::{canonical_form, crc64, of};

#[test]
fn primitive_types_have_the_published_fingerprints() {
    // Java's `share/test/data/schema-tests.txt`, as signed 64-bit numbers.
    for (schema, fingerprint) in [
        ("null", 7_195_948_357_588_979_594_i64),
        ("boolean", -6_970_731_678_124_411_036),
        ("int", 8_247_732_601_305_521_295),
        ("long", -3_434_872_931_120_570_953),
        ("float", 5_583_340_709_985_441_680),
        ("double", -8_181_574_048_448_539_266),
        ("bytes", 5_746_618_253_357_095_269),
        ("string", -8_142_146_995_180_207_161),
    ] {
        assert_eq!(of(&json!(schema)), fingerprint as u64, "{schema}");
        assert_eq!(of(&json!({"type": schema})), fingerprint as u64, "{schema} in an object");
    }
    assert_eq!(crc64(b""), 0xc15d_213a_a4d7_a795);
}

#[test]
fn the_canonical_form_keeps_what_decides_the_bytes_and_nothing_else() {
    let schema = json!({
        "type": "record", "namespace": "a.b", "name": "Outer", "doc": "x", "aliases": ["Old"], "extra": {"name": "z"},
        "fields": [
            {"name": "at", "doc": "x", "type": {"type": "long", "logicalType": "timestamp-micros"}, "order": "ignore"},
            {"name": "key", "type": {"type": "fixed", "size": 16, "name": "Key", "logicalType": "uuid"}},
            {"name": "other", "type": ["null", "Key", "c.d.Far"], "default": null},
            {"name": "far", "type": {"type": "record", "name": "c.d.Far", "fields": [{"name": "near", "type": "Near"}]}},
            {"name": "kind", "type": {"type": "enum", "name": "Kind", "namespace": "e", "symbols": ["A", "B"], "default": "A"}},
            {"name": "list", "type": {"type": "array", "items": {"type": "map", "values": {"type": "string"}}, "default": []}},
        ],
    });
    let expected = concat!(
        r#"{"name":"a.b.Outer","type":"record","fields":["#,
        r#"{"name":"at","type":"long"},"#,
        r#"{"name":"key","type":{"name":"a.b.Key","type":"fixed","size":16}},"#,
        r#"{"name":"other","type":["null","a.b.Key","c.d.Far"]},"#,
        r#"{"name":"far","type":{"name":"c.d.Far","type":"record","fields":[{"name":"near","type":"c.d.Near"}]}},"#,
        r#"{"name":"kind","type":{"name":"e.Kind","type":"enum","symbols":["A","B"]}},"#,
        r#"{"name":"list","type":{"type":"array","items":{"type":"map","values":"string"}}}"#,
        r#"]}"#,
    );
    assert_eq!(canonical_form(&schema), expected);
    // A canonical form is its own canonical form.
    assert_eq!(canonical_form(&serde_json::from_str(expected).unwrap()), expected);
}

#[test]
fn what_is_no_schema_gives_no_panic() {
    for odd in [json!(null), json!(1), json!({}), json!({"type": "record"}), json!({"type": "array"}), json!([[{}]])] {
        of(&odd);
    }
}
