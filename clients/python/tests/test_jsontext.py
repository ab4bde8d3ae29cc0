"""JSON that keeps every value exactly."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from stopgate_client import BadArguments, jsontext


@pytest.mark.parametrize("text", [
    "NaN", "Infinity", "-Infinity", "1e999", "0.10000000000000000001", "123456789.12345678901", '{"a":1,"a":2}', "{'a':1}", "", "[1,]",
    "[" * 100_000, "1" * 5000,
])
def test_text_without_an_exact_value(text: str) -> None:
    with pytest.raises(BadArguments):
        jsontext.decode(text)


@pytest.mark.parametrize("text, value", [
    ("0.1", 0.1), ("1e400", None), ("123456789012345678901234567890", 123456789012345678901234567890), ("1.50", 1.5),
    ("0.30000000000000004", 0.30000000000000004), ("1E2", 100.0), ("-0.0", -0.0), ("2.2250738585072014e-308", 2.2250738585072014e-308),
])
def test_numbers(text: str, value: Any) -> None:
    if value is None:
        with pytest.raises(BadArguments):
            jsontext.decode(text)
    else:
        assert repr(jsontext.decode(text)) == repr(value)


def test_random_values_survive() -> None:
    draw = random.Random(7)
    for _ in range(2000):
        value = _value(draw, 4)
        text = jsontext.encode(value)
        assert jsontext.same(jsontext.decode(text), value)
        assert json.loads(text) == value


def test_same_is_stricter_than_equal() -> None:
    assert not jsontext.same(True, 1) and not jsontext.same(1.0, 1) and not jsontext.same({"a": 1}, {"a": True})
    assert jsontext.same({"a": [1, "x", None]}, {"a": [1, "x", None]})


def _value(draw: random.Random, depth: int) -> Any:
    kind = draw.randrange(8 if depth else 6)
    if kind < 2:
        return "".join(chr(draw.choice([65, 34, 92, 10, 0, 233, 0x2028, 0x1F600])) for _ in range(draw.randrange(6)))
    if kind == 6:
        return [_value(draw, depth - 1) for _ in range(draw.randrange(4))]
    if kind == 7:
        return {str(draw.random()): _value(draw, depth - 1) for _ in range(draw.randrange(4))}
    return draw.choice([None, True, draw.randrange(-10**20, 10**20), draw.uniform(-1e9, 1e9), draw.random() * 10.0 ** draw.randrange(-300, 300)])
