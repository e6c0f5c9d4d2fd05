"""What must never be shown, kept out of errors and out of the logs of the libraries that send it."""

from __future__ import annotations

import base64
import logging
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

REDACTED = "[redacted]"
_SHORTEST = 4
_SHORTEST_IN_BASE64 = 6
_LOGGERS = ("httpx2", *(f"httpcore2.{name}" for name in ("connection", "http11", "http2", "proxy", "socks")))


class Secrets:
    """Strings that must never be shown, in the forms in which a server may repeat them.

    Args:
        values: the keys, passwords and the like; those of less than 4 characters are ignored.
    """

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values if len(value) >= _SHORTEST for form in _forms(value)}
        self._forms = _longest_first(forms)

    def __repr__(self) -> str:
        return f"Secrets({len(self._forms)} forms)"

    def redacted(self, text: str) -> str:
        """Return ``text`` with every secret replaced."""
        for form in self._forms:
            text = text.replace(form, REDACTED)
        return text

    def keep_from_logs(self) -> None:
        """Have them replaced in what the HTTP library logs, which are addresses and the headers of answers."""
        _FILTER.secrets.add(self)
        for name in _LOGGERS:
            logging.getLogger(name).addFilter(_FILTER)

    def add(self, others: Secrets) -> None:
        """Take the secrets of ``others`` in as well."""
        self._forms = _longest_first({*self._forms, *others._forms})


class _Redact(logging.Filter):
    def __init__(self) -> None:
        super().__init__()
        self.secrets = Secrets()

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        clean = self.secrets.redacted(said)
        if clean != said:
            record.msg, record.args = clean, ()
        return True


def _longest_first(forms: Iterable[str]) -> list[str]:
    # Else what is left of a secret that contains another would be shown.
    return sorted(forms, key=len, reverse=True)


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is, in a URL, and inside of something that is in Base64, as Basic credentials are."""
    in_url = {quote(secret, safe=""), quote_plus(secret)}
    yield from {secret, *in_url, *(re.sub("%..", lambda found: found[0].lower(), each) for each in in_url)}
    data = secret.encode()
    for before, skipped in enumerate((0, 2, 3)):
        # What is around it changes the characters that it shares with its neighbours, and no others.
        whole = base64.b64encode(bytes(before) + data).decode()[skipped : (before + len(data)) * 8 // 6]
        if len(whole) >= _SHORTEST_IN_BASE64:
            yield from {whole, whole.translate(str.maketrans("+/", "-_"))}


_FILTER = _Redact()
"""One for all models, so that making many does not make each line of a log dearer."""
