"""The body of a chat completion, from bytes to pieces. Pure: nothing here knows of connections.

It reads a stream of server-sent events, and a plain JSON completion from servers that do not stream although they
were asked to.
"""

from __future__ import annotations

import json
from typing import Any, Literal

from whybox.events import Usage
from whybox.providers.openai_chunks import Fault, Piece, fault_of, piece_of
from whybox.providers.openai_usage import together
from whybox.providers.sse import EventTooLong, ServerSentEvent, SSEDecoder

MAX_JSON = 32 * 2**20
_CUT_BY_LENGTH = ("length", "max_tokens", "max_output_tokens")
_NOT_WHOLE = {
    "content_filter": "the server's content filter ended the reply",
    "insufficient_system_resource": "the server ran out of resources",
    "error": "the server failed while it was writing the reply",
}


class BrokenReply(Exception):
    """The body is not a whole reply; the message says why.

    Args:
        message: why.
        temporary: asked again, the server may send a whole one.
    """

    def __init__(self, message: str, *, temporary: bool = True) -> None:
        super().__init__(message)
        self.temporary = temporary


class NotChat(Exception):
    """The body is something else than a chat completion, such as a web page."""


class ReportedFault(Exception):
    """The server reported an error instead of going on."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class ReplyReader:
    """Reads one reply from its bytes, cut anywhere.

    Attributes:
        finish: the server's reason for the end, once it has given one.
        usage: what the server has said of usage so far.
        done: the server has said ``[DONE]``; nothing follows.
        news: how many chunks held a part of the reply, so that a caller can tell progress from keep-alives.
    """

    def __init__(self) -> None:
        self.finish: str | None = None
        self.usage = Usage()
        self.done = False
        self.news = 0
        self._sse = SSEDecoder()
        self._json: list[bytes] | None = None
        self._size = 0
        self._begun = False

    @property
    def ended(self) -> bool:
        """The reply is whole, whatever may still follow (usage, keep-alives, a lost connection)."""
        return self.news > 0 and (self.finish is not None or self.done)

    @property
    def finished_by(self) -> Literal["stop", "length"]:
        """What ended the reply: its own end, or the token limit."""
        return "length" if self.finish in _CUT_BY_LENGTH else "stop"

    def feed(self, data: bytes) -> list[Piece]:
        """Take the next bytes and return the pieces of the reply in them.

        Raises:
            BrokenReply: this cannot become a whole reply any more.
            NotChat: this is not a chat completion.
            ReportedFault: the server reported an error.
        """
        if not self._begun:
            data = data.lstrip()
            self._begin(data)
        if self._json is not None:
            self._json.append(data)
            self._size += len(data)
            if self._size > MAX_JSON:
                raise BrokenReply(f"its JSON is longer than {MAX_JSON} bytes")
            return []
        try:
            return self._events(self._sse.feed(data))
        except EventTooLong as error:
            raise BrokenReply(str(error)) from error

    def close(self) -> list[Piece]:
        """Return the last pieces; the body has ended.

        Raises:
            BrokenReply: the body ended before the reply was whole.
            ReportedFault: the server reported an error.
        """
        if self._json is not None:
            pieces = self._chunk(_json(b"".join(self._json)))
            self.done = True
        else:
            pieces = self._events(self._sse.close())
        if not self.news:
            raise BrokenReply("the server sent no reply")
        if not self.ended:
            raise BrokenReply("the stream ended before the reply was whole")
        return pieces

    def _begin(self, data: bytes) -> None:
        """Tell by the first character what the body is: content types are often wrong, this is not."""
        self._begun = bool(data)
        if data.startswith((b"{", b"[")):
            self._json = []
        elif data.startswith(b"<"):
            raise NotChat("a web page")

    def _events(self, events: list[ServerSentEvent]) -> list[Piece]:
        pieces: list[Piece] = []
        for event in events:
            if self.done:
                break
            data = event.data.strip()
            if data == "[DONE]":
                self.done = True
            elif self.finish is not None:
                self._read_usage(data)
            elif data.startswith(("{", "[")):
                pieces += self._chunk(_json(data))
            elif event.event == "error":
                raise ReportedFault(Fault(data))
            # Anything else is a keep-alive: nothing that could be a chunk.
        return pieces

    def _chunk(self, data: Any) -> list[Piece]:
        if fault := fault_of(data):
            raise ReportedFault(fault)
        if not isinstance(data, dict):
            return []
        piece = piece_of(data)
        self.usage = together(self.usage, piece.usage)
        if not piece.said:
            return []
        self._take(piece)
        return [piece]

    def _read_usage(self, data: str) -> None:
        """Read what follows a whole reply: only its usage counts, and damage does no harm."""
        try:
            after = _json(data)
        except BrokenReply:
            return
        if isinstance(after, dict):
            self.usage = together(self.usage, piece_of(after).usage)

    def _take(self, piece: Piece) -> None:
        self.news += 1
        self.finish = piece.finish
        if piece.finish in _NOT_WHOLE:
            raise BrokenReply(_NOT_WHOLE[piece.finish], temporary=piece.finish != "content_filter")


def _json(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BrokenReply("the server sent JSON that is cut off or damaged") from error
