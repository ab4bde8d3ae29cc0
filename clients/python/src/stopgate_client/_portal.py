"""An event loop on a thread of its own, for programs that do not use asyncio."""

from __future__ import annotations

import asyncio
import concurrent.futures
import os
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

from ._transport import same_process
from .errors import GateUnavailable

T = TypeVar("T")


class Portal:
    """Runs coroutines on its loop. It does not survive a fork: a child process has no such thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._pid = os.getpid()
        self._thread = threading.Thread(target=self._loop.run_forever, name="stopgate", daemon=True)
        self._thread.start()

    def submit(self, work: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Starts a coroutine in the context of the caller."""
        try:
            same_process(self._pid)
            if self._loop.is_closed():
                raise GateUnavailable("the gate object is closed")
        except GateUnavailable:
            work.close()
            raise
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine and returns its result. An interrupt cancels it."""
        if threading.get_ident() == self._thread.ident:
            work.close()
            raise RuntimeError("an asynchronous on_ask of a synchronous gate must not call it: use stopgate_client.aio")
        future = self.submit(work)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        """Ends the loop and the thread."""
        if os.getpid() != self._pid or self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
