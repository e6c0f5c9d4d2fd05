"""Code fences around a text: which are decoration, and where they end."""

from __future__ import annotations

import pytest

from whybox.dialects.endings import without_chatter, without_special
from whybox.dialects.fences import bare_fence, fence_at, fence_length, first_fence, is_fence, unfenced
from whybox.dialects.strings import StringState


@pytest.mark.parametrize(
    ("text", "inside", "rest", "closed"),
    [
        ("```\na\n```", "a", "", True),
        ("```py\na\n```\nb", "a", "\nb", True),
        ("```\n\na\n\n```", "a", "", True),
        ("```a```", "a", "", True),
        ("```json{}```", "{}", "", True),
        ("```json [1]```", "[1]", "", True),
        ("```\na", "a", "", False),
        ("```py\n", "", "", False),
        ("```", "", "", False),
        ("````\n```\na\n```\n````", "```\na\n```", "", True),
        ("~~~\na\n```\n~~~\nb", "a\n```", "\nb", True),
        ("```\na\n  ```  \nb", "a", "  \nb", True),
        ("```\na\n> ```\nb", "a", "\nb", True),
        ("```\na ``` b\n```", "a ``` b", "", True),
        ("```\na\n``````\nb", "a", "\nb", True),
        ("```\n```\na", "", "\na", True),
        ("``` a\n```", "a", "", True),
        ("```\r\na\r\n```\r\nb", "a", "\r\nb", True),
        ("a", "a", "", False),
        ("``a``", "``a``", "", False),
    ],
)
def test_the_first_fence_ends_where_its_marks_stand_again(text: str, inside: str, rest: str, closed: bool) -> None:
    assert first_fence(text) == (inside, rest, closed)
    moved = fence_at("x\n" + text, 2)
    assert (moved.rest - 2, moved.closed) == (len(text) - len(rest), closed)


@pytest.mark.parametrize(
    ("text", "bare", "repairs"),
    [
        (" a ", "a", ()),
        ("```\n a\n```", "a", ("fence_removed",)),
        ("\n```sql\na\n```\n", "a", ("fence_removed",)),
        ("```\na", "a", ("fence_removed",)),
        ("```\na\n```\nb", "a", ("fence_removed", "chatter_dropped")),
        ("```\na\n```\r\nb", "a", ("fence_removed", "chatter_dropped")),
        ("```\na\n``` b", "```\na\n``` b", ()),
        ("a\n```", "a", ("fence_removed",)),
        ("a\n~~~", "a", ("fence_removed",)),
        ("a\n```\nb\n```", "a\n```\nb\n```", ()),
        ("a ```", "a ```", ()),
        ("`a`", "`a`", ()),
    ],
)
def test_a_fence_around_the_whole_is_removed(text: str, bare: str, repairs: tuple[str, ...]) -> None:
    assert unfenced(text) == (bare, repairs)


@pytest.mark.parametrize(
    ("line", "fence", "bare", "length"),
    [
        ("```\n", True, True, 3),
        ("  ~~~~ \n", True, True, 6),
        ("> ```", True, True, 5),
        ("```py\n", True, False, 5),
        ("```c++ x", True, False, 6),
        ("``", False, False, 0),
        ("a ```", False, False, 0),
        ("         ```", False, False, 12),
        ("", False, False, 0),
    ],
)
def test_a_line_that_is_a_fence(line: str, fence: bool, bare: bool, length: int) -> None:
    assert (is_fence(line), bare_fence(line), fence_length(line)) == (fence, bare, length)


@pytest.mark.parametrize(
    ("text", "bare", "dropped"),
    [
        (" a ", "a", ()),
        ("a</s>", "a", ("special_token",)),
        ("a </s> <|im_end|>\n", "a", ("special_token",)),
        ("</s>a", "</s>a", ()),
        ("a" + "</s>" * 8, "a", ("special_token",)),
        ("a" + "</s>" * 9, "a</s>", ("special_token",)),
        ("", "", ()),
    ],
)
def test_tokens_at_the_end_are_removed(text: str, bare: str, dropped: tuple[str, ...]) -> None:
    assert without_special(text) == (bare, dropped)


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a\n(waiting)", "a"),
        ("a\n\n[idle until the tool answers]\n", "a"),
        ("a\n*waits*", "a"),
        ("a\n（等待结果）", "a"),
        ("a\n【稍等】", "a"),
        ("a\n(b c)", None),
        ("(waiting)", None),
        ("a\n(" + "wait " * 39 + "on)", "a"),
        ("a\n(" + "wait " * 40 + "on)", None),
        ("a\nPAUSE", "a"),
        ("PAUSE", None),
        ("a\nPAUSED", None),
        ("a\n\nI will wait for the result.", "a"),
        ("a\n \nNow I wait for the tool.", "a"),
        ("a\nI will wait for the result.", None),
        ("a\n\nI will wait.", None),
        ("a\n\nI have the result.", None),
        ("a\n\nThey wait for the result.", None),
        ("a\n\n请等待工具返回。", "a"),
        ("a\n\nPlease hold on for the tool output.\n\n", "a"),
    ],
)
def test_a_last_line_that_only_says_that_the_model_waits_is_dropped(text: str, kept: str | None) -> None:
    expected = (text, ()) if kept is None else (kept, ("chatter_dropped",))
    assert without_chatter(text) == expected


@pytest.mark.parametrize(
    ("lines", "inside", "open_"),
    [
        (['{"a": "b\n'], True, True),
        (['{"a": "b"\n'], False, True),
        (['{"a": "b"}\n'], False, False),
        (['{"a": "b\\"\n'], True, True),
        (['{"a": "b\\\\"\n'], False, True),
        (['{"a": "b \\\\\\" {[\n', 'c"}\n'], False, False),
        (['[{"a": ["b\n', '"]}\n'], False, True),
        (['[{"a": ["b\n', '"]}]\n'], False, False),
        ([" \n", "\ufeff\n", '{"a\n'], True, True),
        (['a "b\n'], False, False),
        (['a """b\n'], True, True),
        (['a """b\n', 'c"""\n'], False, False),
        (['a """b\n', "c'''\n"], True, True),
        (["a '''b\n", "c'''\n"], False, False),
        (['a {"b\n'], False, False),
        (["\n"], False, False),
    ],
)
def test_strings_are_followed_line_by_line(lines: list[str], inside: bool, open_: bool) -> None:
    state = StringState()
    assert not state.begun
    for line in lines:
        state.feed(line)
    assert (state.inside, state.open) == (inside, open_)
    assert state.begun == any(line.strip("\ufeff \n") for line in lines)


def test_text_that_is_no_json_can_be_left_alone() -> None:
    state = StringState(json_only=True)
    state.feed('a """b\n')
    assert not state.inside
    state = StringState(json_only=True)
    state.feed('{"b\n')
    assert state.inside
