"""Google ADK with a scripted model."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

pytest.importorskip("google.adk")

from driver import Driver, Run, cases_of
from examples import prints, shows
from google.adk.agents import LlmAgent
from google.adk.apps import App
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.plugins.base_plugin import BasePlugin
from google.genai import types
from machine import POLICY, Machine
from pydantic import ConfigDict
from script import DONE, Call, Script
from tools import Tools

import stopgate_client
from stopgate_client.adapters.google_adk import StopgatePlugin


class Model(BaseLlm):
    """Plays a script. A call of transfer_to_NAME is one of ADK's tool transfer_to_agent."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    script: Script

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        self.script.request(llm_request.model_dump_json(include={"contents", "config"}))
        for part in (part for content in llm_request.contents for part in content.parts or ()):
            if (response := part.function_response) is not None:
                found = response.response or {}
                self.script.read(str(response.id), "".join(str(value) for value in found.values()), "error" in found)
        parts = [types.Part(function_call=_call(call)) for call in self.script.next()]
        yield LlmResponse(content=types.Content(role="model", parts=parts or [types.Part(text=DONE)]))


def _call(call: Call) -> types.FunctionCall:
    if call.tool.startswith("transfer_to_"):
        to = call.tool.removeprefix("transfer_to_")
        return types.FunctionCall(id=call.id, name="transfer_to_agent", args={"agent_name": to})
    return types.FunctionCall(id=call.id, name=call.tool, args=dict(call.args))


class GoogleAdk(Driver):
    host, title, package = "google_adk", "Google ADK", "google-adk"

    async def run(self, run: Run) -> None:
        agents = [
            LlmAgent(name=name, model=Model(model="scripted", script=run.script), tools=list(run.functions), description=name)
            for name in run.agents
        ]
        agents[0].sub_agents = agents[1:]
        for agent in agents[1:]:
            agent.parent_agent = agents[0]
        await run_app(agents[0], [StopgatePlugin(run.gate, session=run.session)], run.prompt)


async def run_app(agent: LlmAgent, plugins: list[Any], prompt: str) -> None:
    """Run an agent with a message of the user."""
    runner = InMemoryRunner(app=App(name="shop", root_agent=agent, plugins=plugins))
    session = await runner.session_service.create_session(app_name="shop", user_id="anna")
    message = types.Content(role="user", parts=[types.Part(text=prompt)])
    async for _ in runner.run_async(user_id="anna", session_id=session.id, new_message=message):
        pass


test_case = cases_of(GoogleAdk())


def test_example() -> None:
    prints("shop_google_adk.py")
    shows("google-adk.md", "shop_google_adk.py")


class Changing(BasePlugin):
    """Changes arguments before a tool, and results after it."""

    async def before_tool_callback(self, *, tool_args: dict[str, Any], **_: Any) -> None:
        tool_args["city"] = "Bern"

    async def after_tool_callback(self, *, result: Any, **_: Any) -> dict[str, Any]:
        return {"result": f"again: {result}"}


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("after", "register stopgate last"),
        ("agent", "make it a plugin before stopgate"),
        ("before", "did not pass the gate"),
    ],
)
def test_nothing_comes_between_the_gate_and_a_tool(home: Machine, place: str, error: str) -> None:
    """A runner in which others could change judged arguments, or replace results before they are judged, fails."""
    tools, script = Tools(), Script([[Call("c1", "lookup", {"city": "Rome"})]])

    async def run() -> None:
        async with await stopgate_client.aio.local(policy=POLICY, project=home.project, binary=home.binary) as gate:
            gated = StopgatePlugin(gate)
            plugins = {"after": [gated, Changing("x")], "agent": [gated], "before": [Changing("x"), gated]}[place]
            callback = (lambda tool, args, tool_context: args.update(city="Bern")) if place == "agent" else None
            agent = LlmAgent(name="main", model=Model(model="scripted", script=script), tools=list(tools.functions()), before_tool_callback=callback)
            await run_app(agent, plugins, "go")

    with pytest.raises(RuntimeError, match=error):
        asyncio.run(run())
    assert script.played == 1 and not script.readings
    # A plugin in front of the gate may change arguments: these are judged, and run.
    assert tools.ran == ([("lookup", {"city": "Bern", "days": 1})] if place == "before" else [])


def test_calls_with_one_id(home: Machine) -> None:
    """The result of a call is not reported for another one, which would reach the model unjudged."""
    tools, script = Tools(), Script([[Call("c1", "delete_file", {"path": "notes.txt"}), Call("c1", "fetch", {"page": "private"})]])

    async def run() -> None:
        async with await stopgate_client.aio.local(policy=POLICY, project=home.project, binary=home.binary) as gate:
            agent = LlmAgent(name="main", model=Model(model="scripted", script=script), tools=list(tools.functions()))
            await run_app(agent, [StopgatePlugin(gate)], "go")

    with pytest.raises(RuntimeError, match="the same id"):
        asyncio.run(run())
    assert script.played == 1 and tools.ran == []
