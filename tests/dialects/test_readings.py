"""Each reply is read as when somebody last looked at its reading, however it comes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.dialects.replies import READINGS, TOOLS, inputs, written
from whybox.output_parser import read_form, tools_of

APPROVED = {(each["form"], each["output"]): each for each in map(json.loads, READINGS.read_text("utf-8").splitlines())}
SPECS = tools_of(TOOLS)
INPUTS = list(inputs())


@pytest.mark.parametrize(("group", "form", "output"), INPUTS, ids=[f"{n}-{each[0]}" for n, each in enumerate(INPUTS)])
def test_a_reply_is_read_as_it_was_approved(group: str, form: Any, output: str) -> None:
    key = ("text", "".join(json.loads(output))) if form == "fragments" else (form, output)
    approved = APPROVED[key]
    assert read_form(SPECS, form, output) == approved["reading"]
    assert read_form(SPECS, form, output, "zh")["retry"] == approved["zh"]
    assert form == "fragments" or written(form, output) == approved["texts"]


def test_no_reading_is_kept_for_a_reply_that_is_gone() -> None:
    assert {(form, output) for _, form, output in INPUTS if form != "fragments"} == set(APPROVED)
