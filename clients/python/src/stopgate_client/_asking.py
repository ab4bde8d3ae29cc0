"""Asks the program's own approver about one call."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import threading
from typing import TYPE_CHECKING, Any, Optional

from . import approvals
from .approvals import Edit, No, OnAsk, Question, Reply, Yes
from .errors import Problem, StopgateError

if TYPE_CHECKING:
    from ._core import Core, SessionState

_CHANGED = frozenset({"approval_stale", "arguments_incomplete", "other_arguments"})

_OTHERS = frozenset({403, 404, 409, 410})
"""Statuses of questions that others answer, or have answered: by policy, or because their time is over."""


class Asking:
    """The question of one call: on_ask runs in a task of its own, so that arguments and answers of others still arrive.

    Until the arguments are complete only No is sent. Yes and Edit are kept back: the question is
    shown again, whole, and only that answer counts.
    """

    def __init__(self, core: Core, session: SessionState) -> None:
        self._core, self._session = core, session
        self._task: Optional[asyncio.Task[None]] = None
        self._complete = asyncio.Event()
        self._failure: Optional[Exception] = None
        self.answered = False
        """Whether the gate took the answer of on_ask."""

    @property
    def active(self) -> bool:
        """Whether on_ask is still to answer."""
        return self._task is not None and not self._task.done()

    def begin(self, id: str, complete: bool) -> None:
        """Starts to ask, once. complete reports that all arguments have been sent."""
        if complete:
            self._complete.set()
        if self._task is None and self._core.answers(self._session):
            self._task = asyncio.get_running_loop().create_task(self._run(id))

    async def either(self, other: asyncio.Future[Any]) -> None:
        """Waits for another future, or until on_ask has answered or left the question to others."""
        waiting = {other, self._task} if self._task is not None and not self._task.done() else {other}
        await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)

    def check(self) -> None:
        """Raises the exception of on_ask, if it raised one."""
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Stops asking. An answer that comes later has no effect."""
        if self._task is not None and not self._task.done():
            self._task.cancel()

    async def _run(self, id: str) -> None:
        try:
            await self._ask(id)
        except Exception as err:
            self._failure = err
            try:
                await self._core.answer(id, '{"answer":"deny","reason":"the approver failed"}', self._session)
            except StopgateError:
                pass  # the question stays unanswered, and the gate denies the call when its time is over

    async def _ask(self, id: str) -> None:
        kept_back = False
        while True:
            try:
                question = Question(await self._core.question(id, self._session))
            except Problem as problem:
                if problem.status in _OTHERS:
                    return
                raise
            if question.approval.state != "waiting" or (question.complete and not question.approval.seen):
                return
            if kept_back and not question.complete:
                await self._complete.wait()
                await asyncio.sleep(0.005)  # the gate is about to complete the question
                continue
            reply = await call(self._core.on_ask, question)
            if reply is None:
                return
            if not isinstance(reply, (Yes, No, Edit)):
                raise TypeError(f"on_ask returns Yes(), No(), Edit() or None, not {reply!r}")
            if not question.complete and not isinstance(reply, No):
                kept_back = True
                continue
            try:
                await self._core.answer(id, approvals.body(reply, question), self._session)
                self.answered = True
                return
            except Problem as problem:
                if problem.code in _CHANGED:
                    kept_back = True
                elif problem.status in _OTHERS:
                    return
                else:
                    raise


async def call(on_ask: Optional[OnAsk], question: Question) -> Reply:
    """Calls on_ask: a coroutine function in this loop, a plain one on a thread of its own."""
    assert on_ask is not None
    if inspect.iscoroutinefunction(on_ask) or inspect.iscoroutinefunction(getattr(on_ask, "__call__", None)):
        found = on_ask(question)
    else:
        found = await _threaded(on_ask, question)
    if inspect.isawaitable(found):
        found = await found
    return found


async def _threaded(function: Any, question: Question) -> Any:
    """Runs a function on a daemon thread: a person who never answers does not keep the program from ending."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def finish(value: Any, error: Optional[BaseException]) -> None:
        if result.done():
            return
        if error is not None:
            result.set_exception(error)
        else:
            result.set_result(value)

    def run() -> None:
        value: Any = None
        error: Optional[BaseException] = None
        try:
            value = context.run(function, question)
        except Exception as err:
            error = err if not isinstance(err, StopIteration) else RuntimeError(f"on_ask raised {err!r}")  # a future cannot hold it
        except BaseException as err:  # sys.exit() would end the event loop, and every call would wait for ever
            error = RuntimeError(f"on_ask raised {err!r}")
        try:
            loop.call_soon_threadsafe(finish, value, error)
        except RuntimeError:
            pass  # the loop has ended, and with it the call

    threading.Thread(target=run, name="stopgate-on-ask", daemon=True).start()
    return await result
