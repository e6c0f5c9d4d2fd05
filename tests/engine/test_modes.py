"""The same runs in each mode: JSON steps, native calls, and histories that every vendor accepts."""

from __future__ import annotations

import asyncio
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot

from tests.engine.worlds import DIALECTS, World
from tests.modes import check_shape, differences
from whybox.dialects.replies import ReplyReader
from whybox.engine.replay import departure
from whybox.errors import ModelBroken, ModelUnreachable
from whybox.events import (
    Answered,
    Approved,
    Asked,
    Call,
    Called,
    Event,
    NativeCall,
    Observed,
    Parsed,
    Paused,
    Replied,
    Resumed,
    Stopped,
)
from whybox.ports import Chunk, Decision, Message, Output, Reply
from whybox.providers.scripted import ScriptedModel
from whybox.spec import Limits, ModelUse
from whybox.trace import Trace


def native(*calls: tuple[str, object], text: str = "", **more: object) -> Reply:
    """Return a reply with native calls."""
    made = [
        NativeCall(
            id=f"id{number}", name=name, arguments=arguments if isinstance(arguments, str) else json.dumps(arguments)
        )
        for number, (name, arguments) in enumerate(calls)
    ]
    return Reply(text=text, calls=tuple(made), **more)


def ran(world: World) -> Trace:
    trace = Trace(stamped.event for stamped in asyncio.run(world.go()))
    assert departure(world.spec, DIALECTS, trace) is None
    for request in world.model.requests:
        check_legal(request.messages)
    return trace


def check_legal(messages: tuple[Message, ...]) -> None:
    """Check what every vendor with native calls demands of a history."""
    ids: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if message.role == "tool":
            assert waiting, "a result without a call"
            assert waiting.pop(0) == message.result_of, "results in another order than the calls, or twice"
            assert message.content, "an empty result"
            continue
        assert not waiting, f"calls without a result: {waiting}"
        for call in message.calls:
            assert message.role == "assistant"
            assert call.id not in ids, "an id twice"
            ids.add(call.id)
            assert isinstance(call.arguments, str)
            assert isinstance(json.loads(call.arguments), dict)
        waiting = [call.id for call in message.calls]
        assert message.calls or message.content, "an empty message"
    assert not waiting, f"calls without a result: {waiting}"
    assert messages[0].role == "system"
    assert messages[-1].role in ("user", "tool")


def test_a_run_with_native_calls() -> None:
    world = World(
        [native(("search", {"query": "tide"}), text="I look it up.", reasoning="Hm."), "Final Answer: Six."],
        mode="tools",
    )
    trace = ran(world)
    parsed = next(event for event in trace if isinstance(event, Parsed))
    assert (parsed.thought, parsed.calls[0].arguments) == ("Hm.\nI look it up.", {"query": "tide"})
    assert trace.answer.answer == "Six."
    assert [message.model_dump(exclude_defaults=True) for message in world.model.requests[1].messages[1:]] == snapshot(
        [
            {"role": "user", "content": "Question: Why?"},
            {
                "role": "assistant",
                "content": "I look it up.",
                "calls": ({"id": "id0", "name": "search", "arguments": '{"query": "tide"}'},),
                "reasoning": "Hm.",
            },
            {"role": "tool", "content": "found it", "result_of": "id0"},
        ]
    )
    assert "".join(d.text for d in world.deltas if d.section == "answer") == "Six."
    assert "".join(d.text for d in world.deltas if d.section == "thought").strip() == "Hm.I look it up."


def test_an_answer_without_a_label_is_an_answer_without_repairs() -> None:
    trace = ran(World(["It is six."], mode="tools"))
    parsed = next(event for event in trace if isinstance(event, Parsed))
    assert (parsed.answer, parsed.report.repairs, parsed.report.confidence) == ("It is six.", (), 1.0)


