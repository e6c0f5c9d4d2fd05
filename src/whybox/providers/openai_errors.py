"""What can go wrong at a model server, as one clear line each and without secrets."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator, Sequence
from http import HTTPStatus

import httpx2

from whybox.errors import ContextOverflow, ModelBroken, ModelError, ModelTimeout, ModelUnreachable
from whybox.providers.openai_chunks import Fault

LONGEST = 300
"""How much of a server's own words is shown, in characters."""

_OVERFLOW = (
    "context length",
    "context size",
    "context window",
    "context_length_exceeded",
    "exceed_context",
    "prompt is too long",
    "prompt too long",
    "reduce the length",
    "input token count",
    "range of input length",
    "max_total_tokens",
    "max_new_tokens` must be",
)
_HINTS = {
    401: "check the API key (WHYBOX_API_KEY)",
    403: "check what the API key (WHYBOX_API_KEY) may use",
    404: "check the model's name, and the base URL: it often ends in /v1",
    429: "wait a while, then ask again",
}
_SHORTEST_SECRET = 4


class Faults:
    """Makes whybox's errors of what went wrong at one server.

    Args:
        where: the server's address as it may be shown.
        model: the model's name at that server.
        secrets: strings that must never be shown, even if the server repeats them.
    """

    def __init__(self, where: str, model: str, secrets: Sequence[str] = ()) -> None:
        self._where = where
        self._model = model
        # The longest first, or what is left of a secret that contains another would be shown.
        self._secrets = sorted((s for s in secrets if len(s) >= _SHORTEST_SECRET), key=len, reverse=True)

    def clean(self, text: str) -> str:
        """Return a server's words without secrets, control characters and line breaks, shortened."""
        for secret in self._secrets:
            text = text.replace(secret, "[redacted]")
        text = " ".join("".join(c if c.isprintable() else " " for c in text[: 20 * LONGEST]).split())
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

    def refused(self, status: int, fault: Fault) -> ModelError:
        """Return the error for an answer that is not a success.

        Args:
            status: the HTTP status.
            fault: what the body says.
        """
        said = self._said(fault)
        if is_overflow(fault):
            return self._overflow(said)
        if 300 <= status < 400:
            hint = "give the address it points to as the base URL"
            return ModelUnreachable(f"{self._where} sends requests elsewhere ({_phrase(status)}{said})", hint)
        hint = _HINTS.get(status, "ask again later, or look at the server's log" if status >= 500 else "")
        return ModelUnreachable(f"{self._where} refused the request for {self._model}: {_phrase(status)}{said}", hint)

    def reported(self, fault: Fault, *, begun: bool) -> ModelError:
        """Return the error for one that came inside a stream.

        Args:
            fault: what the server said.
            begun: a part of the reply had arrived before it.
        """
        said = self._said(fault)
        if is_overflow(fault):
            return self._overflow(said)
        if begun:
            return self.broken(f"the server reported an error in the middle{said}")
        return ModelUnreachable(f"{self._where} reported an error instead of a reply{said}", "ask again later")

    def broken(self, reason: str) -> ModelBroken:
        """Return the error for a reply that ended before it was whole."""
        return ModelBroken(f"the reply from {self._where} is not whole and was not used: {reason}", "ask again")

    def not_chat(self, what: str) -> ModelUnreachable:
        """Return the error for an answer that is no chat completion."""
        return ModelUnreachable(f"{self._where} answered with {what}", "check the base URL: it often ends in /v1")

    def too_slow(self, seconds: float, *, begun: bool) -> ModelTimeout:
        """Return the error for a server that was silent for too long.

        Args:
            seconds: how long it was waited for.
            begun: a part of the reply had arrived before.
        """
        what = "sent nothing further" if begun else "sent no reply"
        return ModelTimeout(f"{self._where} {what} within {seconds:g} s", "is the server busy, or still loading?")

    def unreachable(self, error: BaseException) -> ModelUnreachable:
        """Return the error for a connection that could not be made, or was lost before there was an answer."""
        reason, hint = self._why(error)
        return ModelUnreachable(f"cannot reach {self._where}: {reason}", hint)

    def _why(self, error: BaseException) -> tuple[str, str]:
        causes = list(_causes(error))
        if any(isinstance(cause, httpx2.ProxyError) for cause in causes):
            return f"the proxy refused: {self.clean(str(error))}", "check HTTP_PROXY, HTTPS_PROXY and ALL_PROXY"
        for cause in causes:
            if isinstance(cause, ssl.SSLCertVerificationError):
                return f"its TLS certificate is not trusted: {self.clean(cause.verify_message)}", "see SSL_CERT_FILE"
            if isinstance(cause, ssl.SSLError):
                reason = self.clean(cause.reason or str(cause))
                return f"TLS failed: {reason}", "does the server speak https? try http:// in the base URL"
            if isinstance(cause, socket.gaierror):
                return "the host name is not known", "check the base URL and the network"
            if isinstance(cause, ConnectionRefusedError):
                return "nothing listens there", "is the server running, and is the port right?"
            if isinstance(cause, httpx2.ConnectTimeout):
                return "no connection within the time allowed", "check the base URL, the network and the firewall"
        words = self.clean(str(error)) or type(error).__name__
        return words, "check the base URL, and that the server is running"

    def _said(self, fault: Fault) -> str:
        words = self.clean(fault.message)
        return f": {words}" if words else ""

    def _overflow(self, said: str) -> ContextOverflow:
        return ContextOverflow(f"the prompt is too long for {self._model}{said}", "ask something shorter")


def is_overflow(fault: Fault) -> bool:
    """Return whether the server says that the prompt is longer than the model's context."""
    text = f"{fault.message} {fault.code}".lower()
    return any(words in text for words in _OVERFLOW)


def blames(fault: Fault, field: str) -> bool:
    """Return whether the server says that it does not want ``field`` in a request."""
    return fault.param == field or re.search(rf"\b{re.escape(field)}\b", fault.message) is not None


def _phrase(status: int) -> str:
    try:
        return f"{status} {HTTPStatus(status).phrase}"
    except ValueError:
        return str(status)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and everything that led to it."""
    waiting, seen = [error], set[int]()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            waiting += cause.exceptions
        waiting += [e for e in (cause.__cause__, cause.__context__) if e is not None]
