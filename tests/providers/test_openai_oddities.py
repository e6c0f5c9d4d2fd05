"""Every oddity of an OpenAI-compatible server, and what comes of it: a whole reply, or one clear line."""

from __future__ import annotations

import asyncio
import base64
import gc
import logging
import socket
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.misbehaving_server import MisbehavingServer, serving
from tests.oddities import OPENAI, TEXT, Exchange
from whybox.dialects.by_mode import Dialects
from whybox.dialects.replies import ReplyReader
from whybox.errors import ContextOverflow, ModelBroken, ModelError, ModelTimeout, ModelUnreachable
from whybox.events import NativeCall, Usage
from whybox.ports import Abilities, Chunk, Message, Reply, Request, ToolSpec
from whybox.providers.openai_body import BodyWriter
from whybox.providers.openai_compat import OpenAICompatModel
from whybox.providers.openai_reply import ReplyBuilder

KEY = "sk-planted+key/0123456789=="
ABLE = Abilities(grammar=True, json_schema=True, tools=True, parallel=True, logprobs=True, prefix=True)
TOOLS = tuple(
    ToolSpec(name=name, description={"en": name}, parameters={"type": "object", "properties": {}})
    for name in ("calculator", "now", "日期.tool")
)
SEEN = Usage(prompt_tokens=31, completion_tokens=11)
CALCULATE = NativeCall(id="c1", name="calculator", arguments='{"expression": "6 × 7"}')
IMPATIENT = {
    "silent",
    "silent-in-the-middle",
    "silent-in-an-answer",
    "only-keep-alives",
    "silent-refusal",
    "no-done-and-left-open",
    "done-and-left-open",
}
"""Oddities that only end by our own clock."""


@dataclass(frozen=True)
class Failure:
    """How a call ends that brings no reply: ``URL`` stands for the server's address."""

    kind: type[ModelError]
    line: str
    temporary: bool = False
    retry_after: float | None = None


def whole(text: str = TEXT, usage: Usage | None = None, **more: Any) -> Reply:
    """Return an expected reply; without ``usage`` it is to be counted on our side."""
    return Reply(text=text, usage=usage or Usage(estimated=True), **more)


