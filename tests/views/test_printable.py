"""What may reach a terminal."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from whybox.views.printable import folded, printable


@given(st.text())
def test_nothing_that_steers_a_terminal_is_left(text: str) -> None:
    shown = printable(text + "\x1b[31mred\x1b]0;title\x07")
    assert not [char for char in shown if unicodedata.category(char) == "Cc" and char not in "\n\t"]
    assert printable(shown) == shown


def test_ordinary_text_stays_as_it_is() -> None:
    for text in ("plain", "中文，标点。", "a\tb\nc", "é 🍸 [31m not an escape"):
        assert printable(text) == text
    assert printable("a\x1b[1;31mb\x1b[0mc\r\nd\x07\u202ee") == "abc\nde"


@given(st.text("ab\n", max_size=2000))
def test_a_folded_text_and_what_was_left_out_are_the_whole(text: str) -> None:
    head, lines, chars = folded(text)
    assert text.startswith(head)
    assert len(head) + chars == len(text)
    assert text[len(head) :].rstrip("\n").count("\n") == lines
    if chars:
        assert chars > 2


def test_a_little_more_than_the_bounds_is_shown_whole_and_much_more_is_not() -> None:
    assert folded("x" * 750) == ("x" * 750, 0, 0)
    assert folded("x" * 7000)[2] == 6300
    assert folded("x\n" * 9)[2] == 0
    assert folded("x\n" * 60)[1] > 50
