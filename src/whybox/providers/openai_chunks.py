"""The JSON of chat completions as servers really send it. Pure.

Fields: https://platform.openai.com/docs/api-reference/chat-streaming, and what DeepSeek, llama.cpp, Moonshot, Mistral
and FastAPI based servers do differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whybox.dialects.messages import first_choice, part_of
from whybox.events import Usage


@dataclass(frozen=True)
class Fault:
    """What a server says went wrong. The text is the server's own and untrusted."""

    message: str
    code: str = ""
    param: str = ""


@dataclass(frozen=True)
class Piece:
    """What one chunk holds. ``said`` is False for a chunk without any part of a reply, such as one of usage only."""

    text: str = ""
    reasoning: str = ""
    finish: str | None = None
    usage: Usage | None = None
    said: bool = False


def piece_of(data: dict[str, Any]) -> Piece:
    """Return what a chunk of a stream, or a whole completion, holds; unknown and empty fields are no error."""
    usage = usage_of(data)
    choice = first_choice(data)
    if choice is None:
        return Piece(usage=usage)
    part = part_of(choice)
    return Piece(
        text=part.text,
        reasoning=part.reasoning,
        finish=part.finish,
        usage=usage or usage_of(choice),
        said=True,
    )


def fault_of(data: Any) -> Fault | None:
    """Return the error that ``data`` reports, or None when it reports none."""
    if isinstance(data, list):
        return fault_of(data[0]) if data else None
    if not isinstance(data, dict):
        return None
    error = data.get("error") or data.get("errors")
    if isinstance(error, list):
        error = error[0] if error else None
    if error is None and (data.get("object") == "error" or (not data.get("choices") and _words(data))):
        error = data
    if isinstance(error, dict):
        return Fault(_words(error), _codes(error), str(error.get("param") or ""))
    return Fault(str(error)) if error else None


def usage_of(data: dict[str, Any]) -> Usage | None:
    """Return the usage that ``data`` reports, or None when it reports none."""
    raw, timings = data.get("usage"), data.get("timings")
    usage = raw if isinstance(raw, dict) else {}
    timings = timings if isinstance(timings, dict) else {}
    details = usage.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    fresh, from_cache = _count(timings, "prompt_n"), _count(timings, "cache_n")
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    cached = [_count(details, "cached_tokens"), _count(usage, "prompt_cache_hit_tokens"), from_cache]
    if prompt is None and fresh is not None:
        prompt = fresh + (from_cache or 0)
    if completion is None:
        completion = _count(timings, "predicted_n")
    found = Usage(
        prompt_tokens=prompt,
        cached_tokens=next((count for count in cached if count is not None), None),
        completion_tokens=completion,
    )
    return None if found == Usage() else found


def _count(data: dict[str, Any], name: str) -> int | None:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return None
    return int(value)


def _words(error: dict[str, Any]) -> str:
    for name in ("message", "msg", "detail", "error_message"):
        value = error.get(name)
        if isinstance(value, list) and value:
            value = "; ".join(_validation(item) for item in value)
        elif isinstance(value, dict):
            value = _words(value)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _validation(item: Any) -> str:
    """Return one finding of a FastAPI server's request validation as words."""
    if not isinstance(item, dict):
        return str(item)
    where = item.get("loc")
    where = ".".join(str(part) for part in where) if isinstance(where, list) else ""
    return f"{where}: {_words(item)}" if where else _words(item)


def _codes(error: dict[str, Any]) -> str:
    return " ".join(str(error[name]) for name in ("code", "type", "status") if error.get(name))
