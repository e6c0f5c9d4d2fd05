"""Single outcomes of runs that the properties do not single out."""

from __future__ import annotations

import asyncio

from tests.engine.worlds import World
from whybox.errors import ModelTimeout
from whybox.events import Answered, LimitReached, Parsed
from whybox.ports import Reply
from whybox.spec import Limits


def last(world: World) -> Answered:
    event = asyncio.run(world.go())[-1].event
    assert isinstance(event, Answered)
    return event


def test_an_answer_that_was_cut_by_the_token_limit_is_kept_and_marked_incomplete() -> None:
    answered = last(World([Reply(text="Thought: long\nFinal Answer: one, two, th", finish="length")]))
    assert answered.answer == "one, two, th"
    assert not answered.complete
    assert answered.reason


def test_a_model_that_takes_too_long_is_asked_once_for_what_it_knows() -> None:
    world = World(["Thought: go\nAction: search[x]", ModelTimeout("too slow"), " six, as far as I saw"])
    seen = [stamped.event for stamped in asyncio.run(world.go())]
    assert any(isinstance(event, LimitReached) for event in seen)
    assert seen[-1] == Answered(answer="six, as far as I saw", complete=False, reason="too slow")


def test_when_even_the_last_call_fails_the_observations_are_the_answer() -> None:
    answered = last(World(["Thought: go\nAction: search[x]", ModelTimeout("too slow"), ModelTimeout("too slow")]))
    assert "found it" in answered.answer
    assert not answered.complete


def test_replies_that_cannot_be_read_are_sent_back_three_times_and_then_shown_as_they_are() -> None:
    world = World(["Thought: hm", "Thought: hm", "Thought: hm", "Thought: still hm"], limits=Limits(max_steps=9))
    answered = last(world)
    assert answered.answer == "still hm"
    assert not answered.complete
    assert len(world.model.requests) == 4
    assert "neither an Action nor a Final Answer" in world.model.requests[1].messages[-1].content


def test_an_unknown_tool_is_answered_with_the_tools_there_are_and_nothing_runs() -> None:
    world = World(["Thought: go\nAction: serch[x]", "Thought: ok\nFinal Answer: six"])
    seen = [stamped.event for stamped in asyncio.run(world.go())]
    [parsed, answered] = [event for event in seen if isinstance(event, Parsed)]
    assert parsed.reason == "unknown_tool"
    assert "Did you mean search?" in (parsed.retry or "")
    assert answered.answer == "six"
    assert world.tool_calls == 0


def test_an_answer_behind_the_label_answer_is_taken_on_the_first_call() -> None:
    world = World(["Answer: 14 kg"])
    world.spec = world.spec.model_copy(update={"prefix": False})
    assert last(world).answer == "14 kg"
    assert len(world.model.requests) == 1
