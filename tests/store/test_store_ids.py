"""Ids of runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.store import new_run_id
from whybox.store.rules import is_run_id

moments = st.timedeltas(timedelta(0), timedelta(days=29_000)).map(lambda age: datetime(2020, 1, 1, tzinfo=UTC) + age)


@settings(deadline=None)
@given(moments, moments)
def test_ids_sort_by_age(one: datetime, other: datetime) -> None:
    early, late = sorted([one, other])
    if late - early >= timedelta(seconds=0.1):
        assert new_run_id(early) < new_run_id(late)


def test_an_id_is_short_typed_without_shift_and_usable() -> None:
    run = new_run_id(datetime(2026, 1, 15, 12, tzinfo=timezone(timedelta(hours=13))))
    assert run.startswith("260114-")
    assert len(run) == 19
    assert run == run.lower()
    assert not set(run) & set("ilou")
    assert is_run_id(run)


def test_ids_of_one_moment_differ() -> None:
    now = datetime(2026, 1, 15, tzinfo=UTC)
    assert len({new_run_id(now) for _ in range(1000)}) == 1000
