"""smolagents with a scripted model."""

from __future__ import annotations

import json
from typing import Any

from driver import Driver, Run, cases_of
from script import DONE, Script
from smolagents import ChatMessage, MessageRole, Model, ToolCallingAgent, tool
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction

from stopgate_client.adapters.smolagents import guard


class Scripted(Model):
    """Plays a script. An agent of smolagents ends with a call of final_answer."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script
        self._made: list[list[str]] = []

    def generate(self, messages: list[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        self.script.request(json.dumps([message.dict() for message in messages], ensure_ascii=False, default=str))
        observed = [text for m in messages if m.role == MessageRole.TOOL_RESPONSE for text in _texts(m)]
        for ids, text in zip(self._made, observed, strict=True):
            # smolagents puts the results of a turn into one text, one below the other, in the order of the ids
            lines = [text] if len(ids) == 1 else text.removeprefix("Observation:\n").split("\n")
            for call_id, line in zip(sorted(ids), lines, strict=True):
                self.script.read(call_id, line)
        calls = [_call(call.id, call.tool, dict(call.args)) for call in self.script.next()]
        self._made.append([call.id for call in calls])
        return ChatMessage(role=MessageRole.ASSISTANT, tool_calls=calls or [_call("end", "final_answer", {"answer": DONE})])


def _call(call_id: str, name: str, args: dict[str, Any]) -> ChatMessageToolCall:
    return ChatMessageToolCall(function=ChatMessageToolCallFunction(name=name, arguments=args), id=call_id, type="function")


def _texts(message: ChatMessage) -> list[str]:
    assert isinstance(message.content, list)
    return [part["text"] for part in message.content]


class Smolagents(Driver):
    host, title, package, sync = "smolagents", "smolagents", "smolagents", True
    unable = {"handoff": "managed agents return, control stays"}

    def run(self, run: Run) -> None:
        agent = ToolCallingAgent(tools=[tool(f) for f in run.functions], model=Scripted(run.script), verbosity_level=0)
        guard(run.gate, agent, session=run.session).run(run.prompt)


test_case = cases_of(Smolagents())
