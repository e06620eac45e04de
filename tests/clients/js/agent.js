// An agent with a tool, as its authors would write and trace it: two turns, the first of which calls the tool twice at once.
//
//     agent.js INSTRUMENTATION [--stream | --exporter-in-code]
//
// Where it sends its spans, and what it captures, is set by the environment variables of OpenTelemetry and of the
// instrumentation; the model's server by OPENAI_BASE_URL and OPENAI_API_KEY. What the agent says is checked by the server.
// With --exporter-in-code the exporter of spans is the expression in AGENT_EXPORTER, as a page of the documentation has it.
"use strict";

const { diag, DiagConsoleLogger, DiagLogLevel, trace } = require("@opentelemetry/api");
const { NodeSDK } = require("@opentelemetry/sdk-node");

const INSTRUMENTATIONS = {
  openinference: () => new (require("@arizeai/openinference-instrumentation-openai").OpenAIInstrumentation)(),
  traceloop: () => new (require("@traceloop/instrumentation-openai").OpenAIInstrumentation)(),
  opentelemetry: () => new (require("@opentelemetry/instrumentation-openai").OpenAIInstrumentation)(),
};

const WEATHER = { Zürich: '{"high_c": 4, "sky": "snow"}', "São Paulo": "27 °C, sunny\nlight wind" };
const TOOLS = [
  {
    type: "function",
    function: {
      name: "weather",
      description: "The weather of the next days.",
      parameters: {
        type: "object",
        properties: { city: { type: "string" }, days: { type: "integer" } },
        required: ["city", "days"],
      },
    },
  },
];

/** The model's next message: as the library gives it, or put together from its pieces. */
async function answer(client, messages, stream) {
  const request = { model: "gpt-4o-mini", messages, tools: TOOLS };
  if (!stream) {
    return (await client.chat.completions.create(request)).choices[0].message;
  }
  const message = { role: "assistant", content: null };
  const pieces = await client.chat.completions.create({ ...request, stream: true, stream_options: { include_usage: true } });
  for await (const { choices } of pieces) {
    for (const { delta } of choices) {
      if (delta.content) message.content = (message.content ?? "") + delta.content;
      for (const piece of delta.tool_calls ?? []) {
        message.tool_calls ??= [];
        const call = (message.tool_calls[piece.index] ??= { id: piece.id, type: "function", function: { name: "", arguments: "" } });
        call.function.name += piece.function.name ?? "";
        call.function.arguments += piece.function.arguments ?? "";
      }
    }
  }
  return message;
}

async function converse(client, stream) {
  const messages = [{ role: "system", content: "You plan trips.\nLook up the weather before you advise." }];
  for (const question of ["Zürich or São Paulo this weekend?", "And what do I pack?"]) {
    messages.push({ role: "user", content: question });
    for (;;) {
      const message = await answer(client, messages, stream);
      messages.push(message);
      if (!message.tool_calls?.length) break;
      for (const call of message.tool_calls) {
        const { city } = JSON.parse(call.function.arguments);
        messages.push({ role: "tool", tool_call_id: call.id, content: WEATHER[city] });
      }
    }
  }
}

/** The exporter that code of a page makes. */
function exporterInCode() {
  const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-proto");
  return new Function("OTLPTraceExporter", `return ${process.env.AGENT_EXPORTER}`)(OTLPTraceExporter);
}

async function main() {
  // The exporters log what they lose; the test reads it.
  diag.setLogger(new DiagConsoleLogger(), DiagLogLevel.WARN);
  const [name, ...options] = process.argv.slice(2);
  const traceExporter = options.includes("--exporter-in-code") ? exporterInCode() : undefined;
  const sdk = new NodeSDK({ instrumentations: [INSTRUMENTATIONS[name]()], traceExporter });
  sdk.start();
  // Required last: an instrumentation replaces what is required after it.
  const { OpenAI } = require("openai");
  try {
    await trace.getTracer("agent").startActiveSpan("plan a trip", async (root) => {
      try {
        await converse(new OpenAI({ maxRetries: 0 }), options.includes("--stream"));
        console.log(root.spanContext().traceId);
      } finally {
        root.end();
      }
    });
  } finally {
    await sdk.shutdown();
  }
}

main();
