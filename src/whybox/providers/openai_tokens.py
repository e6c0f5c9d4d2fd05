"""The tokens of a reply and how likely they were, in the forms of OpenAI, its older completions and llama.cpp. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from whybox.events import Token
from whybox.providers.reply_text import scalar

NEVER = -9999.0
"""The log-probability of what cannot be: JSON has no infinity."""

_PLACES = 4


@dataclass(frozen=True, slots=True)
class RawToken:
    """A token as a server sent it.

    Args:
        token: it, as it is kept.
        data: its bytes in the text; a token may be a part of a character.
    """

    token: Token
    data: bytes


def tokens_of(data: dict[str, Any], choice: dict[str, Any]) -> list[RawToken]:
    """Return the tokens in a chunk or a completion; anything that is not understood has none.

    Args:
        data: the chunk or the completion.
        choice: the choice of it that counts.
    """
    said = choice.get("logprobs")
    said = said if isinstance(said, dict) else {}
    if isinstance(said.get("tokens"), list):
        return _legacy(said)
    content = said.get("content") or data.get("completion_probabilities")
    entries = content if isinstance(content, list) else []
    return [token for entry in entries if (token := _token(entry)) is not None]


def tokens_of_text(tokens: Sequence[RawToken], whole: str, start: int, kept: str) -> tuple[Token, ...]:
    """Return the tokens of ``kept``, the last one cut to its end.

    Args:
        tokens: of all that the server sent; there may be others before the text (reasoning) and behind it (its end).
        whole: the text as the server sent it.
        start: where in ``whole`` the kept text begins, in characters.
        kept: the text that was kept.
    """
    at = b"".join(token.data for token in tokens).rfind(whole.encode())
    if at < 0:
        # The server spells its tokens in another way than its text, so they can only be kept as a whole.
        return tuple(token.token for token in tokens) if kept == whole else ()
    first = at + len(whole[:start].encode())
    end = first + len(kept.encode())
    found: list[Token] = []
    position = 0
    for raw in tokens:
        begin, position = position, position + len(raw.data)
        if position <= first or begin >= end:
            continue
        text, logprob, likely = raw.token
        if begin < first or position > end:
            text = raw.data[max(0, first - begin) : end - begin].decode(errors="replace")
        found.append((text, logprob, likely))
    return tuple(found)


def _token(entry: Any) -> RawToken | None:
    if not isinstance(entry, dict):
        return None
    text = _first_text(entry)
    if text is None:
        return None
    listed: list[Any] = next(
        (entry[n] for n in ("top_logprobs", "top_probs", "probs") if isinstance(entry.get(n), list)), []
    )
    likely = [(scalar(each), _logprob(other)) for other in listed if (each := _first_text(other)) is not None]
    own = _logprob(entry) if "logprob" in entry or "prob" in entry else dict(likely).get(scalar(text), NEVER)
    return RawToken((scalar(text), own, tuple(likely)), _bytes(entry, text))


def _legacy(said: dict[str, Any]) -> list[RawToken]:
    tops = said.get("top_logprobs")
    tops = tops if isinstance(tops, list) else []
    values = said.get("token_logprobs")
    values = values if isinstance(values, list) else []
    found = []
    for at, text in enumerate(said["tokens"]):
        if isinstance(text, str):
            top = tops[at] if at < len(tops) and isinstance(tops[at], dict) else {}
            likely = tuple((scalar(each), _rounded(value)) for each, value in top.items())
            value = _rounded(values[at] if at < len(values) else None)
            found.append(RawToken((scalar(text), value, likely), scalar(text).encode()))
    return found


def _first_text(entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return None
    return next((entry[n] for n in ("token", "content", "tok_str") if isinstance(entry.get(n), str)), None)


def _bytes(entry: dict[str, Any], text: str) -> bytes:
    given = entry.get("bytes")
    if isinstance(given, list) and given and all(type(byte) is int and 0 <= byte < 256 for byte in given):
        return bytes(given)
    return scalar(text).encode()


def _logprob(entry: dict[str, Any]) -> float:
    if "logprob" in entry:
        return _rounded(entry["logprob"])
    prob = entry.get("prob")
    known = isinstance(prob, int | float) and not isinstance(prob, bool) and 0 < prob < math.inf
    return _rounded(math.log(prob)) if known and prob is not None else NEVER


def _rounded(value: Any) -> float:
    try:
        number = round(float(value), _PLACES)
    except (TypeError, ValueError, OverflowError):
        return NEVER
    if number == math.inf:
        return 0.0
    return max(number, NEVER) + 0.0 if math.isfinite(number) else NEVER
