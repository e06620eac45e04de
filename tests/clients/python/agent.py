"""An agent with a tool, as its authors would write and trace it: two turns, the first of which calls the tool twice at once.

    agent.py INSTRUMENTATION [--stream | --plain]

Where it sends its spans, and what it captures, is set by the environment variables of OpenTelemetry and of the
instrumentation; the model's server by OPENAI_BASE_URL and OPENAI_API_KEY. What the agent says is checked by the server.

The agent hands the model's messages back as the library's own objects, or as plain dictionaries with --plain and --stream.
OpenLLMetry's events fail on the objects, and the whole request with them.
"""

import json
import logging
import sys

from opentelemetry import _logs, trace
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

WEATHER = {"Zürich": '{"high_c": 4, "sky": "snow"}', "São Paulo": "27 °C, sunny\nlight wind"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "The weather of the next days.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
                "required": ["city", "days"],
            },
        },
    }
]


def instrument(name):
    if name == "openinference":
        from openinference.instrumentation.openai import OpenAIInstrumentor
    elif name == "openai-v2":
        from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    elif name == "genai-openai":
        from opentelemetry.instrumentation.genai.openai import OpenAIInstrumentor
    elif name == "traceloop":
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor
    elif name == "traceloop-events":
        from opentelemetry.instrumentation.openai import OpenAIInstrumentor

        OpenAIInstrumentor(use_attributes=False).instrument()
        return
    else:
        sys.exit(f"no instrumentation is named {name}")
    OpenAIInstrumentor().instrument()


def answer(client, messages, options):
    """The model's next message: as the library gives it, or put together from its pieces."""
    request = {"model": "gpt-4o-mini", "messages": messages, "tools": TOOLS}
    if "--stream" not in options:
        message = client.chat.completions.create(**request).choices[0].message
        return message.model_dump(exclude_none=True) if "--plain" in options else message
    content, calls = "", {}
    for chunk in client.chat.completions.create(**request, stream=True, stream_options={"include_usage": True}):
        for choice in chunk.choices:
            content += choice.delta.content or ""
            for piece in choice.delta.tool_calls or []:
                call = calls.setdefault(piece.index, {"id": piece.id, "type": "function", "function": {"name": "", "arguments": ""}})
                call["function"]["name"] += piece.function.name or ""
                call["function"]["arguments"] += piece.function.arguments or ""
    message = {"role": "assistant", "content": content or None}
    return {**message, "tool_calls": list(calls.values())} if calls else message


def called(message):
    """The calls of a message: (id, arguments)."""
    if isinstance(message, dict):
        return [(call["id"], call["function"]["arguments"]) for call in message.get("tool_calls", [])]
    return [(call.id, call.function.arguments) for call in message.tool_calls or []]


def converse(client, options):
    messages = [{"role": "system", "content": "You plan trips.\nLook up the weather before you advise."}]
    for question in ("Zürich or São Paulo this weekend?", "And what do I pack?"):
        messages.append({"role": "user", "content": question})
        while True:
            message = answer(client, messages, options)
            messages.append(message)
            calls = called(message)
            if not calls:
                break
            for call_id, arguments in calls:
                result = WEATHER[json.loads(arguments)["city"]]
                messages.append({"role": "tool", "tool_call_id": call_id, "content": result})


def main():
    # The exporters and instrumentations log what they lose; the test reads it.
    logging.basicConfig(level=logging.WARNING)
    name, *options = sys.argv[1:]
    tracers, loggers = TracerProvider(), LoggerProvider()
    tracers.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    loggers.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    trace.set_tracer_provider(tracers)
    _logs.set_logger_provider(loggers)
    instrument(name)

    # Imported last: an instrumentation may replace what it imports.
    from openai import OpenAI

    try:
        with trace.get_tracer("agent").start_as_current_span("plan a trip") as root:
            converse(OpenAI(max_retries=0), options)
            print(f"{root.get_span_context().trace_id:032x}")
    finally:
        tracers.shutdown()
        loggers.shutdown()


main()