def test_calls_of_one_reply_run_side_by_side_and_each_keeps_its_own_result() -> None:
    world = World([native(("search", {"query": "a"}), ("clock", {}), ("broken", {"query": "b"})), "Six."], mode="tools")
    together: list[int] = []
    running = 0

    def slow(tool: object, turns: int) -> None:
        answer = tool.call

        async def call(arguments: dict[str, object]) -> Output:
            nonlocal running
            running += 1
            for _ in range(turns):
                await asyncio.sleep(0)
            together.append(running)
            running -= 1
            return await answer(arguments)

        tool.call = call

    for turns, tool in zip((30, 20, 10), (world.tools[name] for name in ("search", "clock", "broken")), strict=True):
        slow(tool, turns)
    trace = ran(world)
    assert max(together) == 3
    assert [event.call.tool for event in trace.observations] == ["broken", "clock", "search"]
    results = [m.content for m in world.model.requests[1].messages if m.role == "tool"]
    assert results == ["found it", "noon", "Error: ZeroDivisionError: x"]


def test_the_same_call_twice_in_a_reply_has_two_results() -> None:
    world = World([native(("search", {"query": "a"}), ("search", {"query": "a"})), "Six."], mode="tools")
    ran(world)
    assert len([m for m in world.model.requests[1].messages if m.role == "tool"]) == 2
    assert world.tool_calls == 2


def test_ids_that_are_missing_or_the_same_are_replaced() -> None:
    call = NativeCall(name="clock", arguments="{}")
    same = NativeCall(id="a", name="clock", arguments="{}")
    world = World(
        [Reply(text="", calls=(call, call)), Reply(text="", calls=(same,)), Reply(text="", calls=(same,)), "Six."],
        mode="tools",
    )
    ran(world)
    ids = [m.result_of for m in world.model.requests[-1].messages if m.role == "tool"]
    assert ids == ["call_1_1", "call_1_2", "a", "call_3_1"]


@pytest.mark.parametrize("arguments", ['{"query": "beg', "not json at all {", '["a", 1]', '{"query": "a"} trailing {'])
def test_arguments_that_cannot_be_read_are_answered_in_a_legal_history(arguments: str) -> None:
    world = World([native(("search", arguments)), "Six."], mode="tools", limits=Limits(max_steps=3))
    ran(world)
    assert len(world.model.requests) == 2


def test_a_call_cut_by_the_token_limit_is_not_run() -> None:
    world = World([native(("send", {"query": "x"}), finish="length"), "Six."], mode="tools", approve="never")
    ran(world)
    assert world.tool_calls == 0


def test_an_unknown_tool_is_answered_and_nothing_runs() -> None:
    world = World([native(("serch_engine_x", {"query": "a"}), ("search", {"query": "b"})), "Six."], mode="tools")
    trace = ran(world)
    assert world.tool_calls == 0
    assert "serch_engine_x" in world.model.requests[1].messages[-1].content
    assert trace.answer.answer == "Six."


def test_a_batch_with_one_refusal_runs_the_approved_call_and_answers_for_the_other() -> None:
    world = World(
        [native(("send", {"query": "a"}), ("send", {"query": "b"}), ("clock", {})), "Six."],
        [Decision(verdict="reject", reason="no"), Decision(verdict="approve")],
        mode="tools",
    )
    trace = ran(world)
    assert world.tools["send"].calls == [{"query": "b"}]
    assert [event.call.arguments for event in trace if isinstance(event, Paused)] == [{"query": "a"}, {"query": "b"}]
    results = [m.content for m in world.model.requests[1].messages if m.role == "tool"]
    assert "did not allow" in results[0]
    assert results[1:] == ["sent", "noon"]


def test_calls_that_a_limit_has_overtaken_are_answered_before_the_last_question() -> None:
    world = World([native(("search", {"query": "a"})), "Six."], mode="tools", limits=Limits(max_steps=1))
    trace = ran(world)
    assert world.model.requests[-1].call_tools is False
    assert world.model.requests[-1].tools
    assert (trace.answer.answer, trace.answer.complete) == ("Six.", False)


def test_a_run_stopped_in_the_middle_of_a_batch_goes_on_with_what_is_missing() -> None:
    calls = [("search", {"query": "a"}), ("send", {"query": "b"})]
    world = World([native(*calls), "Six."], mode="tools", approve="never")
    events = list(ran(world))
    observed = [index for index, event in enumerate(events) if isinstance(event, Observed)]
    before = events[: observed[1]]  # the second result was never recorded
    missing = "send" if before[-1].call.tool == "search" else "search"
    again = World(["Six."], [Decision(verdict="approve")], mode="tools", approve="never")
    gone_on = [stamped.event for stamped in asyncio.run(again.go(after=before))]
    assert again.tools[missing].calls
    assert again.tool_calls == 1
    assert any(isinstance(event, Paused) for event in gone_on) == (missing == "send")
    check_legal(again.model.requests[0].messages)


