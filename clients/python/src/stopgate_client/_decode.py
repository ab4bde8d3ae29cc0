"""Reads JSON values as the dataclasses of the API, and rejects everything that does not fit."""

from __future__ import annotations

import dataclasses
import functools
import typing
from typing import Any, Callable, TypeVar, Union

from .errors import BadAnswer

T = TypeVar("T")
Reader = Callable[[Any, str], Any]


def decode(of: type[T], value: object) -> T:
    """Returns the value as an object of a dataclass. Raises BadAnswer for a member of another type, or without a required one."""
    return typing.cast(T, _class_reader(typing.cast(Any, of))(value, of.__name__))


def _wrong(where: str, want: str) -> BadAnswer:
    return BadAnswer(f"the answer is not an answer of a gate: {where} is not {want}")


@functools.lru_cache(maxsize=None)
def _class_reader(of: Any) -> Reader:
    hints = typing.get_type_hints(of)
    fields = [
        (f.name, _reader(hints[f.name]), f.default is dataclasses.MISSING, hints[f.name]) for f in dataclasses.fields(of)
    ]

    def read(value: Any, where: str) -> Any:
        if type(value) is not dict:
            raise _wrong(where, "an object")
        found: dict[str, Any] = {}
        for name, reader, required, hint in fields:
            member = value.get(name)
            if member is not None:
                found[name] = reader(member, name)
            elif required:
                if name not in value or (hint is not Any and type(None) not in typing.get_args(hint)):
                    raise _wrong(f"{where} without {name}", "complete")
                found[name] = None
        return of(**found)

    return read


def _reader(hint: Any) -> Reader:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is Union:
        (hint,) = [a for a in args if a is not type(None)]
        return _reader(hint)
    if origin is typing.Literal:
        return _literal(args)
    if origin is tuple:
        return _list(_reader(args[0]))
    if origin is dict:
        return _scalar(dict, "an object")
    if dataclasses.is_dataclass(hint):
        kind: Any = hint
        return lambda value, where: _class_reader(kind)(value, where)
    if hint is str:
        return _scalar(str, "a string")
    if hint is int:
        return _scalar(int, "an integer")
    if hint is bool:
        return _scalar(bool, "true or false")
    return lambda value, where: value


def _scalar(of: type[Any], want: str) -> Reader:
    def read(value: Any, where: str) -> Any:
        if type(value) is not of:  # True is no integer
            raise _wrong(where, want)
        return value

    return read


def _literal(choices: tuple[Any, ...]) -> Reader:
    def read(value: Any, where: str) -> Any:
        if type(value) is not str or value not in choices:
            raise _wrong(where, "one of " + ", ".join(choices))
        return value

    return read


def _list(element: Reader) -> Reader:
    def read(value: Any, where: str) -> Any:
        if type(value) is not list:
            raise _wrong(where, "an array")
        return tuple(element(v, where) for v in value)

    return read
