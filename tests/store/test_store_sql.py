"""What is particular to the database: sharing, privacy, durability, verification, many writers."""

from __future__ import annotations

import asyncio
import sqlite3
import stat
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateIndex, CreateTable

from whybox.errors import StoreError, UsageError
from whybox.events import Answered, Asked, Call, Observed, Replied, Resumed, Segment, Started
from whybox.store import queries, schema
from whybox.store.sql import SqlStore

pytestmark = pytest.mark.anyio

STARTED = Started(question="q", language="en")


def asked(step: int, texts: list[str]) -> Asked:
    prompt = tuple(Segment(name=f"s:{number}", role="user", text=text) for number, text in enumerate(texts))
    return Asked(step=step, model="m", mode="text", prompt=prompt, max_tokens=1)


def change(path: Path, statement: str, *values: object) -> None:
    connection = sqlite3.connect(path)
    with connection:
        assert connection.execute(statement, values).rowcount > 0
    connection.close()


def count(path: Path, table: str) -> int:
    connection = sqlite3.connect(path)
    (rows,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    connection.close()
    return rows


async def test_a_prompt_that_grows_adds_only_what_is_new(tmp_path: Path) -> None:
    texts, after = [f"instruction {number}" for number in range(10)], 0
    async with SqlStore(tmp_path / "runs.db") as store:
        for step in range(1, 101):
            texts += [f"thought {step}", f"observation {step}"]
            await store.append("r", after, [asked(step, texts)])
            after += 1
        assert [len(s.event.prompt) for s in await store.read("r")] == [10 + 2 * step for step in range(1, 101)]
    assert count(tmp_path / "runs.db", "prompt_nodes") == count(tmp_path / "runs.db", "blobs") == 210


async def test_runs_that_begin_alike_share_their_prompts(sql: SqlStore, tmp_path: Path) -> None:
    texts = [f"part {number}" for number in range(50)]
    await sql.append("first", 0, [asked(1, texts)])
    await sql.append("fork", 0, [asked(1, [*texts, "another observation"])])
    assert count(tmp_path / "runs.db", "prompt_nodes") == 51
    assert [s.event for s in await sql.read("first")] == [asked(1, texts)]
    assert [s.event for s in await sql.read("fork")] == [asked(1, [*texts, "another observation"])]


async def test_a_prompt_read_back_shares_its_segments_with_the_next(sql: SqlStore) -> None:
    await sql.append("r", 0, [asked(1, ["a"]), asked(2, ["a", "b"])])
    first, second = [s.event.prompt for s in await sql.read("r")]
    assert first[0] is second[0]


async def test_a_large_text_said_twice_is_kept_once(sql: SqlStore, tmp_path: Path) -> None:
    text = "长" * 10_000
    events = [Observed(step=1, call=Call(tool="t"), content=text), Replied(step=2, text=text), asked(3, [text])]
    await sql.append("r", 0, events)
    assert count(tmp_path / "runs.db", "blobs") == 1
    assert [s.event for s in await sql.read("r")] == events


async def test_another_process_goes_on_where_the_first_stopped(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    async with SqlStore(path) as one:
        first = await one.append("r", 0, [STARTED, asked(1, ["a", "b"])])
    async with SqlStore(path) as other:
        second = await other.append("r", 2, [asked(2, ["a", "b", "c"]), Answered(answer="x")])
        assert await other.read("r") == first + second
        (run,) = await other.list_runs()
        assert (run.events, run.steps, run.outcome) == (4, 2, "answered")
        assert await other.verify("r") == []


async def test_two_stores_on_one_file_cannot_both_add_the_same_event(tmp_path: Path) -> None:
    async with SqlStore(tmp_path / "runs.db") as one, SqlStore(tmp_path / "runs.db") as other:
        await one.append("r", 0, [STARTED])
        await other.append("r", 1, [Resumed()])
        with pytest.raises(StoreError, match="somebody else has added"):
            await one.append("r", 1, [Answered(answer="late")])
        assert [s.event.type for s in await one.read("r")] == ["started", "resumed"]
        await one.append("r", 2, [Answered(answer="now")])
        assert await other.verify("r") == []


async def test_more_runs_than_are_remembered_all_go_on(sql: SqlStore) -> None:
    for number in range(100):
        await sql.append(f"r{number}", 0, [STARTED, asked(1, ["a"])])
    for number in range(100):
        await sql.append(f"r{number}", 2, [asked(2, ["a", "b"])])
    assert [s.event for s in await sql.read("r3")] == [STARTED, asked(1, ["a"]), asked(2, ["a", "b"])]
    assert await sql.verify("r3") == []
    assert len(sql._ends) <= 64


async def test_an_append_cancelled_while_it_works_is_stored_by_the_time_the_cancellation_goes_on(
    tmp_path: Path,
) -> None:
    began, may_go_on = threading.Event(), threading.Event()

    def slow_clock() -> datetime:
        began.set()
        assert may_go_on.wait(30)
        return datetime(2026, 1, 15, tzinfo=UTC)

    async with SqlStore(tmp_path / "runs.db", clock=slow_clock) as store:
        task = asyncio.create_task(store.append("r", 0, [STARTED]))
        while not began.is_set():
            await asyncio.sleep(0)
        threading.Timer(0.05, may_go_on.set).start()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert [s.event for s in await store.read("r")] == [STARTED]


async def test_a_cancelled_append_is_whole_or_absent_and_the_run_goes_on(sql: SqlStore) -> None:
    after = 0
    for ticks in range(12):
        task = asyncio.create_task(sql.append("r", after, [Resumed(), Resumed()]))
        for _ in range(ticks):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        stored = len(await sql.read("r"))
        assert stored in (after, after + 2)
        # Nothing arrives late: the next append finds the run as it was read.
        after = (await sql.append("r", stored, [Answered(answer="x")]))[-1].seq


async def test_folder_and_files_are_for_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "runs.db"
    async with SqlStore(path) as store:
        await store.append("r", 0, [STARTED])
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in [path.parent.parent, *path.parent.iterdir()]}
    assert modes.pop("a") == 0o700
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert set(modes) == {"runs.db", "runs.db-wal", "runs.db-shm"}
    assert set(modes.values()) == {0o600}


async def test_nothing_is_made_before_it_is_needed_and_a_closed_store_opens_again(tmp_path: Path) -> None:
    store = SqlStore(tmp_path / "runs.db")
    assert list(tmp_path.iterdir()) == []
    stored = await store.append("r", 0, [STARTED])
    await store.close()
    assert await store.read("r") == stored
    await store.close()
    await store.close()


@pytest.mark.parametrize(("durability", "level"), [("normal", 1), ("full", 2)])
async def test_durability_is_what_was_asked_for(tmp_path: Path, durability, level: int) -> None:
    async with SqlStore(tmp_path / "runs.db", durability=durability) as store:
        await store.append("r", 0, [STARTED])
        with store._database.writing() as connection:
            assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == level
            assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


@pytest.mark.parametrize("name", [Path, str, lambda path: f"sqlite:///{quote(str(path))}"])
async def test_a_file_can_be_named_by_path_or_url(tmp_path: Path, name) -> None:
    path = tmp_path / "with space %41.db"
    async with SqlStore(name(path)) as store:
        await store.append("r", 0, [STARTED])
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://user:geheim@host/name", "cannot be kept in mysql"),
        ("nonsense://x", "nonsense"),
        ("://", "cannot be read"),
        ("sqlite://", "would keep nothing"),
        ("a\0b", "NUL"),
    ],
)
def test_a_store_that_cannot_be_is_refused_at_once(url: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        SqlStore(url)
    assert "geheim" not in str(caught.value)


def test_a_missing_driver_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(UsageError, match="pip install psycopg") as caught:
        SqlStore("postgresql+psycopg://user:geheim@host/name")
    assert "geheim" not in str(caught.value)


def test_tables_and_statements_are_those_of_postgresql_too() -> None:
    dialect = postgresql.dialect()
    for table in schema.metadata.sorted_tables:
        assert "CREATE TABLE" in str(CreateTable(table).compile(dialect=dialect))
        for index in table.indexes:
            assert "CREATE INDEX" in str(CreateIndex(index).compile(dialect=dialect))
    statements = [each for each in vars(queries).values() if isinstance(each, sa.sql.base.Executable)]
    assert len(statements) == 8
    assert all("%(" in str(each.compile(dialect=dialect)) for each in statements)


def test_importing_the_store_does_not_import_a_database() -> None:
    code = "import sys, whybox.store; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


async def _broken(path: Path, statement: str, *values: object) -> list[str]:
    async with SqlStore(path) as store:
        await store.append("r", 0, [STARTED, asked(1, ["one", "two"]), Replied(step=1, text="x" * 5000), Resumed()])
        assert await store.verify("r") == []
    change(path, statement, *values)
    async with SqlStore(path) as store:
        return await store.verify("r")


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE blobs SET text = CAST('TWO' AS BLOB) WHERE text = CAST('two' AS BLOB)", "its text does not fit"),
        ("UPDATE blobs SET text = CAST('y' AS BLOB) WHERE length(text) = 5000", "event 3: the text of 'text' does not"),
        ("UPDATE prompt_nodes SET label = CAST(replace(label, 'user', 'system') AS BLOB)", "its name, role or place"),
        ("DELETE FROM blobs WHERE text = CAST('one' AS BLOB)", "event 2: a part of its prompt is not there"),
        ("DELETE FROM prompt_nodes WHERE parent IS NULL", "event 2: a part of its prompt is not there"),
        ("DELETE FROM blobs WHERE length(text) = 5000", "event 3: a text of it is not there"),
        ("DELETE FROM events WHERE seq = 3", "events are missing: 3"),
        ("UPDATE events SET body = '{' WHERE seq = 4", "event 4: "),
        ("UPDATE runs SET outcome = 'answered'", "the list of runs does not say"),
    ],
)
async def test_verify_finds_what_was_changed(tmp_path: Path, statement: str, problem: str) -> None:
    assert any(problem in each for each in await _broken(tmp_path / "runs.db", statement))


async def test_reading_a_run_with_a_lost_text_says_which_event_and_does_not_guess(tmp_path: Path) -> None:
    await _broken(tmp_path / "runs.db", "DELETE FROM blobs WHERE length(text) = 5000")
    async with SqlStore(tmp_path / "runs.db") as store:
        with pytest.raises(StoreError, match="run r cannot be read: event 3: a text of it is not there"):
            await store.read("r")
        assert [s.seq for s in await store.read("r", 3)] == [4]


async def test_an_event_this_version_cannot_read_is_named(tmp_path: Path) -> None:
    problems = await _broken(tmp_path / "runs.db", """UPDATE events SET body = '{"type":"replied"}' WHERE seq = 4""")
    assert problems == ["event 4: replied.step: Field required"]


async def test_a_database_of_a_later_version_is_left_alone(tmp_path: Path) -> None:
    async with SqlStore(tmp_path / "runs.db") as store:
        await store.append("r", 0, [STARTED])
    change(tmp_path / "runs.db", "UPDATE meta SET value = '99'")
    async with SqlStore(tmp_path / "runs.db") as store:
        with pytest.raises(StoreError, match=r"format 99.*nothing was changed"):
            await store.append("r", 1, [Resumed()])
