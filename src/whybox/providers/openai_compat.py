"""Models behind any server that speaks OpenAI's chat completions, by a thin streaming client of our own.

The protocol is in ``openai_stream`` (pure), the wording of errors in ``openai_errors``; here is what connects them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import aclosing
from typing import Any, TypeVar

import anyio
import httpx2

from whybox.errors import ModelError
from whybox.ports import Abilities, Chunk, Reply, Request
from whybox.providers.http_client import ClientPerLoop, Endpoint
from whybox.providers.openai_chunks import Fault, fault_of
from whybox.providers.openai_errors import Faults, blames, is_overflow
from whybox.providers.openai_stream import BrokenReply, NotChat, ReplyReader, ReportedFault
from whybox.providers.reply_text import ReplyText, scalar

USAGE_SECONDS = 2.0
"""How long a whole reply waits for the usage that may follow it."""

DRAIN_SECONDS = 0.1
"""How long the end of the body is waited for behind the reply, so that the connection can be used again."""

MAX_ERROR_BODY = 64 * 1024
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
    ) -> None:
        endpoint = Endpoint.of(base_url, api_key, extra_headers or {})
        self.name = name
        self.location = f"{endpoint.where} ({'this machine' if endpoint.local else 'remote'})"
        self.price = "free (this machine)" if endpoint.local else "unknown"
        self.abilities = abilities or Abilities()
        self._model = model
        self._timeout = timeout
        self._endpoint = endpoint
        self._faults = Faults(endpoint.where, model, endpoint.secrets)
        self._clients = ClientPerLoop(endpoint.client)
        self._unwanted: set[str] = set()

    def __repr__(self) -> str:
        return f"OpenAICompatModel({self.name!r}, {self.location!r})"

    async def stream(self, request: Request) -> AsyncIterator[Chunk | Reply]:
        """Yield the reply in pieces, then whole.

        Stop strings are honoured here even if the server does not know them, and a prefix that the server repeats is
        removed. Leaving early closes the connection.

        Raises:
            ModelUnreachable: no connection, or the server refused.
            ModelTimeout: the server was silent for too long.
            ModelBroken: the reply ended before it was whole.
            ContextOverflow: the prompt is too long for the model.
            ModelError: the model cannot do what was asked.
        """
        self._check(request)
        patience, reader = _Patience(self._timeout), ReplyReader()
        text, parts = ReplyText(request.prefix, request.stop), list[str]()
        response = await self._open(request, patience)
        try:
            async with aclosing(self._pieces(response, reader, patience)) as pieces:
                async for piece in pieces:
                    if shown := text.feed(piece):
                        parts.append(shown)
                        yield Chunk(text=shown)
                    if text.cut:
                        break
        finally:
            await _close(response)
        if rest := text.close():
            parts.append(rest)
            yield Chunk(text=rest)
        finish = "stop" if text.cut else reader.finished_by
        yield Reply(text="".join(parts), finish=finish, usage=reader.usage)

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

    async def _open(self, request: Request, patience: _Patience) -> httpx2.Response:
        """Return the server's answer to ``request``, with its body still to come."""
        while True:
            body = self._body(request)
            response = await self._send(body, patience)
            if response.status_code == httpx2.codes.OK:
                return response
            fault = await self._read_fault(response, patience)
            if not self._learned(response.status_code, fault, body):
                raise self._faults.refused(response.status_code, fault)

    def _body(self, request: Request) -> dict[str, Any]:
        messages = [{"role": m.role, "content": scalar(m.content)} for m in request.messages]
        if request.prefix:
            messages.append({"role": "assistant", "content": scalar(request.prefix)})
        limit = "max_completion_tokens" if "max_tokens" in self._unwanted else "max_tokens"
        body: dict[str, Any] = {
            "model": self._model,
            "messages": messages,
            "temperature": request.temperature,
            limit: request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if stops := [stop for stop in request.stop if stop]:
            body["stop"] = stops
        if request.grammar is not None:
            body["grammar"] = request.grammar
        return {field: value for field, value in body.items() if field not in self._unwanted}

    def _learned(self, status: int, fault: Fault, body: Mapping[str, Any]) -> bool:
        """Note a field that this server does not want; only those without which the reply is the same."""
        if status not in (400, 422) or is_overflow(fault):
            return False
        field = next((name for name in ("stop", "stream_options") if name in body and blames(fault, name)), None)
        if field is None and "max_tokens" in body and "max_completion_tokens" in fault.message:
            field = "max_tokens"
        if field is None:
            return False
        self._unwanted.add(field)
        return True

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

    async def _pieces(
        self, response: httpx2.Response, reader: ReplyReader, patience: _Patience
    ) -> AsyncGenerator[str, None]:
        """Yield the pieces of text in the body until the reply is whole."""
        try:
            async with aclosing(response.aiter_bytes()) as body:
                while (data := await self._next(body, reader, patience)) is not None:
                    news = reader.news
                    for text in reader.feed(data):
                        yield text
                    if reader.done:
                        patience.renew(min(self._timeout, DRAIN_SECONDS))
                        while await self._next(body, reader, patience) is not None:
                            pass
                        break
                    if reader.news > news:
                        patience.renew(min(self._timeout, USAGE_SECONDS) if reader.ended else self._timeout)
            for text in reader.close():
                yield text
        except BrokenReply as error:
            raise self._faults.broken(str(error)) from error
        except NotChat as error:
            raise self._faults.not_chat(str(error)) from error
        except ReportedFault as error:
            raise self._faults.reported(error.fault, begun=reader.news > 0) from error

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
