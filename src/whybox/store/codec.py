"""An event as the store keeps it: a row, the large texts beside it, and a prompt kept elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from whybox.errors import StoreError
from whybox.events import Asked, Event, Segment, from_data
from whybox.store.hashing import to_bytes, to_text

LARGE = 4096
"""Texts of at least this many characters are kept by content, so that equal ones take space once."""

DEEPEST = 200
"""How deep lists and objects may be nested: no further than every version of Python and pydantic can read."""

WHOLE = ""
"""The name under which a whole body is kept as a text, when a database's text column could not hold it."""


@dataclass(frozen=True, slots=True)
class Row:
    """What is stored of one event.

    Args:
        type: the event's type, for queries; the body has the exact one.
        body: its fields as JSON, without the prompt and the large texts.
        texts: the large texts by the name of their field, as bytes.
    """

    type: str
    body: str
    texts: Mapping[str, bytes] = field(default_factory=dict)


def encode(event: Event) -> Row:
    """Return the event as it is stored; the prompt of an :class:`~whybox.events.Asked` is left out.

    Raises:
        StoreError: a value in it has no JSON form.
    """
    try:
        # Not mode="json": that turns infinite numbers to null and fails on keys with lone surrogates.
        data = event.model_dump(exclude={"prompt"} if isinstance(event, Asked) else None)
        texts = {
            name: to_bytes(value)
            for name, value in data.items()
            if isinstance(value, str) and len(value) >= LARGE and name != "type" and name.isidentifier()
        }
        # A moved text leaves its name behind, so that the fields come back in their order.
        body = json.dumps(data | dict.fromkeys(texts), ensure_ascii=False, separators=(",", ":"))
        if body.count("[") + body.count("{") > DEEPEST and _depth(data) > DEEPEST:
            raise ValueError(f"it is nested deeper than {DEEPEST}")  # noqa: TRY301 - told like any other reason
    except (ValueError, TypeError, RecursionError) as error:
        raise StoreError(
            f"a {plain(event.type, 40)!r} event cannot be kept, because it has no JSON form"
            f" ({plain(str(error), 120)}); everything before it is kept",
            "give tools plain text, numbers, and lists and objects that are not nested too deep",
        ) from error
    if _fits_text_column(body):
        return Row(plain(event.type, 40), body, texts)
    return Row(plain(event.type, 40), "", {**texts, WHOLE: to_bytes(body)})


def decode(row: Row, prompt: tuple[Segment, ...] = ()) -> Event:
    """Return the event that ``row`` was made from.

    Raises:
        ValueError: the row was not made by :func:`encode`, or by a version whose events this one cannot read.
    """
    texts = {name: to_text(data) for name, data in row.texts.items()}
    data = json.loads(texts.pop(WHOLE, row.body))
    if not isinstance(data, dict):
        raise ValueError("the body is not an object")  # noqa: TRY004 - one kind of error for whatever is stored there
    data.update(texts)
    if data.get("type") != "asked":
        return from_data(data)
    # Segments are values already: checking them again would make reading a run quadratic in its steps.
    return from_data({**data, "prompt": ()}).model_copy(update={"prompt": prompt})


def why_unreadable(error: Exception) -> str:
    """Return in a few words why :func:`decode` could not read a row."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        return plain(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", 200)
    return plain(str(error), 200)


def plain(text: str, longest: int) -> str:
    """Return the text as any database and terminal can hold it: one line, valid Unicode, at most ``longest`` long."""
    line = " ".join(text[: longest * 4].split())
    shown = "".join("\ufffd" if c < " " or "\x7f" <= c <= "\x9f" or "\ud800" <= c <= "\udfff" else c for c in line)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _depth(value: object) -> int:
    level, depth = [value], 0
    while level:
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list | tuple)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        depth += 1
    return depth - 1


def _fits_text_column(body: str) -> bool:
    # JSON escapes control characters, so only lone surrogates are left that a text column refuses.
    try:
        body.encode()
    except UnicodeEncodeError:
        return False
    return True
