"""Google's library for Python."""

import functools
import json

from google import genai
from google.genai import types

from serve import NAMES, PARAMETERS, QUESTION, RESULT, serve

CONFIG = types.GenerateContentConfig(
    tools=[types.Tool(function_declarations=[types.FunctionDeclaration(name=n, parameters_json_schema=PARAMETERS) for n in NAMES])]
)


@functools.cache
def client_of(base):
    return genai.Client(api_key="test", http_options=types.HttpOptions(base_url=base))


def gemini(job, answer):
    client = client_of(job["base"])

    def ask(name, contents, seen):
        body = {"model": name.replace("/", "~"), "contents": contents, "config": CONFIG}
        parts, finish, usage = [], None, None
        chunks = client.models.generate_content_stream(**body) if job["stream"] else [client.models.generate_content(**body)]
        for chunk in chunks:
            candidate = chunk.candidates[0] if chunk.candidates else None
            if candidate and candidate.content:
                parts += candidate.content.parts or []
                seen += [p.function_call.name for p in candidate.content.parts or [] if p.function_call]
            if candidate and candidate.finish_reason:
                finish = candidate.finish_reason
            usage = chunk.usage_metadata or usage
        return parts, finish, usage

    def text(parts):
        return "".join(p.text or "" for p in parts if not p.thought)

    contents = [types.Content(role="user", parts=[types.Part(text=QUESTION)])]
    parts, finish, usage = ask(job["model"], contents, answer["seen"])
    calls = [p.function_call for p in parts if p.function_call]
    answer["text"] = text(parts)
    answer["finish"] = finish.value if finish else ""
    answer["calls"] = [{"id": c.id, "name": c.name, "args": json.dumps(c.args)} for c in calls]
    answer["tokens"] = usage.candidates_token_count
    if not job.get("next"):
        return
    contents.append(types.Content(role="model", parts=parts))
    results = [types.Part(function_response=types.FunctionResponse(id=c.id, name=c.name, response={"output": RESULT})) for c in calls]
    contents.append(types.Content(role="user", parts=results or [types.Part(text="Go on.")]))
    answer["next"] = text(ask(job["next"], contents, [])[0])


serve({"gemini": gemini})
