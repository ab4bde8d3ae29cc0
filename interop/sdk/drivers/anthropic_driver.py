"""The Anthropic library for Python."""

import functools
import json

import anthropic

from serve import NAMES, PARAMETERS, QUESTION, RESULT, serve

TOOLS = [{"name": n, "input_schema": PARAMETERS} for n in NAMES]


@functools.cache
def client_of(base):
    return anthropic.Anthropic(base_url=base, api_key="sk-test", max_retries=0)


def messages(job, answer):
    client = client_of(job["base"])

    def ask(model, history, seen):
        body = {"model": model, "messages": history, "tools": TOOLS, "max_tokens": 1000}
        if not job["stream"]:
            return client.messages.create(**body)
        with client.messages.stream(**body) as stream:
            for event in stream:
                if event.type in ("content_block_start", "content_block_stop") and event.content_block.type == "tool_use":
                    seen.append(event.content_block.name)
            return stream.get_final_message()

    history = [{"role": "user", "content": QUESTION}]
    message = ask(job["model"], history, answer["seen"])
    calls = [b for b in message.content if b.type == "tool_use"]
    answer["text"] = "".join(b.text for b in message.content if b.type == "text")
    answer["finish"] = message.stop_reason
    answer["calls"] = [{"id": c.id, "name": c.name, "args": json.dumps(c.input)} for c in calls]
    answer["tokens"] = message.usage.output_tokens
    if not job.get("next"):
        return
    history.append({"role": "assistant", "content": [b.to_dict() for b in message.content]})
    results = [{"type": "tool_result", "tool_use_id": c.id, "content": RESULT} for c in calls]
    history.append({"role": "user", "content": results or "Go on."})
    answer["next"] = "".join(b.text for b in ask(job["next"], history, []).content)


serve({"messages": messages})
