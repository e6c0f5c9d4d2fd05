"""What is true of every run, whatever the model, the tools and the person do."""

from __future__ import annotations

import asyncio
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.worlds import DIALECTS, World
from whybox.engine.decide import decide
from whybox.engine.effects import Note
from whybox.engine.replay import departure
from whybox.errors import ModelTimeout, ModelUnreachable
from whybox.events import (
    Answered,
    Approved,
    Asked,
    Call,
    Called,
    Event,
    LimitReached,
    ModelFailed,
    Observed,
    Parsed,
    Paused,
    Rejected,
    Replied,
    Report,
    Resumed,
    Started,
    Stopped,
)
from whybox.ports import Decision, Reply
from whybox.spec import Limits
from whybox.trace import Trace

words = st.sampled_from(["tide", "42", "the sea", "为什么", "a[b]c", "x" * 50])
steps = st.one_of(
    st.builds("Thought: {}\nAction: search[{}]".format, words, words),
    st.builds("Thought: {}\nAction: broken[{}]".format, words, words),
    st.builds("Thought: {}\nAction: send[{}]".format, words, words),
    st.builds("思考：{}\n行动：clock[]".format, words),
    st.builds("Thought: {}\nAction: nothing_like_it[{}]".format, words, words),
    st.builds("Thought: {}\nAction: search\nAction Input: {}\nObservation: invented".format, words, words),
    st.builds("Thought: {}\nFinal Answer: {}".format, words, words),
    st.builds("Thought: {}".format, words),
    st.just(""),
    st.builds(lambda text: Reply(text=f"Thought: {text}\nAction: search[{text}", finish="length"), words),
    st.just(ModelTimeout("too slow")),
    st.just(ModelUnreachable("nobody there")),
)
scripts = st.lists(steps, max_size=12)
people = st.lists(
    st.builds(Decision, verdict=st.sampled_from(["approve", "reject", "stop"]), reason=st.sampled_from(["", "no"])),
    max_size=4,
)
worlds = st.builds(
    lambda script, people, approve, language: World(script, people, approve=approve, language=language),
    scripts,
    people,
    st.sampled_from(["never", "risky", "always"]),
    st.sampled_from(["en", "zh"]),
)


@settings(max_examples=150, deadline=None)
@given(worlds)
def test_every_run_ends_and_an_answer_is_never_empty(world: World) -> None:
    seen = asyncio.run(world.go())
    last = seen[-1].event
    assert isinstance(last, Answered | Stopped)
    if isinstance(last, Answered):
        assert last.answer.strip()


@settings(max_examples=150, deadline=None)
@given(worlds)
def test_every_trace_rederives(world: World) -> None:
    seen = asyncio.run(world.go())
    assert departure(world.spec, DIALECTS, Trace(stamped.event for stamped in seen)) is None


@settings(max_examples=100, deadline=None)
@given(worlds)
def test_watchers_see_exactly_what_is_stored(world: World) -> None:
    async def both() -> None:
        seen = await world.go()
        assert seen == await world.store.read("r")
        assert [stamped.seq for stamped in seen] == list(range(1, len(seen) + 1))

    asyncio.run(both())


@settings(max_examples=100, deadline=None)
@given(worlds)
def test_what_is_streamed_is_what_was_read(world: World) -> None:
    seen = asyncio.run(world.go())
    parsed = [stamped.event for stamped in seen if isinstance(stamped.event, Parsed)]

    def streamed(section: str) -> str:
        return "".join("".join(delta.text for delta in world.deltas if delta.section == section).split())

    assert streamed("answer") == "".join("".join((event.answer or "").split()) for event in parsed)
    # A model call that failed has shown thoughts that belong to no reply.
    if not any(isinstance(stamped.event, ModelFailed) for stamped in seen):
        assert streamed("thought") == "".join("".join(event.thought.split()) for event in parsed)


@settings(max_examples=100, deadline=None)
@given(worlds)
def test_nothing_risky_runs_unless_exactly_it_was_approved(world: World) -> None:
    seen = asyncio.run(world.go())
    before: Event | None = None
    for stamped in seen:
        event = stamped.event
        if isinstance(event, Called) and world.spec.approve != "never":
            tool = world.spec.tool(event.call.tool)
            if tool is not None and (tool.risk != "read" or world.spec.approve == "always"):
                assert isinstance(before, Approved)
                assert before.call == event.call
        before = event


