"""Models behind any server that speaks OpenAI's chat completions, by a thin streaming client of our own.

What is sent is written in ``openai_body``, what comes is read in ``openai_stream`` and put together in
``openai_reply`` (all pure), the wording of errors is in ``openai_errors``; here is what connects them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, TypeVar

import anyio
import httpx2

from whybox.errors import ModelError
from whybox.ports import Abilities, Chunk, Price, Reply, Request
from whybox.providers.http_client import ClientPerLoop, Endpoint
from whybox.providers.openai_body import Body, BodyWriter, EmptyContent, ReasoningBack
from whybox.providers.openai_chunks import Fault, fault_of
from whybox.providers.openai_errors import Faults, refuses_tools
from whybox.providers.openai_reply import ReplyBuilder
from whybox.providers.openai_stream import BrokenReply, NotChat, ReplyReader, ReportedFault
from whybox.providers.retry_after import retry_after
from whybox.providers.secrets import Secrets

USAGE_SECONDS = 2.0
"""How long a whole reply waits for the usage that may follow it."""

DRAIN_SECONDS = 0.1
"""How long the end of the body is waited for behind the reply, so that the connection can be used again."""

MAX_ERROR_BODY = 64 * 1024
_REFUSALS = (400, 422)
T = TypeVar("T")


class OpenAICompatModel:
    """A model behind an OpenAI-compatible server.

    Args:
        name: ``provider:name``, as the user wrote it.
        base_url: the server's address, usually ending in ``/v1``.
        model: the model's name at that server.
        api_key: sent as a bearer token; never shown.
        timeout: the longest wait for a part of the reply, in seconds. Keep-alives do not count as one.
        extra_headers: sent with each request; their values are never shown.
        abilities: what this server can do with this model.
        price: what it costs; None for free on this machine and unknown elsewhere.
        empty_content: the content of a message that has calls and no text: some servers refuse null, others ``""``.
        reasoning_back: whether the model's reasoning is sent back beside the calls that it led to, as
            ``reasoning_content``; some servers demand it, others refuse it.
        extra_body: fields that are put into every request, such as vLLM's ``continue_final_message``, which is only
            sent with a prefix.
        key_name: the environment variable that the key is set by, for hints.

    Raises:
        ConfigError: the base URL, the key or a header cannot be used.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        model: str,
        api_key: str | None = None,
        *,
        timeout: float = 60.0,
        extra_headers: Mapping[str, str] | None = None,
        abilities: Abilities | None = None,
        price: Price | None = None,
        empty_content: EmptyContent = "null",
        reasoning_back: ReasoningBack = "never",
        extra_body: Mapping[str, Any] | None = None,
        key_name: str = "WHYBOX_API_KEY",
    ) -> None:
        endpoint = Endpoint.of(base_url, api_key, extra_headers or {})
        self.name = name
        self.location = f"{endpoint.where} ({'this machine' if endpoint.local else 'remote'})"
        self.price = price or (Price(input=0, output=0, note="this machine") if endpoint.local else Price())
        self.abilities = abilities or Abilities()
        self._timeout = timeout
        self._endpoint = endpoint
        secrets = Secrets(endpoint.secrets)
        secrets.keep_from_logs()
        self._faults = Faults(endpoint.where, model, secrets, key_name)
        self._clients = ClientPerLoop(endpoint.client)
        self._writer = BodyWriter(model, empty_content, reasoning_back, extra_body or {})
        if not self.abilities.stop:
            self._writer.refused.add("stop")

    def __repr__(self) -> str:
        return f"OpenAICompatModel({self.name!r}, {self.location!r})"

    async def stream(self, request: Request) -> AsyncIterator[Chunk | Reply]:
        """Yield the reply in pieces, then whole.

        Stop strings are honoured here even if the server does not know them, and a prefix that the server repeats is
        removed. What a server refuses and is not needed for the reply is left out, now and later, and noted in the
        reply. Leaving early closes the connection.

        Raises:
            ModelUnreachable: no connection, or the server refused.
            ModelTimeout: the server was silent for too long.
            ModelBroken: the reply ended before it was whole.
            ContextOverflow: the prompt is too long for the model.
            ModelError: the model cannot do what was asked.
        """
        self._check(request)
        patience = _Patience(self._timeout)
        response, body = await self._open(request, patience)
        builder = ReplyBuilder(request, body.names)
        try:
            async with aclosing(self._chunks(response, builder, patience)) as chunks:
                async for chunk in chunks:
                    yield chunk
        finally:
            await _close(response)
        for chunk in builder.rest():
            yield chunk
        yield builder.reply(body.notes)

    async def count_tokens(self, text: str) -> int | None:
        """Return None: the tokenizer is at the server."""
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self._clients.close()

    def _check(self, request: Request) -> None:
        if request.grammar is not None and not self.abilities.grammar:
            raise ModelError(f"{self.name} cannot be held to a grammar", "use --mode text")
        if request.prefix and not self.abilities.prefix:
            raise ModelError(f"{self.name} cannot go on from a prefix", "ask without one")
        if request.prefix and request.grammar is not None:
            # llama.cpp applies a grammar to what it writes, not to a prefix: it would begin the step again.
            raise ModelError(f"{self.name} cannot apply a grammar behind a prefix", "use one of the two")

    async def _open(self, request: Request, patience: _Patience) -> tuple[httpx2.Response, Body]:
        """Return the server's answer to ``request``, with its body still to come, and what was sent."""
        while True:
            body = self._writer.write(request)
            response = await self._send(body.fields, patience)
            if response.status_code == httpx2.codes.OK:
                return response, body
            status, fault = response.status_code, await self._read_fault(response, patience)
            if not self._writer.learn(status, fault, body):
                if request.tools and refuses_tools(fault):
                    raise self._faults.no_tools(fault)
                wait = retry_after(response.headers, datetime.now(UTC))
                hint = self._writer.setting_for(fault, body) if status in _REFUSALS else ""
                raise self._faults.refused(status, fault, hint, wait)

    async def _send(self, body: Mapping[str, Any], patience: _Patience) -> httpx2.Response:
        client = await self._clients.get()
        content = json.dumps(body, ensure_ascii=False).encode()
        sent = client.build_request("POST", self._endpoint.url, content=content, headers=self._endpoint.headers)
        try:
            return await patience.wait(client.send(sent, stream=True))
        except TimeoutError as error:
            raise self._faults.too_slow(self._timeout, begun=False) from error
        except httpx2.RequestError as error:
            raise self._faults.unreachable(error) from error

    async def _read_fault(self, response: httpx2.Response, patience: _Patience) -> Fault:
        data = b""
        try:
            async with aclosing(response.aiter_bytes()) as body:
                while len(data) < MAX_ERROR_BODY and (more := await patience.wait(anext(body, None))):
                    data += more
        except (TimeoutError, httpx2.RequestError):
            pass  # the status alone says what is wrong; what there is of the body is shown with it
        finally:
            await _close(response)
        text = data.decode(errors="replace")
        try:
            fault = fault_of(json.loads(text))
        except (ValueError, RecursionError):
            fault = None
        location = response.headers.get("location", "")
        return fault or Fault(location or ("" if text.lstrip().startswith("<") else text))

    async def _chunks(
        self, response: httpx2.Response, builder: ReplyBuilder, patience: _Patience
    ) -> AsyncGenerator[Chunk, None]:
        """Yield what may be shown of the body until the reply is whole, or a stop string has ended it."""
        reader = builder.reader
        try:
            async with aclosing(response.aiter_bytes()) as body:
                while (data := await self._next(body, reader, patience)) is not None:
                    news = reader.news
                    for chunk in builder.feed(data):
                        yield chunk
                    if builder.cut:
                        return
                    if reader.done:
                        patience.renew(min(self._timeout, DRAIN_SECONDS))
                        while await self._next(body, reader, patience) is not None:
                            pass
                        break
                    if reader.news > news:
                        patience.renew(min(self._timeout, USAGE_SECONDS) if reader.ended else self._timeout)
            for chunk in builder.close():
                yield chunk
        except BrokenReply as error:
            raise self._faults.broken(str(error), temporary=error.temporary) from error
        except NotChat as error:
            raise self._faults.not_chat(str(error)) from error
        except ReportedFault as error:
            # Not "from error": its words are the server's, as they came, and may hold the key.
            raise self._faults.reported(error.fault, begun=reader.news > 0) from None

    async def _next(self, body: AsyncIterator[bytes], reader: ReplyReader, patience: _Patience) -> bytes | None:
        try:
            return await patience.wait(anext(body, None))
        except TimeoutError as error:
            if reader.ended:
                return None
            raise self._faults.too_slow(self._timeout, begun=reader.news > 0) from error
        except httpx2.RequestError as error:
            if reader.ended:
                return None
            damaged = isinstance(error, httpx2.DecodingError)
            raise self._faults.broken("its compression is damaged" if damaged else "the connection was lost") from error


class _Patience:
    """Bounds how long is waited for something useful. The time that our own reader takes does not count."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds

    def renew(self, seconds: float) -> None:
        self._left = seconds

    async def wait(self, awaitable: Awaitable[T]) -> T:
        begun = anyio.current_time()
        try:
            with anyio.fail_after(self._left):
                return await awaitable
        finally:
            self._left = max(0.0, self._left - (anyio.current_time() - begun))


async def _close(response: httpx2.Response) -> None:
    # Also when the task is being cancelled: the server shall notice at once that nobody listens any more.
    with anyio.move_on_after(1, shield=True):
        await response.aclose()
