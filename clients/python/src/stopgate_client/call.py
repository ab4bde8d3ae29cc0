"""A call whose arguments are still being written, for programs without asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional, Union

from ._call import OpenCall
from ._models import Verdict

if TYPE_CHECKING:
    from .gate import Gate, Outcome


class Call:
    """A context manager. Leaving it without close() abandons the call, which then must not run."""

    def __init__(self, gate: Gate, opened: OpenCall) -> None:
        self._gate, self._opened = gate, opened
        self._outcome: Optional[Outcome] = None

    def feed(self, chunk: Union[str, bytes]) -> Optional[Verdict]:
        """Sends a part of the arguments and returns the newest verdict, None before the first.

        An unattended verdict is provisional. After a refusal nothing is sent.
        """
        found: Optional[Verdict] = self._gate._run(self._opened.feed(chunk))
        return found

    @property
    def refused(self) -> bool:
        """Whether the call is denied or skipped already. The rest of its arguments is not needed."""
        return self._opened.refused

    @property
    def verdict(self) -> Optional[Verdict]:
        """The newest verdict. It permits nothing: only the outcome of close() does."""
        return self._opened.verdict

    def close(self) -> Outcome:
        """Ends the arguments and returns the decision, after people answered. Incomplete arguments are denied."""
        if self._outcome is None:
            from .gate import Outcome

            self._outcome = Outcome(self._gate, self._gate._run(self._opened.close()))
        return self._outcome

    def cancel(self) -> None:
        """Abandons the call. It must not run."""
        self._gate._run(self._opened.cancel())

    def __enter__(self) -> Call:
        return self

    def __exit__(self, *_: object) -> None:
        if self._outcome is None:
            self.cancel()
