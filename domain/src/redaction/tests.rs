use super::*;
use proptest::prelude::*;
use std::sync::LazyLock;

static ALL: LazyLock<Redactor> =
    LazyLock::new(|| Redactor::new(&Kind::ALL, &["(?i)project zebra".to_owned()]).unwrap());

fn all() -> &'static Redactor {
    &ALL
}

fn redacted(text: &str) -> (String, Counts) {
    let (mut text, mut counts) = (text.to_owned(), Counts::new());
    all().text(&mut text, &mut counts);
    (text, counts)
}

/// Made up here, in pieces, so that no scanner takes this file for a leak.
fn secrets() -> Vec<(&'static str, String)> {
    let run = |letters: &str, count: usize| letters.repeat(count).chars().take(count).collect::<String>();
    let mixed = |count| run("aB3dE6gH9", count);
    vec![
        ("anthropic_key", format!("sk-{}-api03-{}", "ant", mixed(40))),
        ("openai_key", format!("sk-{}-{}", "proj", mixed(48))),
        ("langfuse_key", format!("sk-{}-{}-1234-4abc-9def-{}", "lf", run("0a1b", 8), run("9", 12))),
        ("aws_key_id", format!("AK{}{}", "IA", run("ABCD2345", 16))),
        ("github_token", format!("gh{}_{}", "p", mixed(36))),
        ("github_token", format!("github_{}_{}", "pat", mixed(60))),
        ("gitlab_token", format!("gl{}-{}", "pat", mixed(20))),
        ("google_key", format!("AI{}{}", "za", mixed(35))),
        ("slack_token", format!("xox{}-{}", "b", run("123456789012-", 30))),
        ("stripe_key", format!("sk_{}_{}", "live", mixed(24))),
        ("huggingface_token", format!("h{}_{}", "f", mixed(34))),
        ("npm_token", format!("np{}_{}", "m", mixed(36))),
        ("pypi_token", format!("py{}-{}", "pi", mixed(80))),
        ("sendgrid_key", format!("S{}.{}.{}", "G", mixed(22), mixed(43))),
        ("langsmith_key", format!("ls{}_pt_{}_{}", "v2", run("0a1b", 32), run("9f", 10))),
        ("jwt", format!("ey{0}{1}.ey{0}{2}.{3}", "J", mixed(20), mixed(30), mixed(43))),
        ("private_key", format!("-----BEGIN RSA {0}-----\n{1}\n{1}\n-----END RSA {0}-----", "PRIVATE KEY", mixed(64))),
        ("private_key", format!("-----BEGIN {0}-----\\n{1}\\n{1}", "PRIVATE KEY", mixed(64))),
        ("email", "ada.l+x@mail.example.org".to_owned()),
        ("pattern", "Project ZEBRA".to_owned()),
    ]
}

#[test]
fn each_kind_of_secret_is_replaced_by_its_name() {
    for (name, secret) in secrets() {
        let (text, counts) = redacted(&format!("before \"{secret}\" after {secret}"));
        assert_eq!(text, format!("before \"[redacted:{name}]\" after [redacted:{name}]"), "{secret}");
        assert_eq!(counts, Counts::from([(name, 2)]));
    }
}

#[test]
fn a_private_key_with_headers_goes_whole() {
    let body = "MIIEpAIBAAKCAQEA7bq2".repeat(3);
    let key = format!(
        "-----BEGIN RSA {0}-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00FF\n\n{body}\n-----END RSA {0}-----",
        "PRIVATE KEY"
    );
    assert_eq!(redacted(&format!("a\n{key}\nb")).0, "a\n[redacted:private_key]\nb");
}

#[test]
fn what_only_begins_alike_stays() {
    for text in [
        "sk-learn-is-a-library-for-machine-learning",
        "task-1234567890123456789012345",
        "a header is -----BEGIN PRIVATE KEY----- and then the key",
        "eyJhbGciOiJIUzI1NiJ9 alone",
        "AKIAIOSFODNN7",
        "user@localhost",
        "ghp_short",
        "[redacted:openai_key]",
        "prices: 3 @ 4.50",
    ] {
        assert_eq!(redacted(text), (text.to_owned(), Counts::new()));
    }
}