def test_a_run_in_json() -> None:
    world = World(
        [
            '{"thought": "I look.", "action": "search", "action_input": {"query": "tide"}}',
            '{"thought": "t", "answer": "Six."}',
        ],
        mode="json",
    )
    trace = ran(world)
    assert world.tools["search"].calls == [{"query": "tide"}]
    assert trace.answer.answer == "Six."
    assert "".join(d.text for d in world.deltas if d.section == "answer") == "Six."
    forms = world.model.requests[0].json_schema["anyOf"]
    assert [list(form["properties"]) for form in forms[:1]] == [["thought", "action", "action_input"]]
    assert world.model.requests[0].grammar is None


def test_the_same_run_in_each_mode_differs_only_in_what_the_mode_is() -> None:
    said = {
        "text": ["Thought: I look.\nAction: search[tide]", "Thought: so\nFinal Answer: Six."],
        "json": [
            '{"thought": "I look.", "action": "search", "action_input": {"query": "tide"}}',
            '{"thought": "so", "answer": "Six."}',
        ],
        "tools": [native(("search", {"query": "tide"}), text="I look."), "Thought: so\nFinal Answer: Six."],
    }
    said["grammar"] = said["text"]
    traces = {mode: ran(World(replies, mode=mode)) for mode, replies in said.items()}
    for mode, trace in traces.items():
        check_shape(trace, mode)
        assert kinds_of(trace) == kinds_of(traces["text"])
    assert sorted(differences(traces["text"], traces["grammar"])) == snapshot(
        ["asked.mode", "asked.prefix", "replied.text", "replied.usage"]
    )
    assert sorted(differences(traces["text"], traces["json"])) == snapshot(
        [
            "asked.mode",
            "asked.prefix",
            "asked.prompt",
            "asked.stop",
            "called.call",
            "observed.call",
            "parsed.calls",
            "parsed.report",
            "replied.text",
            "replied.usage",
        ]
    )
    assert sorted(differences(traces["text"], traces["tools"])) == snapshot(
        [
            "asked.mode",
            "asked.prefix",
            "asked.prompt",
            "asked.stop",
            "called.call",
            "observed.call",
            "parsed.calls",
            "parsed.report",
            "replied.calls",
            "replied.text",
            "replied.usage",
        ]
    )


def kinds_of(trace: Trace) -> list[str]:
    return [event.type for event in trace]


text_piece = st.text(st.sampled_from('aé你"\\/{}[],:🍸\n\t'), max_size=12)


@settings(max_examples=200, deadline=None)
@given(text_piece, text_piece, st.booleans(), st.data())
def test_a_json_step_is_shown_as_it_comes_however_it_is_cut(
    thought: str, answer: str, escaped: bool, data: st.DataObject
) -> None:
    text = json.dumps({"thought": thought, "answer": answer}, ensure_ascii=escaped)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    reader = ReplyReader(DIALECTS["json"], (), "en")
    shown = []
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        shown += reader.feed(Chunk(text=text[start:end]))
    rest, parsed = reader.close(Reply(text=text))
    assert (parsed.answer or "") == answer.strip()
    assert (parsed.retry is None) == bool(answer.strip())
    for section, whole in (("thought", parsed.thought), ("answer", parsed.answer or "")):
        assert "".join(d.text for d in (*shown, *rest) if d.section == section).strip() == whole.strip()


def test_each_piece_of_a_json_answer_is_shown_at_once() -> None:
    reader = ReplyReader(DIALECTS["json"], (), "en")
    reader.feed(Chunk(text='{"thought": "x", "answer": "'))
    assert [d.text for piece in ("It ", "is ", "\\u4f60", "\\n") for d in reader.feed(Chunk(text=piece))] == [
        "It ",
        "is ",
        "你",
        "\n",
    ]