WHOLE: dict[str, Reply] = {
    "call-in-fragments": whole(text="Let me see.", usage=SEEN, calls=(CALCULATE,)),
    "call-with-arguments-as-an-object": whole(
        text="", usage=SEEN, calls=(NativeCall(id="c1", name="calculator", arguments={"expression": "6 × 7"}),)
    ),
    "call-with-arguments-as-a-list": whole(
        text="", usage=SEEN, calls=(NativeCall(id="c1", name="calculator", arguments='["6 × 7"]'),)
    ),
    "call-in-one-piece": whole(text="", usage=SEEN, calls=(CALCULATE,)),
    "call-doubled": whole(text="", usage=SEEN, calls=(CALCULATE,)),
    "call-repeated-whole": whole(text="", usage=SEEN, calls=(CALCULATE,)),
    "calls-with-the-same-id": whole(
        text="",
        usage=SEEN,
        calls=(
            CALCULATE,
            NativeCall(id="c1", name="now", arguments="{}"),
        ),
    ),
    "calls-without-ids": whole(
        text="",
        usage=SEEN,
        calls=(
            NativeCall(name="calculator", arguments='{"expression": "6 × 7"}'),
            NativeCall(name="now", arguments="{}"),
        ),
    ),
    "calls-all-numbered-0": whole(
        text="",
        usage=SEEN,
        calls=(
            CALCULATE,
            NativeCall(id="c2", name="now", arguments="{}"),
        ),
    ),
    "calls-all-numbered-0-without-ids": whole(
        text="",
        usage=SEEN,
        calls=(
            NativeCall(name="calculator", arguments='{"expression": "6 × 7"}'),
            NativeCall(name="now", arguments="{}"),
        ),
    ),
    "calls-without-numbers": whole(
        text="",
        usage=SEEN,
        calls=(
            CALCULATE,
            NativeCall(id="c2", name="now", arguments="{}"),
        ),
    ),
    "calls-mixed": whole(
        text="",
        usage=SEEN,
        calls=(
            CALCULATE,
            NativeCall(id="c2", name="now", arguments='{"zone": "UTC"}'),
        ),
    ),
    "call-name-in-fragments": whole(text="", usage=SEEN, calls=(CALCULATE,)),
    "call-name-in-every-piece": whole(text="", usage=SEEN, calls=(CALCULATE,)),
    "call-without-arguments": whole(text="", usage=SEEN, calls=(NativeCall(id="c1", name="now"),)),
    "call-behind-empty-arguments": whole(text="", usage=SEEN, calls=(CALCULATE,)),
    "call-in-plain-json": whole(text="", usage=SEEN, calls=(CALCULATE,)),
    "call-as-a-content-part": whole(
        text="Let me see.",
        usage=SEEN,
        calls=(NativeCall(id="c1", name="calculator", arguments={"expression": "6 × 7"}),),
    ),
    "call-as-a-function-call": whole(
        text="", usage=SEEN, calls=(NativeCall(name="calculator", arguments='{"expression": "6 × 7"}'),)
    ),
    "call-that-ends-with-stop": whole(text="", usage=SEEN, calls=(CALCULATE,)),
    "call-behind-reasoning": whole(text="", usage=SEEN, reasoning="6 × 7, so 42", calls=(CALCULATE,)),
    "call-by-the-name-that-was-sent": whole(
        text="", usage=SEEN, calls=(NativeCall(id="c1", name="日期.tool", arguments="{}"),)
    ),
    "call-of-an-unknown-tool": whole(text="", usage=SEEN, calls=(NativeCall(id="c1", name="serch", arguments="{}"),)),
    "call-with-half-a-surrogate": whole(
        text="",
        usage=SEEN,
        calls=(
            NativeCall(id="c0", name="now", arguments='{"a": "�"}'),
            NativeCall(id="c1", name="now", arguments={"a": ["�"]}),
        ),
    ),
    "call-cut-by-length": whole(
        text="", finish="length", calls=(NativeCall(id="c1", name="calculator", arguments='{"expression": "6 '),)
    ),
    "call-cut-and-relabelled": whole(
        text="",
        usage=Usage(prompt_tokens=31, completion_tokens=512),
        finish="length",
        calls=(NativeCall(id="c1", name="calculator", arguments='{"expression": "6 '),),
    ),
    "call-behind-a-stop": whole(text="Let me see.", usage=SEEN, calls=(CALCULATE,)),
    "temperature-refused": whole(notes=("the server does not take this `temperature`; its own is used",)),
    "logprobs-refused": whole(notes=("the server does not take `logprobs`; the probabilities are not known",)),
    "json-schema-refused": whole(notes=("the server does not take a JSON schema; it is held to any JSON object",)),
    "response-format-refused": whole(
        notes=("the server does not take `response_format`; the reply is not held to JSON",)
    ),
    "parallel-tool-calls-refused": whole(),
    "tool-choice-refused": whole(
        notes=("the server does not take `tool_choice`; it may call tools although it should not",)
    ),
    "empty-content-refused": whole(),
    "plain": whole(usage=SEEN),
    "empty-choices": whole(usage=SEEN),
    "usage-in-every-chunk": whole(usage=SEEN),
    "cached-tokens": whole(usage=Usage(prompt_tokens=31, cached_tokens=20, completion_tokens=11)),
    "cache-hits-as-deepseek": whole(usage=Usage(prompt_tokens=31, cached_tokens=20, completion_tokens=11)),
    "cache-hits-as-llama-cpp": whole(usage=Usage(prompt_tokens=31, cached_tokens=20, completion_tokens=11)),
    "usage-nonsense": whole(),
    "null-content": whole(),
    "content-parts": whole(reasoning="hm"),
    "reasoning-content": whole(reasoning="hmhm"),
    "keep-alives": whole(),
    "crlf": whole(),
    "byte-by-byte": whole(),
    "invalid-byte": whole(text="ab�c你"),
    "surrogate-halves": whole(text="a🍸b�c"),
    "plain-json": whole(usage=SEEN),
    "json-called-a-stream": whole(),
    "stream-called-json": whole(),
    "gzipped": whole(),
    "two-choices": whole(),
    "no-done": whole(),
    "no-done-and-left-open": whole(),
    "done-without-finish": whole(),
    "done-and-left-open": whole(),
    "no-last-newline": whole(),
    "text-after-done": whole(),
    "reset-after-finish": whole(),
    "length": whole(finish="length"),
    "kept-open": whole(),
    "stop-ignored": whole(),
    "almost-a-stop": whole(text="你好🍸, 6 × 7 = 42.\nObserv"),
    "stop-unsupported": whole(notes=("the server does not take `stop`; the reply is cut here",)),
    "stream-options-unsupported": whole(
        notes=("the server does not take `stream_options`; it may not say what was used",)
    ),
    "max-tokens-renamed": whole(notes=("the server takes `max_completion_tokens` instead of `max_tokens`",)),
    "prefix-echoed": whole(),
    "prefix-not-echoed": whole(),
    "prefix-half-echoed": whole(text="Tho你好🍸, 6 × 7 = 42."),
    "refusal-text": whole(),
    "reasoning-details": whole(
        reasoning="hm",
        blocks=(
            {"type": "reasoning.text", "text": "hm", "index": 0, "format": "f", "signature": "s1gn"},
            {"type": "reasoning.encrypted", "data": "eA=="},
        ),
    ),
    "usage-with-details": whole(
        usage=Usage(prompt_tokens=31, cached_tokens=20, completion_tokens=22, reasoning_tokens=11)
    ),
    "usage-without-the-reasoning": whole(usage=Usage(prompt_tokens=31, completion_tokens=22, reasoning_tokens=11)),
    "usage-in-the-choice": whole(usage=SEEN),
    "usage-as-groq": whole(usage=SEEN),
    "usage-as-anthropic": whole(
        usage=Usage(prompt_tokens=31, cached_tokens=20, written_tokens=10, completion_tokens=11)
    ),
    "token-probabilities": whole(
        tokens=(
            ("你好", -0.25, (("你好", -0.25), ("other", -9999.0))),
            ("🍸", -0.25, (("🍸", -0.25), ("other", -1.5))),
            (", 6 ×", -0.25, ((", 6 ×", -0.25), ("other", -1.5))),
            (" 7 =", -0.25, ((" 7 =", -0.25), ("other", -1.5))),
            (" 42.", -0.25, ((" 42.", -0.25), ("other", -1.5))),
        )
    ),
    "token-probabilities-cut-at-a-stop": whole(text="42.", tokens=(("42", -0.5, ()), (".", -0.5, ()))),
    "vllm": whole(usage=SEEN, reasoning="hm"),
}
FAILING: dict[str, Failure] = {
    "cut-in-the-arguments": Failure(
        ModelBroken, "the stream ended before the reply was whole (ask again)", temporary=True
    ),
    "cut-behind-the-arguments": Failure(
        ModelBroken, "the stream ended before the reply was whole (ask again)", temporary=True
    ),
    "reset-in-the-arguments": Failure(ModelBroken, "the connection was lost (ask again)", temporary=True),
    "error-in-the-arguments": Failure(
        ModelBroken, "the server reported an error in the middle: worker lost (ask again)", temporary=True
    ),
    "cut": Failure(ModelBroken, "the stream ended before the reply was whole (ask again)", temporary=True),
    "cut-in-an-event": Failure(
        ModelBroken, "the server sent JSON that is cut off or damaged (ask again)", temporary=True
    ),
    "cut-in-a-chunked-body": Failure(ModelBroken, "the connection was lost (ask again)", temporary=True),
    "cut-json": Failure(ModelBroken, "the server sent JSON that is cut off or damaged (ask again)", temporary=True),
    "reset": Failure(ModelBroken, "the connection was lost (ask again)", temporary=True),
    "damaged-json": Failure(ModelBroken, "the server sent JSON that is cut off or damaged (ask again)", temporary=True),
    "damaged-gzip": Failure(ModelBroken, "its compression is damaged (ask again)", temporary=True),
    "only-done": Failure(ModelBroken, "the server sent no reply (ask again)", temporary=True),
    "empty-body": Failure(ModelBroken, "the server sent no reply (ask again)", temporary=True),
    "content-filter": Failure(ModelBroken, "the server's content filter ended the reply"),
    "endless-event": Failure(ModelBroken, "an event is longer than 8388608 characters (ask again)", temporary=True),
    "error-in-the-middle": Failure(
        ModelBroken, "the server reported an error in the middle: overloaded, try later (ask again)", temporary=True
    ),
    "error-first": Failure(ModelUnreachable, "no capacity (ask again later)", temporary=True),
    "error-event": Failure(
        ModelBroken, "the server reported an error in the middle: worker died (ask again)", temporary=True
    ),
    "error-with-status-200": Failure(ModelUnreachable, "model is being updated (ask again later)", temporary=True),
    "status-400": Failure(ModelUnreachable, "400 Bad Request: temperature must be at most 2"),
    "status-401": Failure(
        ModelUnreachable,
        "401 Unauthorized: Incorrect API key provided: Bearer [redacted]. (check the API key (WHYBOX_API_KEY))",
    ),
    "status-401-raw": Failure(ModelUnreachable, '401 Unauthorized: {"host"'),
    "status-403": Failure(
        ModelUnreachable, "403 Forbidden: Forbidden for this key (check what the API key (WHYBOX_API_KEY) may use)"
    ),
    "status-404": Failure(
        ModelUnreachable,
        "404 Not Found: The model `gone` does not exist (check the model's name, and the base URL: it often ends in /v1)",
    ),
    "status-404-page": Failure(
        ModelUnreachable, "404 Not Found (check the model's name, and the base URL: it often ends in /v1)"
    ),
    "status-429": Failure(
        ModelUnreachable,
        "429 Too Many Requests: Rate limit reached (wait a while, then ask again)",
        temporary=True,
        retry_after=7.0,
    ),
    "status-500": Failure(
        ModelUnreachable, "500 Internal Server Error (ask again later, or look at the server's log)", temporary=True
    ),
    "status-503-loading": Failure(
        ModelUnreachable,
        "503 Service Unavailable: Loading model [31mplease [0m wait (ask again later, or look at the server's log)",
        temporary=True,
    ),
    "status-unknown": Failure(
        ModelUnreachable, "599: odd (ask again later, or look at the server's log)", temporary=True
    ),
    "moved": Failure(
        ModelUnreachable,
        "URL sends requests elsewhere (307 Temporary Redirect: https://elsewhere.example/v1) (give the address it points to as the base URL)",
    ),
    "web-page": Failure(ModelUnreachable, "URL answered with a web page (check the base URL: it often ends in /v1)"),
    "overflow-openai": Failure(
        ContextOverflow,
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. (ask something shorter)",
    ),
    "overflow-llama-cpp": Failure(
        ContextOverflow, "the request exceeds the available context size, try increasing it (ask something shorter)"
    ),
    "overflow-vllm": Failure(
        ContextOverflow,
        "This model's maximum context length is 4096 tokens. Please reduce the length of the messages. (ask something shorter)",
    ),
    "overflow-in-the-stream": Failure(ContextOverflow, "too long (ask something shorter)"),
    "silent": Failure(
        ModelTimeout, "URL sent no reply within 0.3 s (is the server busy, or still loading?)", temporary=True
    ),
    "silent-in-the-middle": Failure(
        ModelTimeout, "URL sent nothing further within 0.3 s (is the server busy, or still loading?)", temporary=True
    ),
    "silent-in-an-answer": Failure(
        ModelTimeout, "URL sent nothing further within 0.3 s (is the server busy, or still loading?)", temporary=True
    ),
    "only-keep-alives": Failure(
        ModelTimeout, "URL sent no reply within 0.3 s (is the server busy, or still loading?)", temporary=True
    ),
    "silent-refusal": Failure(
        ModelUnreachable, "503 Service Unavailable (ask again later, or look at the server's log)", temporary=True
    ),
    "hangs-up": Failure(
        ModelUnreachable,
        "cannot reach URL: Server disconnected without sending a response. (check the base URL, and that the server is running)",
        temporary=True,
    ),
    "not-http": Failure(
        ModelUnreachable,
        "cannot reach URL: Server disconnected without sending a response. (check the base URL, and that the server is running)",
        temporary=True,
    ),
    "tool-calls-without-a-call": Failure(
        ModelBroken, "the server said that tools are called, and sent no call (ask again)", temporary=True
    ),
    "tools-refused": Failure(
        ModelError, "m cannot call tools: registry.ollama.ai/library/gemma:2b does not support tools (use --mode text)"
    ),
    "tools-refused-as-vllm": Failure(
        ModelError,
        'm cannot call tools: "auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set (use --mode text)',
    ),
    "tools-refused-as-llama-cpp": Failure(
        ModelError, "m cannot call tools: tools param requires --jinja flag (use --mode text)"
    ),
    "null-content-refused": Failure(
        ModelUnreachable,
        "400 Bad Request: messages[1].content: Input should be a valid string (set empty_content to string for this model)",
    ),
    "reasoning-missing": Failure(
        ModelUnreachable,
        "400 Bad Request: thinking is enabled but reasoning_content is missing in assistant tool call message at index 1 (set reasoning_back to with_calls for this model)",
    ),
    "no-credit": Failure(
        ModelUnreachable,
        "429 Too Many Requests: You exceeded your current quota (check the account's credit and limits)",
    ),
    "busy-seconds": Failure(
        ModelUnreachable,
        "429 Too Many Requests: Slow down (wait a while, then ask again)",
        temporary=True,
        retry_after=7.0,
    ),
    "busy-zero": Failure(
        ModelUnreachable,
        "429 Too Many Requests: Slow down (wait a while, then ask again)",
        temporary=True,
        retry_after=0.0,
    ),
    "busy-fraction": Failure(
        ModelUnreachable,
        "429 Too Many Requests: Slow down (wait a while, then ask again)",
        temporary=True,
        retry_after=1.5,
    ),
    "busy-milliseconds": Failure(
        ModelUnreachable,
        "429 Too Many Requests: Slow down (wait a while, then ask again)",
        temporary=True,
        retry_after=0.25,
    ),
    "busy-date": Failure(
        ModelUnreachable,
        "429 Too Many Requests: Slow down (wait a while, then ask again)",
        temporary=True,
        retry_after=30.0,
    ),
    "busy-date-past": Failure(
        ModelUnreachable,
        "429 Too Many Requests: Slow down (wait a while, then ask again)",
        temporary=True,
        retry_after=0.0,
    ),
    "busy-huge": Failure(
        ModelUnreachable,
        "429 Too Many Requests: Slow down (wait a while, then ask again)",
        temporary=True,
        retry_after=999999.0,
    ),
    "busy-negative": Failure(
        ModelUnreachable, "429 Too Many Requests: Slow down (wait a while, then ask again)", temporary=True
    ),
    "busy-garbage": Failure(
        ModelUnreachable, "429 Too Many Requests: Slow down (wait a while, then ask again)", temporary=True
    ),
    "busy-none": Failure(
        ModelUnreachable, "429 Too Many Requests: Slow down (wait a while, then ask again)", temporary=True
    ),
    "status-408": Failure(ModelUnreachable, "408 Request Timeout: Slow down", temporary=True),
    "status-409": Failure(ModelUnreachable, "409 Conflict: Slow down", temporary=True),
    "status-425": Failure(ModelUnreachable, "425 Too Early: Slow down", temporary=True),
    "status-502": Failure(
        ModelUnreachable, "502 Bad Gateway: Slow down (ask again later, or look at the server's log)", temporary=True
    ),
    "status-503": Failure(
        ModelUnreachable,
        "503 Service Unavailable: Slow down (ask again later, or look at the server's log)",
        temporary=True,
    ),
    "status-504": Failure(
        ModelUnreachable,
        "504 Gateway Timeout: Slow down (ask again later, or look at the server's log)",
        temporary=True,
    ),
    "status-529": Failure(
        ModelUnreachable, "529: Slow down (ask again later, or look at the server's log)", temporary=True
    ),
    "key-in-the-stream": Failure(
        ModelBroken, "the server reported an error in the middle: upstream refused [redacted]"
    ),
    "key-in-an-error-event": Failure(
        ModelBroken, "the server reported an error in the middle: no [redacted] (ask again)", temporary=True
    ),
    "key-in-the-location": Failure(
        ModelUnreachable,
        "URL sends requests elsewhere (302 Found: https://elsewhere.example/login?key=[redacted]) (give the address it points to as the base URL)",
    ),
    "key-in-a-challenge": Failure(
        ModelUnreachable,
        "401 Unauthorized: bad credentials: Basic dXNlcjp[redacted]",
    ),
    "everything-unsupported": Failure(
        ModelUnreachable,
        "400 Bad Request: these are not supported: stop, stream_options, max_tokens (use max_completion_tokens), messages",
    ),
}


