"""The parts of a choice, and calls put together from their pieces."""

from __future__ import annotations

from typing import Any

import pytest

from whybox.dialects.messages import Part, first_choice, part_of
from whybox.dialects.tool_calls import CallCollector, MessageReader, RawCall
from whybox.output_parser import tools_of

CALL = {"id": "1", "function": {"name": "now", "arguments": "{}"}}


@pytest.mark.parametrize(
    ("choice", "part"),
    [
        ({}, Part()),
        ({"delta": {}}, Part()),
        ({"delta": {"content": "a"}, "message": {"content": "b"}, "finish_reason": "stop"}, Part("a", finish="stop")),
        ({"delta": None, "message": {"content": "b"}, "finish_reason": ""}, Part("b")),
        ({"text": "a", "finish_reason": 3}, Part("a")),
        ({"message": {"content": ["a", {"text": "b"}, 3, {"type": "x"}, "c"]}}, Part("abc")),
        ({"message": {"content": [{"type": "thinking", "thinking": "a"}, {"type": "reasoning", "text": "b"}]}}, Part("", "ab")),
        ({"message": {"content": [{"type": "reasoning", "reasoning": ["a", "b"]}], "reasoning": "c"}}, Part("", "abc")),
        ({"message": {"reasoning_content": "a", "reasoning": "b"}}, Part("", "a")),
        ({"message": {"reasoning": ["a"], "refusal": ["b"]}}, Part()),
        ({"message": {"refusal": "No."}}, Part(refusal="No.")),
        ({"message": {"tool_calls": [CALL, None]}}, Part(calls=(CALL,))),
        ({"message": {"tool_calls": CALL}}, Part(calls=(CALL,))),
        ({"message": {"tool_calls": "no"}}, Part()),
        ({"message": {"tool_calls": [], "function_call": {"name": "a"}}}, Part(calls=({"index": 0, "function": {"name": "a"}},))),
        ({"message": {"tool_calls": [CALL], "function_call": {"name": "a"}}}, Part(calls=(CALL,))),
        ({"message": {"function_call": "a"}}, Part()),
        (
            {"message": {"content": [{"type": "tool_use", "id": "1", "name": "a", "input": {"b": 1}, "args": 2}]}},
            Part(calls=({"id": "1", "function": {"name": "a", "arguments": {"b": 1}}},)),
        ),
        (
            {"message": {"content": [{"type": "tool_call", "name": "a", "arguments": "{}", "args": 2}]}},
            Part(calls=({"id": None, "function": {"name": "a", "arguments": "{}"}},)),
        ),
        (
            {"message": {"content": [{"type": "function_call", "name": "a", "args": 2}, "b"]}},
            Part("b", calls=({"id": None, "function": {"name": "a", "arguments": 2}},)),
        ),
    ],
)  # fmt: skip
def test_a_choice_has_its_parts(choice: dict[str, Any], part: Part) -> None:
    assert part_of(choice) == part


@pytest.mark.parametrize(
    ("data", "choice"),
    [
        ({}, None),
        ({"choices": None}, None),
        ({"choices": {"index": 0}}, None),
        ({"choices": [{"index": 1}]}, None),
        ({"choices": [None, {"index": 1}, {"index": 0, "a": 1}]}, {"index": 0, "a": 1}),
        ({"choices": [{"a": 1}, {"index": 0}]}, {"a": 1}),
    ],
)
def test_the_first_choice_counts(data: dict[str, Any], choice: dict[str, Any] | None) -> None:
    assert first_choice(data) == choice


def collected(*pieces: dict[str, Any]) -> list[RawCall]:
    collector = CallCollector()
    for piece in pieces:
        collector.add(piece)
    return collector.calls


