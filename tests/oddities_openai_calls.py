"""Oddities of OpenAI-compatible servers in how they send native tool calls."""

from __future__ import annotations

from typing import Any

from tests.oddities import DONE, OPENAI, USAGE, Exchange, chunk, event, oddity

ARGUMENTS = '{"expression": "6 × 7"}'
OBJECT = {"expression": "6 × 7"}
FRAGMENTS = ('{"expr', 'ession": "6 ', '× 7"', "}")
SAID = "Let me see."


def piece(index: int | None = 0, id: Any = None, name: Any = None, arguments: Any = None) -> dict[str, Any]:  # noqa: A002
    """Return a piece of a call, with the fields that are given."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    fields = {"index": index, "id": id, "type": "function", "function": function}
    return {key: value for key, value in fields.items() if value is not None}


def calls(*pieces: dict[str, Any], finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return a chunk with pieces of calls."""
    return {"choices": [{"index": 0, "delta": {"tool_calls": list(pieces)}, "finish_reason": finish}], **more}


def in_fragments(index: int | None, id: str, name: str) -> list[dict[str, Any]]:  # noqa: A002
    """Return the chunks of one call as OpenAI sends them."""
    return [calls(piece(index, id, name, "")), *[calls(piece(index, arguments=text)) for text in FRAGMENTS]]


def send(x: Exchange, *items: Any, finish: str = "tool_calls") -> None:
    """Stream items and the end of a reply with calls."""
    x.stream(*items, chunk(finish=finish), {"choices": [], "usage": USAGE}, DONE)


@oddity(OPENAI)
def call_in_fragments(x: Exchange) -> None:
    """A thought, then the arguments of a call in fragments."""
    send(x, chunk(SAID), *in_fragments(0, "c1", "calculator"))


@oddity(OPENAI)
def call_with_arguments_as_an_object(x: Exchange) -> None:
    """Arguments as an object instead of JSON text."""
    send(x, calls(piece(0, "c1", "calculator", OBJECT)))


@oddity(OPENAI)
def call_with_arguments_as_a_list(x: Exchange) -> None:
    """Arguments as a list."""
    send(x, calls(piece(0, "c1", "calculator", ["6 × 7"])))


@oddity(OPENAI)
def call_in_one_piece(x: Exchange) -> None:
    """A whole call in one piece, in the chunk that ends the reply."""
    x.stream(calls(piece(0, "c1", "calculator", ARGUMENTS), finish="tool_calls"), {"choices": [], "usage": USAGE}, DONE)


@oddity(OPENAI)
def call_doubled(x: Exchange) -> None:
    """A call that is sent again under its id with another number."""
    send(x, calls(piece(0, "c1", "calculator", ARGUMENTS)), calls(piece(1, "c1", "calculator", ARGUMENTS)))


@oddity(OPENAI)
def call_repeated_whole(x: Exchange) -> None:
    """A call in fragments, then once more whole, as a message."""
    whole = {"index": 0, "message": {"content": None, "tool_calls": [piece(0, "c1", "calculator", ARGUMENTS)]}}
    send(x, *in_fragments(0, "c1", "calculator"), {"choices": [whole]})


@oddity(OPENAI)
def calls_with_the_same_id(x: Exchange) -> None:
    """Two different calls under one id."""
    send(x, *in_fragments(0, "c1", "calculator"), calls(piece(1, "c1", "now", "{}")))


@oddity(OPENAI)
def calls_without_ids(x: Exchange) -> None:
    """Two calls without ids."""
    first = [calls(piece(0, None, "calculator", "")), *[calls(piece(0, arguments=text)) for text in FRAGMENTS]]
    send(x, *first, calls(piece(1, "", "now", "{}")))


@oddity(OPENAI)
def calls_all_numbered_0(x: Exchange) -> None:
    """Two calls with the number 0, told apart by their ids."""
    send(x, *in_fragments(0, "c1", "calculator"), calls(piece(0, "c2", "now", "{}")))


@oddity(OPENAI)
def calls_all_numbered_0_without_ids(x: Exchange) -> None:
    """Two calls with the number 0 and no ids."""
    send(x, calls(piece(0, None, "calculator", ARGUMENTS)), calls(piece(0, None, "now", "{}")))


@oddity(OPENAI)
def calls_without_numbers(x: Exchange) -> None:
    """Two calls with ids and no numbers; a fragment belongs to the one before it."""
    first = [calls(piece(None, "c1", "calculator", "")), *[calls(piece(None, arguments=text)) for text in FRAGMENTS]]
    send(x, *first, calls(piece(None, "c2", "now", "{}")))


@oddity(OPENAI)
def calls_mixed(x: Exchange) -> None:
    """The pieces of two parallel calls, taking turns."""
    turns = zip(FRAGMENTS, ("{", '"zone": ', '"UTC"', "}"), strict=True)
    first = calls(piece(0, "c1", "calculator"), piece(1, "c2", "now"))
    send(x, first, *[calls(piece(0, arguments=a), piece(1, arguments=b)) for a, b in turns])


@oddity(OPENAI)
def call_name_in_fragments(x: Exchange) -> None:
    """The name of a call in two pieces."""
    send(x, calls(piece(0, "c1", "calcu")), calls(piece(0, None, "lator")), calls(piece(0, arguments=ARGUMENTS)))


