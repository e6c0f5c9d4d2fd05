"""Recorded kinds of replies of real models: each is read as its expectation says, however it arrives."""

from __future__ import annotations

import codecs
import json
import random
from pathlib import Path
from typing import Any

import pytest

from tests.dialects.cases.grade import check
from whybox.output_parser import read_case

FOLDER = Path(__file__).parent / "cases"


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text("utf-8").split("\n") if line]


GIVEN = cases("parser.jsonl")
CASES = [*GIVEN, *cases("more.jsonl")]
TEXTS = [case for case in CASES if case["form"] in ("text", "fragments")]


def ids(case: dict[str, Any]) -> str:
    return str(case["id"])


def whole(case: dict[str, Any]) -> str:
    return "".join(json.loads(case["output"])) if case["form"] == "fragments" else case["output"]


def in_pieces(case: dict[str, Any], pieces: list[str]) -> dict[str, Any]:
    return read_case({**case, "form": "fragments", "output": json.dumps(pieces)})


def pieces_of(text: str, seed: int) -> list[str]:
    dice, pieces, at = random.Random(seed), [], 0
    while at < len(text):
        size = dice.choice((1, 1, 2, 3, 5, 8, 13, 40, 400))
        pieces.append(text[at : at + size])
        at += size
    return pieces


def by_bytes(text: str) -> list[str]:
    decode = codecs.getincrementaldecoder("utf-8")()
    return [decode.decode(bytes([byte])) for byte in text.encode()]


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_a_recorded_reply_is_read_as_expected(case: dict[str, Any]) -> None:
    assert check(case, read_case(case)) == []


@pytest.mark.thorough
@pytest.mark.parametrize("case", TEXTS, ids=ids)
def test_a_recorded_reply_is_read_the_same_however_it_is_cut(case: dict[str, Any]) -> None:
    text = whole(case)
    expected = in_pieces(case, [text])
    assert check(case, expected) == []
    seeds = range(20 if case in GIVEN or len(text) < 5000 else 2)
    for pieces in (list(text), by_bytes(text), *(pieces_of(text, seed) for seed in seeds)):
        assert in_pieces(case, pieces) == expected


@pytest.mark.thorough
@pytest.mark.parametrize("case", [case for case in CASES if case["form"] == "text"], ids=ids)
def test_a_recorded_reply_is_read_the_same_as_the_content_of_a_message(case: dict[str, Any]) -> None:
    choice = {"finish_reason": "stop", "message": {"content": case["output"]}}
    as_message = read_case({**case, "form": "choice", "output": json.dumps(choice)})
    assert as_message == read_case(case)
