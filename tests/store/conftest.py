"""Stores to test, the clock they are given, and events of every kind."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from whybox.store import MemoryStore
from whybox.store.sql import SqlStore


class Clock:
    """A clock that goes on by a second at each look, from a given time."""

    def __init__(self) -> None:
        self.time = datetime(2026, 1, 15, 10, 0, 0, 123456, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def sql(tmp_path: Path, clock: Clock) -> AsyncIterator[SqlStore]:
    async with SqlStore(tmp_path / "runs.db", clock=clock) as store:
        yield store


@pytest.fixture(params=["memory", "sql"])
async def store(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> AsyncIterator[MemoryStore | SqlStore]:
    made = MemoryStore(clock) if request.param == "memory" else SqlStore(tmp_path / "runs.db", clock=clock)
    yield made
    await made.close()
