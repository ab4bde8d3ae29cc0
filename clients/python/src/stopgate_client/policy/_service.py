"""A service: policies by kind, and the answers that they give to the questions of a gate."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, TypeVar

from ._decision import Decision, Invalid, Opinion, strictest
from ._events import EventPolicy, answer_event, hooks_of
from ._question import Call, call_of, governs, result_of
from ._server import Server
from ._session import SessionPolicy, learns, name_of

PROTOCOL = 1
_log = logging.getLogger("stopgate_client.policy")
_F = TypeVar("_F", bound=Callable[..., Any])
_P = TypeVar("_P")


class Service:
    """The policies of one table ``[[external]]``. ``version`` changes whenever their behaviour does:
    records have it."""

    def __init__(self, version: str) -> None:
        if not version or len(version) > 128 or not version.isprintable():
            raise ValueError("the version of a service has 1 to 128 printable characters")
        self.version = version
        self._gates: list[tuple[tuple[str, ...], Callable[[Call], Any]]] = []
        self._handoffs: list[tuple[tuple[str, ...], Callable[[Call], Any]]] = []
        self._judges: list[tuple[tuple[str, ...], float, Callable[[Call], Any]]] = []
        self._sessions: dict[str, SessionPolicy] = {}
        self._events: EventPolicy | None = None

    def gate(self, *tools: str) -> Callable[[_F], _F]:
        """Register a function that decides about calls of tools, by names and globs. The first that
        denies decides; a tool that no function governs is denied policy_not_configured."""
        return self._register(self._gates, tools)

    def handoff(self, *agents: str) -> Callable[[_F], _F]:
        """Register a function that decides about handoffs to agents."""
        return self._register(self._handoffs, agents)

    @staticmethod
    def _register(into: list[tuple[tuple[str, ...], Callable[[Call], Any]]], names: tuple[str, ...]) -> Callable[[_F], _F]:
        def add(function: _F) -> _F:
            into.append((names or ("*",), function))
            return function
        return add

    def judge(self, *tools: str, threshold: float = 0.5) -> Callable[[_F], _F]:
        """Register a function that reviews calls and returns an Opinion; all of them are asked."""
        def add(function: _F) -> _F:
            self._judges.append((tools or ("*",), threshold, function))
            return function
        return add

    def session(self, policy: type[_P] | Any) -> Any:
        """Register a session policy: an object, or as a decorator a class without parameters."""
        made = policy() if isinstance(policy, type) else policy
        if name_of(made) in self._sessions:
            raise ValueError(f"two session policies have the name {name_of(made)!r}")
        self._sessions[name_of(made)] = made
        return policy

    def events(self, policy: EventPolicy) -> None:
        """Register the event policy. Several of them are several services."""
        if self._events is not None:
            raise ValueError("a service has one event policy")
        self._events = policy

    def hooks(self) -> list[str]:
        """Return the value of ``hooks`` for the table."""
        kinds = [("gate", self._gates), ("handoff", self._handoffs), ("session", self._sessions), ("judge", self._judges)]
        return [name for name, some in kinds if some] + (hooks_of(self._events) if self._events else [])

    def serve(self, url: str, token: str | None = None) -> None:
        """Serve until the process ends: ``unix:///PATH`` or ``http://127.0.0.1:PORT``."""
        with Server(self, url, token) as server:
            server.wait()

    def start(self, url: str, token: str | None = None) -> Server:
        """Serve in threads of their own. The server is a context manager."""
        return Server(self, url, token)

    def is_async(self) -> bool:
        """Report whether a policy is an async function, so that the server needs an event loop."""
        functions = [f for _, f in self._gates + self._handoffs] + [f for _, _, f in self._judges]
        for policy in self._sessions.values():
            functions += [policy.check] + ([learns(policy)] if learns(policy) else [])
        if self._events is not None:
            functions += [getattr(self._events, "on_" + hook) for hook in hooks_of(self._events)]
        return any(inspect.iscoroutinefunction(f) for f in functions)

    async def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the answer to a question. It does not raise: an exception of a policy is an error
        in the answer, which denies."""
        head = {"protocol": PROTOCOL, "id": question.get("id"), "version": self.version}
        try:
            if question.get("protocol") != PROTOCOL:
                raise Invalid(f"protocol {question.get('protocol')!r}: this service speaks {PROTOCOL}")
            return {**head, **await self._answer(question)}
        except Invalid as error:
            _log.error("%s: %s", question.get("ask"), error)
            return {**head, "error": {"code": "invalid_policy_result", "detail": type(error).__name__}}
        except Exception as error:
            _log.exception("the policy for %s failed", question.get("ask"))
            return {**head, "error": {"code": "policy_error", "detail": type(error).__name__}}

    async def _answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        ask = question["ask"]
        if ask == "gate":
            return await self._decide(self._gates, call_of(question), str(question["call"]["tool"]))
        if ask == "handoff":
            return await self._decide(self._handoffs, call_of(question), str(question["call"].get("to", "")))
        if ask == "judge":
            return await self._judge(call_of(question))
        if ask == "session_check":
            return await self._check(call_of(question), question.get("state") or {})
        if ask == "session_result":
            return await self._learn(question, question.get("state") or {})
        return await answer_event(self._events or EventPolicy(), question)

    async def _decide(self, list_: list[tuple[tuple[str, ...], Callable[[Call], Any]]], call: Call, name: str) -> dict[str, Any]:
        allowed: dict[str, Any] | None = None
        for names, function in list_:
            if governs(names, name):
                answer = _decision(await _value(function(call))).encode("gate")
                if answer["decision"] != "allow":
                    return answer
                allowed = allowed or answer
        return allowed or Decision("deny", "policy_not_configured").encode("gate")

    async def _judge(self, call: Call) -> dict[str, Any]:
        answers = []
        for tools, threshold, function in self._judges:
            if governs(tools, call.tool):
                opinion = await _value(function(call))
                if not isinstance(opinion, Opinion):
                    raise Invalid(f"a judge returned {type(opinion).__name__}: want judged(...)")
                answers.append(opinion.encode(threshold))
        return strictest(answers) if answers else {"decision": "allow", "probability": 0}

    async def _check(self, call: Call, state: Mapping[str, Any]) -> dict[str, Any]:
        answers = [Decision("allow", "allowed").encode("session")]
        for name, policy in self._sessions.items():
            if governs(policy.tools, call.tool):
                decision = await _value(policy.check(call, deepcopy(state.get(name, {}))))
                answers.append(_decision(decision).encode("session"))
        return strictest(answers)

    async def _learn(self, question: Mapping[str, Any], state: Mapping[str, Any]) -> dict[str, Any]:
        call, result, after = call_of(question), result_of(question), deepcopy(dict(state))
        for name, policy in self._sessions.items():
            on_result = learns(policy)
            if on_result is not None and governs(policy.tools, call.tool):
                own = after.get(name, {})
                await _value(on_result(call, result, own))
                if own:
                    after[name] = own
        return {} if after == state else {"state": after}


def _decision(value: Any) -> Decision:
    if not isinstance(value, Decision):
        raise Invalid(f"a policy returned {type(value).__name__}: want allow(...) or deny(...)")
    return value


async def _value(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


