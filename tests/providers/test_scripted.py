"""The scripted model."""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.errors import ConfigError, ModelError, ModelTimeout, ScriptExhausted
from whybox.events import Usage
from whybox.ports import Chunk, Message, Reply, Request
from whybox.providers.scripted import ScriptedModel, tokens


def asked(**more: object) -> Request:
    return Request.model_validate({"messages": (Message(role="user", content="Hello there"),)} | more)


def told(model: ScriptedModel, request: Request | None = None) -> tuple[list[str], Reply]:
    """Return the pieces and the whole reply of one call."""

    async def collect() -> list[Chunk | Reply]:
        return [item async for item in model.stream(request or asked())]

    *chunks, reply = anyio.run(collect)
    assert isinstance(reply, Reply)
    texts = [chunk.text for chunk in chunks]
    assert "".join(texts) == reply.text
    return texts, reply


def test_it_streams_word_by_word_and_character_by_character() -> None:
    pieces, reply = told(ScriptedModel(["Thought: it's 你好！\n\n 6*7 "]))
    assert pieces == ["Thought", ":", " it", "'", "s", " 你", "好", "！", "\n\n 6", "*", "7", " "]
    assert reply.finish == "stop"


@given(st.text())
def test_the_tokens_of_a_text_are_the_text(text: str) -> None:
    assert "".join(tokens(text)) == text
    assert all(tokens(text))


def test_each_call_takes_the_next_reply_also_in_a_new_run() -> None:
    model = ScriptedModel(["one", "two", "three"])
    assert [told(model)[1].text for _ in range(3)] == ["one", "two", "three"]


def test_running_out_says_how_many_there_were_and_which_was_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "script.txt"
    path.write_text("one\n---\ntwo\n")
    model = ScriptedModel.from_file(path)
    told(model)
    told(model)
    with pytest.raises(ScriptExhausted) as caught:
        told(model)
    assert caught.value.message == f"scripted:{path} has 2 replies and was asked for number 3"


def test_it_keeps_the_requests_it_was_given() -> None:
    model = ScriptedModel(["one", "two"])
    requests = [asked(), asked(stop=("x",))]
    for request in requests:
        told(model, request)
    assert model.requests == requests


def test_it_stops_before_a_stop_string_and_shows_nothing_of_it() -> None:
    pieces, reply = told(ScriptedModel(["Action: a[1]\nObservation: invented"]), asked(stop=("\nObservation:",)))
    assert reply.text == "Action: a[1]"
    assert "".join(pieces) == "Action: a[1]"


@pytest.mark.parametrize("script", ["Thought: I know", " I know"])
def test_a_reply_may_be_the_whole_step_or_what_follows_the_prefix(script: str) -> None:
    assert told(ScriptedModel([script]), asked(prefix="Thought:"))[1].text == " I know"


def test_a_reply_can_say_how_it_finished_and_what_it_used() -> None:
    reply = Reply(text="cut off", finish="length", usage=Usage(prompt_tokens=7))
    assert told(ScriptedModel([reply]))[1] == reply


def test_a_failure_in_the_script_is_raised_and_used_up() -> None:
    model = ScriptedModel([ModelTimeout("too slow"), "fine"])
    with pytest.raises(ModelTimeout, match="too slow"):
        told(model)
    assert told(model)[1].text == "fine"


def test_its_usage_is_counted_in_its_own_tokens() -> None:
    model = ScriptedModel(["It is 42."])
    _, reply = told(model)
    assert reply.usage == Usage(prompt_tokens=2, completion_tokens=4)
    assert anyio.run(model.count_tokens, "It is 42.") == 4


def test_it_can_be_cancelled_between_two_tokens() -> None:
    async def main() -> int:
        seen = 0
        with anyio.CancelScope() as scope:
            async for _ in ScriptedModel(["a b c d"]).stream(asked()):
                seen += 1
                scope.cancel()
        return seen

    assert anyio.run(main) == 1


@pytest.mark.parametrize(
    ("text", "replies"),
    [
        ("one\n---\ntwo\n", ["one", "two"]),
        ("one\r\n---\r\ntwo\r\n", ["one", "two"]),
        ("one\n\n---\n two \n ---\n----\n", ["one\n", " two \n ---\n----"]),
        ("---\none\n---\n", ["one"]),
        ("one\n---\n---\nthree", ["one", "", "three"]),
        ("\ufeff你好", ["你好"]),
    ],
)
def test_a_file_holds_replies_between_lines_that_are_exactly_three_dashes(
    tmp_path: Path, text: str, replies: list[str]
) -> None:
    path = tmp_path / "script.txt"
    path.write_bytes(text.encode())
    model = ScriptedModel.from_file(path)
    assert [told(model)[1].text for _ in replies] == replies
    with pytest.raises(ScriptExhausted):
        told(model)


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "has no reply"), (b"\n---\n\n", "has no reply"), (b"a\xff", "is not UTF-8 (byte 1)")],
)
def test_a_file_without_a_usable_script_is_a_config_error(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "script.txt"
    path.write_bytes(content)
    with pytest.raises(ConfigError) as caught:
        ScriptedModel.from_file(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["missing.txt", ".", "a\0b"])
def test_a_file_that_cannot_be_read_is_a_config_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigError, match="script"):
        ScriptedModel.from_file(f"{tmp_path}/{name}")


def test_every_failure_of_a_model_is_a_model_error() -> None:
    with pytest.raises(ModelError):
        told(ScriptedModel([]))
