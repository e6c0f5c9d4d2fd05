"""A typed function becomes a tool: its schema, the reading of arguments, and what its results and errors become."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from whybox.errors import ToolDefinitionError, ToolError
from whybox.ports import Output
from whybox.tools.base import BadArguments, FunctionTool, tool


def call(subject: FunctionTool[..., Any], **arguments: Any) -> Output:
    return anyio.run(subject.call, arguments)


@tool(example={"en": "2024-02-28, 3, days", "zh": "2024-02-28, 3, 天"}, zh="加日期。")
def shift(date: str, amount: int, unit: Literal["days", "weeks"] = "days") -> str:
    """Shift a date.

    It goes forward
    by default.

    Args:
        date: where to begin,
            as text
        amount (int): how far
        unit: of what

    Returns:
        The date.
    """
    return f"{date!r} {amount!r} {unit!r}"


def test_the_spec_comes_from_signature_and_docstring() -> None:
    assert shift.spec.name == "shift"
    assert shift.spec.description == {"en": "Shift a date.\nIt goes forward by default.", "zh": "加日期。"}
    assert shift.spec.risk == "read"
    assert shift.spec.parameters == {
        "type": "object",
        "properties": {
            "date": {"type": "string", "description": "where to begin, as text"},
            "amount": {"type": "integer", "description": "how far"},
            "unit": {"type": "string", "enum": ["days", "weeks"], "default": "days", "description": "of what"},
        },
        "required": ["date", "amount"],
        "additionalProperties": False,
    }


def test_a_tool_is_still_the_plain_function() -> None:
    assert shift("a", 1, "weeks") == "'a' 1 'weeks'"
    assert shift.__name__ == "shift"
    assert shift.__wrapped__("a", 1) == "'a' 1 'days'"


def test_settings_given_to_the_decorator_override_what_the_function_says() -> None:
    @tool(name="天气 查询", description="Weather.", risk="danger", grounds=True, example="Oslo")
    def weather(city: str) -> str:
        return city

    assert weather.spec.name == "天气 查询"
    assert weather.spec.description == {"en": "Weather."}
    assert (weather.spec.risk, weather.spec.grounds, weather.spec.example) == ("danger", True, {"en": "Oslo"})
    assert weather.form == "天气 查询[Oslo]"


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        ({"date": "x", "amount": "2"}, "'x' 2 'days'"),
        ({"date": "x", "amount": "２"}, "'x' 2 'days'"),
        ({"date": "x", "amount": " '1,200' "}, "'x' 1200 'days'"),
        ({"date": "x", "amount": 3.0}, "'x' 3 'days'"),
        ({"date": 1067, "amount": 2}, "'1067' 2 'days'"),
        ({"date": True, "amount": 2}, "'true' 2 'days'"),
        ({"date": "x", "amount": 2, "unit": " WEEKS"}, "'x' 2 'weeks'"),
        ({"date": "x", "amount": 2, "unit": None}, "'x' 2 'days'"),
    ],
)
def test_values_are_converted_where_that_is_certain(arguments: dict[str, Any], seen: str) -> None:
    assert call(shift, **arguments) == Output(text=seen)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"date": "x", "amount": "soon"}, '"amount" must be a whole number, got "soon"'),
        ({"date": "x", "amount": 2.5}, '"amount" must be a whole number, got 2.5'),
        ({"date": "x", "amount": True}, '"amount" must be a whole number, got true'),
        ({"date": ["x"], "amount": 1}, '"date" must be text, got ["x"]'),
        ({"date": "x"}, '"amount" is missing'),
        ({}, '"date" is missing; "amount" is missing'),
        ({"date": "x", "amount": 1, "zone": 1}, '"zone" is not an argument, allowed are: date, amount, unit'),
        ({"date": "x", "amount": 1, "unit": "y"}, "\"unit\" must be one of 'days' or 'weeks', got \"y\""),
        ({"date": None, "amount": 1}, '"date" must be text, got null'),
    ],
)
def test_wrong_arguments_are_told_with_the_right_form(arguments: dict[str, Any], problem: str) -> None:
    assert call(shift, **arguments) == Output(
        text=f"shift: {problem}. Right form: shift[2024-02-28, 3, days]", error="bad_arguments"
    )


def test_wrong_arguments_are_told_in_chinese_by_a_chinese_tool() -> None:
    @tool(language="zh", example={"zh": "3"})
    def double(number: int) -> int:
        """Double."""
        return 2 * number

    assert call(double, number="几").text == 'double：“number”必须是整数，收到的是 "几"。正确格式：double[3]'
    assert call(double).text == "double：缺少“number”。正确格式：double[3]"


def test_an_argument_of_a_tool_without_any_is_refused() -> None:
    @tool
    def nothing() -> None:
        """Do nothing."""

    assert call(nothing) == Output(text="(nothing returned)")
    assert call(nothing, x=1).text == 'nothing: "x" is not an argument: it takes none. Right form: nothing[]'


def test_long_values_and_many_problems_are_cut_short() -> None:
    output = call(shift, date="x", amount="9" * 10_000 + "x", **{f"extra{n}": 1 for n in range(50)})
    assert output.error == "bad_arguments"
    assert len(output.text) < 600


class Place(BaseModel):
    name: str
    size: int = 1


@dataclass
class Box:
    width: float


def test_lists_objects_and_models_may_come_as_json_text() -> None:
    @tool
    def several(numbers: list[int], place: Place, box: Box | None = None, flag: bool = False) -> str:
        """Take several."""
        return f"{numbers} {place.name} {box} {flag}"

    output = call(several, numbers="[1, 2]", place='{"name": "Oslo"}', box={"width": "2"}, flag="是")
    assert output == Output(text="[1, 2] Oslo Box(width=2.0) True")
    assert '"numbers[1]" must be a whole number, got "x"' in call(several, numbers=[1, "x"], place={"name": "a"}).text
    assert '"place.name" is missing' in call(several, numbers=[1], place={}).text
    assert '"numbers" must be a list, got "1, 2"' in call(several, numbers="1, 2", place={"name": "a"}).text


def test_bounds_of_an_annotation_are_kept() -> None:
    @tool
    def root(number: Annotated[float, Field(ge=0)]) -> float:
        """Take the root."""
        return number**0.5

    assert call(root, number="4") == Output(text="2.0")
    assert '"number" must be greater than or equal to 0, got -1' in call(root, number=-1).text


def test_names_that_pydantic_keeps_for_itself_are_fine_as_arguments() -> None:
    @tool
    def odd(json: str, model_config: int, _hidden: int, schema: int, /, *, copy: int = 5) -> str:
        """Take odd names."""
        return f"{json} {model_config} {_hidden} {schema} {copy}"

    assert call(odd, json="a", model_config=1, _hidden=2, schema=3) == Output(text="a 1 2 3 5")


def test_types_of_an_enclosing_function_are_found() -> None:
    class Local(BaseModel):
        x: int

    @tool
    def use(value: Local) -> int:
        """Use it."""
        assert Local is not None
        return value.x

    assert call(use, value={"x": 7}) == Output(text="7")


def test_a_default_that_json_cannot_show_is_still_the_default() -> None:
    marker = object()

    @tool
    def sentinel(value: Any = marker) -> bool:
        """Tell whether the default was used."""
        return value is marker

    assert call(sentinel) == Output(text="True")


def undocumented(x: int) -> int:
    return x


def untyped(x) -> int:  # type: ignore[no-untyped-def]
    """Untyped."""
    return int(x)


def starred(*numbers: int) -> int:
    """Starred."""
    return sum(numbers)


def callback(f: Callable[[int], int]) -> int:
    """Take a function."""
    return f(1)


def generating(n: int):  # type: ignore[no-untyped-def]
    """Yield."""
    yield n


def misdocumented(x: int) -> int:
    """Say something wrong.

    Args:
        y: not there
    """
    return x


def unresolved(x: Nowhere) -> int:  # type: ignore[name-defined]  # noqa: F821
    """Use an unknown type."""
    return 1


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (undocumented, "no description"),
        (untyped, '"x" has no type'),
        (starred, "any number of arguments"),
        (callback, '"f" has a type that a model cannot fill in'),
        (generating, "one by one"),
        (misdocumented, 'describes "y"'),
        (unresolved, "cannot be resolved"),
        (lambda x: x, "cannot be the name"),
        (functools.partial(shift, "a"), "cannot be the name"),
        (Place, "not a function"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_in_one_line_when_it_is_defined(function: Any, reason: str) -> None:
    with pytest.raises(ToolDefinitionError) as caught:
        tool(function)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "name", ["", " a", "a[b]", "a:b", "a\nb", "x" * 65, "finish", "Finish", "a,b", "思考：", "a\u200bb"]
)
def test_names_that_would_break_a_call_are_refused(name: str) -> None:
    with pytest.raises(ToolDefinitionError):
        tool(name=name)(shift.__wrapped__)


def test_an_unknown_risk_is_refused() -> None:
    with pytest.raises(ToolDefinitionError, match="risk"):
        tool(risk="harmless")(shift.__wrapped__)  # type: ignore[arg-type]


class Broken(Exception):
    def __str__(self) -> str:
        raise ValueError("cannot say")


class BrokenResult:
    def __str__(self) -> str:
        raise ValueError("cannot show")


def failing(how: str) -> object:
    if how == "division":
        raise ZeroDivisionError("x")
    if how == "broken":
        raise Broken
    if how == "stop":
        return next(iter(()))
    if how == "own":
        raise ToolError("no such page", "try another")
    if how == "arguments":
        raise BadArguments("that is no page")
    if how == "empty":
        raise KeyError
    if how == "result":
        return BrokenResult()
    raise TimeoutError("slow server")


@tool(name="sync")
def fail_sync(how: str) -> object:
    """Fail."""
    return failing(how)


@tool(name="async")
async def fail_async(how: str) -> object:
    """Fail."""
    await anyio.sleep(0)
    return failing(how)


@pytest.mark.parametrize("subject", [fail_sync, fail_async])
@pytest.mark.parametrize(
    ("how", "text", "error"),
    [
        ("division", "Error: ZeroDivisionError: x", "failed"),
        ("broken", "Error: Broken: (its message cannot be read)", "failed"),
        ("stop", "Error: StopIteration", "failed"),
        ("own", "no such page (try another)", "failed"),
        ("arguments", "that is no page", "bad_arguments"),
        ("empty", "Error: KeyError", "failed"),
        ("result", "Error: ValueError: cannot show", "failed"),
        ("timeout", "Error: TimeoutError: slow server", "failed"),
    ],
)
def test_what_a_tool_raises_becomes_its_observation(
    subject: FunctionTool[..., Any], how: str, text: str, error: str
) -> None:
    assert call(subject, how=how) == Output(text=text, error=error)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_ends_a_program_is_not_swallowed(kind: type[BaseException]) -> None:
    @tool
    def quit_now() -> None:
        """End the program."""
        raise kind

    with pytest.raises(kind):
        call(quit_now)


def test_cancellation_goes_through_an_async_tool() -> None:
    @tool
    async def wait() -> None:
        """Wait."""
        await anyio.sleep_forever()

    async def cancelled() -> bool:
        with anyio.move_on_after(0) as scope:
            await wait.call({})
        return scope.cancelled_caught

    assert anyio.run(cancelled)


def test_a_sync_tool_may_run_an_event_loop_of_its_own() -> None:
    @tool
    def nested() -> int:
        """Run a loop."""

        async def five() -> int:
            return 5

        return anyio.run(five)

    assert call(nested) == Output(text="5")


def test_a_plain_function_that_returns_an_awaitable_is_awaited() -> None:
    @tool
    def lazy() -> Any:
        """Return a coroutine."""

        async def five() -> int:
            return 5

        return five()

    assert call(lazy) == Output(text="5")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("", "(empty result)"),
        (" \n", "(only blank characters)"),
        (None, "(nothing returned)"),
        ([], "(empty list)"),
        ((), "(empty list)"),
        ({}, "(empty object)"),
        (0, "0"),
        ({"城市": ["a", 1.5, None]}, '{"城市": ["a", 1.5, null]}'),
        (Place(name="Oslo"), '{"name": "Oslo", "size": 1}'),
        (Box(2.0), '{"width": 2.0}'),
        (b"caf\xc3\xa9 \xff", "café \ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("a\ud83d", "a\ufffd"),
        (["\ud83d\ude00"], '["\U0001f600"]'),
        (Output(text="own", error="failed"), None),
    ],
)
def test_results_are_rendered_as_text(value: object, text: str | None) -> None:
    @tool
    def give() -> object:
        """Give."""
        return value

    output = call(give)
    assert output == (value if text is None else Output(text=text))


def test_a_result_that_contains_itself_is_a_failure_and_no_endless_loop() -> None:
    @tool
    def circular() -> list[Any]:
        """Go round."""
        items: list[Any] = []
        items.append(items)
        return items

    assert call(circular).error == "failed"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(st.sampled_from(["date", "amount", "unit", "other", "\ud800"]) | st.text(max_size=4), json_values)
)
def test_any_json_gives_an_output_that_can_be_encoded(arguments: dict[str, Any]) -> None:
    output = call(shift) if not arguments else anyio.run(shift.call, arguments)
    assert output.text.encode()
    assert output.error in {None, "bad_arguments"}


@given(json_values)
def test_a_rendered_result_of_lists_and_objects_is_json_again(value: Any) -> None:
    @tool
    def give() -> object:
        """Give."""
        return {"value": value}

    output = call(give)
    assert output.error is None
    assert json.loads(output.text).keys() == {"value"}
