"""The OpenAI-compatible client against a real server that serves each oddity on loopback."""

from __future__ import annotations

import asyncio
import gc
import json
import socket
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass, field

import anyio
import pytest

from tests.misbehaving_server import MisbehavingServer, serving
from tests.oddities import TEXT
from whybox.errors import ConfigError, ModelError, ModelUnreachable
from whybox.ports import Abilities, Chunk, Message, Reply, Request
from whybox.providers import openai_compat
from whybox.providers.openai_compat import OpenAICompatModel

KEY = "sk-planted-key-0123456789"
ALL_ABILITIES = Abilities(grammar=True, prefix=True)

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def server() -> Iterator[MisbehavingServer]:
    with serving() as running:
        yield running


@dataclass
class Outcome:
    chunks: list[str] = field(default_factory=list)
    reply: Reply | None = None
    error: ModelError | None = None


def asked(**more: object) -> Request:
    messages = (Message(role="system", content="Be brief."), Message(role="user", content="What is 6 times 7? 你好"))
    return Request.model_validate({"messages": messages, "stop": ("\nObservation:",)} | more)


def model_at(url: str, **more: object) -> OpenAICompatModel:
    settings = {"timeout": 5.0, "abilities": ALL_ABILITIES} | more
    return OpenAICompatModel("openai:m", url, "m", KEY, **settings)  # type: ignore[arg-type]


async def outcome_of(model: OpenAICompatModel, request: Request) -> Outcome:
    """Collect everything a stream yields, and check that it ends as the port says."""
    outcome = Outcome()
    try:
        async for item in model.stream(request):
            assert outcome.reply is None, "something came behind the whole reply"
            if isinstance(item, Chunk):
                assert item.text
                outcome.chunks.append(item.text)
            else:
                outcome.reply = item
    except ModelError as error:
        outcome.error = error
    assert (outcome.reply is None) != (outcome.error is None)
    if outcome.reply:
        assert "".join(outcome.chunks) == outcome.reply.text
    return outcome


async def settle(before: set[asyncio.Task[object]]) -> None:
    """Give generators of the HTTP client that are being finished a few turns of the loop; nothing else may be left."""
    for _ in range(20):
        await asyncio.sleep(0)
    assert asyncio.all_tasks() == before


async def at(server: MisbehavingServer, name: str, request: Request | None = None, **more: object) -> Outcome:
    """Ask the oddity called ``name``; afterwards nothing is left behind."""
    model = model_at(server.url(name), **more)
    before = asyncio.all_tasks()
    try:
        return await outcome_of(model, request or asked())
    finally:
        await model.close()
        gc.collect()
        await settle(before)


async def test_a_whole_reply_does_not_wait_long_for_usage_that_never_comes(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(openai_compat, "USAGE_SECONDS", 0.05)
    with anyio.fail_after(30):
        assert (await at(server, "no-done-and-left-open", timeout=600.0)).reply


async def test_the_request_says_what_was_asked(server: MisbehavingServer) -> None:
    headers = {"X-Team": "blue"}
    request = asked(prefix="", grammar='root ::= "x"', max_tokens=9, temperature=0.5)
    await at(server, "plain", request, extra_headers=headers)
    exchange = server.exchanges[-1]
    assert exchange.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "What is 6 times 7? 你好"},
        ],
        "temperature": 0.5,
        "max_tokens": 9,
        "stream": True,
        "stream_options": {"include_usage": True},
        "stop": ["\nObservation:"],
        "grammar": 'root ::= "x"',
    }
    assert exchange.headers["authorization"] == f"Bearer {KEY}"
    assert exchange.headers["x-team"] == "blue"


async def test_without_a_key_no_authorization_is_sent(server: MisbehavingServer) -> None:
    model = OpenAICompatModel("openai:m", server.url("plain"), "m")
    await outcome_of(model, asked())
    await model.close()
    assert "authorization" not in server.exchanges[-1].headers


async def test_a_prefix_is_sent_as_the_last_assistant_message(server: MisbehavingServer) -> None:
    await at(server, "plain", asked(prefix="Thought: I"))
    assert server.exchanges[-1].body["messages"][-1] == {"role": "assistant", "content": "Thought: I"}


