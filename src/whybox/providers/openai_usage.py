"""What servers that speak OpenAI's protocol say of usage, in all their spellings. Pure.

Sources: the API references of OpenAI, DeepSeek, Groq, Moonshot, OpenRouter and xAI, llama.cpp's server, and what
servers in front of Anthropic's and Google's models send.
"""

from __future__ import annotations

from typing import Any

from whybox.events import Usage

_PROMPT = ("prompt_tokens", "input_tokens")
_COMPLETION = ("completion_tokens", "output_tokens")
_PROMPT_DETAILS = ("prompt_tokens_details", "input_tokens_details")
_COMPLETION_DETAILS = ("completion_tokens_details", "output_tokens_details")
_CACHED = ("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens", "cache_read_tokens")
_WRITTEN = ("cache_write_tokens", "cache_creation_input_tokens", "cache_creation_tokens")


def usage_of(data: dict[str, Any]) -> Usage | None:
    """Return the usage that ``data`` reports, or None when it reports none."""
    said = _dict(data, "usage") or _dict(_dict(data, "x_groq"), "usage")
    timings = _dict(data, "timings")
    of_prompt = [said, *(_dict(said, name) for name in _PROMPT_DETAILS)]
    of_reply = [said, *(_dict(said, name) for name in _COMPLETION_DETAILS)]
    prompt, completion = _first([said], _PROMPT), _first([said], _COMPLETION)
    cached, written = _first(of_prompt, _CACHED), _first(of_prompt, _WRITTEN)
    reasoning = _first(of_reply, ("reasoning_tokens",))
    if prompt is not None and "prompt_tokens" not in said and "cache_read_input_tokens" in said:
        prompt += (cached or 0) + (written or 0)  # Anthropic counts them apart
    fresh, from_cache = _count(timings, "prompt_n"), _count(timings, "cache_n")
    if prompt is None and fresh is not None:
        prompt = fresh + (from_cache or 0)
    found = Usage(
        prompt_tokens=prompt,
        cached_tokens=from_cache if cached is None else cached,
        written_tokens=written,
        completion_tokens=_with_reasoning(said, prompt, _first([timings], ("predicted_n",)), completion),
        reasoning_tokens=reasoning,
    )
    return None if found == Usage() else found


def together(before: Usage, after: Usage | None) -> Usage:
    """Return what two reports of one call say: the later one counts, and what it leaves out is as before."""
    said = {} if after is None else {name: count for name, count in after if count is not None}
    return before.model_copy(update=said)


def _with_reasoning(said: dict[str, Any], prompt: int | None, timed: int | None, completion: int | None) -> int | None:
    if completion is None:
        return timed
    # xAI and Google leave the reasoning out of the completion, but not out of the total.
    total = _count(said, "total_tokens")
    return completion if total is None or prompt is None else max(completion, total - prompt)


def _dict(data: dict[str, Any], name: str) -> dict[str, Any]:
    value = data.get(name)
    return value if isinstance(value, dict) else {}


def _first(places: list[dict[str, Any]], names: tuple[str, ...]) -> int | None:
    counts = (_count(place, name) for place in places for name in names)
    return next((count for count in counts if count is not None), None)


def _count(data: dict[str, Any], name: str) -> int | None:
    value = data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**53:
        return None
    return int(value)
