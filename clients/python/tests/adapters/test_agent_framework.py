"""Microsoft Agent Framework with a scripted model; handoffs with its orchestrations."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any

import pytest

pytest.importorskip("agent_framework")

from agent_framework import (
    Agent,
    BaseChatClient,
    ChatResponse,
    Content,
    FunctionInvocationLayer,
    Message,
    MiddlewareFailure,
    function_middleware,
    tool,
)
from agent_framework_orchestrations import HandoffBuilder
from driver import Driver, Run, cases_of
from examples import prints, shows
from machine import POLICY, Machine
from script import DONE, Call, Script
from tools import Tools

import stopgate_client
from stopgate_client.adapters.agent_framework import Stopgate


class Model(FunctionInvocationLayer[Any], BaseChatClient[Any]):
    """Plays a script. A call of transfer_to_NAME is one of the tool handoff_to_NAME."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Awaitable[ChatResponse[Any]]:
        assert not stream
        return self._answer(messages)

    async def _answer(self, messages: Sequence[Message]) -> ChatResponse[Any]:
        self.script.request("\n".join(str(message.to_dict()) for message in messages))
        for content in (content for message in messages for content in message.contents):
            if content.type == "function_result":
                self.script.read(str(content.call_id), str(content.result), content.exception is not None)
        calls = [_call(call) for call in self.script.next()]
        return ChatResponse(messages=[Message(role="assistant", contents=calls or [DONE])])


def _call(call: Call) -> Content:
    name = call.tool.replace("transfer_to_", "handoff_to_")
    return Content.from_function_call(call_id=call.id, name=name, arguments=dict(call.args))


class AgentFramework(Driver):
    host, title, package = "agent_framework", "Microsoft Agent Framework", "agent-framework-core"

    async def run(self, run: Run) -> None:
        tools = [tool(function, approval_mode="never_require") for function in run.functions]
        agents = [
            Agent(
                Model(run.script),
                name=name,
                description=name,
                tools=tools,
                middleware=[Stopgate(run.gate, session=run.session, agent=name)],
                require_per_service_call_history_persistence=len(run.agents) > 1,
            )
            for name in run.agents
        ]
        if len(agents) == 1:
            await agents[0].run(run.prompt)
            return
        builder = HandoffBuilder(participants=agents).with_start_agent(agents[0])
        for agent in agents[1:]:
            builder = builder.add_handoff(agents[0], [agent])
        await builder.build().run(run.prompt)


test_case = cases_of(AgentFramework())


def test_example() -> None:
    prints("shop_agent_framework.py")
    shows("agent-framework.md", "shop_agent_framework.py")


@function_middleware
async def changing(context: Any, call_next: Any) -> None:
    """Change the arguments of a call."""
    context.arguments = {**context.arguments, "city": "Bern"}
    await call_next()


@pytest.mark.parametrize("place", ["before", "after"])
def test_judged_arguments_do_not_change(home: Machine, place: str) -> None:
    tools, script = Tools(), Script([[Call("c1", "lookup", {"city": "Rome"})]])

    async def run() -> None:
        async with await stopgate_client.aio.local(policy=POLICY, project=home.project, binary=home.binary) as gate:
            chain = [changing, Stopgate(gate)] if place == "before" else [Stopgate(gate), changing]
            await Agent(Model(script), name="main", tools=list(tools.functions()), middleware=chain).run("go")

    if place == "before":  # the gate judges what comes out of it
        asyncio.run(run())
        assert tools.ran == [("lookup", {"city": "Bern", "days": 1})]
        return
    with pytest.raises(MiddlewareFailure, match="changed after security middleware"):
        asyncio.run(run())
    assert tools.ran == []
