"""Whatever goes wrong underneath is one clear line, and what was stored stays."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from whybox.errors import StoreError
from whybox.events import Replied, Resumed, Started
from whybox.store.sql import SqlStore

pytestmark = pytest.mark.anyio

STARTED = Started(question="q", language="en")


def one_line(error: StoreError) -> str:
    text = str(error)
    assert "\n" not in text
    assert error.hint
    assert "sqlalche" not in text.lower()
    return text


async def test_a_locked_database_is_said_to_be_locked_and_goes_on_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with SqlStore(path, busy_timeout=0.02) as store:
        stored = await store.append("r", 0, [STARTED])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another program has locked it; its first 1 events are kept") as caught:
            await store.append("r", 1, [Resumed()])
        assert str(path) in one_line(caught.value)
        assert await store.read("r") == stored
        other.execute("ROLLBACK")
        other.close()
        await store.append("r", 1, [Resumed()])
        assert await store.verify("r") == []


async def test_a_full_disk_keeps_what_was_stored_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    async with SqlStore(tmp_path / "runs.db") as store:
        stored = await store.append("r", 0, [STARTED])
        engine = store._database._engine
        await store.close()

        def little_room(connection: sqlite3.Connection, _: object) -> None:
            connection.execute("PRAGMA max_page_count = 20").close()

        sa.event.listen(engine, "connect", little_room)
        with pytest.raises(StoreError, match="the disk is full; its first 1 events are kept") as caught:
            await store.append("r", 1, [Replied(step=1, text="x" * 1_000_000)])
        one_line(caught.value)
        assert await store.read("r") == stored
        sa.event.remove(engine, "connect", little_room)
        await store.close()
        await store.append("r", 1, [Replied(step=1, text="x" * 1_000_000)])
        assert await store.verify("r") == []


_WRITES_UNTIL_REFUSED = """
import anyio, sys
from whybox.errors import StoreError
from whybox.events import Replied
from whybox.store.sql import SqlStore

async def main():
    async with SqlStore(sys.argv[1]) as store:
        for after in range(1000):
            try:
                await store.append("r", after, [Replied(step=1, text=str(after) * 3000)])
            except StoreError as error:
                print(after, error, len(await store.read("r")), sep="|")
                return

anyio.run(main)
"""


async def test_a_disk_that_stops_writing_is_one_line_and_the_rest_is_readable(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    done = subprocess.run(
        [sys.executable, "-c", _WRITES_UNTIL_REFUSED, str(path)],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000)),
        capture_output=True,
        text=True,
        check=True,
    )
    after, message, readable = done.stdout.strip().split("|")
    assert f"its first {after} events are kept" in message
    assert after == readable
    assert int(after) > 10
    async with SqlStore(path) as store:
        assert len(await store.read("r")) == int(after)
        assert await store.verify("r") == []


async def test_a_database_that_may_only_be_read_is_read_and_not_written(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with SqlStore(path) as store:
        stored = await store.append("r", 0, [STARTED])
    async with SqlStore(f"sqlite:///file:{path}?mode=ro&uri=true") as store:
        assert await store.read("r") == stored
        with pytest.raises(StoreError, match="it may only be read; its first 1 events are kept") as caught:
            await store.append("r", 1, [Resumed()])
        one_line(caught.value)


async def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n" * 1000)
    async with SqlStore(path) as store:
        with pytest.raises(StoreError, match="it is not a database; nothing of it is kept") as caught:
            await store.append("r", 0, [STARTED])
        one_line(caught.value)
        with pytest.raises(StoreError, match="it is not a database; nothing was changed"):
            await store.list_runs()
    assert path.read_text() == "my notes\n" * 1000


async def test_a_damaged_database_is_said_to_be_damaged(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with SqlStore(path) as store:
        await store.append("r", 0, [Replied(step=1, text="x" * 2000)] * 200)
    data = bytearray(path.read_bytes())
    data[8192:] = b"\xff" * (len(data) - 8192)
    path.write_bytes(data)
    async with SqlStore(path) as store:
        with pytest.raises(
            StoreError, match=r"run r cannot be read in .*: it is damaged; nothing was changed"
        ) as caught:
            await store.read("r")
        one_line(caught.value)


async def test_a_file_inside_a_file_and_a_folder_as_a_file_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    async with SqlStore(tmp_path / "file" / "runs.db") as store:
        with pytest.raises(StoreError, match="not a directory") as caught:
            await store.append("r", 0, [STARTED])
        one_line(caught.value)
    async with SqlStore(tmp_path) as store:
        with pytest.raises(StoreError, match="it cannot be opened") as caught:
            await store.list_runs()
        one_line(caught.value)
