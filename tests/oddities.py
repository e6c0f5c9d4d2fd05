"""What an oddity of the misbehaving server is made of."""

from __future__ import annotations

import json
import select
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Oddity = Callable[["Exchange"], None]
OPENAI: dict[str, Oddity] = {}
"""Oddities of servers that speak OpenAI's chat completions, at ``/NAME/v1/chat/completions``."""

ANTHROPIC: dict[str, Oddity] = {}
"""Oddities of servers that speak Anthropic's messages, at ``/NAME/v1/messages``."""

TEXT = "你好🍸, 6 × 7 = 42."
PIECES = ("你好", "🍸", ", 6 ×", " 7 =", " 42.")
USAGE = {"prompt_tokens": 31, "completion_tokens": 11, "total_tokens": 42}


def oddity(registry: dict[str, Oddity]) -> Callable[[Oddity], Oddity]:
    """Return a decorator that registers a function as the oddity of its name, with dashes."""

    def register(function: Oddity) -> Oddity:
        registry[function.__name__.strip("_").replace("_", "-")] = function
        return function

    return register


def event(data: Any, end: str = "\n\n") -> bytes:
    """Return ``data`` as one server-sent event."""
    return f"data: {json.dumps(data, ensure_ascii=False)}{end}".encode()


def chunk(text: Any = None, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Return one chunk of a streamed chat completion."""
    delta = {} if text is None else {"content": text}
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "c", "object": "chat.completion.chunk", "choices": [choice], **more}


@dataclass
class Exchange:
    """One request, and the means to answer it badly."""

    headers: dict[str, str]
    body: dict[str, Any]
    attempt: int
    sock: socket.socket
    stopping: threading.Event
    hung_up: threading.Event = field(default_factory=threading.Event)

    @property
    def words(self) -> str:
        """Return the last user message."""
        return next(m["content"] for m in reversed(self.body["messages"]) if m["role"] == "user")

    def raw(self, data: bytes) -> None:
        self.sock.sendall(data)

    def head(self, status: int = 200, kind: str = "text/event-stream", **headers: str) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Type: {kind}", "Connection: close"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.raw("\r\n".join([*lines, "", ""]).encode())

    def json(self, data: Any, status: int = 200, kind: str = "application/json", **headers: str) -> None:
        self.head(status, kind, **headers)
        self.raw(json.dumps(data).encode())

    def events(self, *items: Any) -> None:
        """Send items: bytes as they are, anything else as an event."""
        for item in items:
            self.raw(item if isinstance(item, bytes) else event(item))

    def stream(self, *items: Any) -> None:
        self.head()
        self.events(*items)

    def whole(self, *, stream: tuple[str, ...] = PIECES, last: tuple[Any, ...] = ()) -> None:
        """Send a faultless stream."""
        self.stream(*map(chunk, stream), chunk(finish="stop"), *last, DONE)

    def reset(self) -> None:
        """Reset the connection instead of closing it."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def wait_for_hang_up(self) -> None:
        """Wait until the client has closed the connection, or the server is being stopped."""
        while not self.stopping.is_set():
            if select.select([self.sock], [], [], 0.02)[0]:
                try:
                    if self.sock.recv(4096):
                        continue
                except ConnectionError:
                    pass
                self.hung_up.set()
                return


DONE = b"data: [DONE]\n\n"


def refuse(x: Exchange, message: str, status: int = 400, **more: Any) -> None:
    """Refuse a request in OpenAI's form."""
    x.json({"error": {"message": message, "type": "invalid_request_error", **more}}, status)


def ping(x: Exchange) -> None:
    """Send keep-alives until the client hangs up or the server is being stopped."""
    while not x.stopping.wait(0.02):
        try:
            x.raw(b": ping\n\n")
        except OSError:
            x.hung_up.set()
            return
