//! Every form in which turns have been seen, in the notation of the merging's tests.

use super::*;

/// Steps in short: `u hi`, `a hello`, `s rules`, `c id tool {..}`, `r id text`, an id of `-` is none.
fn read(side: Side, json: &str) -> Vec<String> {
    let json: Json = serde_json::from_str(json).unwrap();
    shown(&turns(&json, side, &mut Vec::new()))
}

fn shown(steps: &[Step]) -> Vec<String> {
    let one = |step: &Step| {
        let id = step.tool_call_id.as_deref().unwrap_or("-");
        match (step.role, &step.tool_name) {
            (Role::User, _) => format!("u {}", step.content),
            (Role::System, _) => format!("s {}", step.content),
            (Role::Assistant, None) => format!("a {}", step.content),
            (Role::Assistant, Some(tool)) => {
                format!("c {id} {tool} {}", serde_json::to_string(&step.tool_input).unwrap())
            }
            (Role::Tool, _) => format!("r {id} {}", step.content),
        }
    };
    steps.iter().map(one).collect()
}

fn input(json: &str) -> Vec<String> {
    read(Side::Input, json)
}

fn output(json: &str) -> Vec<String> {
    read(Side::Output, json)
}

#[test]
fn texts_and_chats() {
    assert_eq!(input(r#""Oslo?""#), ["u Oslo?"]);
    assert_eq!(output(r#""4C""#), ["a 4C"]);
    assert_eq!(input("null"), Vec::<String>::new());
    let chat = r#"[{"role":"developer","content":"s"},{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:,"}}]}]"#;
    let expected = ["s s", "u x\n[image]"];
    assert_eq!(input(chat), expected);
    assert_eq!(input(&format!("[{chat}]")), expected);
    assert_eq!(input(&format!(r#"{{"messages":{chat}}}"#)), expected);
    let mut text = chat.to_owned();
    for _ in 0..3 {
        text = serde_json::to_string(&text).unwrap();
        assert_eq!(input(&text), expected);
        assert_eq!(input(&format!(r#"{{"messages":{text}}}"#)), expected);
        assert_eq!(input(&format!(r#"{{"messages":[{text}]}}"#)), expected);
    }
}

#[test]
fn python_and_prefixed_strings() {
    assert_eq!(input(r#""[{'role': 'user', 'content': \"it's\", 'x': None}]""#), ["u it's"]);
    assert_eq!(input(r#"{"messages":["{'role': 'user', 'content': 'hi'}"]}"#), ["u hi"]);
    assert_eq!(
        input(r#""system: Be brief.\nAlways.\nuser: Hi: you\nassistant: Yo\nHuman: Bye""#),
        ["s Be brief.\nAlways.", "u Hi: you", "a Yo", "u Bye"]
    );
    for text in ["Note: x\nuser: y", "[not json", "{'a'}", "the user: x"] {
        assert_eq!(input(&serde_json::to_string(text).unwrap()), [format!("u {text}")]);
    }
    assert_eq!(output(r#""user: is a word""#), ["a user: is a word"]);
}

#[test]
fn calls_of_openai_and_langchain() {
    let expected = [r#"c f1 find {"q":"x"}"#];
    for message in [
        r#"{"role":"assistant","content":null,"tool_calls":[{"id":"f1","type":"function","function":{"name":"find","arguments":"{\"q\": \"x\"}"}}]}"#,
        r#"{"role":"assistant","content":"","tool_calls":[{"name":"find","args":{"q":"x"},"id":"f1","type":"tool_call"}],"additional_kwargs":{"tool_calls":[{"id":"f1","type":"function","function":{"name":"find","arguments":"{\"q\": \"x\"}"}}],"refusal":null}}"#,
        r#"{"lc":1,"type":"constructor","id":["langchain","schema","messages","AIMessageChunk"],"kwargs":{"content":[{"type":"tool_use","id":"f1","name":"find","input":{"q":"x"}}],"tool_calls":[{"name":"find","args":{"q":"x"},"id":"f1"}]}}"#,
        r#"{"type":"ai","data":{"content":"","invalid_tool_calls":[{"name":"find","args":"{\"q\": \"x\"}","id":"f1","error":null}]}}"#,
        r#"{"role":"assistant","content":[{"type":"tool-call","toolCallId":"f1","toolName":"find","args":{"q":"x"}}],"tool_calls":[{"id":"f1","function":{"name":"find","arguments":"{\"q\":\"x\"}"}}]}"#,
        r#"[{"toolCallId":"f1","toolName":"find","input":"{\"q\":\"x\"}"}]"#,
        r#"{"choices":[{"index":1,"message":{"role":"assistant","content":"other"}},{"index":0,"message":{"role":"assistant","tool_calls":[{"id":"f1","function":{"name":"find","arguments":"{\"q\":\"x\"}"}}]}}]}"#,
        r#"{"role":"assistant","parts":[{"type":"tool_call","id":"f1","name":"find","arguments":{"q":"x"}}]}"#,
        r#"{"object":"response","output":[{"type":"function_call","id":"fc","call_id":"f1","name":"find","arguments":"{\"q\":\"x\"}"}]}"#,
        r#"{"role":"assistant","content":[{"toolUse":{"toolUseId":"f1","name":"find","input":{"q":"x"}}}]}"#,
        r#"[{"event.name":"gen_ai.choice","index":0,"message":{"role":"assistant","tool_calls":[{"id":"f1","function":{"name":"find","arguments":"{\"q\":\"x\"}"}}]}}]"#,
    ] {
        assert_eq!(output(message), expected, "{message}");
    }
    let legacy = r#"[{"role":"assistant","content":"Hm","function_call":{"name":"f","arguments":"{}"}},{"role":"function","name":"f","content":"4"}]"#;
    assert_eq!(input(legacy), ["a Hm", "c - f {}", "r - 4"]);
    let twice = r#"{"role":"assistant","tool_calls":[{"name":"f","args":{}},{"name":"f","args":{}}]}"#;
    assert_eq!(output(twice), ["c - f {}", "c - f {}"]);
}

#[test]
fn results_of_every_dialect() {
    for message in [
        r#"{"role":"tool","tool_call_id":"f1","content":"ok"}"#,
        r#"{"role":"user","tool_call_id":"f1","content":[{"type":"text","text":"ok"}]}"#,
        r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"f1","content":"ok"}]}"#,
        r#"{"role":"tool","content":[{"type":"tool_result","tool_use_id":"f1","content":[{"type":"text","text":"ok"}]}]}"#,
        r#"{"role":"tool","content":[{"type":"tool-result","toolCallId":"f1","toolName":"t","output":{"type":"text","value":"ok"}}]}"#,
        r#"{"role":"tool","parts":[{"type":"tool_call_response","id":"f1","response":"ok"}]}"#,
        r#"{"role":"tool","parts":[{"type":"tool_call_response","id":"f1","result":[{"text":"ok"}]}]}"#,
        r#"{"role":"user","content":[{"toolResult":{"toolUseId":"f1","content":[{"text":"ok"}]}}]}"#,
        r#"{"type":"function_call_output","call_id":"f1","output":"ok"}"#,
        r#"{"lc":1,"type":"constructor","id":["x","ToolMessage"],"kwargs":{"content":"ok","tool_call_id":"f1","status":"success"}}"#,
        r#"{"event.name":"gen_ai.tool.message","role":"user","id":"f1","content":"ok"}"#,
        r#"{"role":"tool","tool_call_ids":["f1"],"content":"ok"}"#,
        r#"{"role":"tool","tool_call_id":"f1","content":"[{\"type\":\"text\",\"text\":\"ok\"}]"}"#,
    ] {
        assert_eq!(input(&format!("[{message}]")), ["r f1 ok"], "{message}");
    }
    let named = r#"[{"role":"assistant","tool_calls":[{"name":"calc","args":{}}]},{"role":"calc","content":"4"}]"#;
    assert_eq!(input(named), ["c - calc {}", "r - 4"]);
    let beside = r#"[{"role":"user","content":[{"type":"text","text":"Skip B."},{"type":"tool_result","tool_use_id":"t","content":"no"}]}]"#;
    assert_eq!(input(beside), ["r t no", "u Skip B."]);
    let definition = r#"[{"role":"user","content":"Find"},{"role":"tool","content":{"type":"function","function":{"name":"find","parameters":{}}}}]"#;
    assert_eq!(input(definition), ["u Find"]);
    assert_eq!(input(r#"[{"role":"tool","tool_call_id":"c","content":""}]"#), ["r c "]);
}

#[test]
fn envelopes_of_requests_and_responses() {
    assert_eq!(input(r#"{"prompt":"Hi","system":"Be"}"#), ["s Be", "u Hi"]);
    assert_eq!(input(r#"{"prompts":["Hi"]}"#), ["u Hi"]);
    assert_eq!(input(r#"{"args":["Hi"],"kwargs":{}}"#), ["u Hi"]);
    assert_eq!(input(r#"{"input":"Hi","instructions":"Be"}"#), ["s Be", "u Hi"]);
    assert_eq!(output(r#"{"completion":"Yo"}"#), ["a Yo"]);
    assert_eq!(output(r#"{"output":"Yo"}"#), ["a Yo"]);
    assert_eq!(output(r#"{"content":"Yo"}"#), ["a Yo"]);
    assert_eq!(output(r#"{"message":{"role":"assistant","content":"Yo"}}"#), ["a Yo"]);
    assert_eq!(output(r#"{"choices":[{"text":"Yo"}]}"#), ["a Yo"]);
    assert_eq!(
        output(r#"{"content":[{"role":"assistant","content":"Yo"},{"role":"user","content":"x"}]}"#),
        ["a Yo", "u x"]
    );
    assert_eq!(output(r#"{"generations":[[{"text":"Yo","generation_info":null}]],"llm_output":null}"#), ["a Yo"]);
    assert_eq!(output(r#"{"output":["Y","o"]}"#), ["a Yo"]);
    let chunk = |text: &str| {
        format!(r#"{{"lc":1,"type":"constructor","id":["AIMessageChunk"],"kwargs":{{"content":"{text}"}}}}"#)
    };
    assert_eq!(output(&format!(r#"{{"output":[{},{}]}}"#, chunk("Y"), chunk("o"))), ["a Yo"]);
    assert_eq!(output(r#"{"answer":42,"why":"sum"}"#), [r#"a {"answer":42,"why":"sum"}"#]);
    assert_eq!(output(r#"{"role":"assistant","content":{"answer":42}}"#), [r#"a {"answer":42}"#]);
    let request = r#"{"input":[{"role":"user","content":[{"type":"input_text","text":"Hi"}]},{"type":"reasoning","summary":[]},{"type":"function_call","call_id":"c","name":"f","arguments":""},{"type":"function_call_output","call_id":"c","output":"x"}]}"#;
    assert_eq!(input(request), ["u Hi", "c c f {}", "r c x"]);
}

#[test]
fn gemini() {
    let request = r#"{"contents":[{"role":"user","parts":[{"text":"Hi"},{"inlineData":{"mimeType":"image/png","data":"AA"}}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}}]},{"role":"user","parts":[{"function_response":{"name":"f","response":{"r":2}}}]}],"config":{"system_instruction":"Be"}}"#;
    assert_eq!(input(request), ["s Be", "u Hi\n[image]", r#"c - f {"a":1}"#, r#"r - {"r":2}"#]);
    let answer =
        r#"{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Yo"}]}}]}"#;
    assert_eq!(output(answer), ["a Yo"]);
    assert_eq!(input(r#"{"contents":"Hi"}"#), ["u Hi"]);
}

#[test]
fn langchain_in_all_its_forms() {
    let list = r#"[["system","Be"],["human","Hi"],{"type":"ai","content":"Yo"},{"lc":1,"type":"not_implemented","id":["x","HumanMessage"],"repr":"HumanMessage(content='it\\'s', id='1')"},{"lc":1,"type":"constructor","id":["x","ChatMessage"],"kwargs":{"content":"c","role":"user"}},{"lc":1,"type":"constructor","id":["x","RemoveMessage"],"kwargs":{"id":"9","content":""}}]"#;
    assert_eq!(input(list), ["s Be", "u Hi", "a Yo", "u it's", "u c"]);
}

#[test]
fn reasoning_goes_with_the_next_step_of_the_agent() {
    let of = |json: &str| {
        let steps = turns(&serde_json::from_str(json).unwrap(), Side::Output, &mut Vec::new());
        steps.iter().map(|step| step.metadata.clone().unwrap_or_default().get("reasoning").cloned()).collect::<Vec<_>>()
    };
    let hm = Some(crate::json::Value::from("hm"));
    assert_eq!(of(r#"{"role":"assistant","content":"x","reasoning_content":"hm"}"#), vec![hm.clone()]);
    assert_eq!(of(r#"[{"role":"thinking","content":"hm"},{"role":"assistant","content":"x"}]"#), vec![hm.clone()]);
    assert_eq!(
        of(
            r#"{"role":"assistant","parts":[{"type":"text","content":"x"},{"type":"reasoning","content":"hm"},{"type":"tool_call","name":"f","arguments":{}}]}"#
        ),
        [None, hm.clone()]
    );
    assert_eq!(
        of(
            r#"[{"type":"reasoning","summary":[{"text":"hm"}]},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"x"}]}]"#
        ),
        [hm]
    );
}

#[test]
fn junk_and_unknown_roles() {
    assert_eq!(input(r#"[{"content":"role"},{"role":"user","content":"x"}]"#), ["u x"]);
    let json: Json = serde_json::from_str(r#"[{"role":"critic","content":"x"}]"#).unwrap();
    let steps = turns(&json, Side::Input, &mut Vec::new());
    assert_eq!(shown(&steps), ["u x"]);
    assert_eq!(steps[0].metadata.as_ref().unwrap().get("original_role").unwrap().as_text(), Some("critic"));
}

#[test]
fn parts_of_the_conventions() {
    let parts = r#"[{"role":"user","parts":[{"content":"a","type":"text"},{"type":"blob","modality":"image","content":"QQ=="},{"type":"uri","modality":"video","uri":"x"},{"type":"file","file_id":"f"}]},{"role":"assistant","parts":[{"type":"server_tool_call","id":"s","name":"web","server_tool_call":{"type":"web_search","query":"q"}},{"type":"server_tool_call_response","id":"s","server_tool_call_response":{"n":1}},{"type":"refusal","content":"No."}]}]"#;
    assert_eq!(input(parts), ["u a\n[image]\n[video]\n[file]", r#"c s web {"query":"q"}"#, r#"r s {"n":1}"#, "a No."]);
    assert_eq!(input(r#"[{"type":"text","content":"Be"}]"#), ["u Be"]);
    assert_eq!(output(r#"[{"role":"","parts":[{"text":"x"}]}]"#), ["a x"]);
}

#[test]
fn what_is_said_of_the_system_goes_to_the_input() {
    let json = |text: &str| serde_json::from_str::<Json>(text).unwrap();
    let request = json(r#"[{"role":"user","content":"Hi"}]"#);
    let response = json(
        r#"{"object":"response","instructions":"Be","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Yo"}]}]}"#,
    );
    let (input, output) = of_call(&request, &response, &mut Vec::new());
    assert_eq!((shown(&input), shown(&output)), (vec!["s Be".to_owned(), "u Hi".to_owned()], vec!["a Yo".to_owned()]));
}

fn any_json() -> impl proptest::strategy::Strategy<Value = Json> {
    use proptest::prelude::*;
    const WORDS: [&str; 40] = [
        "role",
        "content",
        "type",
        "text",
        "user",
        "assistant",
        "tool",
        "system",
        "parts",
        "messages",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "args",
        "id",
        "message",
        "choices",
        "generations",
        "input",
        "output",
        "lc",
        "constructor",
        "kwargs",
        "data",
        "ai",
        "human",
        "tool_use",
        "tool_result",
        "tool-call",
        "toolCallId",
        "toolName",
        "functionCall",
        "contents",
        "candidates",
        "event.name",
        "gen_ai.choice",
        "prompt",
        "[{'a': None}]",
        "thinking",
    ];
    let word = || prop_oneof![4 => prop::sample::select(&WORDS[..]).prop_map(str::to_owned), 1 => "[ -~]{0,8}"];
    let leaf = prop_oneof![word().prop_map(Json::Text), Just(Json::Null), any::<bool>().prop_map(Json::Bool)];
    leaf.prop_recursive(6, 64, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::List),
            prop::collection::vec((word(), inner), 0..5).prop_map(Json::Object),
        ]
    })
}

proptest::proptest! {
    #[test]
    fn any_value_is_survived_and_read_the_same_again(json in any_json()) {
        for side in [Side::Input, Side::Output] {
            let steps = turns(&json, side, &mut Vec::new());
            proptest::prop_assert_eq!(&steps, &turns(&json, side, &mut Vec::new()));
            for step in steps {
                proptest::prop_assert!(step.role != Role::Tool || step.tool_input.is_none());
                proptest::prop_assert!(step.role == Role::Tool || step.tool_name.is_some() || !step.content.trim().is_empty());
            }
        }
    }

    #[test]
    fn any_text_of_a_message_is_kept(text in "[^@]{1,80}", role in proptest::sample::select(vec!["user", "assistant"])) {
        proptest::prop_assume!(!text.trim().is_empty());
        let message = serde_json::json!([{"role": role, "content": text}]).to_string();
        let found = input(&message);
        proptest::prop_assert_eq!(found, [format!("{} {text}", &role[..1])]);
    }
}

#[test]
fn thousands_of_words_are_data_and_fewer_are_messages() {
    let list = |count: usize, text: &str| {
        let json: Json = serde_json::from_str(&format!("[{}]", vec![format!("{text:?}"); count].join(","))).unwrap();
        let steps = turns(&json, Side::Input, &mut Vec::new());
        (steps.len(), steps[0].content == json.compact())
    };
    assert_eq!(list(1_000, "a"), (1_000, false));
    assert_eq!(list(1_100, "a"), (1, true));
    assert_eq!(list(5_000, &"word ".repeat(13)), (5_000, false));
}
