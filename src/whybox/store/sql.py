"""A store in a database: SQLite in one file, or PostgreSQL by URL."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC
from functools import partial
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar

import sqlalchemy as sa
from anyio import get_cancelled_exc_class, to_thread
from sqlalchemy.exc import IntegrityError

from whybox.errors import StoreError
from whybox.events import Event, Stamped
from whybox.store.failures import explained
from whybox.store.hashing import Chain
from whybox.store.queries import ADVANCE, NEW_EVENT, NEW_RUN, NEW_TEXT, RUN, load
from whybox.store.rows import Batch, batch, events_of, problems_of, summary_of, summary_row
from whybox.store.rules import Clock, check_run_id, is_run_id, now, only, stamp, taken
from whybox.store.schema import Database, Durability, blobs, prompt_nodes, runs
from whybox.store.summary import RunSummary

T = TypeVar("T")

_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class _End:
    """Where a run stands: what the next append builds on, so that it need not be read back."""

    summary: RunSummary
    chain: Chain


class _Taken(Exception):
    """The run does not end where the append begins."""


class SqlStore:
    """Keeps runs in a database. Safe to use from many tasks, threads and processes at once.

    Nothing is opened before it is needed. An append is one transaction: when it returns, its events survive the
    death of the process (and, with ``durability="full"``, of the machine). When an append is cancelled its events
    are stored whole or not at all by the time the cancellation goes on; :meth:`read` tells which.

    Args:
        url_or_path: a file, made with its folder (for the owner only) when it is not there; or a URL.
        durability: ``normal``, or ``full`` to wait for the disk at each append.
        clock: gives the time of each event, with its zone.
        busy_timeout: how long to wait while another process writes, in seconds.

    Raises:
        UsageError: there is no such kind of database, or its driver is not installed.
    """

    def __init__(
        self,
        url_or_path: str | Path,
        *,
        durability: Durability = "normal",
        clock: Clock = now,
        busy_timeout: float = 10.0,
    ) -> None:
        self._database = Database(url_or_path, durability, busy_timeout)
        self._clock = clock
        self._lock = Lock()
        self._ends: OrderedDict[str, _End] = OrderedDict()

    async def append(self, run: str, after: int, events: Sequence[Event]) -> list[Stamped]:
        """Store ``events`` behind event number ``after`` (0 for a new run) and return them stamped.

        Raises:
            StoreError: it could not be stored, or the run does not end at ``after``; nothing was added.
            UsageError: ``run`` cannot be an id.
        """
        check_run_id(run)
        return await _whole(partial(self._append, run, after, tuple(events)))

    async def read(self, run: str, after: int = 0) -> list[Stamped]:
        """Return the run's events behind number ``after``; an unknown run has none.

        Raises:
            StoreError: they could not be read.
        """
        return await to_thread.run_sync(self._read, run, after)

    async def find(self, prefix: str) -> str:
        """Return the id of the one run that begins with ``prefix``, in any case.

        Raises:
            StoreError: the database could not be read.
            UsageError: no run does, or several do.
        """
        return only(prefix, await to_thread.run_sync(self._find, prefix))

    async def list_runs(self, limit: int = 20, offset: int = 0) -> list[RunSummary]:
        """Return up to ``limit`` runs, newest first, leaving out the first ``offset``.

        Raises:
            StoreError: the database could not be read.
        """
        return await to_thread.run_sync(self._list, limit, offset)

    async def verify(self, run: str) -> list[str]:
        """Return what is wrong with how the run is stored, one sentence each: all hashes are computed again.

        Raises:
            StoreError: the database could not be read at all.
        """
        return await to_thread.run_sync(self._verify, run)

    async def close(self) -> None:
        """Close all connections. A closed store opens again when it is used."""
        await to_thread.run_sync(self._database.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _append(self, run: str, after: int, events: tuple[Event, ...]) -> list[Stamped]:
        # One writer at a time in this process: SQLite would make the others sleep and try again.
        with self._lock:
            kept = f"its first {after} events are kept" if after else "nothing of it is kept"
            with explained(f"run {run} cannot be stored", self._database.name, kept):
                self._database.open()
                # Forgotten first, remembered only once stored: an end that is not in the database is worse than none.
                end = self._ends.pop(run, None)
                try:
                    stored, end = self._write(run, after, events, end)
                except (_Taken, IntegrityError):
                    raise taken(run, after, self._last(run)) from None
            if end is not None:
                self._remember(run, end)
            return stored

    def _write(
        self, run: str, after: int, events: tuple[Event, ...], end: _End | None
    ) -> tuple[list[Stamped], _End | None]:
        if end is None and after > 0:
            end = self._end(run)
        if (end.summary.events if end else 0) != after:
            raise _Taken
        at = self._clock().astimezone(UTC)
        stamped = stamp(run, after, at, events)
        if not stamped:
            return [], end
        summary = end.summary if end else RunSummary(run, at, at)
        for event in events:
            summary = summary.add(event, at)
        rows = batch(run, stamped, end.chain if end else Chain())
        with self._database.writing() as connection:
            self._insert(connection, after, summary, rows)
        return stamped, _End(summary, rows.chain)

    def _insert(self, connection: sa.Connection, after: int, summary: RunSummary, rows: Batch) -> None:
        if after == 0:
            connection.execute(NEW_RUN, summary_row(summary))
        else:
            row = {f"new_{name}": value for name, value in summary_row(summary).items()}
            row |= {"run": summary.id, "after": after}
            if connection.execute(ADVANCE, row).rowcount != 1:
                raise _Taken
        # In order of their hashes, so that two writers of the same texts never wait for each other in a circle.
        if rows.blobs:
            texts = [{"hash": key, "text": rows.blobs[key]} for key in sorted(rows.blobs)]
            connection.execute(self._database.insert(blobs).on_conflict_do_nothing(), texts)
        if rows.prompt_nodes:
            nodes = [rows.prompt_nodes[key] for key in sorted(rows.prompt_nodes)]
            connection.execute(self._database.insert(prompt_nodes).on_conflict_do_nothing(), nodes)
        if rows.event_texts:
            connection.execute(NEW_TEXT, rows.event_texts)
        connection.execute(NEW_EVENT, rows.events)

    def _remember(self, run: str, end: _End) -> None:
        self._ends[run] = end
        if len(self._ends) > _REMEMBERED:
            self._ends.popitem(last=False)

    def _end(self, run: str) -> _End | None:
        with self._database.reading() as connection:
            row = connection.execute(RUN, {"run": run}).mappings().first()
        return _End(summary_of(row), Chain()) if row else None

    def _last(self, run: str) -> int:
        end = self._end(run)
        return end.summary.events if end else 0

    @contextmanager
    def _reading(self, doing: str) -> Iterator[sa.Connection]:
        with explained(doing, self._database.name, "nothing was changed"):
            self._database.open()
            with self._database.reading() as connection:
                yield connection

    def _read(self, run: str, after: int) -> list[Stamped]:
        if not is_run_id(run):
            return []
        with self._reading(f"run {run} cannot be read") as connection:
            found = load(connection, run, after)
        return events_of(run, found)

    def _verify(self, run: str) -> list[str]:
        if not is_run_id(run):
            return []
        with self._reading(f"run {run} cannot be read") as connection:
            row = connection.execute(RUN, {"run": run}).mappings().first()
            found = load(connection, run, 0)
        found.summary = summary_of(row) if row else None
        return problems_of(run, found)

    def _find(self, prefix: str) -> list[str]:
        if not is_run_id(prefix):
            return []
        matches = sa.func.lower(runs.c.id).startswith(prefix.lower(), autoescape=True)
        with self._reading("runs cannot be looked up") as connection:
            return list(connection.scalars(sa.select(runs.c.id).where(matches)))

    def _list(self, limit: int, offset: int) -> list[RunSummary]:
        newest = sa.select(runs).order_by(runs.c.created.desc(), runs.c.id.desc()).limit(limit).offset(offset)
        with self._reading("runs cannot be listed") as connection:
            return [summary_of(row) for row in connection.execute(newest).mappings()]


async def _whole(work: Callable[[], T]) -> T:
    """Run ``work`` in a thread; when cancelled, go on only once it is done or certain never to begin."""
    lock, abandoned = Lock(), False

    def guarded() -> T:
        with lock:
            if abandoned:
                raise StoreError("an append was cancelled before it began; nothing was added")
            return work()

    try:
        return await to_thread.run_sync(guarded)
    except get_cancelled_exc_class():
        # A task library may cancel the wait but not the thread, and whoever is told next reads the store.
        with lock:
            abandoned = True
        raise
