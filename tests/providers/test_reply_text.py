"""What a reply's text passes through: surrogates, echo, stop strings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.providers.reply_text import CutAtStop, DropEcho, JoinSurrogates, ReplyText, scalar


def through(part: JoinSurrogates | DropEcho | CutAtStop | ReplyText, pieces: list[str]) -> str:
    return "".join(map(part.feed, pieces)) + part.close()


@pytest.mark.parametrize(
    ("text", "stops", "shown", "cut"),
    [
        ("a\nObservation: b", ("\nObservation:",), "a", True),
        ("a\nObservatio", ("\nObservation:",), "a\nObservatio", False),
        ("abcdef", ("cd", "abcde"), "ab", True),
        ("abcdef", ("abcd", "cd"), "", True),
        ("aab", ("ab",), "a", True),
        ("aaab", ("aab",), "a", True),
        ("ababac", ("abac",), "ab", True),
        ("abc", ("", "x"), "abc", False),
        ("abc", (), "abc", False),
        ("观察：x", ("观察：",), "", True),
    ],
)
def test_text_ends_before_the_stop_that_is_complete_first(
    text: str, stops: tuple[str, ...], shown: str, cut: bool
) -> None:
    for pieces in ([text], list(text)):
        part = CutAtStop(stops)
        assert through(part, pieces) == shown
        assert part.cut is cut


@pytest.mark.parametrize(
    ("prefix", "text", "shown"),
    [
        ("Thought: ", "Thought: I am", "I am"),
        ("Thought: ", "I am", "I am"),
        ("Thought: ", "Though I am", "Though I am"),
        ("Thought: ", "Thou", "Thou"),
        ("Thought: ", "Thought: Thought: x", "Thought: x"),
        ("", "abc", "abc"),
        ("abc", "", ""),
    ],
)
def test_an_echo_of_the_prefix_is_removed_once_and_only_when_it_is_whole(prefix: str, text: str, shown: str) -> None:
    for pieces in ([text], list(text)):
        assert through(DropEcho(prefix), pieces) == shown


def test_halves_of_a_surrogate_pair_are_joined_and_lone_ones_replaced() -> None:
    assert (
        through(JoinSurrogates(), ["a\ud83c", "", "\udf78b", "\ud83d", "c\udf78", "\ud83d"])
        == "a🍸b\ufffdc\ufffd\ufffd"
    )


small = st.text("ab\n观\ud83c\udf78", max_size=14)


@given(small)
def test_scalar_text_can_be_encoded_and_other_text_is_unchanged(text: str) -> None:
    assert scalar(text).encode().decode() == scalar(text)
    if not any("\ud800" <= c <= "\udfff" for c in text):
        assert scalar(text) == text


@given(small, st.lists(small, max_size=3), small, st.data())
def test_however_the_text_is_cut_the_result_is_the_same(
    text: str, stops: list[str], prefix: str, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=8)))
    pieces = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole, cut = ReplyText(prefix, stops), ReplyText(prefix, stops)
    assert through(whole, [text]) == through(cut, pieces)
    assert whole.cut == cut.cut


@given(small, st.lists(small.filter(bool), max_size=3))
def test_no_stop_string_is_ever_delivered_and_nothing_else_is_lost(text: str, stops: list[str]) -> None:
    part = CutAtStop(stops)
    shown = through(part, list(text))
    assert text.startswith(shown)
    assert part.cut == any(stop in text for stop in stops)
    if part.cut:
        assert any(text.startswith(stop, len(shown)) for stop in stops)
    else:
        assert shown == text
    assert not any(stop in shown for stop in stops)


@given(small, st.lists(small.filter(bool), min_size=1, max_size=3))
def test_text_is_held_back_only_while_a_stop_string_may_be_beginning(text: str, stops: list[str]) -> None:
    part, shown = CutAtStop(stops), ""
    for end in range(1, len(text) + 1):
        shown += part.feed(text[end - 1])
        if part.cut:
            return
        held = text[len(shown) : end]
        assert any(stop.startswith(held) for stop in stops)
