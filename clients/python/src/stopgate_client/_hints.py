"""Type hints as JSON Schema, and JSON values as the types that hints name."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import inspect
import pathlib
import types
import typing
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Optional, Union

from . import jsontext
from .errors import BadArguments

_SCALARS: dict[Any, dict[str, Any]] = {
    str: {"type": "string"}, int: {"type": "integer"}, float: {"type": "number"}, bool: {"type": "boolean"},
    type(None): {"type": "null"}, dict: {"type": "object"}, list: {"type": "array"}, tuple: {"type": "array"},
    pathlib.Path: {"type": "string"}, uuid.UUID: {"type": "string"}, datetime.date: {"type": "string"},
    datetime.datetime: {"type": "string"}, datetime.time: {"type": "string"},
}
_FROM_TEXT: dict[Any, Any] = {
    pathlib.Path: pathlib.Path, pathlib.PurePath: pathlib.PurePath, uuid.UUID: uuid.UUID,
    datetime.date: datetime.date.fromisoformat, datetime.datetime: datetime.datetime.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
}
_LISTS = (list, tuple, Sequence, Iterable)
_UNIONS = (Union, types.UnionType)


def schema(hint: Any) -> dict[str, Any]:
    """Returns the JSON Schema of a hint; an empty one for hints that JSON Schema cannot express."""
    definitions: dict[str, Any] = {}
    found = _schema(hint, definitions)
    return {**found, "$defs": definitions} if definitions else found


def object_schema(members: Mapping[str, Any], required: Sequence[str], closed: bool) -> dict[str, Any]:
    """Returns the schema of an object whose members have hints. closed permits no others."""
    definitions: dict[str, Any] = {}
    found = _object(members, required, definitions)
    if not closed:
        del found["additionalProperties"]
    return {**found, "$defs": definitions} if definitions else found


def _object(members: Mapping[str, Any], required: Sequence[str], definitions: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _schema(hint, definitions) for name, hint in members.items()},
        "required": list(required),
        "additionalProperties": False,
    }


def _schema(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint in _SCALARS if _hashable(hint) else False:
        return dict(_SCALARS[hint])
    if origin is typing.Annotated:
        return _schema(args[0], definitions)
    if origin in _UNIONS:
        return {"anyOf": [_schema(a, definitions) for a in args]}
    if origin is typing.Literal:
        return {"enum": [jsontext.plain(a) for a in args]}
    if origin in _LISTS:
        element = {} if origin is tuple and args[1:] != (...,) or not args else _schema(args[0], definitions)
        return {"type": "array", "items": element} if element else {"type": "array"}
    if origin is dict or (inspect.isclass(origin) and issubclass(origin, Mapping)):
        return {"type": "object", "additionalProperties": _schema(args[1], definitions)}
    if not inspect.isclass(hint):
        return {}
    if issubclass(hint, enum.Enum):
        return {"enum": [jsontext.plain(m) for m in hint]}
    if callable(model := getattr(hint, "model_json_schema", None)):
        found = dict(model())
        definitions.update(found.pop("$defs", {}))
        return found
    if dataclasses.is_dataclass(hint):
        hints = typing.get_type_hints(hint)
        fields = dataclasses.fields(hint)
        # All members: what is left out would be a default that was not judged.
        return _object({f.name: hints[f.name] for f in fields}, [f.name for f in fields], definitions)
    return {}


def restore(hint: Any, value: Any) -> Any:
    """Returns a plain JSON value as the type of a hint. Raises BadArguments if the type cannot hold it.

    A hint that it does not know leaves the value as it is. The caller compares the result with the value.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return restore(args[0], value)
    if origin in _UNIONS:
        return _one_of(args, value)
    if origin in _LISTS and args and isinstance(value, list):
        return _elements(origin, args, value)
    if origin is dict and isinstance(value, dict):
        return {k: restore(args[1], v) for k, v in value.items()}
    if not inspect.isclass(hint):
        return value
    try:
        if hint in _FROM_TEXT and isinstance(value, str):
            return _FROM_TEXT[hint](value)
        if issubclass(hint, enum.Enum):
            return hint(value)
        if callable(validate := getattr(hint, "model_validate", None)):
            return validate(value)
        if dataclasses.is_dataclass(hint) and isinstance(value, dict):
            hints = typing.get_type_hints(hint)
            return hint(**{k: restore(hints[k], v) for k, v in value.items()})
    except BadArguments:
        raise
    except Exception as err:  # a constructor of the program: whatever it raises, it does not take the value
        raise BadArguments(f"{hint.__name__} does not take the value: {err}") from None
    if hint is tuple and isinstance(value, list):
        return tuple(value)
    return value


def _elements(origin: Any, args: tuple[Any, ...], value: list[Any]) -> Any:
    if origin is not tuple:
        return [restore(args[0], v) for v in value]
    if args[1:] == (...,):
        return tuple(restore(args[0], v) for v in value)
    if len(args) != len(value):
        raise BadArguments(f"a tuple of {len(args)} elements cannot hold {len(value)}")
    return tuple(restore(a, v) for a, v in zip(args, value))


def _one_of(hints: tuple[Any, ...], value: Any) -> Any:
    """Returns the value as the first type that writes the same JSON again."""
    plain: Optional[Any] = None
    for hint in hints:
        try:
            found = restore(hint, value)
            if not jsontext.same(jsontext.plain(found), value):
                continue
        except BadArguments:
            continue
        if found is not value or _fits(hint, value):
            return found
        plain = found
    if plain is None and value is not None:
        raise BadArguments("no type of the union can hold the value")
    return plain


def _fits(hint: Any, value: Any) -> bool:
    origin = typing.get_origin(hint) or hint
    return origin is Any or (inspect.isclass(origin) and isinstance(value, origin)) or (origin is float and type(value) is int)


def _hashable(hint: Any) -> bool:
    try:
        hash(hint)
    except TypeError:
        return False
    return True
