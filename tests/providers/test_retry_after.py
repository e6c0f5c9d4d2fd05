"""What servers write about when to come back, and that nothing they write can do harm."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.providers.retry_after import retry_after

NOW = datetime(2026, 10, 21, 7, 27, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 60.0),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT", "date": "Wed, 21 Oct 2026 07:27:50 GMT"}, 10.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "999999"}, 999999.0),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "1e9"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "٣"}, 3.0),
        ({}, None),
    ],
)
def test_each_form(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@given(st.text(), st.text(), st.text())
def test_nothing_a_server_writes_is_an_error_or_an_endless_wait(value: str, ms: str, date: str) -> None:
    seconds = retry_after({"retry-after": value, "retry-after-ms": ms, "date": date}, NOW)
    assert seconds is None or (seconds >= 0 and math.isfinite(seconds))
