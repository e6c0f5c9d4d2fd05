"""``whybox parse``: a reply in any of its forms, for people and for programs; each bad input is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.commands import Shell

REPLY = '**Action:** Search\n**Action Input:** {"query": "tides",}\nObservation: made up'
TOOLS = "--tools=search(query),now()"


def test_a_reply_is_explained(shell: Shell) -> None:
    done = shell("parse", TOOLS, stdin=REPLY)
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert lines[0] == "Action: search[tides]"
    assert "read as action_input, confidence 0.84" in lines
    assert "repair: json_commas: commas were added or removed" in lines
    assert "bytes 11-19 action: Search" in lines
    assert lines[-1] == "cut off: Observation: made up"


def test_a_reply_is_explained_in_chinese(shell: Shell) -> None:
    done = shell("parse", "--tools=查询(关键词)", "--lang", "zh", stdin="思考：查\n行动：搜索[昆明]")
    assert done.out.startswith('思考: 查\n重新询问 (unknown_tool): 没有名为 "搜索" 的工具。')


def test_a_reply_is_read_from_a_file(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "reply.txt").write_text("Final Answer: six", "utf-8")
    done = shell("parse", str(tmp_path / "reply.txt"), "--json")
    found = json.loads(done.out)
    assert (found["kind"], found["answer"], found["streamed"]) == ("answer", "six", "six")
    assert set(found) >= {"thought", "tool", "input", "calls", "reason", "report"}
    assert set(found["report"]) >= {"dialect", "repairs", "spans", "confidence"}


@pytest.mark.parametrize(
    ("form", "output"),
    [
        ("text", "Action: search[tides]"),
        ("fragments", json.dumps(["Act", "ion: sea", "rch[tides]"])),
        ("choice", json.dumps({"message": {"content": "Action: search[tides]"}})),
        ("chunks", json.dumps([{"choices": [{"delta": {"content": part}}]} for part in ("Action: se", "arch[tides]")])),
    ],
)
def test_each_form_is_read(shell: Shell, form: str, output: str) -> None:
    done = shell("parse", TOOLS, "--form", form, "--json", stdin=output)
    found = json.loads(done.out)
    assert (found["kind"], found["tool"], found["input"]) == ("action", "search", "tides")


def test_a_batch_names_the_lines_that_are_no_cases_and_reads_the_others(shell: Shell, tmp_path: Path) -> None:
    good = {"id": "a", "tools": [{"name": "add", "args": ["a", "b"]}], "form": "text", "output": "Action: add(1, 2)"}
    text = "\n".join(
        [json.dumps(good), "not json", "3", json.dumps({"id": "b"}), "", json.dumps({**good, "form": "x"})]
    )
    (tmp_path / "cases.jsonl").write_text(text + "\n" + json.dumps({**good, "id": "c"}), "utf-8")
    done = shell("parse", "--batch", str(tmp_path / "cases.jsonl"))
    assert done.code == 2
    assert [json.loads(line)["id"] for line in done.out.splitlines()] == ["a", "c"]
    assert json.loads(done.out.splitlines()[0])["input"] == {"a": 1, "b": 2}
    assert [line.split(" is left out")[0] for line in done.err.splitlines()] == [
        f"whybox: line {number}" for number in (2, 3, 4, 6)
    ]


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (["--form", "choice"], "x", "the output is not JSON"),
        (["--form", "choice"], "[]", "the output is not an object"),
        (["--form", "chunks"], "{}", "the output is not a list of chunks"),
        (["--form", "fragments"], "[1]", "the output is not a list of texts"),
        (["/not/there"], "", "/not/there cannot be read"),
        (["--batch", "/not/there"], "", "/not/there cannot be read"),
        (["--batch", "a", "b"], "", "--batch reads its own file"),
        (["--tools", "search(query"], "x", "--tools cannot be read at 'search(query'"),
    ],
)
def test_bad_input_is_named_in_one_line(shell: Shell, arguments: list[str], stdin: str, said: str) -> None:
    done = shell("parse", *arguments, stdin=stdin)
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) == 1
    assert said in done.err
