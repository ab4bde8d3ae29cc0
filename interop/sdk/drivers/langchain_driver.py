"""LangChain for Python, over its OpenAI and Anthropic models."""

import json

from langchain_anthropic import ChatAnthropic
from langchain_openai import ChatOpenAI

from serve import NAMES, PARAMETERS, QUESTION, serve

TOOLS = [{"type": "function", "function": {"name": n, "description": n, "parameters": PARAMETERS}} for n in NAMES]


def run(model, finish):
    def handler(job, answer):
        llm = model(job).bind_tools(TOOLS)
        message = None
        if job["stream"]:
            for chunk in llm.stream(QUESTION):
                answer["seen"] += [c["name"] for c in chunk.tool_call_chunks if c["name"]]
                message = chunk if message is None else message + chunk
        else:
            message = llm.invoke(QUESTION)
        answer["text"] = str(message.text)
        answer["calls"] = [{"id": c["id"], "name": c["name"], "args": json.dumps(c["args"])} for c in message.tool_calls]
        if message.invalid_tool_calls:
            raise RuntimeError(f"invalid tool calls: {message.invalid_tool_calls}")
        answer["finish"] = message.response_metadata.get(finish) or ""

    return handler


def openai(**extra):
    return lambda job: ChatOpenAI(model=job["model"], base_url=job["base"] + "/v1", api_key="sk-test", max_retries=0, stream_usage=True, **extra)


serve(
    {
        "chat": run(openai(), "finish_reason"),
        "responses": run(openai(use_responses_api=True), "status"),
        "messages": run(lambda job: ChatAnthropic(model=job["model"], base_url=job["base"], api_key="sk-test", max_retries=0), "stop_reason"),
    }
)
