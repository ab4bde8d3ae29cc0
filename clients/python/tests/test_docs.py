"""The programs of docs/python.md run as they are printed, against the real gate."""

from __future__ import annotations

import ast
import asyncio
import inspect
import pathlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import pytest
import scripted
from conftest import HERE
from test_gate import POLICY

import stopgate_client
from stopgate_client import Gate

PAGE = (HERE.parents[2] / "docs" / "python.md").read_text(encoding="utf-8")
FENCES: dict[str, str] = dict(re.findall(r"^```[a-z]+ (\S+)\n(.*?)^```$", PAGE, re.M | re.S))
SEARCH = '[tools.search.parameters]\nq = { type = "string" }\n[tools.search.policy]\nrun = "unattended"\n'


def execute(name: str, **names: Any) -> dict[str, Any]:
    """Runs a block with the names that the text before it explains, and returns what it defines."""
    names["stopgate_client"] = stopgate_client
    found = eval(compile(FENCES[name], name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
    if inspect.iscoroutine(found):
        asyncio.run(found)
    return names


@pytest.fixture()
def project(state: pathlib.Path, program: str, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A directory with the policy of the page, which is also the user's, with the program in PATH."""
    found = state / "docs"
    for directory in ("bin", "src", "config/stopgate"):
        (found / directory).mkdir(parents=True, exist_ok=True)
    if not (link := found / "bin" / "stopgate").exists():
        link.write_text(f'#!/bin/sh\nexec {program} "$@"\n')
        link.chmod(0o755)
    (found / "stopgate.toml").write_text(FENCES["stopgate.toml"])
    (found / "config" / "stopgate" / "stopgate.toml").write_text(FENCES["stopgate.toml"] + SEARCH)
    monkeypatch.chdir(found)
    monkeypatch.setenv("PATH", f"{found / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(found / "config"))
    return found


@pytest.fixture()
def gate(project: pathlib.Path) -> Iterator[Gate]:
    with stopgate_client.local(policy="stopgate.toml") as found:
        yield found


def test_every_program_is_run() -> None:
    assert len(re.findall("^```[a-z]", PAGE, re.M)) == len(FENCES) == len(re.findall(r"^```$", PAGE, re.M))
    tests = pathlib.Path(__file__).read_text(encoding="utf-8")
    assert [name for name in FENCES if f'"{name}"' not in tests] == []


def test_tool(project: pathlib.Path) -> None:
    for arguments, result in [
        ({"path": "src/a", "content": "x"}, "written"),
        ({"path": ".env"}, "[stopgate] The tool call `write_file` was not run: secrets stay out of reach (rule_matched)."),
    ]:
        names = execute("tool.py", arguments_of_the_model=arguments)
        names["gate"].close()
        assert names["result"] == result
    assert (project / "src" / "a").read_text() == "x" and not (project / ".env").exists()


def test_steps(gate: Gate) -> None:
    assert execute("steps.py", gate=gate, run=lambda path, content: f"{content} to {path}")["text"] == "x to src/a"


@pytest.mark.parametrize("typed, allowed", [("y", True), ("n", False)])
def test_questions(project: pathlib.Path, monkeypatch: pytest.MonkeyPatch, typed: str, allowed: bool) -> None:
    monkeypatch.setattr("builtins.input", lambda prompt: typed)
    with execute("questions.py")["gate"] as gate:
        outcome = gate.decide("write_file", {"path": "other"})
    assert outcome.allowed is allowed and (allowed or "the user does not want it" in outcome.model_text)


def test_session(started: Callable[..., Gate]) -> None:
    gate = started(POLICY)

    class Agent:
        def run(self) -> None:
            assert gate.decide("mail", {"to": "anna@example.com"}).allowed
            assert not gate.decide("mail", {"to": "bob@example.com"}).allowed

    session = execute("session.py", gate=gate, agent=Agent())["session"]
    assert gate.decide("mail", {"to": "bob@example.com"}, session=session).allowed


@pytest.mark.parametrize("path, allowed", [("src/a", True), (".env", False)])
def test_arriving(gate: Gate, path: str, allowed: bool) -> None:
    assert execute("arriving.py", gate=gate, chunks=['{"path":', f'"{path}"', "}"])["outcome"].allowed is allowed


@pytest.mark.parametrize("path, result", [("src/a", "wrote src/a"), (".env", "secrets stay out of reach")])
def test_stream(gate: Gate, path: str, result: str) -> None:
    shown: list[Any] = []
    request = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "go"}]}
    with scripted.serve() as provider:
        provider.events = scripted.anthropic(("write_file", ['{"path":', f'"{path}"}}']))
        client = anthropic.Anthropic(api_key="k", base_url=provider.url, max_retries=0)
        tools = {"write_file": lambda path: "wrote " + path}
        names = execute("stream.py", gate=gate, client=client, request=request, show=shown.append, tools=tools)
    assert result in names["result"] and shown


def test_asynchronous(project: pathlib.Path) -> None:
    searched: list[str] = []

    def search(q: str) -> str:
        searched.append(q)
        return "found"

    assert execute("asynchronous.py", search=search)["outcome"].allowed
    assert searched == ["x"]
