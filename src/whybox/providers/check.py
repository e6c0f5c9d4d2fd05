"""Finding out what a model can do, by asking it for a few tokens each."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, cast

from whybox.errors import ModelError
from whybox.ports import Message, Model, Reply, Request, ToolSpec
from whybox.providers.facts import Facts

EVERYTHING = Facts(grammar=True, json_schema=True, tools=True, parallel=True, logprobs=True, prefix=True)
"""What a model has to be made with, so that everything can be tried."""

_WEATHER = ToolSpec(
    name="weather",
    description={"en": "The weather in a city."},
    parameters={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
_NUMBER = {
    "type": "object",
    "properties": {"number": {"type": "integer"}},
    "required": ["number"],
    "additionalProperties": False,
}
_COLOURS = ("blue", "green")


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one try.

    Args:
        ability: a field of :class:`~whybox.ports.Abilities`, or ``text`` and ``usage``.
        able: whether the model did what was asked.
        said: what it answered, or why it did not, for people.
        cost: in US dollars; None when it is not known.
    """

    ability: str
    able: bool
    said: str
    cost: float | None = 0.0


@dataclass(frozen=True, slots=True)
class _Probe:
    ability: str
    request: Request
    judge: Callable[[Reply], bool]


def _asked(text: str, **more: Any) -> Request:
    return Request(messages=(Message(role="user", content=text),), **{"max_tokens": 64, **more})


def _is_number(reply: Reply) -> bool:
    try:
        found = json.loads(reply.text)
    except ValueError:
        return False
    return isinstance(found, dict) and list(found) == ["number"] and type(found["number"]) is int


_BOTH = "What is the weather in Paris and in Rome? Call the tool for both cities at once."
_PROBES = (
    _Probe("text", _asked("Say hello."), lambda reply: bool(reply.text.strip() or reply.reasoning.strip())),
    _Probe("usage", _asked("Say hello."), lambda reply: not reply.usage.estimated),
    _Probe("reasoning", _asked("Which is larger, 9.9 or 9.11?", max_tokens=256), lambda reply: bool(reply.reasoning)),
    _Probe("stop", _asked("Count from one to nine.", stop=("five",)), lambda reply: "stop" not in "".join(reply.notes)),
    _Probe("prefix", _asked("Name the capital of France.", prefix="The capital of"), lambda reply: bool(reply.text)),
    _Probe(
        "grammar",
        _asked("Which colour is the sun?", grammar=f'root ::= "{_COLOURS[0]}" | "{_COLOURS[1]}"'),
        lambda reply: reply.text.strip() in _COLOURS,
    ),
    _Probe("json_schema", _asked("Give me a word.", json_schema=_NUMBER), _is_number),
    _Probe(
        "tools",
        _asked("What is the weather in Paris? Call the tool.", tools=(_WEATHER,), max_tokens=256),
        lambda reply: any(call.name == "weather" for call in reply.calls),
    ),
    _Probe("parallel", _asked(_BOTH, tools=(_WEATHER,), max_tokens=256), lambda reply: len(reply.calls) > 1),
    _Probe("logprobs", _asked("Say hello.", logprobs=2), lambda reply: bool(reply.tokens)),
)


async def check(model: Model) -> AsyncIterator[Finding]:
    """Try each ability in turn and yield what was found; where there is not even text, nothing more is tried.

    Args:
        model: made with :data:`EVERYTHING`, so that it refuses nothing by itself.
    """
    for probe in _PROBES:
        try:
            reply = await _reply(model, probe.request)
        except ModelError as error:
            yield Finding(probe.ability, able=False, said=str(error))
            if probe.ability == "text":
                return
            continue
        said = " ".join([*reply.notes, *(call.name for call in reply.calls), reply.text]).strip()
        yield Finding(probe.ability, probe.judge(reply), said, model.price.of(reply.usage))


async def _reply(model: Model, request: Request) -> Reply:
    async with aclosing(cast("Any", model.stream(request))) as items:
        async for item in items:
            if isinstance(item, Reply):
                return item
    raise ModelError("the model ended its reply without saying that it was whole")
