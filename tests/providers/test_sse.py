"""The decoder of server-sent events."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.providers.sse import EventTooLong, ServerSentEvent, SSEDecoder


def decoded(*pieces: bytes) -> list[ServerSentEvent]:
    decoder = SSEDecoder()
    return [event for piece in pieces for event in decoder.feed(piece)] + decoder.close()


def data_of(*pieces: bytes) -> list[str]:
    return [event.data for event in decoded(*pieces)]


@pytest.mark.parametrize(
    ("stream", "events"),
    [
        (b"data: a\n\n", [("a", "message")]),
        (b"data:a\n\ndata:  b\n\n", [("a", "message"), (" b", "message")]),
        (b"data: a\ndata: b\ndata\n\n", [("a\nb\n", "message")]),
        (b"data:\n\n", [("", "message")]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [("a", "error"), ("b", "message")]),
        (b"event: ping\n\ndata: a\n\n", [("a", "message")]),
        (b": comment\n\n:\n\n\n\nid: 1\nretry: 5\nother: x\ndata: a\n\n", [("a", "message")]),
        (b"data: a\r\n\r\ndata: b\r\rdata: c\n\r\n", [("a", "message"), ("b", "message"), ("c", "message")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("a", "message")]),
        (b"data: a", [("a", "message")]),
        (b"data: a\n", [("a", "message")]),
        (b"data: a\xe2\x80\xa8b\x0b\x0c\x1c\xc2\x85c\n\n", [("a\u2028b\x0b\x0c\x1c\x85c", "message")]),
        (b"", []),
        (b"\n\n\n", []),
    ],
)
def test_a_stream_is_read_as_the_standard_says_however_it_is_cut(stream: bytes, events: list[tuple[str, str]]) -> None:
    assert decoded(stream) == events
    assert decoded(*[stream[at : at + 1] for at in range(len(stream))]) == events
    for at in range(len(stream)):
        assert decoded(stream[:at], stream[at:]) == events


def test_every_cut_of_a_character_gives_the_character() -> None:
    stream = "data: 你好🍸\n\n".encode()
    for first in range(len(stream)):
        for second in range(first, len(stream)):
            assert data_of(stream[:first], stream[first:second], stream[second:]) == ["你好🍸"]


@pytest.mark.parametrize("bad", [b"\xff", b"\xc3", b"\x80"])
def test_an_invalid_byte_becomes_one_replacement_character_and_nothing_else_is_lost(bad: bytes) -> None:
    stream = "data: 你".encode() + bad + "a好\n\n".encode()
    for at in range(len(stream)):
        assert data_of(stream[:at], stream[at:]) == ["你\ufffda好"]


def test_an_event_is_delivered_with_its_last_byte_and_not_later() -> None:
    for end in (b"\n\n", b"\r\r", b"\r\n\r"):
        decoder = SSEDecoder()
        stream = b"data: a" + end
        assert [bool(decoder.feed(stream[at : at + 1])) for at in range(len(stream))] == [False] * (len(stream) - 1) + [
            True
        ]


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=20)


@given(st.lists(st.lists(texts, min_size=1, max_size=3), max_size=5), st.sampled_from(["\n", "\r\n", "\r"]), st.data())
def test_what_was_written_is_read(written: list[list[str]], end: str, data: st.DataObject) -> None:
    stream = "".join("".join(f"data: {line}{end}" for line in lines) + end for lines in written).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert data_of(*pieces) == ["\n".join(lines) for lines in written]


@given(st.binary(max_size=200), st.integers(1, 7))
def test_no_bytes_break_it_and_no_cut_changes_it(stream: bytes, step: int) -> None:
    assert decoded(stream) == decoded(*[stream[at : at + step] for at in range(0, len(stream), step)])


def test_an_event_longer_than_the_limit_is_an_error_and_a_long_stream_is_not() -> None:
    decoder = SSEDecoder(limit=100)
    for _ in range(50):
        assert len(decoder.feed(b"data: " + b"x" * 50 + b"\n\n: " + b"c" * 90 + b"\n")) == 1
    for _ in range(8):
        decoder.feed(b"data: xxxxxx\n")
    with pytest.raises(EventTooLong, match="longer than 100"):
        decoder.feed(b"data: xxxxxx\n")


def test_a_line_without_an_end_is_bounded() -> None:
    decoder = SSEDecoder(limit=100)
    for _ in range(100):
        decoder.feed(b"x")
    with pytest.raises(EventTooLong):
        decoder.feed(b"x")