@settings(max_examples=60, deadline=None)
@given(scripts, st.data())
def test_resuming_after_any_event_gives_the_same_run_and_repeats_no_finished_call(
    script: list[str], data: st.DataObject
) -> None:
    whole = World(script, approve="never")
    events = [stamped.event for stamped in asyncio.run(whole.go())]
    cut = data.draw(st.integers(1, len(events) - 1))
    before, after = events[:cut], events[cut:]
    done = sum(isinstance(event, Replied | ModelFailed) for event in before)
    again = World(script[done:], approve="never")
    if isinstance(before[-1], ModelFailed):
        return  # the call that failed is made again on purpose
    gone_on = [stamped.event for stamped in asyncio.run(again.go(after=before))]
    assert isinstance(gone_on[0], Resumed)

    if isinstance(before[-1], Called) and before[-1].call.tool == "send":
        # It may have acted: a person is asked before it runs a second time, and here nobody is there.
        assert isinstance(gone_on[1], Paused)
        assert gone_on[1].reason == "unknown_outcome"
        assert again.tool_calls == 0
        return

    def facts(events: list[Event]) -> list[Event]:
        # The second script is shorter, so what it says when it runs out has another number in it.
        kept = [event for event in events if not isinstance(event, Asked | Called | Resumed)]
        return [e.model_copy(update={"message": ""}) if isinstance(e, ModelFailed | Stopped) else e for e in kept]

    assert facts(gone_on) == facts(after)
    assert again.tool_calls == sum(isinstance(event, Observed) and event.error in {None, "failed"} for event in after)


calls = st.builds(Call, tool=st.sampled_from(["search", "send", "unheard"]), arguments=st.just({"query": "x"}))
reports = st.just(Report(dialect="bracket"))
some_events = st.one_of(
    st.builds(Replied, step=st.integers(1, 3), text=st.text(max_size=30)),
    st.builds(ModelFailed, step=st.just(1), kind=st.sampled_from(["timeout", "unreachable"]), message=st.just("m")),
    st.builds(Parsed, calls=st.lists(calls, max_size=2).map(tuple), report=reports),
    st.builds(Parsed, retry=st.just("again"), report=reports),
    st.builds(Parsed, answer=st.just("a"), report=reports),
    st.builds(Paused, step=st.just(1), call=calls, reason=st.just("risk")),
    st.builds(Approved, step=st.just(1), call=calls),
    st.builds(Rejected, step=st.just(1), call=calls),
    st.builds(Called, step=st.just(1), call=calls),
    st.builds(Observed, step=st.just(1), call=calls, content=st.just("seen")),
    st.builds(LimitReached, limit=st.just("max_steps"), message=st.just("m")),
    st.just(Resumed()),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(some_events, max_size=8))
def test_decide_is_total_and_pure(events: list[Event]) -> None:
    spec = World([]).spec
    trace = Trace([Started(question="q", language="en"), *events])
    effect = decide(spec, DIALECTS, trace)
    assert effect is not None
    assert effect == decide(spec, DIALECTS, trace)
    if isinstance(effect, Note):
        assert effect.event is not None


@settings(max_examples=50, deadline=None)
@given(st.lists(some_events, max_size=30), st.data())
def test_a_trace_that_grows_never_changes_an_earlier_one(events: list[Event], data: st.DataObject) -> None:
    traces = [Trace([Started(question="q", language="en")])]
    for event in events:
        base = traces[data.draw(st.integers(0, len(traces) - 1))]
        grown = base.add(event)
        assert list(grown) == [*list(base), event]
        assert grown == Trace(list(grown))
        assert grown.state == Trace(list(grown)).state
        traces.append(grown)
    for trace in traces:
        assert trace.state == Trace(list(trace)).state


@settings(max_examples=40, deadline=None)
@given(worlds)
def test_prompts_only_grow_at_their_end_within_a_run(world: World) -> None:
    asyncio.run(world.go())
    prompts = [list(request.messages) for request in world.model.requests]
    for earlier, later in pairwise(prompts):
        head, tail = earlier[:-1], earlier[-1]
        assert later[: len(head)] == head
        assert later[len(head)].role == tail.role
        assert later[len(head)].content.startswith(tail.content)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 5))
def test_no_more_replies_are_asked_for_than_the_limit_and_one_to_wrap_up(limit: int) -> None:
    world = World(["Thought: again\nAction: search[x]"] * 20, limits=Limits(max_steps=limit))
    seen = asyncio.run(world.go())
    assert len(world.model.requests) == limit + 1
    last = seen[-1].event
    assert isinstance(last, Answered)
    assert not last.complete
    assert "found it" in last.answer