#[test]
fn nothing_is_looked_for_unless_it_is_named() {
    let none = Redactor::new(&[], &[]).unwrap();
    assert!(none.is_empty() && !all().is_empty());
    let (mut text, mut counts) = (secrets().remove(0).1, Counts::new());
    let before = text.clone();
    none.text(&mut text, &mut counts);
    assert_eq!((text, counts), (before, Counts::new()));
    let defaults = Redactor::new(&Kind::DEFAULT, &[]).unwrap();
    let mut mail = "a@b.example".to_owned();
    defaults.text(&mut mail, &mut Counts::new());
    assert_eq!(mail, "a@b.example");
}

#[test]
fn patterns_that_cannot_be_used_are_named() {
    let bad = |pattern: &str| Redactor::new(&[], &[pattern.to_owned()]).unwrap_err();
    assert!(bad("(").to_string().contains("\"(\""));
    assert!(matches!(bad("(a{1000}){1000}"), BadPattern::Unusable { .. }));
    assert_eq!(bad(&"a".repeat(REDACTION_PATTERN_CHARS_MAX + 1)), BadPattern::TooMuch);
    let mut text = "abc".to_owned();
    Redactor::new(&[], &["x*".to_owned()]).unwrap().text(&mut text, &mut Counts::new());
    assert_eq!(text, "abc", "an empty match replaces nothing");
}

#[test]
fn texts_of_an_object_are_gone_over_at_any_depth() {
    let secret = secrets().remove(0).1;
    let json = serde_json::json!({"a": [{"b": secret, "n": 1}], "c": "ok"});
    let Value::Object(mut object) = json.into() else { panic!("an object") };
    all().object(&mut object, &mut Counts::new());
    assert_eq!(
        serde_json::json!(object),
        serde_json::json!({"a": [{"b": "[redacted:anthropic_key]", "n": 1}], "c": "ok"})
    );
}

proptest! {
    #[test]
    fn redacting_twice_is_redacting_once(parts in prop::collection::vec((0_usize..30, "\\PC{0,12}"), 0..6)) {
        let secrets = secrets();
        let text: String = parts
            .iter()
            .map(|(at, text)| format!("{text} {} ", secrets.get(*at).map_or("", |(_, secret)| secret)))
            .collect();
        let (once, _) = redacted(&text);
        prop_assert_eq!(redacted(&once), (once.clone(), Counts::new()));
    }
}

#[test]
fn secrets_in_json_are_found_behind_any_escape() {
    use crate::json::Json;
    use crate::otel::{Attributes, OtelSpan, OtelSpanId, OtelTraceId};
    let redactor = Redactor::new(&Kind::DEFAULT, &[]).unwrap();
    let ids = (OtelTraceId::from_bytes(&[1; 16]).unwrap(), OtelSpanId::from_bytes(&[2; 8]).unwrap());
    for (name, secret) in secrets().into_iter().filter(|(name, _)| !matches!(*name, "email" | "pattern")) {
        let plain = serde_json::json!([{"role": "user", "content": format!("line\n{secret}\n\"ü\"")}]).to_string();
        let escaped: String = secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
        let escaped = format!(r#"[{{"role":"user","content":"line\n{escaped}\n"}}]"#);
        // JSON within a text of JSON.
        let nested = serde_json::json!([{"role": "user", "content": plain}]).to_string();
        for text in [plain, escaped, nested] {
            let mut span = OtelSpan::new(ids.0, ids.1);
            span.attributes = Attributes(vec![("gen_ai.input.messages".to_owned(), Json::Text(text.clone()))]);
            let mut counts = Counts::new();
            redactor.otel(std::slice::from_mut(&mut span), &mut [], &mut counts);
            assert_eq!(counts, Counts::from([(name, 1)]), "{text}");
        }
    }
}
