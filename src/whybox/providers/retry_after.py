"""How long a server asks to wait. Pure.

``Retry-After`` is a number of seconds or a date (RFC 9110, 10.2.3); some vendors also send ``retry-after-ms``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_NUMBER = re.compile(r"\d+(\.\d*)?|\.\d+")


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return how long to wait, in seconds; None when the server does not say, or nothing that can be understood.

    Args:
        headers: of the response, found by their lower-case names.
        now: the time here, for a date from a server that does not say what time it is there.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "")
    seconds = _number(value)
    if seconds is not None:
        return seconds
    until = _date(value)
    if until is None:
        return None
    # By the server's own clock, since ours may be wrong.
    return max(0.0, (until - (_date(headers.get("date", "")) or now)).total_seconds())


def _number(text: str) -> float | None:
    if not _NUMBER.fullmatch(text.strip()):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def _date(text: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
