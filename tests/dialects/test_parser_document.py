"""docs/parser.md tells the truth: its replies are read as it says, and it names every repair."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from whybox.dialects.label_table import LabelTable
from whybox.dialects.react import ReAct
from whybox.dialects.repairs import REPAIRS
from whybox.output_parser import OutputParser, tools_of
from whybox.prompts.labels import LABELS

TEXT = (Path(__file__).parents[2] / "docs" / "parser.md").read_text("utf-8")
PAIRS = re.findall(r"^```reply\n(.*?)\n```\n```reading\n(.*?)\n```$", TEXT, re.MULTILINE | re.DOTALL)
PARSER = OutputParser(tools_of("search(query),weather(city,unit),now()"))


def test_every_reply_of_the_document_has_a_reading() -> None:
    assert len(PAIRS) == TEXT.count("\n```reply\n") == TEXT.count("\n```reading\n")


@pytest.mark.parametrize(("reply", "reading"), PAIRS)
def test_a_reply_of_the_document_is_read_as_it_says(reply: str, reading: str) -> None:
    parsed = PARSER.parse(reply)
    if parsed.answer is not None:
        assert reading == f"answer: {parsed.answer}"
    elif parsed.reason is not None:
        assert reading == f"retry: {parsed.reason}"
    else:
        [call] = parsed.calls
        assert reading == f"{call.tool} {json.dumps(call.arguments, ensure_ascii=False)}"


def test_the_python_of_the_document_runs() -> None:
    for code in re.findall(r"^```python\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL):
        exec(compile(code, "parser.md", "exec"), {})


def test_the_ladder_of_the_document_is_the_ladder() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \| (.*?) \| (.*?) \|$", TEXT, re.MULTILINE)
    assert rows == [(name, each.rung, str(each.sure), each.en) for name, each in REPAIRS.items()]


def test_labels_can_be_added_from_outside() -> None:
    labels = LabelTable((*LABELS, ("eo", "thought", ("penso",)), ("eo", "answer", ("respondo",))))
    parsed = OutputParser(dialect=ReAct(labels)).parse("Penso: bone\nRespondo: ses")
    assert (parsed.thought, parsed.answer) == ("bone", "ses")
    assert OutputParser().parse("Penso: bone\nRespondo: ses").report.dialect == "plain"
