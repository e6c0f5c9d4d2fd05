"""Names and arguments that every vendor takes, and the way back."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.ports import ToolSpec
from whybox.providers.native_calls import arguments_object, description_of, safe_names

NAMES = st.lists(
    st.text(max_size=80) | st.sampled_from(["a.b", "a b", "a_b", "查询", "查找", "", "x" * 70]), max_size=8
)


@given(NAMES)
def test_each_name_has_its_own_safe_name_whatever_order_they_come_in(names: list[str]) -> None:
    safe = safe_names(names)
    assert set(safe) == set(names)
    assert len(set(safe.values())) == len(safe)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in safe.values())
    assert safe == safe_names(reversed(names))


@given(st.lists(st.from_regex(r"[a-zA-Z0-9_-]{1,64}", fullmatch=True), max_size=8))
def test_names_that_are_safe_stay_as_they_are(names: list[str]) -> None:
    assert safe_names(names) == {name: name for name in names}


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        ({"a": 1}, {"a": 1}),
        ("", {}),
        ("  ", {}),
        ("[1]", {"input": "[1]"}),
        ('{"a": ', {"input": '{"a": '}),
        ("null", {"input": "null"}),
        ("[" * 100_000, {"input": "[" * 100_000}),
    ],
)
def test_arguments_are_always_an_object(arguments: str | dict, found: dict) -> None:
    assert arguments_object(arguments) == found


@given(st.text())
def test_whatever_the_arguments_are_they_can_be_sent_as_json(text: str) -> None:
    assert json.loads(json.dumps(arguments_object(text))) is not None


def test_a_tool_is_described_in_english_if_it_can_be() -> None:
    def described(**texts: str) -> str:
        return description_of(ToolSpec(name="t", description=texts, parameters={}))

    assert described(zh="中", en="e") == "e"
    assert described(zh="中") == "中"
    assert described() == ""
