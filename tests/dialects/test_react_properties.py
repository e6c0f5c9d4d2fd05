"""What is true of every reply, however it comes in pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dialects.kinds import read, shown
from whybox.dialects.react import parse
from whybox.events import Parsed

line = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Zl", "Zp"]), min_size=1, max_size=30)
plain = st.text("abc xyz.,的是在了", min_size=1, max_size=30).map(str.strip).filter(bool)
noise = st.lists(
    st.one_of(
        st.sampled_from(
            [
                "Thought:",
                "Action:",
                "Action Input:",
                "Observation:",
                "Final Answer:",
                "Answer: ",
                "Question:",
                "\n",
                "思考：",
                "行动：",
                "观察：",
                "最终答案：",
                "**",
                "```",
                "\n```\n",
                "search[",
                "]",
                "finish",
                "<think>",
                "</think>",
                "</s>",
                "{",
                "}",
                '"',
                " ",
                "\u200b",
                "\ufeff",
                "1. ",
                "## ",
                ": ",
                "now[]",
                "None",
                "Tool:",
                "User:",
                "> ",
                "- ",
                "<tool_call>",
                "</tool_call>",
                "<function=search>",
                "<parameter=query>",
                "</function>",
                "[TOOL_CALLS]",
                "<|channel|>",
                "<|im_end|>",
                "<|im_start|>",
                "```json\n",
                '{"action": "search", "action_input": "x"}',
                '"""',
                "\r\n",
                "\\",
                "(",
                ")",
            ]
        ),
        line,
    ),
    max_size=12,
).map("".join)


@st.composite
def pieces(draw: st.DrawFn, text: str) -> list[str]:
    cuts = sorted(draw(st.sets(st.integers(0, len(text)), max_size=12)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


SPLIT_ONCE = [
    "a\n```\n```Action Input:[[<function=search>b",
    "> Final Answer: a\r\n>>>b",
    "search[```</think>",
    "Question: a\nb\nAction: now[]",
    "Final Answer: a\n>",
]


@pytest.mark.parametrize("text", SPLIT_ONCE)
def test_what_was_once_read_otherwise_when_it_came_in_pieces_is_read_the_same(text: str) -> None:
    whole, at_once = read([text])
    parsed, deltas = read(list(text))
    assert parsed == whole
    assert shown(deltas, "answer") == shown(at_once, "answer")


@settings(max_examples=400, deadline=None)
@given(noise, st.data(), st.sampled_from(["stop", "length"]))
def test_any_split_gives_the_same_reading_and_the_same_text_to_a_listener(
    text: str, data: st.DataObject, finish: str
) -> None:
    whole, at_once = read([text], finish=finish)
    for split in (list(text), data.draw(pieces(text))):
        parsed, deltas = read(split, finish=finish)
        assert parsed == whole
        for section in ("thought", "action", "answer"):
            assert shown(deltas, section) == shown(at_once, section)


@settings(max_examples=400, deadline=None)
@given(noise, st.sampled_from(["stop", "length"]))
def test_a_reading_is_a_call_or_an_answer_or_a_correction_and_never_two(text: str, finish: str) -> None:
    parsed, deltas = read([text], finish=finish)
    assert sum([bool(parsed.calls), parsed.answer is not None, parsed.retry is not None]) == 1
    if parsed.answer is not None:
        assert parsed.answer
        assert shown(deltas, "answer").strip() == parsed.answer
    assert parsed.report.dropped == text[len(text) - len(parsed.report.dropped) :]
    if finish == "length":
        assert not parsed.calls


@settings(max_examples=200, deadline=None)
@given(noise)
def test_spans_are_byte_ranges_of_the_reply_in_order(text: str) -> None:
    parsed = parse(text, ())
    size, last = len(text.encode()), 0
    for _, start, end in parsed.report.spans:
        assert last <= start <= end <= size
        text.encode()[start:end].decode()
        last = end


def _same(parsed: Parsed, tool: str, arguments: dict[str, str], thought: str) -> None:
    assert [(call.tool, call.arguments) for call in parsed.calls] == [(tool, arguments)]
    assert parsed.thought == thought


labels = st.sampled_from(
    [
        ("Thought: ", "Action: ", "Action Input: ", "Final Answer: "),
        ("思考：", "行动：", "行动输入：", "最终答案："),
        ("想法：", "动作：", "动作输入：", "答案："),
        ("**Thought:** ", "**Action:** ", "**Action Input:** ", "**Final Answer:** "),
        ("thought: ", "ACTION: ", "action input: ", "final answer: "),
        ("Thought 1: ", "Action 1: ", "Action Input 1: ", "Final Answer: "),
        ("\ufeffThought：", "Action：", "Action Input：", "Final Answer："),
    ]
)


@settings(max_examples=300, deadline=None)
@given(labels, plain, plain, st.sampled_from(["bracket", "double", "input", "json"]), st.booleans())
def test_a_well_formed_call_is_read_as_it_was_meant_in_every_dialect(
    words: tuple[str, str, str, str], thought: str, query: str, form: str, invented: bool
) -> None:
    act = {
        "bracket": f"{words[1]}search[{query}]",
        "double": f"{words[1]}search[[{query}]]",
        "input": f"{words[1]}search\n{words[2]}{query}",
        "json": f"{words[1]}search\n{words[2]}" + json.dumps({"query": query}, ensure_ascii=False),
    }[form]
    tail = "\nObservation: made up\nFinal Answer: made up" if invented else ""
    parsed, _ = read([f"{words[0]}{thought}\n{act}{tail}"])
    _same(parsed, "search", {"query": query}, thought)
    assert ("invented_observation" in parsed.report.repairs) == invented


@settings(max_examples=200, deadline=None)
@given(
    labels, plain, st.lists(plain, min_size=1, max_size=4).map("\n".join), st.sampled_from(["label", "finish", "two"])
)
def test_a_well_formed_answer_is_read_as_it_was_meant_in_every_dialect(
    words: tuple[str, str, str, str], thought: str, answer: str, form: str
) -> None:
    told = {
        "label": f"{words[3]}{answer}",
        "finish": f"{words[1]}finish[{answer}]",
        "two": f"{words[1]}finish\nAnswer: {answer}",
    }[form]
    parsed, deltas = read([f"{words[0]}{thought}\n{told}"])
    assert parsed.answer == answer
    assert shown(deltas, "answer") == answer
    assert parsed.thought == thought
