"""Reports about a session: texts, data, approvals."""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from typing import Any, Optional

from ._core import Core, SessionState

current: ContextVar[tuple[tuple[Core, SessionState], ...]] = ContextVar("stopgate_sessions", default=())
"""The sessions that are entered, with the clients they belong to; the last one of a client is its current one."""


def current_of(core: Core) -> Optional[SessionState]:
    """Returns the current session of a client, or None."""
    for owner, state in reversed(current.get()):
        if owner is core:
            return state
    return None


class Reporter:
    """Reports about one session. It needs the session's key, or a token with the scopes texts and operate."""

    def __init__(self, core: Core, state: SessionState, known: Optional[Iterable[str]] = None) -> None:
        self.core, self.state = core, state
        self._known = set(known or ())
        self._all = known is not None

    def _path(self, what: str) -> str:
        return f"/v1/sessions/{urllib.parse.quote(self.state.id, safe='')}/{what}"

    async def text(self, source: str, text: str, id: Optional[str] = None) -> None:
        """Reports a text of the user or the system.

        Sources that were reported count as known completely, unless the session was begun with a
        list of those that are.
        """
        if not self._all:
            self._known.add(source)
        one = {"source": source, "text": text} | ({"id": id} if id is not None else {})
        await self.core.ask("POST", self._path("texts"), {"texts": [one], "known": sorted(self._known)}, self.state)
        if source == "user":
            await self.core.ask("POST", self._path("facts"), {"spoke": True}, self.state)

    async def know(self) -> None:
        """Reports which sources the program reports completely."""
        if self._known:
            await self.core.ask("POST", self._path("texts"), {"texts": [], "known": sorted(self._known)}, self.state)

    async def data(self, data: Mapping[str, Any]) -> None:
        """Replaces the data of the session."""
        await self.core.ask("PUT", self._path("data"), dict(data), self.state)

    async def approved(self, name: str) -> None:
        """Reports that a person gave an approval that session policies require."""
        await self.core.ask("POST", self._path("facts"), {"approved": name}, self.state)


async def begin(
    core: Core,
    id: Optional[str],
    data: Optional[Mapping[str, Any]],
    user_text: Optional[str],
    system_text: Optional[str],
    agent: Optional[str],
    known: Optional[Iterable[str]],
) -> Reporter:
    """Begins a session and reports what is known of it."""
    reporter = Reporter(core, await core.begin(id, agent), known)
    if known is not None:
        await reporter.know()
    if data is not None:
        await reporter.data(data)
    if system_text is not None:
        await reporter.text("system", system_text)
    if user_text is not None:
        await reporter.text("user", user_text)
    return reporter