def piece(
    index: int | None = None, call_id: str | None = None, name: str | None = None, arguments: Any = None
) -> dict[str, Any]:
    return {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([piece(0, "a", "f", "{"), piece(0, None, None, "}")], [RawCall(0, "a", "f", "{}")]),
        ([piece(0, None, "f", "{"), piece(0, "a", None, "}")], [RawCall(0, "a", "f", "{}")]),
        ([piece(0, "a", "f", "{"), piece(0, "b", None, "}")], [RawCall(0, "a", "f", "{}")]),
        ([piece(0, "a", "f", "{}"), piece(0, "b", "g", "{}")], [RawCall(0, "a", "f", "{}"), RawCall(0, "b", "g", "{}")]),
        ([piece(0, "a", "f", "{}"), piece(0, "b", "g", ""), piece(0, "", "", "{}")], [RawCall(0, "a", "f", "{}"), RawCall(0, "b", "g", "{}")]),
        ([piece(0, "a", "f", "{"), piece(1, "b", "g", "["), piece(0, None, None, "}"), piece(1, None, None, "]")], [RawCall(0, "a", "f", "{}"), RawCall(1, "b", "g", "[]")]),
        ([piece(None, "a", "f", "{"), piece(None, "a", None, "}")], [RawCall(None, "a", "f", "{}")]),
        ([piece(None, "a", "f", "{"), piece(None, "a", "f", "}")], [RawCall(None, "a", "f", "{}")]),
        ([piece(None, "a", "f", "{}"), piece(None, "a", "f", '{"b": 1}')], [RawCall(None, "a", "f", "{}"), RawCall(None, "a", "f", '{"b": 1}')]),
        ([piece(None, "a", "f", {}), piece(None, "a", "f", {"b": 1})], [RawCall(None, "a", "f", {}), RawCall(None, "a", "f", {"b": 1})]),
        ([piece(None, "a", "f", "{"), piece(None, "b", "f", "{}"), piece(None, "a", None, "}")], [RawCall(None, "a", "f", "{}"), RawCall(None, "b", "f", "{}")]),
        ([piece(None, None, "f", "{"), piece(None, None, None, "}"), piece(None, None, "g", "{}")], [RawCall(None, "", "f", "{}"), RawCall(None, "", "g", "{}")]),
        ([piece(None, None, None, "{}")], [RawCall(None, "", "", "{}")]),
        ([piece(None, None, None, None)], []),
        ([piece(0, "a", "f", "{}"), piece(1, "a", "f", "{}")], [RawCall(0, "a", "f", "{}")]),
        ([piece(0, "a", "f", "{}"), piece(1, "a", "g", "{}")], [RawCall(0, "a", "f", "{}"), RawCall(1, "a", "g", "{}")]),
        ([piece(0, None, "f", "{}"), piece(1, None, "f", "{}")], [RawCall(0, "", "f", "{}"), RawCall(1, "", "f", "{}")]),
        ([piece(0, "a", "se"), piece(0, None, "arch", "{}")], [RawCall(0, "a", "search", "{}")]),
        ([piece(0, "a", "se"), piece(0, None, "search", "{}")], [RawCall(0, "a", "search", "{}")]),
        ([piece(0, "a", "f", "{"), piece(0, None, "other", "}")], [RawCall(0, "a", "f", "{}")]),
        ([piece(0, "a", "f", '{"b'), piece(0, "a", "f", '{"b": 1}')], [RawCall(0, "a", "f", '{"b": 1}')]),
        ([piece(0, "a", "f", "ab"), piece(0, "a", "f", "abc")], [RawCall(0, "a", "f", "ababc")]),
        ([piece(0, "a", "f", ""), piece(0, "a", "f", {"b": 1})], [RawCall(0, "a", "f", {"b": 1})]),
        ([piece(0, "a", "f", {"b": 1}), piece(0, "a", "f", "")], [RawCall(0, "a", "f", {"b": 1})]),
        ([{"id": 7, "name": "f", "parameters": {"b": 1}}], [RawCall(None, "7", "f", {"b": 1})]),
        ([{"id": 7, "name": "f", "input": {"b": 1}}], [RawCall(None, "7", "f", {"b": 1})]),
        ([{"function": "no", "name": ["f"], "index": "0"}], []),
    ],
)  # fmt: skip
def test_pieces_of_calls_are_put_together(pieces: list[dict[str, Any]], calls: list[RawCall]) -> None:
    assert collected(*pieces) == calls


def test_only_the_thought_is_shown_beside_calls_and_only_what_belongs_to_the_answer() -> None:
    tools = tools_of("now()")
    reader = MessageReader(tools, "zh")
    shown = reader.feed({"choices": [{"delta": {"content": "Thought: a", "reasoning": "r"}}]})
    shown += reader.feed({"choices": [{"delta": {"content": "\nFinal", "reasoning": "s"}}]})
    shown += reader.feed({"choices": [{"delta": {"tool_calls": [CALL]}}]})
    shown += reader.feed({"choices": []})
    rest, parsed = reader.close()
    assert [(delta.section, delta.text) for delta in shown + rest] == [
        ("thought", "a\n"),
        ("thought", "Final"),
    ]
    assert parsed.thought == "rs\na\nFinal"
    assert parsed.report.dialect == "native"
    again = MessageReader(tools, "zh")
    again.feed_choice(
        {"message": {"content": "看看", "tool_calls": [{"function": {"name": "nowt", "arguments": "{}"}}]}}
    )
    assert "您是不是指 now？" in (again.close()[1].retry or "")
