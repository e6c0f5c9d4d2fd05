"""JSON as models write it: a slip is mended by name, and what has two readings is not read."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from whybox.dialects.json_text import NotJson, read_json

texts = st.text("abc XYZ09.,:;?!/*#+-_=<>|%é的。：，\n\t\\\"'", max_size=20)
simple = st.text("abcXYZ09 .?!é的", max_size=12)
keys = st.text("abc_xyz", min_size=1, max_size=8)
scalars = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), st.floats(-1e9, 1e9), texts)
values = st.recursive(
    scalars, lambda v: st.one_of(st.lists(v, max_size=3), st.dictionaries(keys, v, max_size=3)), max_leaves=8
)
objects = st.dictionaries(keys, values, max_size=4)
plain_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-9999, 9999), simple),
    lambda v: st.one_of(st.lists(v, min_size=1, max_size=3), st.dictionaries(keys, v, min_size=1, max_size=3)),
    max_leaves=6,
)
plain_objects = st.dictionaries(keys, plain_values, min_size=1, max_size=4)


@pytest.mark.thorough
@settings(max_examples=500, deadline=None)
@given(objects, st.booleans(), st.sampled_from([None, 1, 2]), st.text("} \nabc{", max_size=5))
def test_well_formed_json_is_read_as_it_is_and_what_follows_is_left(
    value: Any, ascii_only: bool, indent: int | None, rest: str
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    assume("\b" not in text and "\f" not in text)
    found = read_json(text + rest)
    assert found.value == value
    assert found.end == len(text)
    assert found.repairs == ()


SLIPS: dict[str, tuple[str, Callable[[str], str]]] = {
    "a comma too many": ("json_commas", lambda text: text[:-1] + ",}"),
    "two commas": ("json_commas", lambda text: text.replace(",\n", ",,\n", 1) if ",\n" in text else text[:-1] + ",,}"),
    "no comma": ("json_commas", lambda text: text.replace(',\n "', '\n "', 1)),
    "single quotation marks": ("json_quotes", lambda text: text.replace('"', "'")),
    "curly quotation marks": ("json_quotes", lambda text: _curly(text)),
    "literals of Python": (
        "json_literals",
        lambda text: text.replace("null", "None").replace("true", "True").replace("false", "False"),
    ),
    "an equals sign": ("json_colons", lambda text: text.replace('": ', '"= ')),
    "an arrow": ("json_colons", lambda text: text.replace('": ', '" => ')),
    "a full-width colon": ("json_colons", lambda text: text.replace('": ', '"：')),
    "a comment": ("json_comments", lambda text: text.replace("{", "{ // what it is\n", 1)),
    "a comment of a shell": ("json_comments", lambda text: text.replace("{", "{ # what it is\n", 1)),
    "a comment in a line": ("json_comments", lambda text: text.replace("{", "{ /* what: it, is */", 1)),
    "escaped as a whole": ("json_twice", lambda text: text.replace('"', '\\"')),
    "entities": ("json_entities", lambda text: text.replace('"', "&quot;")),
    "the end missing": ("json_closed", lambda text: text[:-1].rstrip()),
}


def _curly(text: str) -> str:
    parts = text.split('"')
    return "".join(part + ("“" if index % 2 == 0 else "”") for index, part in enumerate(parts[:-1])) + parts[-1]


@pytest.mark.thorough
@settings(max_examples=800, deadline=None)
@given(plain_objects, st.sampled_from(sorted(SLIPS)))
def test_one_slip_is_mended_to_what_was_meant_and_named(value: dict[str, Any], slip: str) -> None:
    repair, spoil = SLIPS[slip]
    good = json.dumps(value, ensure_ascii=False, indent=1)
    bad = spoil(good)
    # Whether a number or a word at the very end is whole cannot be seen.
    assume(bad != good and not (slip == "the end missing" and bad[-1] not in '"]}'))
    try:
        json.loads(bad)
    except ValueError:
        pass
    else:
        assume(False)
    found = read_json(bad)
    assert found.value == value
    assert repair in found.repairs


@pytest.mark.thorough
@settings(max_examples=500, deadline=None)
@given(plain_objects, st.data())
def test_json_that_was_cut_is_never_read_as_something_else(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value, ensure_ascii=False)
    cut = text[: data.draw(st.integers(1, len(text) - 1))]
    try:
        found = read_json(cut)
    except NotJson:
        return
    assert "json_closed" in found.repairs
    assert _is_part(found.value, value)


def _is_part(part: Any, whole: Any) -> bool:
    if isinstance(part, dict):
        return isinstance(whole, dict) and all(key in whole and _is_part(part[key], whole[key]) for key in part)
    if isinstance(part, list):
        return isinstance(whole, list) and all(_is_part(a, b) for a, b in zip(part, whole, strict=False))
    return bool(part == whole)


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(st.text("{}[]()\"',:=\\/#*+ \nabtrue0.é“”", max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_json("{" + text)
    except NotJson:
        return
    assert 0 < found.end <= len(text) + 1
    json.dumps(found.value)


@pytest.mark.parametrize(
    ("text", "value", "repairs"),
    [
        ('{"a": "x" "b": "y"}', {"a": "x", "b": "y"}, ("json_commas",)),
        ('{"a": "x"\n"b": "y"}', {"a": "x", "b": "y"}, ("json_commas",)),
        ('{"a": [1 2]}', {"a": ["1 2"]}, ("json_quotes",)),
        ('{"a": [{"b": 1} {"b": 2}]}', {"a": [{"b": 1}, {"b": 2}]}, ("json_commas",)),
        ('{,"a": 1}', {"a": 1}, ("json_commas",)),
        ('{"q": "the "blue hour" tips"}', {"q": 'the "blue hour" tips'}, ("json_inner_quotes",)),
        ('{"q": "one, "two", three", "k": 3}', {"q": 'one, "two", three', "k": 3}, ("json_inner_quotes",)),
        ("{'q': 'it's late'}", {"q": "it's late"}, ("json_inner_quotes", "json_quotes")),
        ('{"q": ["a "b" c", "d"]}', {"q": ['a "b" c', "d"]}, ("json_inner_quotes",)),
        ('{"p": "\\d+\\s*"}', {"p": "\\d+\\s*"}, ("json_escapes",)),
        ('{"p": "\\bword\\b"}', {"p": "\\bword\\b"}, ("json_escapes",)),
        ('{"p": ["\\ba", {"q": "\\fb"}]}', {"p": ["\\ba", {"q": "\\fb"}]}, ("json_escapes",)),
        ('{"p": "C:\\Users\\new\\table"}', {"p": "C:\\Users\\new\\table"}, ("json_escapes",)),
        ('{"p": "a\\nb", "q": "\\d"}', {"p": "a\nb", "q": "\\d"}, ("json_escapes",)),
        ('{"p": "it\\\'s"}', {"p": "it's"}, ("json_escapes",)),
        ('{"p": "\\u00e9\\q"}', {"p": "é\\q"}, ("json_escapes",)),
        ('{"p": "\\ud83e\\uddad", q: 1}', {"p": "🦭", "q": 1}, ("json_quotes",)),
        ('{"p": "\\ud83e", q: 1}', {"p": "\ufffd", "q": 1}, ("json_quotes",)),
        ("{'p': r'\\n\\d'}", {"p": "\\n\\d"}, ("json_quotes",)),
        ("{'p': u'x'}", {"p": "x"}, ("json_quotes",)),
        ("{'p': 'a\nb\tc'}", {"p": "a\nb\tc"}, ("json_newlines", "json_quotes")),
        ('{"p": """one "two"\nthree"""}', {"p": 'one "two"\nthree'}, ("json_quotes",)),
        ('{"p": "a" + "b" + \'c\'}', {"p": "abc"}, ("json_joined", "json_quotes")),
        ('{"u": "https://e.org//x" // page\n}', {"u": "https://e.org//x"}, ("json_comments",)),
        ('{"a": 1 /* one */, "b": 2 # two\n}', {"a": 1, "b": 2}, ("json_comments",)),
        ('{"a": "x", // first\n "b": "y"}', {"a": "x", "b": "y"}, ("json_comments",)),
        ('{"zip": 01067}', {"zip": "01067"}, ("json_quotes",)),
        ('{"a": .5, "b": 5., "c": +1.5}', {"a": 0.5, "b": 5.0, "c": 1.5}, ("json_numbers",)),
        ('{"a": undefined, "b": TRUE}', {"a": None, "b": True}, ("json_literals",)),
        ('{"a": NaN}', {"a": "NaN"}, ()),
        ("{city: Oslo North, unit: C}", {"city": "Oslo North", "unit": "C"}, ("json_quotes",)),
        ("{a-b: 1, $c: 2}", {"a-b": 1, "$c": 2}, ("json_quotes",)),
        ("{'a': (1, 2)}", {"a": [1, 2]}, ("json_quotes",)),
        ("｛“q”：“x，y”，“k”：1｝", {"q": "x，y", "k": 1}, ("json_colons", "json_quotes")),
        ('[{"a": 1}', [{"a": 1}], ("json_closed",)),
        ('{"a": {"b": ["x"', {"a": {"b": ["x"]}}, ("json_closed",)),
        ('{"a": 1, "a": 1}', {"a": 1}, ()),
        ('[\\n{\\"a\\": 1}]', None, None),
        ('{{"a": {"b": 1}}', {"a": {"b": 1}}, ("json_braces",)),
        ('{{"a": 1}}', {"a": 1}, ("json_braces",)),
        ('{\\"a\\": \\"b\\\\\\\\c\\"}', {"a": "b\\c"}, ("json_twice",)),
    ],
)  # fmt: skip
def test_a_slip_is_mended(text: str, value: Any, repairs: tuple[str, ...] | None) -> None:
    if repairs is None:
        with pytest.raises(NotJson):
            read_json(text)
        return
    found = read_json(text)
    assert found.value == value
    assert tuple(sorted(found.repairs)) == repairs


@pytest.mark.parametrize(
    ("text", "cut", "why"),
    [
        ('{"a": "x', True, 'it ends in the middle of a string'),
        ('{"a": "x\\', True, 'it ends in the middle of a string'),
        ('{"a"', True, 'a key without a colon'),
        ('{"a": ', True, 'it ends in the middle'),
        ('{"a": 1,', True, 'it ends in the middle'),
        ('{"a": 12', True, 'it ends in the middle'),
        ('{"a": tru', True, 'it ends in the middle'),
        ('{', True, 'it ends in the middle'),
        ('[', True, 'it ends in the middle'),
        ('{"a": 1, /* one', True, 'a comment that does not end'),
        ('{"a": """x', True, 'it ends in the middle of a string'),
        ('{"q": "say "hi"}', False, 'a quotation mark in a string that belongs to nothing'),
        ('{"a": 1, "a": 2}', False, 'the same key twice with different values'),
        ("{'a': 1, 'a': 2}", False, 'the same key twice with different values'),
        ('{"a":}', False, 'a key without a value'),
        ('{"a" 1}', False, 'a key without a colon'),
        ('{"a": 1]', False, '] where } belongs'),
        ('{"a": ...}', False, 'something was left out'),
        ('{"a": "x", …}', False, 'it ends in the middle of a string'),
        ('{"a": ["x" "y"]}', False, 'two values with nothing between them'),
        ('{"a": "x" + y}', False, 'it ends in the middle of a string'),
        ('{"a\nb": 1, c: 2}', False, 'a key over two lines'),
        ('text', False, 'it begins with no bracket'),
        ('', False, 'it begins with no bracket'),
        ("{" * 10_000, False, 'an object where a key belongs'),
        ('{"a":' * 1_000 + "1" + "}" * 1_000, False, 'nested too deep'),
        ("[" * 300 + "]" * 300, False, 'nested too deep'),
        ("[" * 201 + "1," + "]" * 201, False, 'nested too deep'),
        ('{"a": "b", "c": "d" "e"}', False, "two values with nothing between them"),
        ('["a": 1]', False, 'it ends in the middle of a string'),
        ('{"a": 1 "b" 2}', False, 'a key without a colon'),
        ('{"a": "b" "c": }', False, 'a key without a value'),
        ('{"a": "b" + ', False, 'it ends in the middle of a string'),
        ('{1: 2, {}: 3}', False, 'an object where a key belongs'),
        ('{"a": [1, 2}', False, '} where ] belongs'),
        ('[1, 2)', False, ') where ] belongs'),
        ('{"a": f"x"}', False, 'a key without a colon'),
        ('{“a": 1, b: 2', True, 'it ends in the middle'),
        ('{"k', True, 'it ends in the middle of a string'),
        ('{"a": "b\n', True, 'it ends in the middle of a string'),
        ("{'a\nb': 1}", False, 'a key over two lines'),
    ],
)  # fmt: skip
def test_what_ends_in_the_middle_or_has_two_readings_is_refused(text: str, cut: bool, why: str) -> None:
    with pytest.raises(NotJson) as refused:
        read_json(text)
    assert refused.value.cut is cut
    assert str(refused.value) == why


def test_nesting_within_the_bound_is_read() -> None:
    for depth in (199, 200):
        text = "[" * depth + "]" * depth
        assert read_json(text).end == 2 * depth
        assert read_json(text[:-1] + ",]").repairs == ("json_commas",) or depth == 1
