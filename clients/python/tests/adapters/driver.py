"""Runs the cases through one host, and writes its row of the table."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from cases import CASES, Scene, World
from machine import POLICY, ROWS, Machine
from script import Script
from tools import Tools

import stopgate_client


@dataclass(frozen=True)
class Run:
    """A run of the host's agent, for a driver. Gate and session are those of stopgate_client.aio unless the driver is `sync`."""

    gate: Any
    session: Any
    script: Script
    functions: Sequence[Callable[..., str]]
    agents: Sequence[str]
    prompt: str


class Driver(ABC):
    """One host. `unable` has the cases that the host cannot do, with the reason in at most six words."""

    host: ClassVar[str]
    title: ClassVar[str]
    package: ClassVar[str]
    unable: ClassVar[Mapping[str, str]] = {}
    sync: ClassVar[bool] = False

    @abstractmethod
    def run(self, run: Run) -> Any:
        """Build the host's agent with a model that plays run.script, and run it to its end; async unless `sync`.

        Errors of the run pass through.
        """


class Row:
    """The row of a host. It is written when every case has passed."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._cases = {name: driver.unable[name] for name in CASES if name in driver.unable}

    @contextmanager
    def passes(self, case: str) -> Iterator[None]:
        """Count the case as passed if the block ends without an error."""
        yield
        self._cases[case] = "yes"
        if len(self._cases) == len(CASES):
            self._write()

    def _write(self) -> None:
        d = self._driver
        row = {
            "language": "python",
            "host": d.host,
            "title": d.title,
            "package": d.package,
            "version": importlib.metadata.version(d.package),
            "cases": {name: self._cases[name] for name in CASES},
        }
        ROWS.mkdir(parents=True, exist_ok=True)
        (ROWS / f"python-{d.host}.json").write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")


def cases_of(driver: Driver) -> Callable[..., None]:
    """Return the test of a driver's cases: `test_case = cases_of(MyDriver())` in the module of the host."""
    row = Row(driver)

    @pytest.mark.parametrize("case", [name for name in CASES if name not in driver.unable])
    def test_case(case: str, home: Machine) -> None:
        with row.passes(case):
            for scene in CASES[case]:
                play(driver, scene, home)

    return test_case


def play(driver: Driver, scene: Scene, home: Machine) -> World:
    """Run a scene through a host and check it."""
    tools = Tools(on_run=lambda tool: home.kill() if tool == scene.kills else None)
    world = World(Script(scene.turns), tools)
    try:
        if driver.sync:
            _run(driver, scene, home, world)
        else:
            asyncio.run(_run_async(driver, scene, home, world))
    except Exception as error:
        world.error = error
    scene.check(world)
    if scene.delay and scene.answer is not None:
        assert not scene.kills and world.questions, "the late answer was never asked for"
    return world


def settings(home: Machine, policy: str | None = None) -> dict[str, Any]:
    """Return the arguments of `local` for a test: the policy of the cases, or the text of another one."""
    path = POLICY
    if policy is not None:
        path = home.home / "policy.toml"
        path.write_text(policy, encoding="utf-8")
    return {"policy": [path], "project": home.project, "binary": home.binary, "timeout": 30.0}


def _asked(world: World, question: Any) -> None:
    world.questions.append(question)
    world.ran_before_question = list(world.tools.ran)


async def _run_async(driver: Driver, scene: Scene, home: Machine, world: World) -> None:
    async def on_ask(question: Any) -> Any:
        _asked(world, question)
        await asyncio.sleep(scene.delay)
        return scene.answer(stopgate_client) if scene.answer else None

    async with await stopgate_client.aio.local(**settings(home), on_ask=on_ask if scene.answer else None) as gate:
        session = await gate.session(data=scene.data, user_text=scene.user)
        await driver.run(_run_of(gate, session, scene, world))
        await asyncio.sleep(max(0.0, scene.delay - 2))  # the late answer has come


def _run(driver: Driver, scene: Scene, home: Machine, world: World) -> None:
    def on_ask(question: Any) -> Any:
        _asked(world, question)
        time.sleep(scene.delay)
        return scene.answer(stopgate_client) if scene.answer else None

    with stopgate_client.local(**settings(home), on_ask=on_ask if scene.answer else None) as gate:
        session = gate.session(data=scene.data, user_text=scene.user)
        driver.run(_run_of(gate, session, scene, world))
        time.sleep(max(0.0, scene.delay - 2))


def _run_of(gate: Any, session: Any, scene: Scene, world: World) -> Run:
    prompt = scene.user or "Do what the script does."
    return Run(gate, session, world.script, world.tools.functions(), scene.agents, prompt)
