"""LangGraph's ToolNode, gates without asyncio, retries, interrupts and failures of tools."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("langchain")

from driver import settings
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.tools import tool
from langchain_core.messages import AIMessage, ToolMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode
from langgraph.types import Command, interrupt
from machine import Machine
from script import DONE, Call, Script
from test_langchain import ScriptedChatModel
from tools import Tools

import stopgate_client
from stopgate_client import Yes
from stopgate_client.adapters.langchain import Stopgate

MAIL = Call("c1", "send_mail", {"to": "anna@example.com", "body": "hello"})


def answers(node: ToolNode, *calls: Call) -> list[ToolMessage]:
    """Run a node in a graph of its own, and return its messages."""
    graph = StateGraph(MessagesState).add_node("tools", node).add_edge(START, "tools").compile()
    made = AIMessage("", tool_calls=[{"name": c.tool, "args": dict(c.args), "id": c.id} for c in calls])
    return list(graph.invoke({"messages": [made]})["messages"][1:])


def test_a_tool_node_with_a_gate_without_asyncio(home: Machine) -> None:
    tools = Tools()
    with stopgate_client.local(**settings(home)) as gate:
        node = ToolNode(tools.functions(), wrap_tool_call=Stopgate(gate).wrap_tool_call)
        deleted, found = answers(node, Call("c1", "delete_file", {"path": "a"}), Call("c2", "lookup", {"city": "Rome", "days": 1}))
    assert deleted.status == "error" and "No file is deleted here" in deleted.text
    assert found.status == "success" and found.text == "sunny in Rome for 1 days"
    assert [name for name, _ in tools.ran] == ["lookup"]


def test_a_node_that_makes_messages_of_errors_runs_nothing_without_a_gate(home: Machine) -> None:
    tools = Tools()
    with stopgate_client.local(**settings(home)) as gate:
        node = ToolNode(tools.functions(), wrap_tool_call=Stopgate(gate).wrap_tool_call, handle_tool_errors=True)
        home.kill()
        (found,) = answers(node, Call("c2", "lookup", {"city": "Rome", "days": 1}))
    assert found.status == "error" and tools.ran == []


def test_a_tool_that_the_node_does_not_have_is_judged_too(home: Machine) -> None:
    with stopgate_client.local(**settings(home)) as gate:
        node = ToolNode(Tools().functions(), wrap_tool_call=Stopgate(gate).wrap_tool_call)
        (found,) = answers(node, Call("c1", "rm_rf", {}))
    assert found.status == "error" and "[stopgate] The tool call `rm_rf` was not run" in found.text


def test_the_other_kind_of_call_is_an_error(home: Machine) -> None:
    script, tools = Script([[Call("c2", "lookup", {"city": "Rome", "days": 1})]]), Tools()

    async def work() -> None:
        async with await stopgate_client.aio.local(**settings(home)) as gate:
            agent = create_agent(ScriptedChatModel(script=script), tools.functions(), middleware=[Stopgate(gate)])
            await asyncio.to_thread(lambda: agent.invoke({"messages": [("user", "go")]}))

    with pytest.raises(NotImplementedError, match="ainvoke"):
        asyncio.run(work())
    with stopgate_client.local(**settings(home)) as gate, pytest.raises(NotImplementedError, match="invoke or stream"):
        agent = create_agent(ScriptedChatModel(script=Script(script.turns)), tools.functions(), middleware=[Stopgate(gate)])
        asyncio.run(agent.ainvoke({"messages": [("user", "go")]}))
    assert tools.ran == []


class Again(AgentMiddleware[Any, Any]):
    """Runs every call a second time."""

    def wrap_tool_call(self, request: Any, handler: Callable[[Any], Any]) -> Any:
        handler(request)
        return handler(request)


def test_a_call_that_a_middleware_repeats_is_judged_again(home: Machine) -> None:
    script, tools, asked = Script([[MAIL]]), Tools(), []

    def on_ask(question: Any) -> Any:
        asked.append(question.tool)
        return Yes() if len(asked) == 1 else stopgate_client.No("once is enough")

    with stopgate_client.local(**settings(home), on_ask=on_ask) as gate:
        agent = create_agent(ScriptedChatModel(script=script), tools.functions(), middleware=[Again(), Stopgate(gate)])
        agent.invoke({"messages": [("user", "go")]})
    assert len(asked) == 2 and len(tools.ran) == 1
    assert "once is enough" in script.text_of("c1")


def test_an_interrupt_passes_and_the_tool_is_judged_when_it_begins_anew(home: Machine) -> None:
    ran: list[str] = []

    @tool
    def notify(text: str) -> str:
        """Notify."""
        ran.append(interrupt("which channel?"))
        return "done"

    policy = 'version = 1\n[tools.notify.policy]\nrun = "unattended"\n'
    script = Script([[Call("c1", "notify", {"text": "hello"})]])
    with stopgate_client.local(**settings(home, policy)) as gate:
        agent = create_agent(ScriptedChatModel(script=script), [notify], middleware=[Stopgate(gate)], checkpointer=InMemorySaver())
        thread: Any = {"configurable": {"thread_id": "1"}}
        paused = agent.invoke({"messages": [("user", "go")]}, thread)
        assert paused["__interrupt__"] and ran == []
        assert agent.invoke(Command(resume="mail"), thread)["messages"][-1].text == DONE
    assert ran == ["mail"] and script.text_of("c1") == "done"


@pytest.mark.parametrize("handled", [True, False])
def test_the_text_of_a_failure_can_be_withheld(home: Machine, handled: bool) -> None:
    def fetch(page: str) -> str:
        """Fetch a page."""
        raise RuntimeError(f"content of {page}")

    with stopgate_client.local(**settings(home)) as gate:
        node = ToolNode([fetch], wrap_tool_call=Stopgate(gate).wrap_tool_call, handle_tool_errors=handled)
        (found,) = answers(node, Call("c1", "fetch", {"page": "private"}))
        assert "withheld" in found.text and "content of private" not in found.text
        if handled:
            (found,) = answers(node, Call("c1", "fetch", {"page": "public"}))
            assert "content of public" in found.text and found.status == "error"
        else:
            with pytest.raises(RuntimeError, match="content of public"):
                answers(node, Call("c1", "fetch", {"page": "public"}))


def test_a_withheld_command_has_no_effect(home: Machine) -> None:
    @tool
    def fetch(page: str) -> Command[Any]:
        """Fetch a page."""
        return Command(update={"messages": [ToolMessage(f"content of {page}", tool_call_id="c1")]})

    with stopgate_client.local(**settings(home)) as gate:
        node = ToolNode([fetch], wrap_tool_call=Stopgate(gate).wrap_tool_call)
        (found,) = answers(node, Call("c1", "fetch", {"page": "private"}))
    assert "withheld" in found.text and "content of private" not in found.text
