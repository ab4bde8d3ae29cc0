"""smolagents with a scripted model."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("smolagents")

from driver import Driver, Run, cases_of
from examples import prints, shows
from machine import POLICY, Machine
from script import DONE, Call, Script
from smolagents import ChatMessage, CodeAgent, MessageRole, Model, Tool, ToolCallingAgent, tool
from smolagents.local_python_executor import PythonExecutor
from smolagents.models import ChatMessageToolCall, ChatMessageToolCallFunction
from tools import Tools

import stopgate_client
from stopgate_client import Gate
from stopgate_client.adapters.smolagents import _Guarded, guard


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


def test_example() -> None:
    prints("shop_smolagents.py")
    shows("smolagents.md", "shop_smolagents.py")


class Coder(Model):
    """Writes pieces of code, and keeps what it read."""

    def __init__(self, *pieces: str) -> None:
        super().__init__()
        self._pieces = iter(pieces)
        self.read = ""

    def generate(self, messages: list[ChatMessage], *args: Any, **kwargs: Any) -> ChatMessage:
        self.read = "\n".join(text for m in messages if m.role == MessageRole.TOOL_RESPONSE for text in _texts(m))
        return ChatMessage(role=MessageRole.ASSISTANT, content=f"<code>\n{next(self._pieces, 'final_answer(1)')}\n</code>")


def _code(home: Machine, tools: Tools, permitted: bool, *pieces: str) -> str:
    policy = home.home / "code.toml"
    text = POLICY.read_text(encoding="utf-8")
    policy.write_text(text + '\n[tools.python_interpreter.policy]\nrun = "unattended"\n' * permitted, encoding="utf-8")
    model = Coder(*pieces)
    with stopgate_client.local(policy=policy, project=home.project, binary=home.binary) as gate:
        agent = CodeAgent(tools=[tool(f) for f in tools.functions()], model=model, verbosity_level=0, max_steps=len(pieces) + 1)
        guard(gate, agent).run("go")
    return model.read


def test_calls_from_code_are_judged(home: Machine) -> None:
    """Code does not go on after a refused or withheld call, and can call a tool by position."""
    tools = Tools()
    read = _code(
        home,
        tools,
        True,
        "print(lookup('Rome', days=2)); delete_file('notes.txt'); lookup('Oslo')",
        "page = fetch(page='private'); print(page)",
        "try:\n    delete_file('notes.txt')\nexcept Exception as e:\n    print('caught')",
    )
    assert tools.ran == [("lookup", {"city": "Rome", "days": 2}), ("fetch", {"page": "private"})]
    assert "No file is deleted here" in read and "withheld" in read and "content of private" not in read


def test_code_does_not_reach_what_the_gate_guards(home: Machine) -> None:
    """Code reads attributes of its tools: neither the tool itself nor the gate is one."""
    tools = Tools()
    _code(home, tools, True, "delete_file._tool('notes.txt')", "delete_file._tool.forward('notes.txt')", "delete_file.forward('notes.txt')")
    assert tools.ran == []
    guarded = _Guarded(Gate.__new__(Gate), tool(tools.functions()[0]), True, {})
    reached = [name for name, value in vars(guarded).items() if isinstance(value, (Gate, Tool))]
    assert reached == []


def test_code_needs_a_rule(home: Machine) -> None:
    tools = Tools()
    read = _code(home, tools, False, "lookup('Rome')", "final_answer(lookup('Rome'))")
    assert tools.ran == [] and "The tool call `python_interpreter` was not run" in read


def test_managed_agents_are_judged(home: Machine) -> None:
    """A managed agent is a tool of its manager, and its own calls have its name."""
    tools = Tools()
    policy = home.home / "team.toml"
    policy.write_text(POLICY.read_text(encoding="utf-8") + '\n[tools.billing.policy]\nrun = "unattended"\n', encoding="utf-8")
    billing = Scripted(Script([[Call("b1", "refund", {"order": "7"})]]))
    admins = Scripted(Script([[Call("a1", "refund", {"order": "8"})]]))
    main = Scripted(Script([[Call("m1", "billing", {"task": "refund 7"})], [Call("m2", "admins", {"task": "refund 8"})]]))
    functions = [tool(f) for f in tools.functions()]
    team = [ToolCallingAgent(functions, m, name=n, description=n, verbosity_level=0) for m, n in ((billing, "billing"), (admins, "admins"))]
    with stopgate_client.local(policy=policy, project=home.project, binary=home.binary) as gate:
        manager = ToolCallingAgent([], main, managed_agents=team, verbosity_level=0)
        guard(gate, guard(gate, manager)).run("go")  # the second one finds nothing to do
    assert tools.ran == [("refund", {"order": "7"})] and admins.script.played == 0
    assert "The tool call `admins` was not run" in main.script.text_of("m2")


def test_remote_executors_are_refused(home: Machine) -> None:
    class Remote(PythonExecutor):
        def send_tools(self, tools: Any) -> None: ...
        def send_variables(self, variables: Any) -> None: ...
        def __call__(self, code_action: str) -> Any: ...

    with stopgate_client.local(policy=POLICY, project=home.project, binary=home.binary) as gate:
        with pytest.raises(stopgate_client.StopgateError, match="runs copies of the tools"):
            guard(gate, CodeAgent(tools=[], model=Coder(), executor=Remote()))
