"""The JSON of chat completions as servers really send it. Pure.

Fields: https://platform.openai.com/docs/api-reference/chat-streaming, and what DeepSeek, llama.cpp, Moonshot, Mistral
and FastAPI based servers do differently.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from whybox.dialects.messages import first_choice, part_of
from whybox.events import Usage
from whybox.providers.openai_tokens import RawToken, tokens_of
from whybox.providers.openai_usage import usage_of


@dataclass(frozen=True)
class Fault:
    """What a server says went wrong. The text is the server's own and untrusted."""

    message: str
    code: str = ""
    param: str = ""


@dataclass(frozen=True)
class Piece:
    """What one chunk holds.

    Args:
        text: visible text; a refusal is the model's visible words too.
        reasoning: text on the reasoning channel.
        calls: native calls, or pieces of them.
        blocks: OpenRouter's form of the reasoning, or pieces of it.
        tokens: the tokens of the chunk, where the server sends them.
        finish: why the reply ended, if it has.
        usage: what was used so far.
        said: False for a chunk without any part of a reply, such as one of usage only.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[dict[str, Any], ...] = ()
    blocks: tuple[dict[str, Any], ...] = ()
    tokens: tuple[RawToken, ...] = ()
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
        text=part.text or part.refusal,
        reasoning=part.reasoning,
        calls=part.calls,
        blocks=part.blocks,
        tokens=tuple(tokens_of(data, choice)),
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
