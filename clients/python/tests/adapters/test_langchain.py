"""LangChain agents (create_agent) in a LangGraph graph, with a scripted chat model."""

from __future__ import annotations

import json
from typing import Annotated, Any

import pytest

pytest.importorskip("langchain")

from driver import Driver, Run, cases_of
from examples import prints, shows
from langchain.agents import create_agent
from langchain.tools import InjectedToolCallId, tool
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.types import Command
from script import DONE, Script

from stopgate_client.adapters.langchain import Stopgate


class ScriptedChatModel(BaseChatModel):
    """Plays a script."""

    script: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **_: Any) -> ScriptedChatModel:
        return self

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **_: Any) -> ChatResult:
        script: Script = self.script
        script.request(json.dumps([m.content for m in messages], ensure_ascii=False))
        for m in messages:
            if isinstance(m, ToolMessage):
                script.read(m.tool_call_id, m.text, m.status == "error")
        calls = [{"name": c.tool, "args": dict(c.args), "id": c.id} for c in script.next()]
        return ChatResult(generations=[ChatGeneration(message=AIMessage("" if calls else DONE, tool_calls=calls))])


def transfer_to(name: str) -> Any:
    @tool(f"transfer_to_{name}", description=f"Hand over to {name}.")
    def transfer(tool_call_id: Annotated[str, InjectedToolCallId]) -> Command[Any]:
        done = ToolMessage(f"transferred to {name}", tool_call_id=tool_call_id)
        return Command(goto=name, graph=Command.PARENT, update={"messages": [done]})

    return transfer


class LangChain(Driver):
    host, title, package = "langchain", "LangChain, LangGraph", "langchain"

    async def run(self, run: Run) -> None:
        graph = StateGraph(MessagesState)
        transfers = [transfer_to(name) for name in run.agents[1:]]
        for name in run.agents:
            agent = create_agent(
                ScriptedChatModel(script=run.script),
                [*map(tool, run.functions), *transfers],
                middleware=[Stopgate(run.gate, session=run.session, agent=name)],
            )
            graph.add_node(name, agent)
        graph.add_edge(START, run.agents[0])
        result = await graph.compile().ainvoke({"messages": [("user", run.prompt)]})
        assert result["messages"][-1].text == DONE


test_case = cases_of(LangChain())


def test_example() -> None:
    prints("shop_langchain.py")
    shows("langchain.md", "shop_langchain.py")
