"""What is sent: legal histories for every vendor, and what a refusal teaches."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.events import NativeCall
from whybox.ports import Message, Request, ToolSpec
from whybox.providers.openai_body import BodyWriter
from whybox.providers.openai_chunks import Fault

TOOLS = tuple(
    ToolSpec(name=name, description={"en": name}, parameters={"type": "object", "properties": {}})
    for name in ("search", "日期.tool", "日期 tool")
)
texts = st.text(max_size=6) | st.just("")
block = st.sampled_from(
    [{"type": "reasoning.text", "text": "hm", "signature": "s"}, {"type": "thinking", "thinking": "of another vendor"}]
)
call = st.builds(
    NativeCall,
    id=st.sampled_from(["a", "b", "c"]),
    name=st.sampled_from(["search", "日期.tool", "日期 tool", "gone"]),
    arguments=st.sampled_from(['{"q": 1}', '{"q":', "", "[1]"]) | st.just({"q": "你"}),
)


@st.composite
def turn(draw: st.DrawFn) -> list[Message]:
    """Return an assistant's message and what came of it."""
    calls = tuple(draw(st.lists(call, max_size=3, unique_by=lambda each: each.id)))
    said = Message(
        role="assistant",
        content=draw(texts),
        calls=calls,
        reasoning=draw(texts),
        blocks=tuple(draw(st.lists(block, max_size=2))),
    )
    results = [Message(role="tool", content=draw(texts), result_of=each.id) for each in calls]
    return [said, *results] if calls else [said, Message(role="user", content=draw(texts))]


history = st.lists(turn(), max_size=4).map(
    lambda turns: (
        Message(role="system", content="s"),
        Message(role="user", content="q"),
        *(m for t in turns for m in t),
    )
)


@settings(max_examples=200, deadline=None)
@given(history, st.sampled_from(["null", "string"]), st.sampled_from(["never", "with_calls"]))
def test_every_history_is_sent_as_the_vendor_wants_it(messages: tuple[Message, ...], empty: Any, back: Any) -> None:
    body = BodyWriter("m", empty, back).write(Request(messages=messages, tools=TOOLS))
    json.dumps(body.fields).encode()
    offered = {tool["function"]["name"] for tool in body.fields["tools"]}
    assert len(offered) == len(TOOLS)
    assert {body.names[name] for name in offered} == {tool.name for tool in TOOLS}
    for sent, message in zip(body.fields["messages"], messages, strict=True):
        assert sent["role"] == message.role
        assert ("tool_call_id" in sent) == (message.role == "tool")
        assert ("tool_calls" in sent) == bool(message.calls)
        bare = message.calls and not message.content
        assert sent["content"] is not None or (bare and empty == "null")
        assert not bare or sent["content"] == (None if empty == "null" else "")
        with_reasoning = back == "with_calls" and message.role == "assistant" and message.calls and message.reasoning
        assert ("reasoning_content" in sent) == bool(with_reasoning)
        own = [each for each in message.blocks if each["type"].startswith("reasoning")]
        assert sent.get("reasoning_details", []) == own
        for made, native in zip(sent.get("tool_calls", []), message.calls, strict=False):
            assert made["id"] == native.id
            assert isinstance(json.loads(made["function"]["arguments"]), dict)
            name = made["function"]["name"]
            assert name.isascii()
            assert body.names.get(name, native.name) == native.name or native.name == "gone"


def test_arguments_that_are_an_object_already_are_sent_as_they_were_written() -> None:
    written = '{ "q":1}'
    messages = (Message(role="assistant", content="", calls=(NativeCall(id="a", name="search", arguments=written),)),)
    body = BodyWriter("m").write(Request(messages=messages))
    assert body.fields["messages"][0]["tool_calls"][0]["function"]["arguments"] == written


REFUSALS = [
    ("stop", Fault("Unsupported parameter: 'stop' is not supported with this model.", param="stop")),
    ("stream_options", Fault("body.stream_options: Extra inputs are not permitted")),
    ("max_tokens", Fault("Use 'max_completion_tokens' instead.")),
    ("temperature", Fault("`temperature` is deprecated for this model.")),
    (
        "temperature",
        Fault("Unsupported value: 'temperature' does not support 0. Only the default (1) value is supported."),
    ),
    ("logprobs", Fault("logprobs are not supported with reasoning models")),
    ("json_schema", Fault("'response_format' of type 'json_schema' is not supported")),
    ("tool_choice", Fault("does not support this tool_choice")),
]


@pytest.mark.parametrize(("name", "fault"), REFUSALS)
def test_what_is_refused_is_left_out_from_then_on_and_noted(name: str, fault: Fault) -> None:
    request = Request(
        messages=(Message(role="user", content="q"),),
        stop=("x",),
        tools=TOOLS,
        call_tools=False,
        logprobs=2,
        json_schema={"type": "object"},
    )
    writer = BodyWriter("m")
    first = writer.write(request)
    assert first.notes == ()
    assert writer.learn(400, fault, first)
    second = writer.write(request)
    assert name in writer.refused
    assert len(second.notes) == 1
    changed = {key for key in {*first.fields, *second.fields} if first.fields.get(key) != second.fields.get(key)}
    assert changed == {
        "json_schema": {"response_format"},
        "max_tokens": {"max_tokens", "max_completion_tokens"},
        "logprobs": {"logprobs", "top_logprobs"},
    }.get(name, {name})
    assert writer.write(Request(messages=request.messages)).notes == (
        second.notes if name in ("stream_options", "max_tokens", "temperature") else ()
    )


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (401, Fault("stop is not supported")),
        (400, Fault("temperature must be at most 2")),
        (400, Fault("the prompt is too long: stop")),
        (400, Fault("model not found")),
        (500, Fault("stream_options")),
    ],
)
def test_what_is_not_a_field_that_can_be_spared_is_not_tried_again(status: int, fault: Fault) -> None:
    writer = BodyWriter("m")
    body = writer.write(Request(messages=(Message(role="user", content="q"),), stop=("x",)))
    assert not writer.learn(status, fault, body)
    assert writer.refused == set()