async def test_a_lone_surrogate_in_the_prompt_is_replaced(server: MisbehavingServer) -> None:
    await at(server, "plain", Request(messages=(Message(role="user", content="a\ud83d \ud83c\udf78"),)))
    assert server.exchanges[-1].words == "a\ufffd 🍸"


async def test_a_refused_stop_is_remembered_and_cut_here(server: MisbehavingServer) -> None:
    model = model_at(server.url("stop-unsupported"))
    first = len(server.exchanges)
    outcomes = [await outcome_of(model, asked()) for _ in range(2)]
    await model.close()
    assert [o.reply and o.reply.text for o in outcomes] == [TEXT, TEXT]
    assert ["stop" in x.body for x in server.exchanges[first:]] == [True, False, False]


async def test_every_field_is_left_out_at_most_once(server: MisbehavingServer) -> None:
    first = len(server.exchanges)
    await at(server, "everything-unsupported")
    assert len(server.exchanges) - first == 4


async def test_a_stop_that_the_server_ignores_closes_the_connection(server: MisbehavingServer) -> None:
    model = model_at(server.url("stop-ignored"))
    outcome = await outcome_of(model, asked())
    assert outcome.reply is not None
    assert await anyio.to_thread.run_sync(server.exchanges[-1].hung_up.wait, 5)
    await model.close()


async def test_nothing_that_may_begin_a_stop_is_shown_before_it_is_known(server: MisbehavingServer) -> None:
    outcome = await at(server, "stop-ignored")
    assert "\n" not in "".join(outcome.chunks)
    almost = await at(server, "almost-a-stop")
    assert almost.chunks[-1] == "\nObserv"


@pytest.mark.parametrize("how", ["cancelled", "left early"])
async def test_ending_a_stream_early_closes_the_connection_at_once(server: MisbehavingServer, how: str) -> None:
    model = model_at(server.url("silent-in-the-middle"), timeout=60)
    before = asyncio.all_tasks()
    if how == "left early":
        async with aclosing(model.stream(asked())) as stream:  # type: ignore[type-var]
            await anext(stream)
    else:
        async with anyio.create_task_group() as group, aclosing(model.stream(asked())) as stream:  # type: ignore[type-var]
            async for _ in stream:
                group.cancel_scope.cancel()
    assert await anyio.to_thread.run_sync(server.exchanges[-1].hung_up.wait, 5)
    await model.close()
    await settle(before)


async def test_a_task_that_is_cancelled_while_it_waits_for_the_first_byte_closes_the_connection(
    server: MisbehavingServer,
) -> None:
    model, first = model_at(server.url("silent"), timeout=60), len(server.exchanges)
    task = asyncio.create_task(outcome_of(model, asked()))
    while len(server.exchanges) == first:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await anyio.to_thread.run_sync(server.exchanges[-1].hung_up.wait, 5)
    await model.close()


async def test_calls_side_by_side_do_not_mix(server: MisbehavingServer) -> None:
    model = model_at(server.url("byte-by-byte"))
    outcomes: list[Outcome] = []

    async def ask() -> None:
        outcomes.append(await outcome_of(model, asked()))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(ask)
    await model.close()
    assert [o.reply and o.reply.text for o in outcomes] == [TEXT] * 5


async def test_a_connection_is_used_again_for_the_next_call(server: MisbehavingServer) -> None:
    model = model_at(server.url("kept-open"))
    for _ in range(3):
        assert (await outcome_of(model, asked())).reply
    await model.close()
    assert len({id(x.sock) for x in server.exchanges[-3:]}) == 1


async def test_a_model_without_the_ability_says_so_before_anything_is_sent(server: MisbehavingServer) -> None:
    first = len(server.exchanges)
    for request, abilities, words in [
        (asked(grammar="root ::= [a-z]"), Abilities(), "cannot be held to a grammar"),
        (asked(prefix="Thought:"), Abilities(), "cannot go on from a prefix"),
        (asked(prefix="Thought:", grammar="root ::= [a-z]"), ALL_ABILITIES, "cannot apply a grammar behind a prefix"),
    ]:
        outcome = await at(server, "plain", request, abilities=abilities)
        assert words in str(outcome.error)
    assert len(server.exchanges) == first


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


