"""JSON as models write it, read without guessing.

Well-formed JSON is read by :mod:`json`. What is left is read by a small reader that allows the slips models make and
names each one it met; where a slip leaves two readings it gives up. It walks the text once and keeps its own stack.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import dataclass, field
from typing import Any

_BLOCK = 4096
"""So many pieces are joined at once: a million small ones would take many times their text."""

_DEPTH = 200
"""Deeper nesting is refused. A tool's arguments do not need it, and others that read the event may recurse."""

_QUOTES = {'"': '"', "'": "'", "“": "”", "”": "”", "‘": "’", "`": "`", "「": "」", "＂": "＂"}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "n": "\n", "r": "\r", "t": "\t", "'": "'", "\n": "\n"}
_LITERALS = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
    "TRUE": True,
    "FALSE": False,
    "NULL": None,
    "undefined": None,
}
_PLAIN_LITERALS = frozenset({"true", "false", "null"})
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?\Z")
_LOOSE_NUMBER = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+)\Z")
_BARE = re.compile(r"[^\s,，:：{}｛｝\[\]()\"'“”`=][^,，:：{}｛｝\[\]()\"“”`\n=]{0,200}")
_COMMENT = r"(?:(?://|#)[^\n]{0,300}\n\s{0,200})?"
_KEY_AHEAD = re.compile(rf"\s{{0,200}}{_COMMENT}(?:[\"'“`]?[\w $.@-]{{1,80}}[\"'”`]?\s{{0,20}}[:：=]|[}}\],])")
_QUOTED_KEY = re.compile(r"[\"'“`][\w $.@-]{1,80}[\"'”`]\s{0,20}[:：]")
_BARE_KEY = re.compile(r"[\w$.@-]{1,100}")
_COLON = re.compile(r"=>|[:：=]")
_BEHIND_STRING = re.compile(r"//|/\*|#|\+\s{0,20}[\"']")
_LITTLE_COMMENT = re.compile(r"\s(?://|/\*|#)")
_CODE_POINT = re.compile(r"u[0-9a-fA-F]{4}")
_VALUE_AHEAD = re.compile(rf"\s{{0,200}}{_COMMENT}(?:[\"'“`\[\]{{\d,-]|true|false|null|True|False|None)")
_SPACE = re.compile(r"[\s\ufeff\u200b]*")
_STOP = re.compile(r"[\\\"'“”‘’`「」＂\n\t\r]")
_WINDOWS_PATH = re.compile(r"[A-Za-z]:\\")
_PREFIXED = re.compile(r"[rRuUbBfF]{1,2}(?=[\"'])")


class NotJson(Exception):
    """The text is not JSON, or can be read in two ways. ``cut`` says that it ends in the middle."""

    def __init__(self, why: str, *, cut: bool = False) -> None:
        super().__init__(why)
        self.cut = cut


@dataclass(frozen=True, slots=True)
class Json:
    """A value that was read: where it ends in the text, and the repairs that were needed."""

    value: Any
    end: int
    repairs: tuple[str, ...] = ()


def read_json(text: str, start: int = 0) -> Json:
    """Return the JSON value that begins at ``start``.

    Args:
        text: the text; anything may follow the value.
        start: where the value begins, at ``{``, ``[`` or a quotation mark.

    Raises:
        NotJson: there is no value, it ends in the middle, or it has two readings.
    """
    try:
        value, end = _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError, NotJson):
        return _Reader(*_outer_escape(text, start)).read()
    if _too_deep(value):
        raise NotJson("nested too deep")
    if _CONTROLS.search(text, start, end) and (again := _without_control(value)) != value:
        return Json(again, end, ("json_escapes",))
    return Json(value, end)


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs) and any(found[key] != value for key, value in pairs):
        raise NotJson("the same key twice with different values")
    return found


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_no_duplicates, parse_constant=str)
_CONTROLS = re.compile(r"\\[bf]")


