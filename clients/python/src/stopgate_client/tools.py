"""What a gated function does with a decision, and with its own result."""

from __future__ import annotations

import inspect
from typing import Any, Callable, Literal, Optional

from . import jsontext
from ._signature import Signature
from .errors import BadArguments, Denied
from .outcome import Decision, Delivery

OnDenied = Literal["raise", "return"]
"""raise: Denied is raised. return: the function returns the text for the model."""


class Tool:
    """A function, the name under which it is judged, and what a denial does."""

    def __init__(self, function: Callable[..., Any], name: Optional[str], parameters: Any, on_denied: OnDenied) -> None:
        check(on_denied)
        self.function = function
        found = name or getattr(function, "__name__", None)
        if not isinstance(found, str) or not found or found == "<lambda>":
            raise BadArguments("the function has no name: give it one with name=")
        self.name = found
        self.signature = Signature(function, self.name, parameters)
        self.on_denied = on_denied


def check(on_denied: OnDenied) -> None:
    """Raises ValueError for another word than the two."""
    if on_denied not in ("raise", "return"):
        raise ValueError(f'on_denied is "raise" or "return", not {on_denied!r}')


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a call of the function has to be awaited."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))


def refuse(outcome: Decision, delivery: Optional[Delivery], on_denied: OnDenied) -> str:
    """Raises Denied, or returns the text that the model reads."""
    if on_denied == "raise":
        raise Denied(outcome, delivery)
    return outcome.model_text if delivery is None else delivery.model_text


def reported(result: Any) -> tuple[Any, Any]:
    """Returns a result as it is reported, and as the program gets it if the gate delivers it unchanged.

    The model reads what was judged: an object without an exact form in JSON becomes its text.
    """
    if inspect.isawaitable(result) or inspect.isgenerator(result):
        raise BadArguments("the function returned before its work is done: pass an async function, or one that returns a list")
    if isinstance(result, str):
        return result, result
    if isinstance(result, (bytes, bytearray)):
        try:
            return result.decode("utf-8"), result
        except UnicodeDecodeError:
            return repr(bytes(result)), repr(bytes(result))
    try:
        return jsontext.encode(result), result
    except BadArguments:
        return str(result), str(result)


def deliver(outcome: Decision, delivery: Delivery, result: Any, on_denied: OnDenied) -> Any:
    """Returns what the program gets: the result itself, or the text with which the result policy replaced it."""
    if not delivery.delivered:
        return refuse(outcome, delivery, on_denied)
    if not delivery.changed:
        return result
    if isinstance(result, (str, bytes, bytearray)):
        return delivery.data
    try:
        return jsontext.decode(delivery.data)
    except BadArguments:
        return delivery.data


def raised(outcome: Decision, delivery: Delivery, error: Exception, on_denied: OnDenied) -> str:
    """Raises the error of a tool, if the model may read its text."""
    if delivery.delivered and not delivery.changed:
        raise error
    return refuse(outcome, delivery, on_denied)
