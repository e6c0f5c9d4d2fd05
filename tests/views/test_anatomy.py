"""What is said of a run's model calls agrees with the run, whatever happened in it."""

from __future__ import annotations

import asyncio
import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.engine.worlds import World
from whybox.errors import ModelUnreachable
from whybox.events import Asked, Event, Replied, Segment, Stamped, Usage
from whybox.providers.scripted import ScriptedModel
from whybox.spec import ModelUse
from whybox.views.anatomy import PARTS, cached_share, least_sure_of, model_calls, part_of, totals

NOW = datetime(2026, 1, 2, tzinfo=UTC)
CALL = "Thought: I multiply.\nAction: calculator[6 * 7]"
ANSWER = "Thought: I know.\nFinal Answer: It is 42."


def stamped(*events: Event) -> list[Stamped]:
    return [Stamped(run="r", seq=n, at=NOW + timedelta(seconds=n), event=event) for n, event in enumerate(events, 1)]


def asked(step: int, *segments: Segment, model: str = "m") -> Asked:
    return Asked(step=step, model=model, mode="text", prompt=segments, max_tokens=9)


def used(prompt: int | None, cached: int | None, cost: float | None = 0.0) -> Replied:
    usage = Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=5)
    return Replied(step=1, text="x", usage=usage, cost=cost)


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("instructions", "instructions"),
        ("tool:calculator", "tools"),
        ("example:1.question", "examples"),
        ("question", "question"),
        ("step:12.observation", "steps"),
        ("wrap_up", "other"),
    ],
)
def test_each_segment_of_a_prompt_belongs_to_one_part(name: str, part: str) -> None:
    assert part_of(Segment(name=name, role="user", text="")) == part


def test_the_calls_of_a_real_run_add_up_to_the_run() -> None:
    world = World([ModelUnreachable("busy", temporary=True), CALL, ANSWER])
    events = asyncio.run(world.go())
    calls = model_calls(events)
    assert [(call.step, bool(call.failed)) for call in calls] == [(1, True), (1, False), (2, False)]
    prompts = [s.event for s in events if isinstance(s.event, Asked)]
    for call, prompt in zip(calls, prompts, strict=True):
        assert sum(count or 0 for count in call.parts) == sum(s.tokens or 0 for s in prompt.prompt)
    replies = [s.event.usage for s in events if isinstance(s.event, Replied)]
    together = totals(calls)["think", "scripted:replies"]
    assert together.calls == 3
    assert together.usage.prompt_tokens == sum(usage.prompt_tokens or 0 for usage in replies)
    assert together.cost == 0


def test_calls_of_each_role_and_model_are_counted_apart() -> None:
    other = ScriptedModel(["Final Answer: It is 42."], name="scripted:other")
    drafted = [CALL, "Thought: done.\nFinal Answer: a draft"]
    world = World(drafted, answer=ModelUse(name=other.name), others=[other])
    calls = model_calls(asyncio.run(world.go()))
    assert [(key, total.calls) for key, total in totals(calls).items()] == [
        (("think", "scripted:replies"), 2),
        (("answer", "scripted:other"), 1),
    ]


def test_the_first_call_does_not_count_for_the_share_of_the_cache() -> None:
    events = stamped(asked(1), used(100, 0), asked(2), used(200, 150), asked(3), used(200, 170))
    assert cached_share(model_calls(events)) == 0.8


def test_what_is_not_known_is_not_taken_for_zero() -> None:
    unknown = Segment(name="question", role="user", text="q")
    calls = model_calls(stamped(asked(1, unknown), used(None, None, None), asked(2), used(10, None, 1.0)))
    assert calls[0].parts[PARTS.index("question")] is None
    assert cached_share(calls) is None
    assert totals(calls)["think", "m"].cost is None


def test_a_call_that_is_still_going_on_has_no_figures_yet() -> None:
    (call,) = model_calls(stamped(asked(1)))
    assert (call.seconds, call.usage, call.failed) == (None, Usage(), "")


@given(st.lists(st.floats(-8, 0), max_size=30), st.integers(0, 5))
def test_hesitations_are_the_least_likely_tokens_in_the_order_of_the_text(values: list[float], most: int) -> None:
    tokens = [(f"<{at}>", value, ((f"<{at}>", value), ("other", -1.0))) for at, value in enumerate(values)]
    found = least_sure_of(tokens, most)
    places = [int(each.text[1:-1]) for each in found]
    assert places == sorted(places)
    unsure = sorted(value for value in values if value < math.log(0.9))
    assert sorted(values[at] for at in places) == unsure[:most]
    assert all(dict(each.others) == {"other": math.exp(-1.0)} for each in found)