@oddity(OPENAI)
def call_name_in_every_piece(x: Exchange) -> None:
    """Name and id are repeated in every fragment."""
    send(x, *[calls(piece(0, "c1", "calculator", text)) for text in FRAGMENTS])


@oddity(OPENAI)
def call_without_arguments(x: Exchange) -> None:
    """A call without arguments: null, then nothing."""
    send(x, calls({"index": 0, "id": "c1", "function": {"name": "now", "arguments": None}}))


@oddity(OPENAI)
def call_behind_empty_arguments(x: Exchange) -> None:
    """A call that begins with empty arguments in place of none."""
    send(x, calls(piece(0, "c1", "calculator", {})), *[calls(piece(0, arguments=text)) for text in FRAGMENTS])


@oddity(OPENAI)
def call_in_plain_json(x: Exchange) -> None:
    """A completion that is not streamed, with a call."""
    message = {"role": "assistant", "content": None, "tool_calls": [piece(None, "c1", "calculator", ARGUMENTS)]}
    x.json({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": USAGE})


@oddity(OPENAI)
def call_as_a_content_part(x: Exchange) -> None:
    """A call among the parts of the content."""
    part = {"type": "tool_use", "id": "c1", "name": "calculator", "input": OBJECT}
    send(x, chunk([{"type": "text", "text": SAID}, part]))


@oddity(OPENAI)
def call_as_a_function_call(x: Exchange) -> None:
    """The older form of a call, in fragments."""
    pieces = [{"name": "calculator"}, *[{"arguments": text} for text in FRAGMENTS]]
    send(x, *[{"choices": [{"delta": {"function_call": each}}]} for each in pieces], finish="function_call")


@oddity(OPENAI)
def call_that_ends_with_stop(x: Exchange) -> None:
    """A call, and the finish reason of a text."""
    send(x, *in_fragments(0, "c1", "calculator"), finish="stop")


@oddity(OPENAI)
def call_behind_reasoning(x: Exchange) -> None:
    """Reasoning on its own channel, then a call."""
    thoughts = [{"choices": [{"delta": {"reasoning_content": text}}]} for text in ("6 × 7, ", "so 42")]
    send(x, *thoughts, *in_fragments(0, "c1", "calculator"))


@oddity(OPENAI)
def call_by_the_name_that_was_sent(x: Exchange) -> None:
    """A call of the last tool on offer, by the name it has in the request."""
    send(x, calls(piece(0, "c1", x.body["tools"][-1]["function"]["name"], "{}")))


@oddity(OPENAI)
def call_of_an_unknown_tool(x: Exchange) -> None:
    """A call of a tool that is not on offer."""
    send(x, calls(piece(0, "c1", "serch", "{}")))


@oddity(OPENAI)
def call_with_half_a_surrogate(x: Exchange) -> None:
    """Half a surrogate pair in the arguments, as text and in an object."""
    send(x, *[event(calls(piece(n, f"c{n}", "now", given))).replace(b"HALF", rb"\ud83c") for n, given in HALVES])


HALVES = ((0, '{"a": "HALF"}'), (1, {"a": ["HALF"]}))


@oddity(OPENAI)
def call_cut_by_length(x: Exchange) -> None:
    """A call that the token limit has cut."""
    x.stream(*in_fragments(0, "c1", "calculator")[:3], chunk(finish="length"), DONE)


@oddity(OPENAI)
def call_cut_and_relabelled(x: Exchange) -> None:
    """A call that the token limit has cut, and a finish reason that does not say so."""
    usage = USAGE | {"completion_tokens": x.body["max_tokens"], "total_tokens": 31 + x.body["max_tokens"]}
    x.stream(
        *in_fragments(0, "c1", "calculator")[:3],
        chunk(finish="tool_calls"),
        {"choices": [], "usage": usage},
        DONE,
    )


@oddity(OPENAI)
def call_behind_a_stop(x: Exchange) -> None:
    """A stop string in the text beside a call that has begun: the call is waited for."""
    first, *more = in_fragments(0, "c1", "calculator")
    send(x, first, chunk(SAID), chunk("\nObservation: 42"), *more)


@oddity(OPENAI)
def cut_in_the_arguments(x: Exchange) -> None:
    """The connection is closed in the middle of the arguments of a call."""
    x.stream(*in_fragments(0, "c1", "calculator")[:3])


@oddity(OPENAI)
def cut_behind_the_arguments(x: Exchange) -> None:
    """The connection is closed behind the whole arguments of a call, without a finish reason."""
    x.stream(*in_fragments(0, "c1", "calculator"))


@oddity(OPENAI)
def reset_in_the_arguments(x: Exchange) -> None:
    """The connection is reset in the middle of the arguments of a call."""
    x.stream(*in_fragments(0, "c1", "calculator")[:3])
    x.reset()


@oddity(OPENAI)
def error_in_the_arguments(x: Exchange) -> None:
    """An error object in the middle of the arguments of a call."""
    x.stream(*in_fragments(0, "c1", "calculator")[:3], {"error": {"message": "worker lost", "code": 502}}, DONE)
