"""One completion of llama.cpp, under way in a thread, as an asynchronous stream."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any, TypeVar

from whybox.errors import ContextOverflow, ModelError
from whybox.events import Usage
from whybox.ports import Chunk, Reply
from whybox.providers.openai_tokens import RawToken, tokens_of, tokens_of_text

T = TypeVar("T")


async def in_daemon_thread(work: Callable[[], T]) -> T:
    """Run ``work`` in a thread that does not keep the process from ending, as those of an executor do."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(setter: Callable[[Any], None], value: object) -> None:
        if not done.done():
            setter(value)

    def run() -> None:
        try:
            outcome: tuple[Callable[[Any], None], object] = (done.set_result, work())
        except Exception as error:  # noqa: BLE001 - raised in the task that waits
            outcome = (done.set_exception, error)
        _tell(loop, settle, *outcome)

    threading.Thread(target=run, name="whybox-load", daemon=True).start()
    return await done


def _tell(loop: asyncio.AbstractEventLoop, callback: Callable[..., object], *values: object) -> None:
    with suppress(RuntimeError):  # the loop has been closed: nobody waits for this any more
        loop.call_soon_threadsafe(callback, *values)


class Completion:
    """One completion under way in a thread."""

    def __init__(self, server: Any, busy: threading.Lock, body: dict[str, Any]) -> None:
        self._server = server
        self._busy = busy
        self._body = body
        self._cancelled = threading.Event()
        self._loop = asyncio.get_running_loop()
        self._queue: asyncio.Queue[dict[str, Any] | Exception | None] = asyncio.Queue()

    def cancel(self) -> None:
        """Make llama.cpp stop at its next token or batch."""
        self._cancelled.set()

    async def items(self) -> AsyncGenerator[Chunk | Reply, None]:
        """Start, and yield what comes; the whole reply last, and none when it was cancelled."""
        threading.Thread(target=self._run, name="whybox-llama", daemon=True).start()
        text: list[str] = []
        tokens: list[RawToken] = []
        finish, usage = None, Usage()
        while (data := await self._queue.get()) is not None:
            if isinstance(data, Exception):
                raise ModelError(f"llama.cpp failed: {data}") from data
            _raise_error(data)
            if progress := data.get("prompt_progress"):
                yield Chunk(read=(int(progress["processed"]), int(progress["total"])))
            for choice in data.get("choices") or ():
                finish = choice.get("finish_reason") or finish
                tokens += tokens_of(data, choice)
                if choice.get("text"):
                    text.append(choice["text"])
                    yield Chunk(text=choice["text"])
            usage = _usage(data) or usage
        if finish:
            whole = "".join(text)
            kept = tokens_of_text(tokens, whole, 0, whole)
            yield Reply(text=whole, finish="length" if finish == "length" else "stop", usage=usage, tokens=kept)

    def _run(self) -> None:
        with self._busy:
            try:
                if not self._cancelled.is_set():
                    self._server.handle_completions(self._body, self._received)
            except Exception as error:  # noqa: BLE001 - handed to the task that waits for it
                self._put(error)
        self._put(None)

    def _received(self, data: dict[str, Any]) -> bool:
        self._put(data)
        return self._cancelled.is_set()

    def _put(self, item: dict[str, Any] | Exception | None) -> None:
        _tell(self._loop, self._queue.put_nowait, item)


def _raise_error(data: dict[str, Any]) -> None:
    error = data.get("error")
    if not error:
        return
    message = str(error.get("message", error) if isinstance(error, dict) else error)
    if isinstance(error, dict) and error.get("type") == "exceed_context_size_error":
        raise ContextOverflow(f"the prompt is too long for this model: {message}")
    raise ModelError(f"llama.cpp refused the request: {message}")


def _usage(data: dict[str, Any]) -> Usage | None:
    if not (usage := data.get("usage")):
        return None
    return Usage(
        prompt_tokens=usage.get("prompt_tokens"),
        cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens"),
        completion_tokens=usage.get("completion_tokens"),
    )
