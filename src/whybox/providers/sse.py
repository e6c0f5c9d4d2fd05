"""Server-sent events, read from bytes as they arrive. Pure.

Follows https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream with one difference:
an event that is still open when the stream ends is delivered, because many model servers end without the last blank
line. ``id`` and ``retry`` are read over: a model's reply cannot be taken up again in the middle.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple

_LINE_END = re.compile(r"\r\n?|\n")


class ServerSentEvent(NamedTuple):
    """One event: its data (lines joined by a line feed) and its type."""

    data: str
    event: str = "message"


class EventTooLong(ValueError):
    """One event is longer than the decoder may keep in memory."""


class SSEDecoder:
    """Turns bytes, cut anywhere, into events.

    Args:
        limit: longest event, in characters.
    """

    def __init__(self, limit: int = 8 * 2**20) -> None:
        self._limit = limit
        # The "-sig" codec drops the byte order mark that the standard allows at the beginning.
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._line: list[str] = []
        self._data: list[str] = []
        self._event = ""
        self._size = 0
        self._after_cr = False

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Take the next bytes and return the events that are complete now.

        A byte that is not UTF-8 becomes one U+FFFD; the text around it is kept.

        Raises:
            EventTooLong: an event is longer than the limit.
        """
        return self._text(self._utf8.decode(data))

    def close(self) -> list[ServerSentEvent]:
        """Return the event that was still open when the stream ended, if there is one."""
        events = self._text(self._utf8.decode(b"", final=True))
        return events + self._lines(["", "", ""])

    def _text(self, text: str) -> list[ServerSentEvent]:
        if not text:
            return []
        # A line ends at its CR at once; an LF that comes with the next bytes belongs to it.
        if self._after_cr and text[0] == "\n":
            text = text[1:]
        self._after_cr = text.endswith("\r")
        return self._lines(_LINE_END.split(text))

    def _lines(self, lines: list[str]) -> list[ServerSentEvent]:
        events = []
        for index, part in enumerate(lines):
            if index:
                line, self._line = "".join(self._line), []
                if event := self._take(line):
                    events.append(event)
            if part:
                self._line.append(part)
                self._size += len(part)
                if self._size > self._limit:
                    raise EventTooLong(f"an event is longer than {self._limit} characters")
        return events

    def _take(self, line: str) -> ServerSentEvent | None:
        if not line:
            event = ServerSentEvent("\n".join(self._data), self._event or "message") if self._data else None
            self._data, self._event, self._size = [], "", 0
            return event
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            self._data.append(value)
        elif field == "event":
            self._event = value
        else:
            self._size -= len(line)  # comments and other fields are not kept
        return None