def test_steps_of_one_form_are_written_in_the_others_when_a_model_of_another_mode_takes_over() -> None:
    down = ModelUnreachable("down")
    replies = {
        "text": "Thought: so\nAction: search[a]",
        "json": '{"thought": "so", "action": "search", "action_input": {"query": "a"}}',
        "tools": native(("search", {"query": "a"}), text="so"),
    }
    sent = {}
    for mode, reply in replies.items():
        for other in replies:
            second = ScriptedModel(["Final Answer: Six."], name="scripted:second")
            world = World(
                [reply, down], others=[second], mode=mode, fallbacks=(ModelUse(name=second.name, mode=other),)
            )
            trace = ran(world)
            assert trace.answer.answer == "Six."
            messages = second.requests[0].messages
            if other == "tools":
                check_legal(messages)
            last = messages[-2]
            sent[mode, other] = (last.content, [(c.name, json.loads(c.arguments)) for c in last.calls])
    as_text, as_call = ("Thought: so\nAction: search[a]", []), ("so", [("search", {"query": "a"})])
    as_json = '{"thought": "so", "action": "search", "action_input": {"query": "a"}}'
    for mode in replies:
        assert sent[mode, "tools"] == as_call
        assert sent[mode, "json"] == (as_json, [])
    assert sent["text", "text"] == as_text


arguments = st.sampled_from(['{"query": "a"}', '{"query": "b"}', "{}", '{"query": "cu', "", '{"q": 1}'])
calls = st.builds(
    NativeCall,
    id=st.sampled_from(["", "a", "b"]),
    name=st.sampled_from(["search", "send", "clock", "broken", "nothing_like_it", "finish"]),
    arguments=arguments,
)
replies = st.one_of(
    st.builds(
        Reply,
        text=st.sampled_from(["", "I see.", "Thought: so", "Final Answer: six"]),
        reasoning=st.sampled_from(["", "Hm."]),
        calls=st.lists(calls, max_size=3).map(tuple),
        finish=st.sampled_from(["stop", "stop", "stop", "length"]),
    ),
    st.just(ModelUnreachable("down")),
    st.just(("I beg", ModelBroken("cut"))),
)
people = st.lists(st.builds(Decision, verdict=st.sampled_from(["approve", "reject", "stop"])), max_size=4)


@settings(max_examples=200, deadline=None)
@given(st.lists(replies, max_size=8), people, st.sampled_from(["never", "risky", "always"]))
def test_every_run_with_native_calls_ends_rederives_and_sends_only_legal_histories(
    script: list[Reply], decisions: list[Decision], approve: str
) -> None:
    world = World(script, decisions, approve=approve, mode="tools")
    trace = ran(world)
    assert isinstance(trace[-1], Answered | Stopped)
    allowed: list[Call] = []
    for event in trace:
        if isinstance(event, Approved):
            allowed.append(event.call)
        elif isinstance(event, Parsed):
            allowed.clear()
        elif isinstance(event, Called) and approve != "never":
            tool = world.spec.tool(event.call.tool)
            if tool.risk != "read" or approve == "always":
                assert event.call in allowed


@settings(max_examples=100, deadline=None)
@given(st.lists(replies, max_size=6), st.data())
def test_a_run_with_native_calls_goes_on_after_any_event(script: list[Reply], data: st.DataObject) -> None:
    events: list[Event] = list(ran(World(script, approve="never", mode="tools")))
    before = events[: data.draw(st.integers(1, len(events) - 1))]
    done = sum(isinstance(event, Asked) for event in before)
    unfinished = bool(before) and isinstance(before[-1], Asked)
    again = World(script[done - unfinished :], [Decision(verdict="approve")] * 9, approve="never", mode="tools")
    gone_on = [stamped.event for stamped in asyncio.run(again.go(after=before))]
    assert isinstance(gone_on[0], Resumed)
    assert isinstance(gone_on[-1], Answered | Stopped)
    assert departure(again.spec, DIALECTS, Trace([*before, *gone_on])) is None
    finished = [event.call for event in before if isinstance(event, Observed)]
    replied = [index for index, event in enumerate(before) if isinstance(event, Replied)]
    last_batch = before[replied[-1] :] if replied else []
    seen = [event.call for event in last_batch if isinstance(event, Observed)]
    first_ask = next((index for index, event in enumerate(gone_on) if isinstance(event, Asked)), len(gone_on))
    repeated = [event.call for event in gone_on[:first_ask] if isinstance(event, Called) and event.call in seen]
    assert repeated == [], finished
    for request in again.model.requests:
        check_legal(request.messages)
