"""JSON that keeps every value exactly, or raises BadArguments.

The gate judges a text, and the tool runs the values that Python reads from it. Whatever would make
the two differ is an error: numbers that a float rounds, repeated members, NaN, keys that are not
strings, objects that json.dumps would write by their attributes.
"""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import uuid
from collections.abc import Mapping
from typing import Any

from .errors import BadArguments

_DEPTH = 200


def encode(value: Any) -> str:
    """Returns the JSON text of a value.

    Besides plain values it accepts tuples, enumerations, dataclasses, models of pydantic, and dates,
    paths and UUIDs as their text.
    """
    text = _encoder.encode(plain(value))
    check_unicode(text)
    return text


def plain(value: Any, where: str = "", depth: int = 0) -> Any:
    """Returns a value as dicts, lists, strings, numbers, booleans and None. where is its JSON pointer."""
    if value is None or type(value) in (str, bool, int):
        return value
    if depth > _DEPTH:
        raise BadArguments(f"{where[:40]}... contains itself, or is nested more than {_DEPTH} levels deep")
    if isinstance(value, enum.Enum):
        return plain(value.value, where, depth + 1)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadArguments(f"{where or 'the value'} is {value}, which JSON cannot represent")
        return float(value)
    if isinstance(value, (str, int)):
        return str.__str__(value) if isinstance(value, str) else int(value)
    if isinstance(value, Mapping):
        return _members(value, where, depth)
    if isinstance(value, (list, tuple)):
        return [plain(v, f"{where}/{i}", depth + 1) for i, v in enumerate(value)]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _members({f.name: getattr(value, f.name) for f in dataclasses.fields(value)}, where, depth)
    dump = getattr(type(value), "model_dump", None)
    if callable(dump):
        return plain(dump(value, mode="json", by_alias=True), where, depth + 1)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (pathlib.PurePath, uuid.UUID)):
        return str(value)
    raise BadArguments(f"{where or 'the value'} is of type {type(value).__name__}, which has no exact form in JSON")


def _members(value: Mapping[Any, Any], where: str, depth: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, member in value.items():
        if not isinstance(key, str):
            raise BadArguments(f"{where or 'the value'} has the key {key!r}, which is not a string")
        key = str.__str__(key)
        if key in found:
            raise BadArguments(f"{where or 'the value'} has the key {key!r} twice")
        found[key] = plain(member, f"{where}/{key}", depth + 1)
    return found


def check_unicode(text: str) -> None:
    """Raises BadArguments for text with half a surrogate pair, which UTF-8 cannot represent."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise BadArguments("the text has half a surrogate pair, which UTF-8 cannot represent") from None


def decode(text: str) -> Any:
    """Returns the value of a JSON text. Raises BadArguments for text that Python cannot represent exactly."""
    try:
        return _decoder.decode(text)
    except BadArguments:
        raise
    except (ValueError, RecursionError) as err:
        raise BadArguments(f"the text is not JSON: {err}") from None


def same(a: Any, b: Any) -> bool:
    """Reports whether two plain values are the same JSON value. Unlike ==, True is not 1, and 1.0 is not 1."""
    if type(a) is not type(b):
        return False
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(v, b[k]) for k, v in a.items())
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    return bool(a == b)


def _float(text: str) -> float:
    value = float(text)
    if not math.isfinite(value) or (len(text) > 15 and _exact(text) != _exact(repr(value))):
        raise BadArguments(f"the number {text[:40]} cannot be held exactly by a float")
    return value


def _exact(text: str) -> decimal.Decimal:
    return decimal.Decimal(text)  # of a string: exact, whatever the precision of the context is


def _constant(text: str) -> Any:
    raise BadArguments(f"{text} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BadArguments("a member is repeated")
    return found


_encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))  # json.dumps would make one each time
_decoder = json.JSONDecoder(parse_float=_float, parse_constant=_constant, object_pairs_hook=_object)
