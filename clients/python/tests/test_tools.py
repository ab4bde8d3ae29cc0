"""A gated function: what is judged is what runs, and what is delivered is what returns."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import math
import pathlib
from collections.abc import Iterator
from typing import Any, Optional, Union

import pydantic
import pytest

from stopgate_client import BadArguments, Denied, Gate, GateUnavailable, aio


class Address(pydantic.BaseModel):
    street: str
    number: int = 1


class Color(enum.Enum):
    RED = "red"


class Lower(pydantic.BaseModel):
    name: str

    @pydantic.field_validator("name")
    @classmethod
    def lower(cls, value: str) -> str:
        return value.lower()


def shown(n: int) -> str:
    return str(n)


@dataclasses.dataclass
class Point:
    x: int
    y: float = 0.5


def test_defaults_and_positions_are_judged_by_name(fake: Gate) -> None:
    seen: list[dict[str, Any]] = []

    @fake.tool
    def fine(path: str, mode: str = "r", *, depth: int = 3) -> str:
        return f"{path} {mode} {depth}"

    original = fake.run

    def run(tool: str, args: Any, *more: Any, **facts: Any) -> Any:
        seen.append(args)
        return original(tool, args, *more, **facts)

    fake.run = run  # type: ignore[method-assign]
    try:
        assert fine("a", "w") == "a w 3"
    finally:
        del fake.run
    assert seen == [{"path": "a", "mode": "w", "depth": 3}]


def test_the_judged_arguments_run(fake: Gate) -> None:
    def edited(path: str) -> str:
        return path

    assert fake.wrap(edited)("mine") == "edited"
    assert fake.wrap(edited)(path="mine") == "edited"


def test_no_default_runs_that_was_not_judged(fake: Gate) -> None:
    ran: list[str] = []

    @fake.tool
    def default_lost(path: str = "/") -> None:
        ran.append(path)

    with pytest.raises(BadArguments, match="path missing"):
        default_lost("x")
    assert ran == []


def test_values_that_return_as_their_types(fake: Gate) -> None:
    @fake.tool
    def fine(
        address: Address, point: Point, color: Color, path: pathlib.Path, pair: tuple[int, str], many: list[Address],
        maybe: Optional[Address] = None, other: Union[Point, str] = "s", **more: Any,
    ) -> Any:
        return repr((address, point, color, path, pair, many, maybe, other, more))

    given = (Address(street="a"), Point(1), Color.RED, pathlib.Path("a/b"), (1, "x"), [Address(street="b", number=2)])
    assert fine(*given, extra=[1.5]) == repr((*given, None, "s", {"extra": [1.5]}))
    assert fine(*given, maybe=Address(street="c"), other=Point(2)) == repr((*given, Address(street="c"), Point(2), {}))


def test_a_model_that_changes_the_judged_value_does_not_run(fake: Gate) -> None:
    ran = []

    @fake.tool
    def fine(who: Lower) -> None:
        ran.append(who)

    fine(Lower(name="anna"))
    with pytest.raises(BadArguments, match="who cannot hold exactly"):
        fine(Lower.model_construct(name="ANNA"))
    assert len(ran) == 1


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize("value", [
    b"bytes", math.nan, math.inf, -math.inf, CIRCLE, {1: 2}, {"a": {1, 2}}, object(), "\ud800", [Exception], lambda: 1,
], ids=lambda v: type(v).__name__)
def test_values_that_cannot_be_judged(fake: Gate, value: Any) -> None:
    ran = []

    @fake.tool(name="fine")
    def function(value: Any) -> None:
        ran.append(value)

    with pytest.raises(BadArguments):
        function(value)
    with pytest.raises(BadArguments):
        fake.decide("fine", {"value": value})
    assert ran == []


def test_functions_that_cannot_be_judged(fake: Gate) -> None:
    def star(*args: str) -> None: ...
    def position(path: str, /) -> None: ...
    def default(path: Any = object()) -> None: ...
    def generator() -> Iterator[int]:
        yield 1
    def unknown(path: Missing) -> None: ...  # type: ignore[name-defined]

    for function in (star, position, default, generator, unknown, lambda x: x):
        with pytest.raises(BadArguments):
            fake.wrap(function)
    with pytest.raises(ValueError):
        fake.wrap(lambda: 1, name="x", on_denied="ignore")  # type: ignore[arg-type]


def test_a_method_is_wrapped_bound(fake: Gate) -> None:
    class Disk:
        def fine(self, path: str) -> str:
            return path

        gated = fake.wrap(fine)

    assert fake.wrap(Disk().fine)("a") == "a"
    with pytest.raises(BadArguments, match="/self"):
        Disk().gated("a")


def test_wrong_arguments_are_not_judged(fake: Gate) -> None:
    @fake.tool
    def fine(path: str) -> str:
        return path

    for args, kwargs in [((), {}), (("a", "b"), {}), (("a",), {"path": "b"}), ((), {"pth": "a"})]:
        with pytest.raises(BadArguments):
            fine(*args, **kwargs)


@pytest.mark.parametrize("tool, want", [("fine", "secret"), ("filtered", "[filtered]")])
def test_the_delivered_result_returns(fake: Gate, tool: str, want: str) -> None:
    assert fake.wrap(lambda: "secret", name=tool)() == want


def test_a_result_keeps_its_type_if_it_is_delivered_unchanged(fake: Gate) -> None:
    address = Address(street="a")
    for result in (address, [1, None, {"a": 2.5}], None, b"text", 7):
        assert fake.wrap(lambda: result, name="fine")() is result  # noqa: B023
    for odd, text in [({1, 2}, "{1, 2}"), (b"\xff", "b'\\xff'"), ("\ud800", "?")]:
        assert fake.wrap(lambda: odd, name="fine")() == text, "the model reads what was judged"  # noqa: B023


def test_a_withheld_result(fake: Gate) -> None:
    with pytest.raises(Denied, match=r"The result of `withheld` is withheld: .*\(result_withheld\)") as error:
        fake.wrap(lambda: "secret", name="withheld")()
    assert error.value.delivery is not None and error.value.delivery.data == ""
    assert "secret" not in fake.wrap(lambda: "secret", name="withheld", on_denied="return")()


def test_an_exception_of_the_tool_is_reported_and_raised(fake: Gate) -> None:
    def fail() -> None:
        raise KeyError("secret")

    with pytest.raises(KeyError):
        fake.wrap(fail, name="fine")()
    with pytest.raises(Denied) as error:
        fake.wrap(fail, name="withheld")()
    assert "secret" not in str(error.value)
    with pytest.raises(Denied):
        fake.wrap(fail, name="filtered")()


def test_a_denial_raises_or_returns_its_text(fake: Gate) -> None:
    text = "[stopgate] The tool call `deny` was not run: no (rule_matched)."
    with pytest.raises(Denied) as error:
        fake.wrap(lambda: "x", name="deny")()
    assert str(error.value) == text and error.value.outcome.code == "rule_matched"
    assert fake.wrap(lambda: "x", name="deny", on_denied="return")() == text


def test_an_outcome_has_no_truth_value(fake: Gate) -> None:
    with pytest.raises(TypeError, match="outcome.allowed"):
        bool(fake.decide("deny", {}))
    with pytest.raises(TypeError, match="delivery.delivered"):
        bool(fake.decide("fine", {}).ran("x"))
    with pytest.raises(Denied):
        fake.decide("deny", {}).ran("x")


def test_async_functions(fake: Gate) -> None:
    async def double(n: int) -> int:
        await asyncio.sleep(0)
        return 2 * n

    async def main() -> None:
        assert await fake.wrap(double)(4) == 8, "an async function at a synchronous gate"
        with pytest.raises(Denied):
            await fake.wrap(double, name="deny")(4)
        async with await aio.local(binary=fake._core.transport._command[0]) as gate:  # type: ignore[attr-defined]
            assert await gate.wrap(double)(4) == 8
            plain: Any = gate.wrap(shown, name="fine")
            assert await plain(4) == "4"
            with pytest.raises(Denied):
                await gate.wrap(double, name="deny")(4)
            with pytest.raises(GateUnavailable):
                await gate.wrap(double, name="die")(4)

    asyncio.run(main())


def test_sessions_nest_and_belong_to_their_gate(fake: Gate) -> None:
    def current() -> str:
        return fake.decide("fine", {}, session=None).id and fake._run(_name(fake))

    own = current()
    with fake.session("outer", user_text="hello") as outer:
        assert current() == outer.id == "outer"
        with fake.session() as inner:
            assert current() == inner.id != outer.id
        assert current() == "outer"
    assert current() == own


async def _name(gate: Gate) -> str:
    from stopgate_client._face import prepare

    return (await prepare(gate._core, "fine", None, {})).session.id
