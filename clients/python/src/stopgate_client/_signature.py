"""The parameters of a function, and how its arguments become JSON and back.

A framework calls by position or by keyword, and a function has defaults. All of it is bound to names
before it is judged, and the judged values are what the function gets.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from typing import Any, Callable, Optional

from . import _hints, jsontext
from .errors import BadArguments

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class Signature:
    """Binds calls of one function. Raises BadArguments for functions whose arguments cannot all be judged."""

    def __init__(self, function: Callable[..., Any], name: str, parameters: Any = None) -> None:
        self.name = name
        try:
            self._signature = inspect.signature(function)
        except (TypeError, ValueError):
            raise BadArguments(f"{name}: the parameters of {function!r} are not known") from None
        if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
            raise BadArguments(f"{name} is a generator, which goes on after its call was reported: return a list")
        self._rest: Optional[str] = None
        for p in self._signature.parameters.values():
            if p.kind is inspect.Parameter.VAR_KEYWORD:
                self._rest = p.name
            elif p.kind not in _BY_NAME:
                star = "*" if p.kind is inspect.Parameter.VAR_POSITIONAL else ""
                raise BadArguments(f"{name}: the parameter {star}{p.name} has no name by which it could be judged: use keywords")
            elif p.default is not p.empty:
                self._plain(p.name, p.default, "the default of ")
        self._hints = _hints_of(function, name)
        self.definition = self._definition(function, parameters)

    def _definition(self, function: Callable[..., Any], parameters: Any) -> dict[str, Any]:
        if parameters is None:
            schema = _hints.object_schema(
                {p.name: self._hints.get(p.name, Any) for p in self._named()},
                [p.name for p in self._named() if p.default is p.empty],
                closed=self._rest is None,
            )
        elif isinstance(parameters, Mapping):
            schema = jsontext.plain(parameters)
        else:
            schema = _hints.schema(parameters)
        found: dict[str, Any] = {"parameters": schema}
        if text := inspect.getdoc(function):
            found["description"] = text
        return found

    def _named(self) -> list[inspect.Parameter]:
        return [p for p in self._signature.parameters.values() if p.name != self._rest]

    def _plain(self, name: str, value: Any, what: str = "") -> Any:
        try:
            return jsontext.plain(value, "/" + name)
        except BadArguments as err:
            raise BadArguments(f"{self.name}: {what}{err}") from None

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the arguments of a call by name, defaults included, as plain JSON values."""
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as err:
            raise BadArguments(f"{self.name}: {err}") from None
        bound.apply_defaults()
        found = dict(bound.arguments)
        if self._rest is not None:
            found |= found.pop(self._rest)
        return {name: self._plain(name, value) for name, value in found.items()}

    def restore(self, judged: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the keyword arguments for the judged values.

        Raises BadArguments if the function would get anything else than them: a default of a missing
        one, or an object that is not written as the same JSON.
        """
        names = {p.name for p in self._named()}
        if missing := names - judged.keys():
            raise BadArguments(f"{self.name}: {', '.join(sorted(missing))} missing in the judged arguments: a default was not judged")
        if self._rest is None and (more := judged.keys() - names):
            raise BadArguments(f"{self.name} has no parameter {', '.join(sorted(more))}")
        return {name: self._restore(name, value) for name, value in judged.items()}

    def _restore(self, name: str, value: Any) -> Any:
        try:
            found = _hints.restore(self._hints.get(name, Any), value)
            if jsontext.same(jsontext.plain(found), value):
                return found
        except BadArguments:
            pass
        raise BadArguments(f"{self.name}: the parameter {name} cannot hold exactly the judged value")


def _hints_of(function: Any, name: str) -> dict[str, Any]:
    """Returns the types of the parameters. Without them a model would arrive as a dict."""
    function = getattr(function, "func", function)  # of functools.partial
    if not inspect.isroutine(function):
        function = type(function).__call__
    try:
        return typing.get_type_hints(function)
    except TypeError:  # a routine without hints
        return {}
    except NameError as err:
        raise BadArguments(f"{name}: {err} in the type hints: define or import the type at the level of the module") from None
