"""What can go wrong at a model server, as one clear line each and without secrets."""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator
from http import HTTPStatus

import httpx2

from whybox.errors import ContextOverflow, ModelBroken, ModelError, ModelTimeout, ModelUnreachable
from whybox.providers.openai_chunks import Fault
from whybox.providers.secrets import Secrets

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
_TOOLS_REFUSED = re.compile(
    r"\bnot support(ed)?\b.{0,40}\b(tools?|function)\b|\b(tools?|function)\b[^.]{0,40}\bnot (be )?support"
    r"|enable-auto-tool-choice|support tool use|\btools?\b.*--jinja",
    re.IGNORECASE,
)
_UNPAID = re.compile(r"insufficient[_ ](quota|balance)|billing|exceeded_current_quota", re.IGNORECASE)
_TEMPORARY = (408, 409, 425, 429)
_LASTING_CODE = re.compile(r"\b(invalid_request|authentication|permission|not_found)", re.IGNORECASE)
_HINTS = {
    401: "check the API key ({key})",
    403: "check what the API key ({key}) may use",
    404: "check the model's name, and the base URL: it often ends in /v1",
    429: "wait a while, then ask again",
}


class Faults:
    """Makes whybox's errors of what went wrong at one server.

    Args:
        where: the server's address as it may be shown.
        model: the model's name at that server.
        secrets: what must never be shown, even if the server repeats it.
        key_name: the environment variable that the key is set by; empty for a server that wants none.
    """

    def __init__(self, where: str, model: str, secrets: Secrets, key_name: str = "") -> None:
        self._key_name = key_name
        self._where = where
        self._model = model
        self._secrets = secrets

    def clean(self, text: str) -> str:
        """Return a server's words without secrets, control characters and line breaks, shortened."""
        text = self._secrets.redacted(text)
        text = " ".join("".join(c if c.isprintable() else " " for c in text[: 20 * LONGEST]).split())
        return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

    def refused(self, status: int, fault: Fault, hint: str = "", retry_after: float | None = None) -> ModelError:
        """Return the error for an answer that is not a success.

        Args:
            status: the HTTP status.
            fault: what the body says.
            hint: what to do, where more is known than the status tells.
            retry_after: how long the server asks to wait, in seconds.
        """
        said = self._said(fault)
        if is_overflow(fault):
            return self._overflow(said)
        if 300 <= status < 400:
            hint = "give the address it points to as the base URL"
            return ModelUnreachable(f"{self._where} sends requests elsewhere ({_phrase(status)}{said})", hint)
        temporary = is_temporary(status, fault)
        message = f"{self._where} refused the request for {self._model}: {_phrase(status)}{said}"
        hint = hint or _hint(status, temporary).format(key=self._key_name or "key_env of this server")
        return ModelUnreachable(message, hint, temporary=temporary, retry_after=retry_after if temporary else None)

    def no_tools(self, fault: Fault) -> ModelError:
        """Return the error for a model that cannot call tools."""
        return ModelError(f"{self._model} cannot call tools{self._said(fault)}", "use --mode text")

    def reported(self, fault: Fault, *, begun: bool) -> ModelError:
        """Return the error for one that came inside a stream.

        Args:
            fault: what the server said.
            begun: a part of the reply had arrived before it.
        """
        said = self._said(fault)
        if is_overflow(fault):
            return self._overflow(said)
        codes = re.findall(r"\b[45]\d\d\b", fault.code)
        lasting = _LASTING_CODE.search(fault.code) is not None
        temporary = is_temporary(int(codes[0]) if codes else 400 if lasting else 500, fault)
        if begun:
            return self.broken(f"the server reported an error in the middle{said}", temporary=temporary)
        message = f"{self._where} reported an error instead of a reply{said}"
        return ModelUnreachable(message, "ask again later" if temporary else "", temporary=temporary)

    def broken(self, reason: str, *, temporary: bool = True) -> ModelBroken:
        """Return the error for a reply that ended before it was whole.

        Args:
            reason: why it is not whole.
            temporary: asked again, the server may send a whole one.
        """
        message = f"the reply from {self._where} is not whole and was not used: {reason}"
        return ModelBroken(message, "ask again" if temporary else "", temporary=temporary)

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
        hint = "is the server busy, or still loading?"
        return ModelTimeout(f"{self._where} {what} within {seconds:g} s", hint, temporary=True)

    def unreachable(self, error: BaseException) -> ModelUnreachable:
        """Return the error for a connection that could not be made, or was lost before there was an answer."""
        reason, hint = self._why(error)
        return ModelUnreachable(f"cannot reach {self._where}: {reason}", hint, temporary=_was_lost(error))

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


def is_temporary(status: int, fault: Fault) -> bool:
    """Return whether the same request may succeed later, by a status and what the server said with it."""
    if status == HTTPStatus.TOO_MANY_REQUESTS and _UNPAID.search(f"{fault.code} {fault.message}"):
        return False
    return status in _TEMPORARY or status >= 500


def refuses_tools(fault: Fault) -> bool:
    """Return whether the server says that the model cannot call tools."""
    return _TOOLS_REFUSED.search(fault.message) is not None


def blames(fault: Fault, field: str) -> bool:
    """Return whether the server says that it does not want ``field`` in a request."""
    return fault.param == field or re.search(rf"\b{re.escape(field)}\b", fault.message) is not None


def _hint(status: int, temporary: bool) -> str:
    if status == HTTPStatus.TOO_MANY_REQUESTS and not temporary:
        return "check the account's credit and limits"
    return _HINTS.get(status, "ask again later, or look at the server's log" if status >= 500 else "")


def _was_lost(error: BaseException) -> bool:
    """Return whether a connection was made and lost, or was slow to be made, so that another may do."""
    causes = list(_causes(error))
    if any(isinstance(cause, httpx2.ProxyError | ssl.SSLError | socket.gaierror) for cause in causes):
        return False
    lost = (httpx2.ReadError, httpx2.WriteError, httpx2.CloseError, httpx2.ConnectTimeout)
    if any(isinstance(cause, (*lost, ConnectionResetError, BrokenPipeError)) for cause in causes):
        return True
    return isinstance(error, httpx2.RemoteProtocolError) and "disconnected" in str(error)


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
