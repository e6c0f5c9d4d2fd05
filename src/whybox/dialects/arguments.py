"""From the input a model wrote to a tool's arguments by name."""

from __future__ import annotations

import json
import re
from typing import Any

from whybox.ports import ToolSpec

_FENCE = re.compile(r"```[\w+-]*[ \t]*\n?")
_PAIR = re.compile(r"\s*([^\W\d]\w*)\s*[=:：]\s*")
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "`": "`", "「": "」"}
_OPEN = {"(": ")", "[": "]", "{": "}"}


def arguments(tool: ToolSpec, text: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the arguments in ``text`` and the names of the repairs that were needed.

    A tool with one parameter takes the whole text; one with several takes a JSON object, ``name=value`` pairs or values
    in order. Values are not checked here: the tool does that, and says what is wrong in its own words.
    """
    names = list(tool.parameters.get("properties", {}))
    text, repairs = unfenced(text)
    if not names or not text:
        return {}, repairs
    if (given := json_object(text)) is not None and (found := _from_object(names, given)) is not None:
        return found, repairs
    if len(names) == 1:
        value, more = _single(names[0], text)
        return {names[0]: value}, (*repairs, *more)
    return _several(tool, names, text), repairs


def unfenced(text: str) -> tuple[str, tuple[str, ...]]:
    """Return ``text`` stripped and without a code fence around the whole of it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```") and len(text) > 6:
        opening = _FENCE.match(text)
        return text[opening.end() if opening else 3 : -3].strip(), ("fence_removed",)
    return text, ()


def json_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that ``text`` is, or None."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def unquoted(text: str) -> str:
    """Return ``text`` without a pair of quotation marks around the whole of it."""
    if len(text) >= 2 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1] and text[-1] not in text[1:-1]:
        return text[1:-1]
    return text


def split_top(text: str) -> list[str]:
    """Split at the commas that stand in no quotation marks and no brackets."""
    parts: list[str] = []
    stack: list[str] = []
    start = 0
    for index, char in enumerate(text):
        if stack and char == stack[-1]:
            stack.pop()
        elif stack and stack[-1] in "\"'":
            continue
        elif char in _OPEN:
            stack.append(_OPEN[char])
        elif char in "\"'" and not text[start:index].strip():
            stack.append(char)
        elif char in ",，" and not stack:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def _from_object(names: list[str], given: dict[str, Any]) -> dict[str, Any] | None:
    if not given or set(given) & set(names):
        return given
    if len(names) == 1 and len(given) == 1:
        return {names[0]: next(iter(given.values()))}
    return given if len(names) > 1 else None


def _single(name: str, text: str) -> tuple[str, tuple[str, ...]]:
    repairs: tuple[str, ...] = ()
    pair = _PAIR.match(text)
    if pair and pair[1].lower() == name.lower() and "=" in pair[0]:
        text, repairs = text[pair.end() :].strip(), ("name_removed",)
    bare = unquoted(text)
    return bare, repairs if bare == text else (*repairs, "unquoted")


def _several(tool: ToolSpec, names: list[str], text: str) -> dict[str, Any]:
    parts = [part.strip() for part in split_top(text)]
    pairs = [_PAIR.match(part) for part in parts]
    lower = {name.lower(): name for name in names}
    if all(pair and pair[1].lower() in lower for pair in pairs):
        return {
            lower[pair[1].lower()]: unquoted(part[pair.end() :].strip())
            for pair, part in zip(pairs, parts, strict=True)
            if pair
        }
    if len(parts) > len(names) and _is_text(tool, names[-1]):
        head = parts[: len(names) - 1]
        parts = [*head, ", ".join(parts[len(names) - 1 :])]
    named = {name: unquoted(part) for name, part in zip(names, parts, strict=False)}
    extra = parts[len(names) :]
    return named | ({"": ", ".join(extra)} if any(extra) else {})


def _is_text(tool: ToolSpec, name: str) -> bool:
    return bool(tool.parameters["properties"][name].get("type") == "string")