async def test_a_server_that_is_not_there_is_named_with_what_to_check() -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    outcome = await outcome_of(model_at(url), asked())
    assert type(outcome.error) is ModelUnreachable
    assert str(outcome.error) == (
        f"cannot reach {url}: nothing listens there (is the server running, and is the port right?)"
    )


async def test_a_host_that_does_not_exist_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    outcome = await outcome_of(model_at("http://no-such-host.invalid/v1"), asked())
    assert type(outcome.error) is ModelUnreachable
    assert "cannot reach http://no-such-host.invalid/v1: the host name is not known" in str(outcome.error)


async def test_https_to_a_server_that_speaks_http_says_so(server: MisbehavingServer) -> None:
    url = server.url("plain").replace("http:", "https:")
    outcome = await outcome_of(model_at(url), asked())
    assert type(outcome.error) is ModelUnreachable
    assert "TLS failed" in str(outcome.error)
    assert "try http://" in str(outcome.error)


async def test_this_machine_is_reached_without_the_proxy_of_the_environment(
    server: MisbehavingServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    monkeypatch.delenv("NO_PROXY", raising=False)
    assert (await at(server, "plain")).reply
    outcome = await outcome_of(model_at("http://no-such-host.invalid/v1"), asked())
    assert "nothing listens there" in str(outcome.error), "another machine goes through the proxy"


async def test_a_proxy_that_cannot_be_used_is_a_config_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "gopher://127.0.0.1:1")
    with pytest.raises(ConfigError, match="HTTP_PROXY"):
        await outcome_of(model_at("http://no-such-host.invalid/v1"), asked())


def test_a_model_serves_one_event_loop_after_another_without_being_closed(server: MisbehavingServer) -> None:
    model = model_at(server.url("kept-open"))
    for _ in range(3):
        outcome = asyncio.run(outcome_of(model, asked()))
        assert outcome.reply is not None
    gc.collect()  # a connection left open would be a ResourceWarning here


@pytest.mark.parametrize(
    ("url", "location", "price"),
    [
        ("http://127.0.0.1:8101/v1/", "http://127.0.0.1:8101/v1 (this machine)", "free (this machine)"),
        ("http://localhost:1/v1", "http://localhost:1/v1 (this machine)", "free (this machine)"),
        ("http://[::1]:1/v1", "http://[::1]:1/v1 (this machine)", "free (this machine)"),
        ("https://api.example.com/v1", "https://api.example.com/v1 (remote)", "price unknown"),
        ("https://u:secret@api.example.com/v1?key=secret", "https://api.example.com/v1 (remote)", "price unknown"),
        ("http://127.0.0.1.example.com/v1", "http://127.0.0.1.example.com/v1 (remote)", "price unknown"),
    ],
)
def test_it_says_where_it_runs_and_what_it_costs_without_secrets(url: str, location: str, price: str) -> None:
    model = model_at(url)
    assert (model.location, str(model.price)) == (location, price)
    shown = repr(model) + repr(model._endpoint)
    assert "secret" not in shown
    assert KEY not in shown


async def test_a_query_in_the_base_url_is_sent_and_never_shown(server: MisbehavingServer) -> None:
    assert (await at_url(server.url("plain") + "?key=planted")).reply
    outcome = await at_url(server.url("gone") + "?key=planted")
    assert "there is no oddity at /gone/v1/chat/completions?key=[redacted]" in str(outcome.error)


async def at_url(url: str) -> Outcome:
    model = model_at(url)
    try:
        return await outcome_of(model, asked())
    finally:
        await model.close()


@pytest.mark.parametrize(
    "url", ["", "localhost:8080/v1", "ftp://h/v1", "http://", "http:///v1", "http://[::1/v1", "h\x00"]
)
def test_a_base_url_that_is_none_is_a_config_error(url: str) -> None:
    with pytest.raises(ConfigError, match="base URL"):
        model_at(url)


@pytest.mark.parametrize("key", ["sk-ключ", "sk-a\nb", "sk-\x00"])
def test_a_key_that_cannot_be_sent_is_a_config_error_that_does_not_show_it(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        OpenAICompatModel("openai:m", "http://127.0.0.1/v1", "m", key)
    assert key not in str(caught.value)
    assert "sk-" not in json.dumps(str(caught.value))


async def test_tokens_cannot_be_counted_here() -> None:
    assert await model_at("http://127.0.0.1/v1").count_tokens("text") is None
