"""Kinds of replies and what becomes of them; every relaxed rule stands beside its opposite."""

from __future__ import annotations

import pytest

from tests.dialects.kinds import TOOLS, read, shown
from whybox.dialects.react import ReAct, parse


@pytest.mark.parametrize(
    ("reply", "tool", "arguments"),
    [
        ("Action: search[a[0][1] or b]", "search", {"query": "a[0][1] or b"}),
        ("Action: search[[two\nlines]]", "search", {"query": "two\nlines"}),
        ('Action: search["quoted"]', "search", {"query": "quoted"}),
        ('Action: search["one" or "two"]', "search", {"query": '"one" or "two"'}),
        ("Action: search[left open", "search", {"query": "left open"}),
        ("Action: search[a] and then search[b]", "search", {"query": "a"}),
        ("Action: search[a ] b]", "search", {"query": "a ] b"}),
        ("Action: now[]", "now", {}),
        ("Action: now", "now", {}),
        ("Action: now\nAction Input: None", "now", {}),
        ("Action: Date Add[2024-02-28, 3, days]", "date_add", {"date": "2024-02-28", "amount": 3, "unit": "days"}),
        ("Action: date_add[date=2024-02-28, amount=3, unit=days]", "date_add", {"date": "2024-02-28", "amount": 3, "unit": "days"}),
        ("Action: date_add(date='2024-02-28', amount=3, unit='days')", "date_add", {"date": "2024-02-28", "amount": 3, "unit": "days"}),
        ('Action: date_add\nAction Input: {"date": "now", "amount": 3, "unit": "days"}', "date_add", {"date": "now", "amount": 3, "unit": "days"}),
        ("行动：date_add[今天，100，小时]", "date_add", {"date": "今天", "amount": 100, "unit": "小时"}),
        ("行动：查询［昆明 海拔］", "查询", {"关键词": "昆明 海拔"}),
        ("Action: python\nAction Input:\n```python\nprint('''\nObservation: x\n''')\n```", "python", {"code": "print('''\nObservation: x\n''')"}),
        ("I look it up.\nAction: search[x]", "search", {"query": "x"}),
        ("Action: search[x]\nObserv", "search", {"query": "x"}),
        ("```\nThought: go\nAction: search[x]\n```", "search", {"query": "x"}),
        ("Action: search[words that end in Observ]", "search", {"query": "words that end in Observ"}),
    ],
)  # fmt: skip
def test_a_call_is_read(reply: str, tool: str, arguments: dict[str, object]) -> None:
    parsed, _ = read([reply])
    assert [(call.tool, call.arguments) for call in parsed.calls] == [(tool, arguments)]


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Final Answer: Minutes\nAction: Priya orders rye\nThought: none", "Minutes\nAction: Priya orders rye\nThought: none"),
        ("Thought: ok\nFinal Answer: use a[0] and {x}", "use a[0] and {x}"),
        ("Final Answer: six\n\nQuestion: and then?\nThought: hm\nAction: search[x]", "six"),
        ("Final Answer: six\nQuestion: what is meant?", "six\nQuestion: what is meant?"),
        ("Final Answer: six\nObservation:", "six"),
        ("Final Answer: six\nObservation: the sky was clear", "six\nObservation: the sky was clear"),
        ("Final Answer: six</s>", "six"),
        ("Final Answer: if a <s> b", "if a <s> b"),
        ("Final Answer: ```py\nx\n```", "```py\nx\n```"),
        ("Action: finish(answer='late')", "late"),
        ("Action: None\nAction Input: None\nFinal Answer: six", "six"),
        ("<think>Final Answer: nine?</think>\nFinal Answer: ten", "ten"),
        ("just words", "just words"),
        ("思考：够了\n行动：finish\n答案：九点", "九点"),
    ],
)  # fmt: skip
def test_an_answer_is_read(reply: str, answer: str) -> None:
    parsed, deltas = read([reply])
    assert parsed.answer == answer
    assert shown(deltas, "answer") == answer


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("\ufeff \n", "empty"),
        ("Thought: I look it up.", "no_action"),
        ("Thought: no tool fits\nAction: None (just reply)", "no_action"),
        ("思考：够了\n行动：无需调用工具", "no_action"),
        ("Action: search", "missing_input"),
        ("Action: serch[x]", "unknown_tool"),
        ("Action: I would like to search for the tide tables", "malformed_action"),
        ("Thought: x\nObservation: invented", "no_action"),
    ],
)
def test_what_cannot_be_read_is_sent_back_with_the_right_form(reply: str, reason: str) -> None:
    for language, label in (("en", "Action: search["), ("zh", "行动：search[")):
        parsed, deltas = read([reply], language)
        assert parsed.reason == reason
        assert label in (parsed.retry or "")
        assert not shown(deltas, "answer")


def test_an_action_that_was_cut_by_the_token_limit_is_never_run() -> None:
    parsed = parse("Thought: go\nAction: search[all of it]", TOOLS, finish="length")
    assert parsed.reason == "truncated"
    assert not parsed.calls


def test_an_answer_streams_as_soon_as_it_can_be_nothing_else() -> None:
    reader = ReAct().reader(TOOLS, "en")
    assert [delta.section for delta in reader.feed("Thought: ok\nFinal Ans")] == ["thought"]
    held = [delta.text for delta in reader.feed("wer: S") if delta.section == "answer"]
    more = [delta.text for delta in reader.feed("ix") if delta.section == "answer"]
    assert held + more == ["S", "ix"]


def test_a_label_that_turns_out_to_be_text_is_released() -> None:
    _, deltas = read(["Thought: one\nAct", "ion films are loud\nFinal Answer: yes"])
    assert shown(deltas, "thought").rstrip() == "one\nAction films are loud"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "Thought: " + "a\n" * 100_000, "Final Answer: " + "<" * 100_000, "```\n" * 50_000, "#" * 100_000],
)
def test_a_pathological_reply_is_read_whole_in_one_walk(text: str) -> None:
    whole, _ = read([text])
    split, _ = read([text[start : start + 1000] for start in range(0, len(text), 1000)])
    assert whole == split
    assert whole.answer or whole.reason


@pytest.mark.thorough
def test_a_reply_with_far_too_many_sections_is_asked_again() -> None:
    assert parse("Thought: a\n" * 9_990 + "Action: now", TOOLS).calls
    parsed = parse("Thought: a\n" * 10_000 + "Action: now", TOOLS)
    assert parsed.reason == "no_action"
    assert parsed.report.dropped.endswith("Action: now")
