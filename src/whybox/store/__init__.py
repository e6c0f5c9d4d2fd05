"""Where runs are kept: :class:`MemoryStore` here, ``store.sql.SqlStore`` for a database."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime

from whybox.store.memory import MemoryStore
from whybox.store.summary import Outcome, RunSummary

__all__ = ["MemoryStore", "Outcome", "RunSummary", "new_run_id"]

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no i, l, o, u, and in the order of ASCII, so that ids sort as their numbers do."""


def new_run_id(now: datetime | None = None) -> str:
    """Return a new run id, such as ``260115-2mhs3k9qz7wd``.

    It is the date, the time of day in tenths of a second (4 characters) and 40 random bits (8 characters), so ids
    sort by age and a few characters usually name a run.

    Args:
        now: the time with its zone; the present when None.
    """
    now = (now or datetime.now(UTC)).astimezone(UTC)
    tenths = (now.hour * 3600 + now.minute * 60 + now.second) * 10 + now.microsecond // 100_000
    return f"{now:%y%m%d}-{_base32(tenths, 4)}{_base32(secrets.randbits(40), 8)}"


def _base32(number: int, width: int) -> str:
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in reversed(range(width)))
