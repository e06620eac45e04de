//! Puts a value that is made of very many very small values into an input: what of all JSON takes the most memory for its bytes.

/// Bytes of such a value.
const DENSE_BYTES: usize = 512 * 1024;

/// What it is made of: the densest that there is, and the smallest of what people record, which is within the proportion of its bytes.
pub(crate) const ITEMS: [&str; 14] = [
    "[]",
    "[0]",
    r#"{"":0}"#,
    r#"{"a":{}}"#,
    "0",
    r#""""#,
    "null",
    "123",
    r#""a""#,
    r#""word""#,
    r#"{"type":"text","text":""}"#,
    r#"{"type":"text","text":"some words"}"#,
    r#"{"role":"user","content":"a"}"#,
    r#"{"id":"a","name":"b","args":{}}"#,
];

/// The input with one of its values replaced; the number chooses which, and by what. None if there is none to be replaced.
pub(crate) fn dense(data: &[u8], choice: u64) -> Option<Vec<u8>> {
    let choice = usize::try_from(choice % (1 << 31)).ok()?;
    let keys: Vec<usize> =
        data.windows(2).enumerate().filter(|(_, pair)| pair == b"\":").map(|(at, _)| at + 2).collect();
    let begin = *keys.get(choice % keys.len().max(1))?;
    let begin = begin + data[begin..].iter().take_while(|byte| **byte == b' ').count();
    let end = begin + value_length(data.get(begin..)?)?;
    let item = ITEMS[choice / 7 % ITEMS.len()];
    let value = list(item, choice / 61 % 3 == 0);
    Some([&data[..begin], value.as_bytes(), &data[end..]].concat())
}

/// A list of such an item; as text, for what is decoded out of text.
pub(crate) fn list(item: &str, in_text: bool) -> String {
    let list = format!("[{}{item}]", format!("{item},").repeat(DENSE_BYTES / (item.len() + 1)));
    if in_text { serde_json::Value::from(list).to_string() } else { list }
}

/// Bytes of the value that stands first.
fn value_length(data: &[u8]) -> Option<usize> {
    let (mut depth, mut in_text, mut escaped) = (0_usize, false, false);
    for (at, byte) in data.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_text => escaped = true,
            b'"' => {
                in_text = !in_text;
                if !in_text && depth == 0 {
                    return Some(at + 1);
                }
            }
            _ if in_text => {}
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth > 1 => depth -= 1,
            b'}' | b']' if depth == 1 => return Some(at + 1),
            b',' | b'}' | b']' | b'\n' if depth == 0 => return Some(at),
            _ => {}
        }
    }
    None
}
