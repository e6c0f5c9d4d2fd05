"""Whether a text has come to stand inside a string: of JSON, or between triple quotation marks."""

from __future__ import annotations

import re

_JSON = re.compile(r"[\"\\{}\[\]]")
_TRIPLE = re.compile(r"\"\"\"|'''")


class StringState:
    """Follows a text that comes in whole lines.

    A text that begins with ``{`` or ``[`` is followed as JSON, other text for triple quotation marks only.

    Args:
        json_only: leave other text alone.
    """

    def __init__(self, *, json_only: bool = False) -> None:
        self._json: bool | None = None
        self._json_only = json_only
        self._depth = 0
        self._quote = ""

    @property
    def inside(self) -> bool:
        """The text stands inside a string that is open."""
        return bool(self._quote)

    @property
    def begun(self) -> bool:
        """Anything but white space has come."""
        return self._json is not None

    @property
    def open(self) -> bool:
        """The text stands inside a string, an object or a list."""
        return bool(self._quote) or self._depth > 0

    def feed(self, text: str) -> None:
        """Take the next lines."""
        if self._json is None:
            lean = text.lstrip("\ufeff\u200b \t\r\n")
            if not lean:
                return
            self._json = lean[0] in "{["
        if self._json:
            self._follow_json(text)
        elif not self._json_only:
            self._follow_triple(text)

    def _follow_json(self, text: str) -> None:
        at = 0
        while (found := _JSON.search(text, at)) is not None:
            at, char = found.end(), found[0]
            if char == "\\":
                at += 1
            elif char == '"':
                self._quote = "" if self._quote else char
            elif not self._quote:
                self._depth += 1 if char in "{[" else -1

    def _follow_triple(self, text: str) -> None:
        for found in _TRIPLE.finditer(text):
            if not self._quote:
                self._quote = found[0]
            elif self._quote == found[0]:
                self._quote = ""
