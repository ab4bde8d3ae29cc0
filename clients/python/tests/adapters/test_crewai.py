"""CrewAI with a scripted model."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("crewai")

from crewai import Crew, Task
from crewai.llms.base_llm import BaseLLM
from crewai.tools import tool
from driver import Driver, Run, cases_of
from examples import prints, shows
from machine import POLICY, Machine
from script import DONE, Call, Script
from tools import Tools

import stopgate_client
from stopgate_client.adapters.crewai import GuardedAgent


class Scripted(BaseLLM):
    """Plays a script, with tool calls as the API of OpenAI has them."""

    llm_type: str = "scripted"
    script: Any

    def supports_function_calling(self) -> bool:
        return True

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        script: Script = self.script
        script.request(json.dumps(messages, ensure_ascii=False, default=str))
        for message in messages:
            if message["role"] == "tool":
                script.read(message["tool_call_id"], message["content"])
        calls = script.next()
        return [{"id": c.id, "type": "function", "function": {"name": c.tool, "arguments": json.dumps(c.args)}} for c in calls] or DONE


class CrewAi(Driver):
    host, title, package, sync = "crewai", "CrewAI", "crewai", True
    unable = {"handoff": "coworkers return, control stays"}

    def run(self, run: Run) -> None:
        agent = GuardedAgent(
            gate=run.gate,
            session=run.session,
            role=run.agents[0],
            goal="help",
            backstory="a clerk",
            llm=Scripted(model="scripted", script=run.script),
            tools=[tool(function) for function in run.functions],
        )
        task = Task(description=run.prompt, expected_output="a text", agent=agent)
        Crew(agents=[agent], tasks=[task]).kickoff()


test_case = cases_of(CrewAi())


def test_example() -> None:
    prints("shop_crewai.py")
    shows("crewai.md", "shop_crewai.py")


class Writing(BaseLLM):
    """Writes tool calls as text: CrewAI's mode for models without function calling."""

    llm_type: str = "writing"
    texts: list[str]
    read: list[str] = []

    def supports_function_calling(self) -> bool:
        return False

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        self.read.append(json.dumps(messages, ensure_ascii=False, default=str))
        return self.texts.pop(0) if self.texts else f"Thought: I know.\nFinal Answer: {DONE}"


def _act(name: str, **args: Any) -> str:
    return f"Thought: I act.\nAction: {name}\nAction Input: {json.dumps(args)}\n"


def _kickoff(gate: Any, llm: Any, tools: list[Any], **options: Any) -> Any:
    agent = GuardedAgent(gate=gate, role="main", goal="help", backstory="a clerk", llm=llm, tools=tools, **options)
    return Crew(agents=[agent], tasks=[Task(description="go", expected_output="a text", agent=agent)]).kickoff()


@pytest.fixture
def gate(home: Machine) -> Any:
    with stopgate_client.local(policy=POLICY, project=home.project, binary=home.binary) as gate:
        yield gate


def test_written_calls_are_judged(gate: Any) -> None:
    tools, failed = Tools(), []

    @tool
    def fetch(page: str) -> str:
        """Fetch a page."""
        failed.append(page)
        raise OSError("no such page")

    llm = Writing(model="w", texts=[_act("lookup", city="Rome", days=2), _act("delete_file", path="notes.txt"), _act("fetch", page="private")], read=[])
    functions = [tool(f) for f in tools.functions() if f.__name__ != "fetch"]
    _kickoff(gate, llm, [*functions, fetch])
    assert tools.ran == [("lookup", {"city": "Rome", "days": 2})]
    assert "No file is deleted here" in llm.read[-1]
    assert failed and "no such page" not in llm.read[-1], "errors are results, too: those of private pages are withheld"


def test_a_refusal_is_no_answer(gate: Any) -> None:
    tools = Tools()
    script = Script([[Call("c1", "delete_file", {"path": "notes.txt"})]])
    made = tool(tools.functions()[1])
    made.result_as_answer = True
    result = _kickoff(gate, Scripted(model="s", script=script), [made])
    assert tools.ran == [] and result.raw == DONE and "No file is deleted here" in script.text_of("c1")


def test_every_call_is_judged_though_crewai_has_a_cache(gate: Any) -> None:
    tools = Tools()
    script = Script([[Call("c1", "lookup", {"city": "Rome"})], [Call("c2", "lookup", {"city": "Rome"})]])
    _kickoff(gate, Scripted(model="s", script=script), [tool(tools.functions()[0])], cache=True)
    assert len(tools.ran) == 2


def test_tools_that_crewai_adds_are_judged(gate: Any) -> None:
    """Delegation has no rule: the coworker does not begin."""
    coworker = Script([])
    script = Script([[Call("c1", "delegate_work_to_coworker", {"task": "pay", "context": "now", "coworker": "billing"})]])
    about = {"gate": gate, "goal": "help", "backstory": "a clerk"}
    main = GuardedAgent(role="main", llm=Scripted(model="s", script=script), allow_delegation=True, **about)
    billing = GuardedAgent(role="billing", llm=Scripted(model="s", script=coworker), **about)
    Crew(agents=[main, billing], tasks=[Task(description="go", expected_output="a text", agent=main)]).kickoff()
    assert coworker.played == 0 and "`delegate_work_to_coworker` was not run" in script.text_of("c1")


def test_copies_keep_their_gate(gate: Any) -> None:
    tools = Tools()
    script = Script([[Call("c1", "delete_file", {"path": "notes.txt"})]])
    agent = GuardedAgent(gate=gate, role="main", goal="g", backstory="b", llm=Scripted(model="s", script=script), tools=[tool(tools.functions()[1])])
    agent.copy().kickoff("go")
    assert tools.ran == [] and "No file is deleted here" in script.text_of("c1")
