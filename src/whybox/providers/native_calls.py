"""Tools and native calls as vendors take them. Pure, and shared by the providers."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from whybox.ports import ToolSpec

LONGEST_NAME = 64
_SAFE = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]+")


def safe_names(names: Iterable[str]) -> dict[str, str]:
    """Return a name for each of ``names`` that every vendor takes: letters, digits, ``_`` and ``-``, at most 64.

    A name that is safe already stays as it is. The others are cleaned; where that leaves nothing, or the same of two
    names, a part of their hash makes them distinct, whatever order they come in.
    """
    given = list(dict.fromkeys(names))
    cleaned = {name: _cleaned(name) for name in given}
    times = Counter(cleaned.values())
    safe: dict[str, str] = {}
    for name in given:
        clear = cleaned[name] and (name == cleaned[name] or times[cleaned[name]] == 1)
        safe[name] = cleaned[name] if clear else _marked(cleaned[name], name, {*cleaned.values(), *safe.values()})
    return safe


def _cleaned(name: str) -> str:
    if _SAFE.fullmatch(name):
        return name
    return _UNSAFE.sub("_", name)[:LONGEST_NAME].strip("_")


def _marked(cleaned: str, name: str, taken: set[str]) -> str:
    digest = sha256(name.encode(errors="surrogatepass")).hexdigest()
    sizes = range(6, LONGEST_NAME - len("tool_"))
    found = (f"{(cleaned or 'tool')[: LONGEST_NAME - 1 - size]}_{digest[:size]}" for size in sizes)
    return next(each for each in found if each not in taken)


def description_of(tool: ToolSpec) -> str:
    """Return what a tool is for: in English, or in the first language there is."""
    return tool.in_language(tool.description, "en") or next(iter(tool.description.values()), "")


def arguments_object(arguments: str | dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call in the history as an object.

    Vendors refuse a whole request for arguments that are no JSON object, so text that is none is put into one.
    """
    if isinstance(arguments, dict):
        return arguments
    if not arguments.strip():
        return {}
    try:
        found = json.loads(arguments)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"input": arguments}
