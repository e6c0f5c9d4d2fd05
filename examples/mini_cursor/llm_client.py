"""The model at the other end of HTTP: any server that speaks the OpenAI chat protocol, streamed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import httpx2


class LLMError(Exception):
    """The model could not be reached or did not finish its reply."""


@dataclass(frozen=True)
class LLMClient:
    """One model on one server.

    Args:
        base_url: where the server answers, up to and including ``/v1``.
        model: the model's name there.
        api_key: sent as a bearer token; local servers ignore it.
        timeout: seconds to wait for the next piece of the reply.
    """

    base_url: str
    model: str
    api_key: str = "none"
    timeout: float = 120.0

    def stream(self, messages: list[dict[str, str]], stop: Sequence[str]) -> Iterator[str]:
        """Yield the reply piece by piece, up to the first stop string, which is left out."""
        body = {
            "model": self.model,
            "messages": messages,
            "temperature": 0,
            "max_tokens": 800,
            "stop": list(stop),
            "stream": True,
        }
        return cut_at_stop(self._pieces(body), stop)

    def _pieces(self, body: dict[str, object]) -> Iterator[str]:
        headers = {"Authorization": f"Bearer {self.api_key}"}
        url = f"{self.base_url.rstrip('/')}/chat/completions"
        try:
            with httpx2.stream("POST", url, json=body, headers=headers, timeout=self.timeout) as response:
                if response.is_error:
                    raise LLMError(f"{url} refused: HTTP {response.status_code} {response.read()[:300].decode()!r}")
                yield from read_events(response.iter_lines())
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise LLMError(f"{url} does not answer: {error}") from error


def read_events(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text in a stream of server-sent events.

    Raises:
        LLMError: the server reported an error, sent something else, or stopped before the reply was whole.
    """
    finished = False
    for line in lines:
        data = line.removeprefix("data:").strip()
        if not line.startswith("data:") or data == "[DONE]":
            continue  # comments and blank lines keep the connection alive
        try:
            event = json.loads(data)
        except json.JSONDecodeError as error:
            raise LLMError(f"the server sent an event that is not JSON: {data[:100]!r}") from error
        if "error" in event:
            raise LLMError(f"the server reported an error: {str(event['error'])[:300]}")
        for choice in event.get("choices") or []:
            finished = finished or bool(choice.get("finish_reason"))
            yield (choice.get("delta") or {}).get("content") or ""
    if not finished:
        raise LLMError("the reply broke off in the middle")  # half a step must never be taken for a whole one


def cut_at_stop(pieces: Iterable[str], stop: Sequence[str]) -> Iterator[str]:
    """Pass the pieces on, up to the first stop string; it makes no difference where the pieces are split.

    Servers do this too, but not all of them, and what follows the stop string is the model's own invention.
    """
    held = ""
    for piece in pieces:
        held += piece
        found = [at for word in stop if (at := held.find(word)) >= 0]
        if found:
            yield held[: min(found)]
            return
        # The end may be the beginning of a stop string: it is held back until the next piece tells.
        keep = max((n for word in stop for n in range(1, len(word)) if held.endswith(word[:n])), default=0)
        yield held[: len(held) - keep]
        held = held[len(held) - keep :]
    yield held
