"""What is made once, when the module is imported, made again: a label table, and the grammar without its cache."""

from __future__ import annotations

import pytest

from tests.dialects.replies import TEXTS, TOOLS
from whybox.dialects.label_table import Label, LabelTable
from whybox.dialects.react import ReAct, ReActReader, parse
from whybox.output_parser import OutputParser, tools_of

SPECS = tools_of(TOOLS)


@pytest.mark.parametrize("group", TEXTS)
def test_a_table_made_anew_reads_the_same(group: str) -> None:
    parser = OutputParser(SPECS, dialect=ReAct(LabelTable()))
    for text in TEXTS[group]:
        assert parser.parse(text) == parse(text, SPECS)
        assert parser.parse("\n" + text) == parse("\n" + text, SPECS)


def test_the_dialect_gives_its_reader_the_tools_the_language_and_the_labels() -> None:
    labels = LabelTable((("eo", "answer", ("respondo",)),))
    reader = ReAct(labels).reader(SPECS, "zh")
    reader.feed("Respondo: ses")
    assert reader.close()[1].answer == "ses"
    reader = ReAct().reader(SPECS, "zh")
    reader.feed("Action: serch[x]")
    retry = reader.close()[1].retry
    assert retry is not None
    assert retry.startswith("没有名为")
    assert "行动：search[query]" in retry
    assert (
        parse("Thought: a", SPECS, "zh").retry
        == "回复里既没有行动，也没有最终答案。请接着写\n行动：search[query]\n或者\n最终答案：答案"
    )
    assert parse("Action: now", SPECS, "en", "length").reason == "truncated"
    assert (
        parse("Thought: a", ()).retry
        == "The reply had neither an Action nor a Final Answer. Go on with\nFinal Answer: the answer"
    )


def test_the_dialect_says_how_replies_begin_and_end() -> None:
    dialect = ReAct()
    assert dialect.name == "react"
    assert dialect.stop("en") == ("\nObservation:",)
    assert dialect.stop("zh") == ("\n观察：", "\n观察:", "\nObservation:")
    assert [dialect.opening("en", answer=answer) for answer in (False, True)] == ["Thought:", "Final Answer:"]
    assert [dialect.opening("zh", answer=answer) for answer in (False, True)] == ["思考：", "最终答案："]


STEP = frozenset({"thought", "action", "answer", "observation", "input"})


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("Thought: a", Label("thought", 8, True)),
        ("  Thought: a", Label("thought", 10, True)),
        ("\ufeffThought: a", Label("thought", 9, False)),
        ("**Thought:** a", Label("thought", 12, False)),
        ("**Thought**: a", Label("thought", 12, False)),
        ("**Thought: a**", Label("thought", 10, False, open_marks="**")),
        ("> Thought: a", Label("thought", 10, False, quoted=True)),
        ("> **Thought: a**", Label("thought", 12, False, quoted=True, open_marks="**")),
        ("# Thought\n", Label("thought", 10, False)),
        ("# Thought", "more"),
        ("#Thought:", Label("thought", 9, False)),
        ("[Thought] a", Label("thought", 9, False)),
        ("[Thought]: a", Label("thought", 10, False)),
        ("[**Thought**] a", Label("thought", 13, False)),
        ("【Thought】a", Label("thought", 9, False)),
        ("(Thought) a", Label("thought", 9, False)),
        ("[Thought: a", Label("thought", 9, False)),
        ("[Thought", "more"),
        ("[Thought]", "more"),
        ("Thought", "more"),
        ("Thou", "more"),
        ("", "more"),
        (" ", "more"),
        ("**", "more"),
        ("1", "more"),
        ("1.", "more"),
        ("12. Thought: a", Label("thought", 12, False)),
        ("123. Thought: a", Label("thought", 13, False)),
        ("1234. Thought: a", None),
        ("1: Thought: a", None),
        ("1) Thought: a", Label("thought", 11, False)),
        ("1、Thought: a", Label("thought", 10, False)),
        ("1️⃣ Thought: a", Label("thought", 12, False)),
        ("Thought 1: a", Label("thought", 10, True)),
        ("Thought #1: a", Label("thought", 11, True)),
        ("Thought (1): a", Label("thought", 12, True)),
        ("Thought 12345: a", Label("thought", 14, True)),
        ("Thought 123456: a", None),
        ("Thought a: b", None),
        ("Thoughts: a", Label("thought", 9, True)),
        ("Thoughtful: a", None),
        ("Thought\n", None),
        ("Thought:", Label("thought", 8, True)),
        ("Thought：a", Label("thought", 8, True)),
        ("Thought﹕a", Label("thought", 8, False)),
        ("Ｔｈｏｕｇｈｔ：a", Label("thought", 8, True)),
        ("Th\u200bought: a", Label("thought", 9, True)),
        ("Tho\u0301ught: a", Label("thought", 9, True)),
        ("Thoughtt\u0301: a", None),
        ("THOUGHT: a", Label("thought", 8, True)),
        ("Pensée: a", Label("thought", 7, True)),
        ("Final\u00a0Answer: a", Label("answer", 13, True)),
        ("Final Answer\n", Label("answer", 13, False)),
        ("Final Answer", "more"),
        ("Answer\n", None),
        ("Action Input: a", Label("input", 13, True)),
        ("Action: a", Label("action", 7, True)),
        ("Question: a", None),
        ("- Thought: a", Label("thought", 10, False)),
        ("🔧 Thought: a", Label("thought", 10, False)),
        ("================ Thought: a", None),
        ("                Thought: a", Label("thought", 24, True)),
        ("                 Thought: a", None),
        ("**Thought:", "more"),
        ("**Thought:*", "more"),
        ("**Thought:a", Label("thought", 10, False, open_marks="**")),
    ],
)
def test_a_label_is_found_at_the_start_of_a_line(line: str, label: Label | str | None) -> None:
    assert LabelTable().match(line, STEP) == label


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("Thought", None),
        ("Thou", None),
        ("", None),
        ("**", None),
        ("# Thought", Label("thought", 9, False)),
        ("> # Thought", Label("thought", 11, False, quoted=True)),
        ("Final Answer", Label("answer", 12, False)),
        ("> Final Answer", Label("answer", 14, False, quoted=True)),
        ("[Thought]", Label("thought", 9, False)),
        ("**Thought:", Label("thought", 10, False, open_marks="**")),
        ("**Thought**", None),
    ],
)
def test_at_the_end_nothing_is_waited_for(line: str, label: Label | None) -> None:
    assert LabelTable().match(line, STEP, final=True) == label


@pytest.mark.parametrize(
    ("line", "leftover"),
    [
        *[("Obs", True), ("Ob", False), ("observation", True), ("**Observ**", True), ("> Observ", True), ("观", True)],
        *[
            ("", False),
            (" ", False),
            ("Observations", True),
            ("Observe", False),
            ("观点", False),
            ("Observation:", False),
        ],
    ],
)
def test_what_a_stop_sequence_leaves_is_known(line: str, leftover: bool) -> None:
    assert LabelTable().is_leftover(line) is leftover


def test_a_reader_is_used_for_one_reply() -> None:
    reader = ReActReader(SPECS, "en")
    assert [delta.section for delta in reader.feed("Thought: a\nAction: search[b]")] == ["thought", "action"]
    rest, parsed = reader.close()
    assert rest == []
    assert parsed.calls[0].text == "b"