def _too_deep(value: Any) -> bool:
    level, depth = [value], 0
    while level and depth <= _DEPTH:
        depth += 1
        below: list[Any] = []
        for each in level:
            if isinstance(each, dict):
                below += each.values()
            elif isinstance(each, list):
                below += each
        level = below
    return bool(level)


def _without_control(value: Any) -> Any:
    r"""Return ``value`` with backspace and form feed as ``\b`` and ``\f``: a regular expression was meant."""
    if isinstance(value, str):
        return value.replace("\b", "\\b").replace("\f", "\\f")
    if isinstance(value, list):
        return [_without_control(each) for each in value]
    if isinstance(value, dict):
        return {key: _without_control(each) for key, each in value.items()}
    return value


def _outer_escape(text: str, start: int) -> tuple[str, int, str | None]:
    r"""Undo what stands around the whole: ``{\"a\": 1}``, ``{&quot;a&quot;: 1}``, ``{{"a": 1}``."""
    head = text[start : start + 80]
    if re.match(r"[\[{]\s{0,20}\\\"", head):
        return text[start:].replace('\\"', '"').replace("\\\\", "\\"), 0, "json_twice"
    if re.match(r"[\[{]\s{0,20}&quot;", head):
        return html.unescape(text[start:]), 0, "json_entities"
    if re.match(r"\{\{\s{0,20}\"", head):
        # Some chat templates show the form of a call with the braces of their own language doubled.
        return text, start + 1, "json_braces"
    return text, start, None


@dataclass(slots=True)
class _Level:
    """An object or array that is open. ``key`` waits for its value."""

    closing: str
    items: list[Any] = field(default_factory=list)
    found: dict[str, Any] = field(default_factory=dict)
    key: str | None = None
    comma: bool = True  # whether the next item may come without a comma before it

    @property
    def value(self) -> Any:
        return self.found if self.closing == "}" else self.items


