"""Oddities of OpenAI-compatible servers in what they refuse, for good or for a while."""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import partial
from urllib.parse import quote

from tests.oddities import DONE, OPENAI, PIECES, Exchange, chunk, oddity, refuse


def key_of(x: Exchange) -> str:
    """Return the key that came with the request."""
    return x.headers["authorization"].removeprefix("Bearer ")


@oddity(OPENAI)
def temperature_refused(x: Exchange) -> None:
    """A request with a temperature is refused."""
    if "temperature" in x.body:
        refuse(x, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature")
    else:
        x.whole()


@oddity(OPENAI)
def logprobs_refused(x: Exchange) -> None:
    """A request with logprobs is refused."""
    if "logprobs" in x.body or "top_logprobs" in x.body:
        refuse(x, "You are not allowed to request logprobs from this model")
    else:
        x.whole()


@oddity(OPENAI)
def json_schema_refused(x: Exchange) -> None:
    """A JSON schema is refused, any JSON is not."""
    if x.body.get("response_format", {}).get("type") == "json_schema":
        refuse(x, "This response_format type is unavailable now")
    else:
        x.whole()


@oddity(OPENAI)
def response_format_refused(x: Exchange) -> None:
    """Every response format is refused, with FastAPI's status."""
    if "response_format" in x.body:
        x.json({"detail": [{"loc": ["body", "response_format"], "msg": "Extra inputs are not permitted"}]}, 422)
    else:
        x.whole()


@oddity(OPENAI)
def parallel_tool_calls_refused(x: Exchange) -> None:
    """The field parallel_tool_calls is refused."""
    if "parallel_tool_calls" in x.body:
        refuse(x, "Unrecognized request argument supplied: parallel_tool_calls")
    else:
        x.whole()


@oddity(OPENAI)
def tool_choice_refused(x: Exchange) -> None:
    """The field tool_choice is refused."""
    if "tool_choice" in x.body:
        refuse(x, "deepseek-reasoner does not support this tool_choice")
    else:
        x.whole()


@oddity(OPENAI)
def tools_refused(x: Exchange) -> None:
    """Tools are refused, in Ollama's words."""
    refuse(x, "registry.ollama.ai/library/gemma:2b does not support tools", type="api_error")


@oddity(OPENAI)
def tools_refused_as_vllm(x: Exchange) -> None:
    """Tools are refused, in vLLM's words."""
    refuse(x, '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')


@oddity(OPENAI)
def tools_refused_as_llama_cpp(x: Exchange) -> None:
    """Tools are refused, in llama.cpp's words."""
    x.json({"error": {"code": 500, "message": "tools param requires --jinja flag"}}, 500)


@oddity(OPENAI)
def null_content_refused(x: Exchange) -> None:
    """content null beside calls is refused."""
    if any(message["content"] is None for message in x.body["messages"]):
        refuse(x, "messages[1].content: Input should be a valid string")
    else:
        x.whole()


@oddity(OPENAI)
def empty_content_refused(x: Exchange) -> None:
    """content "" beside calls is refused."""
    if any(message["content"] == "" for message in x.body["messages"]):
        refuse(x, "message 1 with role assistant must not have empty content")
    else:
        x.whole()


@oddity(OPENAI)
def reasoning_missing(x: Exchange) -> None:
    """Calls in the history without the reasoning that led to them are refused."""
    if any("tool_calls" in message and "reasoning_content" not in message for message in x.body["messages"]):
        refuse(x, "thinking is enabled but reasoning_content is missing in assistant tool call message at index 1")
    else:
        x.whole()


@oddity(OPENAI)
def no_credit(x: Exchange) -> None:
    """429 because nothing is paid."""
    x.json(
        {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, 429, Retry_After="7"
    )


WAITS: dict[str, dict[str, str]] = {
    "seconds": {"Retry-After": "7"},
    "zero": {"Retry-After": "0"},
    "fraction": {"Retry-After": "1.5"},
    "milliseconds": {"retry-after-ms": "250", "Retry-After": "1"},
    "date": {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT", "Date": "Wed, 21 Oct 2026 07:27:30 GMT"},
    "date-past": {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"},
    "huge": {"Retry-After": "999999"},
    "negative": {"Retry-After": "-5"},
    "garbage": {"Retry-After": "soon 💤".encode().decode("latin-1")},
    "none": {},
}


def _busy(x: Exchange, *, status: int, headers: dict[str, str]) -> None:
    lines = [f"HTTP/1.1 {status} Busy", "Content-Type: application/json", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    x.raw("\r\n".join([*lines, "", ""]).encode("latin-1"))
    x.raw(b'{"error": {"message": "Slow down"}}')


def _register(name: str, function: Callable[[Exchange], None], doc: str) -> None:
    function.__doc__ = doc
    OPENAI[name] = function


for _name, _headers in WAITS.items():
    _register(f"busy-{_name}", partial(_busy, status=429, headers=_headers), f"429 with the wait as: {_name}.")
for _status in (408, 409, 425, 502, 503, 504, 529):
    _register(f"status-{_status}", partial(_busy, status=_status, headers={}), f"{_status} with a message.")


@oddity(OPENAI)
def key_in_the_stream(x: Exchange) -> None:
    """The key is repeated by an error in the middle of a stream."""
    x.stream(chunk(PIECES[0]), {"error": {"message": f"upstream refused {key_of(x)}", "code": 401}}, DONE)


@oddity(OPENAI)
def key_in_an_error_event(x: Exchange) -> None:
    """The key is repeated by an event that is an error."""
    x.stream(chunk(PIECES[0]), f"event: error\ndata: no {key_of(x)}\n\n".encode())


@oddity(OPENAI)
def key_in_the_location(x: Exchange) -> None:
    """The key is repeated in the address of a redirection, as it is written in addresses."""
    x.head(302, Location=f"https://elsewhere.example/login?key={quote(key_of(x), safe='')}")


@oddity(OPENAI)
def key_in_a_challenge(x: Exchange) -> None:
    """The key is repeated in a header and, as Basic credentials, in the body."""
    basic = base64.b64encode(f"user:{key_of(x)}".encode()).decode()
    x.json({"error": f"bad credentials: Basic {basic}"}, 401, WWW_Authenticate=f'Bearer error="{key_of(x)}"')