@pytest.fixture(scope="module")
def server() -> Iterator[MisbehavingServer]:
    with serving() as running:
        yield running


def request_for(name: str) -> Request:
    """Return a request that has what the oddity is about."""
    history = [Message(role="system", content="Be brief."), Message(role="user", content="What is 6 times 7?")]
    if name in ("null-content-refused", "empty-content-refused", "reasoning-missing"):
        call = NativeCall(id="c1", name="calculator", arguments='{"expression": "1"}')
        history.append(Message(role="assistant", content="", calls=(call,), reasoning="hm"))
        history.append(Message(role="tool", content="1", result_of="c1"))
    about_calls = name.startswith(("call", "tool", "parallel")) or len(history) > 2
    return Request(
        messages=tuple(history),
        stop=("\nObservation:",),
        prefix="Thought: I " if name.startswith("prefix") else "",
        tools=TOOLS if about_calls else (),
        call_tools=name != "tool-choice-refused",
        logprobs=2 if name == "logprobs-refused" else 0,
        json_schema={"type": "object"} if name in ("json-schema-refused", "response-format-refused") else None,
    )


async def outcome(url: str, name: str) -> tuple[list[Chunk], Reply | ModelError]:
    """Ask, and check that the call ends as the port says and that nothing is left behind."""
    model = OpenAICompatModel("openai:m", url, "m", KEY, timeout=0.3 if name in IMPATIENT else 5.0, abilities=ABLE)
    before, chunks = asyncio.all_tasks(), []
    found: Reply | ModelError | None = None
    try:
        async for item in model.stream(request_for(name)):
            assert found is None, "something came behind the whole reply"
            if isinstance(item, Reply):
                found = item
            else:
                assert item.text or item.reasoning or item.action
                chunks.append(item)
    except ModelError as error:
        found = error
    await model.close()
    gc.collect()
    for _ in range(20):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before
    assert KEY not in repr(model)
    assert found is not None
    return chunks, found


