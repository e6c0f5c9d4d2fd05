"""How lines leave the process: valid in the encoding of standard output, and without surprises for a terminal."""

from __future__ import annotations

import json
import sys
from typing import Any

from whybox.views.printable import printable


def print_json(data: dict[str, Any]) -> None:
    """Print ``data`` as one line of JSON, escaped where standard output's encoding has no such character."""
    text = json.dumps(data, ensure_ascii=False, default=str)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(data, default=str)
    print(text, flush=True)  # noqa: T201


def print_text(text: str) -> None:
    """Print what a model or a tool wrote."""
    print(printable(text), flush=True)  # noqa: T201


def one_line(text: str) -> str:
    """Return ``text`` as one line that is safe to print."""
    return " ".join(printable(text).split())


def read_text() -> str:
    """Return all of standard input: UTF-8 whatever the locale, or else in the locale's encoding."""
    data = sys.stdin.buffer.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode(sys.stdin.encoding or "utf-8", "replace")
