"""The openai library for Python: Chat Completions and Responses."""

import functools

import openai

from serve import NAMES, PARAMETERS, QUESTION, RESULT, serve

CHAT_TOOLS = [{"type": "function", "function": {"name": n, "parameters": PARAMETERS}} for n in NAMES]
RESPONSES_TOOLS = [{"type": "function", "name": n, "parameters": PARAMETERS, "strict": False} for n in NAMES]


@functools.cache
def client_of(base):
    return openai.OpenAI(base_url=base + "/v1", api_key="sk-test", max_retries=0)


def chat(job, answer):
    client = client_of(job["base"])

    def ask(model, messages, seen):
        body = {"model": model, "messages": messages, "tools": CHAT_TOOLS}
        if job.get("choices"):
            body["n"] = job["choices"]
        if not job["stream"]:
            return client.chat.completions.create(**body)
        with client.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
            for event in stream:
                if event.type == "tool_calls.function.arguments.done":
                    seen.append(event.name)
            return stream.get_final_completion()

    messages = [{"role": "user", "content": QUESTION}]
    completion = ask(job["model"], messages, answer["seen"])
    for choice in completion.choices:
        answer["text"] += choice.message.content or ""
        answer["finish"] = choice.finish_reason
        for c in choice.message.tool_calls or []:
            answer["calls"].append({"id": c.id, "name": c.function.name, "args": c.function.arguments})
    if completion.usage:
        answer["tokens"] = completion.usage.completion_tokens
    if not job.get("next"):
        return
    message = completion.choices[0].message
    messages.append(message.to_dict())
    for c in message.tool_calls or []:
        messages.append({"role": "tool", "tool_call_id": c.id, "content": RESULT})
    if not message.tool_calls:
        messages.append({"role": "user", "content": "Go on."})
    answer["next"] = ask(job["next"], messages, []).choices[0].message.content


def responses(job, answer):
    client = client_of(job["base"])

    def ask(model, items, seen, **extra):
        body = {"model": model, "input": items, "tools": RESPONSES_TOOLS, **extra}
        if not job["stream"]:
            return client.responses.create(**body)
        with client.responses.stream(**body) as stream:
            for event in stream:
                if event.type == "response.output_item.done" and event.item.type == "function_call":
                    seen.append(event.item.name)
                if event.type == "error":
                    raise RuntimeError(event.message)
            return stream.get_final_response()

    items = [{"role": "user", "content": QUESTION}]
    response = ask(job["model"], items, answer["seen"])
    calls = [i for i in response.output if i.type == "function_call"]
    answer["text"] = response.output_text
    answer["finish"] = response.status
    answer["calls"] = [{"id": c.call_id, "name": c.name, "args": c.arguments} for c in calls]
    if response.usage:
        answer["tokens"] = response.usage.output_tokens
    if not job.get("next"):
        return
    results = [{"type": "function_call_output", "call_id": c.call_id, "output": RESULT} for c in calls]
    results = results or [{"role": "user", "content": "Go on."}]
    if job.get("continued"):
        answer["next"] = ask(job["next"], results, [], previous_response_id=response.id).output_text
        return
    output = [i.to_dict(mode="json") for i in response.output]
    for item in output:
        item.pop("parsed_arguments", None)
    answer["next"] = ask(job["next"], items + output + results, []).output_text


serve({"chat": chat, "responses": responses})