def joined(chunks: list[Chunk]) -> tuple[str, str, str]:
    return tuple("".join(getattr(each, name) for each in chunks) for name in ("text", "reasoning", "action"))


@pytest.mark.parametrize("name", OPENAI)
def test_each_oddity_has_the_right_outcome(
    server: MisbehavingServer, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    url = server.url(name)
    chunks, found = asyncio.run(asyncio.wait_for(outcome(url, name), 60))
    text, reasoning, action = joined(chunks)
    said = caplog.text
    if isinstance(found, Reply):
        expected = WHOLE[name]
        usage = Usage(estimated=True) if found.usage.estimated else found.usage
        assert found.model_copy(update={"usage": usage}) == expected
        assert (text, reasoning) == (found.text, found.reasoning)
        assert bool(action) == bool(found.calls)
        assert not found.usage.estimated or (found.usage.prompt_tokens and found.usage.completion_tokens)
    else:
        failure = FAILING[name]
        line = str(found)
        assert (type(found), found.temporary, found.retry_after) == (
            failure.kind,
            failure.temporary,
            failure.retry_after,
        )
        assert shortened(line, url).startswith(failure.line)
        assert line.isprintable()
        assert len(line) < 600
        assert failure.kind is ContextOverflow or failure.line.startswith("m cannot call tools") or url in line
        said += line + repr(found) + "".join(traceback.format_exception(found))
    for form in (KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode().rstrip("=")):
        assert form not in said


def shortened(line: str, url: str) -> str:
    line = line.replace(url, "URL")
    for usual in (
        "the reply from URL is not whole and was not used: ",
        "URL refused the request for m: ",
        "URL reported an error instead of a reply: ",
        "the prompt is too long for m: ",
    ):
        line = line.replace(usual, "")
    return line


def test_every_oddity_is_expected() -> None:
    assert set(WHOLE) | set(FAILING) == set(OPENAI)


class Recorder:
    """Takes what an oddity sends to one request, without a client."""

    def __init__(self, name: str) -> None:
        ours, theirs = socket.socketpair()
        stopping = threading.Event()
        stopping.set()  # nothing is waited for
        received = bytearray()

        def read() -> None:
            while data := theirs.recv(65536):
                received.extend(data)

        reader = threading.Thread(target=read)
        reader.start()
        body = BodyWriter("m").write(request_for(name)).fields
        OPENAI[name](Exchange({}, body, 0, ours, stopping))
        ours.close()
        reader.join()
        theirs.close()
        self.body = bytes(received).partition(b"\r\n\r\n")[2]


IN_PIECES = sorted(
    set(WHOLE)
    - {"gzipped", "kept-open"}
    - {name for name in WHOLE if "refused" in name or "unsupp" in name}
    - {"max-tokens-renamed"}
)


def events_of(name: str, pieces: list[bytes]) -> tuple[object, ...]:
    """Return everything a run makes of a reply that arrives in these pieces."""
    request = request_for(name)
    builder = ReplyBuilder(request, {})
    reader = ReplyReader(Dialects()["text"], TOOLS, "en")
    reader.begin(request.prefix)
    shown: dict[str, str] = {}
    chunks: list[Chunk] = []

    def show(deltas: list[Any]) -> None:
        for delta in deltas:
            shown[delta.section] = shown.get(delta.section, "") + delta.text

    for data in pieces:
        if builder.cut or builder.reader.done:
            break
        chunks += builder.feed(data)
    if not builder.cut:
        chunks += builder.close()
    chunks += builder.rest()
    reply = builder.reply()
    for each in chunks:
        show(reader.feed(each))
    rest, parsed = reader.close(reply)
    show(rest)
    return reply, parsed, joined(chunks), shown


@pytest.mark.parametrize("name", IN_PIECES)
def test_a_reply_cut_at_any_byte_gives_the_same_events(name: str) -> None:
    body = Recorder(name).body
    expected = events_of(name, [body])
    for at in range(len(body) + 1):
        assert events_of(name, [body[:at], body[at:]]) == expected, at
    assert events_of(name, [body[at : at + 1] for at in range(len(body))]) == expected


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(IN_PIECES), st.data())
def test_a_reply_cut_anywhere_gives_the_same_events(name: str, data: st.DataObject) -> None:
    body = Recorder(name).body
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    pieces = [body[a:b] for a, b in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    assert events_of(name, pieces) == events_of(name, [body])
