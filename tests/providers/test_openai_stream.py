"""The protocol without a connection: bytes in, text out."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.events import Usage
from whybox.providers.openai_chunks import Fault, fault_of, piece_of, usage_of
from whybox.providers.openai_stream import BrokenReply, NotChat, ReplyReader, ReportedFault

TEXTS = ["你好", "🍸", "", ' "x"\n', "\\u4f60"]


def body(texts: list[str], *, end: str = "\n", escape: bool = False) -> bytes:
    chunks: list[Any] = [{"choices": []}]
    chunks += [{"choices": [{"delta": {"content": text}}]} for text in texts]
    chunks += [{"choices": [{"delta": {}, "finish_reason": "length"}]}, {"choices": [], "usage": {"prompt_tokens": 5}}]
    lines = [f"data: {json.dumps(chunk, ensure_ascii=escape)}{end}{end}: ping{end}{end}" for chunk in chunks]
    return ("".join(lines) + f"data: [DONE]{end}{end}").encode()


def read(*pieces: bytes) -> tuple[str, ReplyReader]:
    reader = ReplyReader()
    found = [piece for data in pieces for piece in reader.feed(data)] + reader.close()
    return "".join(piece.text for piece in found), reader


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("escape", [False, True])
def test_a_stream_cut_at_any_byte_gives_the_same_text_finish_and_usage(end: str, escape: bool) -> None:
    stream = body(TEXTS, end=end, escape=escape)
    for pieces in [[stream[:at], stream[at:]] for at in range(len(stream))] + [
        [stream[at : at + step] for at in range(0, len(stream), step)] for step in (1, 2, 3, 7)
    ]:
        text, reader = read(*pieces)
        assert text == "".join(TEXTS)
        assert (reader.finished_by, reader.usage, reader.done) == ("length", Usage(prompt_tokens=5), True)


def test_a_plain_completion_cut_at_any_byte_gives_the_same_text() -> None:
    stream = b" \n" + json.dumps({"choices": [{"message": {"content": "你好"}, "finish_reason": "stop"}]}).encode()
    for at in range(len(stream)):
        text, reader = read(stream[:at], stream[at:])
        assert (text, reader.finished_by) == ("你好", "stop")


def test_a_stream_that_ends_anywhere_is_whole_if_and_only_if_its_finish_had_come() -> None:
    stream = body(["a", "b"])
    whole_from = stream.index(b'"length"}]}') + len(b'"length"}]}')
    for at in range(whole_from):
        with pytest.raises(BrokenReply):
            read(stream[:at])
    for at in range(whole_from, len(stream)):
        assert read(stream[:at])[0] == "ab"


@pytest.mark.parametrize("after", [b'data: {"error": "late"}\n\n', b"event: error\ndata: late\n\n", b"data: {[\n\n"])
def test_what_goes_wrong_behind_a_whole_reply_does_no_harm(after: bytes) -> None:
    stream = b'data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n'
    assert read(stream + after)[0] == "a"


def test_reasoning_is_kept_aside() -> None:
    (piece,) = ReplyReader().feed(
        b'data: {"choices":[{"delta":{"reasoning_content":"hm"},"finish_reason":"stop"}]}\n\n'
    )
    assert (piece.text, piece.reasoning) == ("", "hm")


@pytest.mark.parametrize("noise", [b"<html>", b"\n <!doctype html>"])
def test_a_web_page_is_not_a_reply(noise: bytes) -> None:
    with pytest.raises(NotChat):
        read(noise)


def test_a_completion_of_endless_json_is_bounded() -> None:
    reader = ReplyReader()
    reader.feed(b'{"x": "')
    for _ in range(31):
        reader.feed(b"x" * 2**20)
    with pytest.raises(BrokenReply, match="longer than"):
        reader.feed(b"x" * 2**20)


@pytest.mark.parametrize("deep", [b"[" * 200_000, b'{"a":' * 200_000])
def test_deeply_nested_json_is_a_broken_reply(deep: bytes) -> None:
    with pytest.raises(BrokenReply):
        read(b"data: " + deep + b"\n\n")


FIELDS = [
    "choices",
    "delta",
    "message",
    "content",
    "text",
    "type",
    "usage",
    "prompt_tokens",
    "index",
    "error",
    "detail",
    "loc",
    "timings",
    "cache_n",
    "prompt_tokens_details",
    "finish_reason",
    "thinking",
    "code",
]
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(FIELDS),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(anything)
def test_no_json_whatever_breaks_the_reading(data: Any) -> None:
    fault = fault_of(data)
    assert fault is None or isinstance(fault.message, str)
    if isinstance(data, dict):
        piece = piece_of(data)
        assert isinstance(piece.text, str)
        assert isinstance(piece.reasoning, str)
    stream = b"data: " + json.dumps(data).encode() + b"\n\ndata: [DONE]\n\n"
    with contextlib.suppress(BrokenReply, ReportedFault):
        text, reader = read(stream)
        assert reader.ended
        assert isinstance(text, str)


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        ({"error": {"message": "m", "code": 5, "param": "stop"}}, Fault("m", "5", "stop")),
        ({"error": {"message": "m", "type": "t", "code": None}}, Fault("m", "t")),
        ({"error": "m"}, Fault("m")),
        ({"error": [{"message": "m"}]}, Fault("m")),
        ([{"error": {"message": "m"}}], Fault("m")),
        ({"object": "error", "message": "m", "code": 400}, Fault("m", "400")),
        ({"detail": "m"}, Fault("m")),
        ({"detail": [{"loc": ["body", "stop"], "msg": "m"}]}, Fault("body.stop: m")),
        ({"errors": {"message": "m"}}, Fault("m")),
        ({"error": None, "choices": []}, None),
        ({"choices": [{"delta": {}}], "message": "x"}, None),
        ({}, None),
        ("text", None),
        ([], None),
    ],
)
def test_an_error_is_found_in_the_forms_servers_use(data: Any, fault: Fault | None) -> None:
    assert fault_of(data) == fault


@pytest.mark.parametrize(
    ("usage", "read_as"),
    [
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(prompt_tokens=0, completion_tokens=0)),
        ({"prompt_tokens": 3.0}, Usage(prompt_tokens=3)),
        ({"prompt_tokens": -1, "completion_tokens": float("nan")}, None),
        ({"prompt_tokens": None}, None),
        (None, None),
    ],
)
def test_usage_that_is_not_said_is_not_zero(usage: Any, read_as: Usage | None) -> None:
    assert usage_of({"usage": usage}) == read_as
