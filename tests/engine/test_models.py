"""Which model is asked, how often, and what a watcher sees of calls that failed."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.engine.worlds import DIALECTS, World
from whybox.engine.replay import departure
from whybox.errors import ContextOverflow, ModelBroken, ModelTimeout, ModelUnreachable
from whybox.events import Answered, Asked, Delta, LimitReached, ModelFailed, Replied, Retrying, Stopped, Switched
from whybox.ports import Reply, Usage
from whybox.providers.scripted import ScriptedModel
from whybox.spec import Limits, ModelUse
from whybox.trace import Trace

BUSY = ModelUnreachable("busy", temporary=True)
DOWN = ModelUnreachable("nobody listens")
ANSWER = "Thought: I know.\nFinal Answer: It is 42."


def ran(world: World) -> Trace:
    """Run to the end, check that the run re-derives, and return it."""
    trace = Trace(stamped.event for stamped in asyncio.run(world.go()))
    assert departure(world.spec, DIALECTS, trace) is None
    return trace


def kinds(trace: Trace) -> list[str]:
    return [event.type for event in trace]


def of(trace: Trace, kind: type) -> list:
    return [event for event in trace if isinstance(event, kind)]


def test_a_call_that_failed_for_the_moment_is_made_again_and_each_try_is_an_event() -> None:
    world = World([BUSY, BUSY, ANSWER])
    trace = ran(world)
    assert kinds(trace)[1:8] == ["asked", "model_failed", "retrying", "asked", "model_failed", "retrying", "asked"]
    assert trace.answer.answer == "It is 42."
    assert world.pauses == [1, 2]


@pytest.mark.parametrize(("wish", "waited"), [(7.0, 7.0), (0.0, None), (999_999.0, 60.0), (-3.0, None), (None, 1.0)])
def test_a_servers_wish_to_wait_is_honoured_within_bounds(wish: float | None, waited: float | None) -> None:
    world = World([ModelUnreachable("429", temporary=True, retry_after=wish), ANSWER])
    ran(world)
    assert world.pauses == ([] if waited is None else [waited])


def test_after_the_last_try_the_servers_words_are_shown_and_the_run_can_be_resumed() -> None:
    world = World([BUSY] * 4)
    trace = ran(world)
    assert isinstance(trace[-1], Stopped)
    assert trace[-1].message == "busy"
    assert len(of(trace, Asked)) == 4
    again = World([BUSY, ANSWER])
    gone_on = [stamped.event.type for stamped in asyncio.run(again.go(after=list(trace)))]
    assert gone_on == ["resumed", "asked", "model_failed", "retrying", "asked", "replied", "parsed", "answered"]


@pytest.mark.parametrize("error", [DOWN, ContextOverflow("too long")])
def test_a_call_that_cannot_succeed_later_is_not_made_again(error: Exception) -> None:
    trace = ran(World([error]))
    assert of(trace, Retrying) == []
    assert isinstance(trace[-1], Stopped)


def test_a_stream_that_broke_is_asked_for_again_and_its_text_is_not_shown_twice() -> None:
    world = World([("Thought: I know.\nFinal Answer: It ", ModelBroken("cut")), ANSWER])
    trace = ran(world)
    failed = of(trace, ModelFailed)[0]
    assert failed.partial == " I know.\nFinal Answer: It "
    assert "".join(d.text for d in world.deltas if d.section == "answer").strip() == "It is 42."
    assert "".join(d.text for d in world.deltas if d.section == "thought").strip() == "I know."
    assert not any(delta.anew for delta in world.deltas)


def test_a_reply_that_begins_again_in_other_words_says_so_once() -> None:
    world = World([("Thought: I guess so", ModelBroken("cut")), ANSWER])
    ran(world)
    anew = [delta for delta in world.deltas if delta.anew]
    assert len(anew) == 1
    shown = world.deltas[world.deltas.index(anew[0]) :]
    assert "".join(d.text for d in shown if d.section == "thought").strip() == "I know."


whole = st.sampled_from([ANSWER, "Thought: hmm\nAction: search[a]", "思考：好\n最终答案：四十二", "no label at all"])


@settings(max_examples=150, deadline=None)
@given(whole, st.lists(st.tuples(whole, st.integers(0, 40)), max_size=3))
def test_what_counts_of_what_was_shown_is_the_reply(text: str, tries: list[tuple[str, int]]) -> None:
    world = World(
        [*((each[:cut], ModelBroken("cut")) for each, cut in tries), text, ANSWER], limits=Limits(max_steps=1)
    )
    alone = World([text, ANSWER], limits=Limits(max_steps=1))
    ran(world)
    ran(alone)

    def counts(deltas: list[Delta]) -> list[tuple[str, str]]:
        joined: list[tuple[str, str]] = []
        for delta in deltas:
            if delta.anew:
                joined.clear()
            if joined and joined[-1][0] == delta.section:
                joined[-1] = (delta.section, joined[-1][1] + delta.text)
            elif delta.text:
                joined.append((delta.section, delta.text))
        return joined

    assert counts(world.deltas) == counts(alone.deltas)


def test_when_a_model_is_down_the_next_of_the_list_takes_over_for_the_rest_of_the_run() -> None:
    second = ScriptedModel([DOWN], name="scripted:second")
    third = ScriptedModel(["Thought: so\nAction: search[a]", ANSWER], name="scripted:third")
    world = World(
        [DOWN],
        others=[second, third],
        fallbacks=(ModelUse(name=second.name), ModelUse(name=third.name)),
    )
    trace = ran(world)
    assert [event.model for event in of(trace, Switched)] == [second.name, third.name]
    assert [event.model for event in of(trace, Asked)] == [world.model.name, second.name, third.name, third.name]
    assert trace.answer.answer == "It is 42."


def test_a_timeout_goes_to_the_next_model_before_it_ends_the_search() -> None:
    second = ScriptedModel([ANSWER], name="scripted:second")
    trace = ran(World([ModelTimeout("slow")], others=[second], fallbacks=(ModelUse(name=second.name),)))
    assert of(trace, LimitReached) == []
    assert trace.answer.complete


def test_another_model_writes_the_answer_from_what_was_observed() -> None:
    writer = ScriptedModel(["Final Answer: Indeed 42."], name="scripted:writer")
    world = World(
        ["Thought: so\nAction: search[a]", ANSWER], others=[writer], answer=ModelUse(name=writer.name, prefix=True)
    )
    trace = ran(world)
    assert [(event.role, event.model) for event in of(trace, Asked)] == [
        ("think", world.model.name),
        ("think", world.model.name),
        ("answer", writer.name),
    ]
    assert trace.answer.answer == "Indeed 42."
    sent = "\n".join(message.content for message in writer.requests[0].messages)
    assert "found it" in sent
    assert "It is 42." not in sent
    # The draft is not shown as the answer.
    assert "".join(d.text for d in world.deltas if d.section == "answer").strip() == "Indeed 42."


def test_the_draft_stands_in_when_the_answering_model_fails() -> None:
    writer = ScriptedModel([DOWN], name="scripted:writer")
    trace = ran(World([ANSWER], others=[writer], answer=ModelUse(name=writer.name)))
    assert (trace.answer.answer, trace.answer.complete) == ("It is 42.", False)
    assert "nobody listens" in trace.answer.reason


def test_a_step_without_progress_goes_to_the_larger_model() -> None:
    larger = ScriptedModel([ANSWER], name="scripted:larger")
    world = World(["Thought: so\nAction: search[a]"] * 4, others=[larger], larger=ModelUse(name=larger.name))
    trace = ran(world)
    assert [(event.step, event.model, event.cause) for event in of(trace, Switched)] == [(4, larger.name, "escalated")]
    assert trace.answer.answer == "It is 42."


def test_replies_that_cannot_be_read_go_to_the_larger_model_before_they_are_shown_raw() -> None:
    larger = ScriptedModel(["Thought: hm"], name="scripted:larger")
    world = World(["Thought: hm"] * 4, others=[larger], larger=ModelUse(name=larger.name))
    trace = ran(world)
    assert [event.model for event in of(trace, Switched)] == [larger.name]
    assert isinstance(trace[-1], Answered)
    assert not trace.answer.complete


def test_money_and_tokens_add_up_and_an_unknown_price_stays_unknown() -> None:
    priced = World([Reply(text=ANSWER, usage=Usage(prompt_tokens=10, cached_tokens=4, completion_tokens=3))])
    trace = ran(priced)
    assert (trace.usage.prompt_tokens, trace.usage.cached_tokens, trace.cost) == (10, 4, 0.0)
    unknown = Trace([*list(trace)[:2], Replied(step=1, text="x", cost=None)])
    assert unknown.cost is None