class _Reader:
    def __init__(self, text: str, start: int, repair: str | None) -> None:
        self._text = text
        self._at = start
        self._unescaped = repair is not None
        self._repairs: dict[str, None] = {repair: None} if repair else {}
        self._stack: list[_Level] = []

    def read(self) -> Json:
        """Return the value."""
        if self._text[self._at : self._at + 1] not in {"{", "[", "｛"}:
            raise NotJson("it begins with no bracket")
        while True:
            done, value = self._item()
            if done:
                # An outer escape changes the lengths, so that what follows the value is not looked at.
                end = len(self._text) if self._unescaped else self._at
                return Json(value, end, tuple(self._repairs))

    def _note(self, repair: str) -> None:
        self._repairs[repair] = None

    def _item(self) -> tuple[bool, Any]:
        """Take one bracket, key, value or separator; the first of the pair says that the whole is complete."""
        self._skip()
        if self._at >= len(self._text):
            return self._ended()
        char = self._text[self._at]
        if char in "{[｛(":
            return self._open(char)
        if not self._stack:
            raise NotJson("text where a bracket belongs")
        level = self._stack[-1]
        if char in "}])｝":
            return self._close(char)
        if char in ",，":
            self._at += 1
            if level.comma:
                self._note("json_commas")
            level.comma = True
            return False, None
        if level.closing == "}" and level.key is None:
            self._key(level)
            return False, None
        return self._add(self._value())

    def _open(self, char: str) -> tuple[bool, Any]:
        if len(self._stack) >= _DEPTH:
            raise NotJson("nested too deep")
        if self._stack:
            level = self._stack[-1]
            if level.closing == "}" and level.key is None:
                raise NotJson("an object where a key belongs")
            if not level.comma:
                self._note("json_commas")
        if char in "(｛":
            self._note("json_quotes")
        self._stack.append(_Level({"{": "}", "｛": "}", "[": "]", "(": ")"}[char]))
        self._at += 1
        return False, None

    def _close(self, char: str) -> tuple[bool, Any]:
        level = self._stack[-1]
        if ("}" if char == "｝" else char) != level.closing:
            raise NotJson(f"{char} where {level.closing} belongs")
        if level.key is not None:
            raise NotJson("a key without a value")
        if level.comma and (level.items or level.found):
            self._note("json_commas")
        self._at += 1
        self._stack.pop()
        return self._add(level.value, closed=True)

    def _add(self, value: Any, *, closed: bool = False) -> tuple[bool, Any]:
        if not self._stack:
            return True, value
        level = self._stack[-1]
        if not closed and level.closing != "}" and not level.comma:
            raise NotJson("two values with nothing between them")
        if level.closing == "}":
            if level.key in level.found and level.found[level.key] != value:
                raise NotJson("the same key twice with different values")
            level.found[level.key or ""] = value
            level.key = None
        else:
            level.items.append(value)
        level.comma = False
        return False, None

    def _key(self, level: _Level) -> None:
        if not level.comma:
            self._note("json_commas")
        char = self._text[self._at]
        if char in _QUOTES:
            key = self._string(key=True)
        else:
            bare = _BARE_KEY.match(self._text, self._at)
            if bare is None:
                raise NotJson(f"{char} where a key belongs")
            key, self._at = bare[0], bare.end()
            self._note("json_quotes")
        self._skip()
        colon = _COLON.match(self._text, self._at)
        if colon is None:
            raise NotJson("a key without a colon", cut=self._at >= len(self._text))
        if colon[0] != ":":
            self._note("json_colons")
        self._at = colon.end()
        level.key = key.strip() if char not in _QUOTES else key
        level.comma = True

    def _value(self) -> Any:
        char = self._text[self._at]
        raw = _PREFIXED.match(self._text, self._at)
        if raw and "f" not in raw[0].lower():
            self._at = raw.end()
            self._note("json_quotes")
            return self._string(raw="r" in raw[0].lower())
        if char in _QUOTES:
            return self._joined()
        bare = _BARE.match(self._text, self._at)
        if bare is None:
            raise NotJson(f"{char} where a value belongs")
        word = bare[0].rstrip()
        comment = _LITTLE_COMMENT.search(word)
        word = word[: comment.start()].rstrip() if comment else word
        self._at += len(word)
        return self._word(word)

    def _word(self, word: str) -> Any:
        if self._at >= len(self._text):
            raise NotJson("it ends in the middle", cut=True)
        if word in _LITERALS:
            if word not in _PLAIN_LITERALS:
                self._note("json_literals")
            return _LITERALS[word]
        if _NUMBER.match(word):
            return json.loads(word)
        if _LOOSE_NUMBER.match(word):
            self._note("json_numbers")
            return float(word)
        if "..." in word or "…" in word:
            raise NotJson("something was left out")
        # Such as 01067: what is not a number is kept as it was written.
        self._note("json_quotes")
        return word

    def _joined(self) -> str:
        """Return a string, and what is joined to it with ``+``."""
        text = self._string()
        while True:
            here = self._at
            self._skip()
            if self._text[self._at : self._at + 1] != "+":
                self._at = here
                return text
            self._at += 1
            self._skip()
            if self._text[self._at : self._at + 1] not in _QUOTES:
                raise NotJson("a + that joins no string")
            self._note("json_joined")
            text += self._string()

    def _string(self, *, key: bool = False, raw: bool = False) -> str:
        text, quote = self._text, self._text[self._at]
        if text.startswith(quote * 3, self._at) and quote in "\"'":
            return self._triple(quote * 3)
        if quote != '"':
            self._note("json_quotes")
        closing = _QUOTES[quote]
        start = index = self._at + 1
        inner = 0
        while True:
            found = _STOP.search(text, index)
            if found is None:
                raise NotJson("it ends in the middle of a string", cut=inner == 0)
            index, char = found.start(), found[0]
            if char == "\\":
                index += 2
                continue
            if char == closing or (quote == "“" and char == '"'):
                if self._closes(index + 1, key=key):
                    break
                if key:
                    raise NotJson("a key without a colon")
                inner += 1
            elif char in "\n\t\r" and not key:
                self._note("json_newlines")
            elif key and char == "\n":
                raise NotJson("a key over two lines")
            index += 1
        if inner:
            if inner % 2 and closing not in "'’":
                raise NotJson("a quotation mark in a string that belongs to nothing")
            self._note("json_inner_quotes")
        self._at = index + 1
        body = text[start:index]
        return body if raw else self._unescape(body)

    def _closes(self, at: int, *, key: bool) -> bool:
        """Whether the quotation mark before ``at`` ends its string: what follows says so."""
        text, level = self._text, self._stack[-1]
        behind, at = at, _SPACE.match(text, at).end()  # type: ignore[union-attr]
        if at >= len(text):
            return True
        char = text[at]
        if key:
            return char in ":：="
        if char in ",，":
            ahead = _KEY_AHEAD if level.closing == "}" else _VALUE_AHEAD
            return _SPACE.match(text, at + 1).end() >= len(text) or ahead.match(text, at + 1) is not None  # type: ignore[union-attr]
        if char in "}])｝":
            return ("}" if char == "｝" else char) == level.closing
        if char in "/#+":
            return _BEHIND_STRING.match(text, at) is not None
        if level.closing != "}":
            return char in _QUOTES
        if _QUOTED_KEY.match(text, at) is not None:
            return True
        if char in _QUOTES and at > behind:
            raise NotJson("two values with nothing between them")
        return False

    def _triple(self, quotes: str) -> str:
        end = self._text.find(quotes, self._at + 3)
        if end < 0:
            raise NotJson("it ends in the middle of a string", cut=True)
        body = self._text[self._at + 3 : end]
        self._at = end + 3
        self._note("json_quotes")
        return body

    def _unescape(self, body: str) -> str:
        if "\\" not in body:
            return body
        literal = _WINDOWS_PATH.match(body) is not None and "\\\\" not in body
        out: list[str] = []
        blocks: list[str] = []
        index = 0
        while (slash := body.find("\\", index)) >= 0:
            out.append(body[index:slash])
            if len(out) > _BLOCK:
                blocks.append("".join(out))
                out.clear()
            char = body[slash + 1 : slash + 2]
            code = _CODE_POINT.match(body, slash + 1)
            if code and not literal:
                out.append(chr(int(code[0][1:], 16)))
                index = code.end()
            elif char in _ESCAPES and char and not (literal and char in "nrt"):
                if char in "'\n":
                    self._note("json_escapes")
                out.append(_ESCAPES[char])
                index = slash + 2
            else:
                self._note("json_escapes")
                out.append("\\" + char)
                index = slash + 2
        out.append(body[index:])
        text = "".join([*blocks, *out])
        # Two escapes of four digits may be the halves of one character.
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace") if "\\u" in body else text

    def _skip(self) -> None:
        """Pass over white space and comments."""
        text = self._text
        while True:
            self._at = _SPACE.match(text, self._at).end()  # type: ignore[union-attr]
            if text.startswith(("//", "#"), self._at):
                newline = text.find("\n", self._at)
                self._at = len(text) if newline < 0 else newline
            elif text.startswith("/*", self._at):
                end = text.find("*/", self._at + 2)
                if end < 0:
                    raise NotJson("a comment that does not end", cut=True)
                self._at = end + 2
            else:
                return
            self._note("json_comments")

    def _ended(self) -> tuple[bool, Any]:
        """Close what is still open, when no key, value or comma is left half-written."""
        if not self._stack:
            raise NotJson("it is empty")
        if self._stack[-1].key is not None or self._stack[-1].comma or "json_inner_quotes" in self._repairs:
            raise NotJson("it ends in the middle", cut=True)
        self._note("json_closed")
        value: Any = None
        while self._stack:
            level = self._stack.pop()
            value = level.value
            if self._stack:
                self._add(value, closed=True)
        return True, value
