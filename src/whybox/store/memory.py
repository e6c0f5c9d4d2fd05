"""A store that lives as long as its process: for tests, teaching, and runs nobody wants to keep."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC
from threading import Lock

from whybox.events import Event, Stamped
from whybox.store.rules import Clock, check_run_id, is_run_id, now, only, stamp, taken
from whybox.store.summary import RunSummary


class MemoryStore:
    """Keeps runs in memory; the public fake of :class:`~whybox.ports.Store`.

    Args:
        clock: gives the time of each event, with its zone.
    """

    def __init__(self, clock: Clock = now) -> None:
        self._clock = clock
        self._lock = Lock()
        self._runs: dict[str, list[Stamped]] = {}
        self._summaries: dict[str, RunSummary] = {}

    async def append(self, run: str, after: int, events: Sequence[Event]) -> list[Stamped]:
        """Store ``events`` behind event number ``after`` (0 for a new run) and return them stamped.

        Raises:
            StoreError: the run does not end at ``after``.
            UsageError: ``run`` cannot be an id.
        """
        check_run_id(run)
        with self._lock:
            stored = self._runs.get(run, [])
            if len(stored) != after:
                raise taken(run, after, len(stored))
            at = self._clock().astimezone(UTC)
            added = stamp(run, after, at, events)
            if not added:
                return []
            summary = self._summaries.get(run) or RunSummary(run, at, at)
            for event in events:
                summary = summary.add(event, at)
            self._runs[run] = stored
            stored += added
            self._summaries[run] = summary
            return added

    async def read(self, run: str, after: int = 0) -> list[Stamped]:
        """Return the run's events behind number ``after``; an unknown run has none."""
        with self._lock:
            return self._runs.get(run, [])[max(after, 0) :]

    async def find(self, prefix: str) -> str:
        """Return the id of the one run that begins with ``prefix``.

        Raises:
            UsageError: no run does, or several do.
        """
        with self._lock:
            known = list(self._runs) if is_run_id(prefix) else []
        return only(prefix, [run for run in known if run.lower().startswith(prefix.lower())])

    async def list_runs(self, limit: int = 20, offset: int = 0) -> list[RunSummary]:
        """Return up to ``limit`` runs, newest first, leaving out the first ``offset``."""
        with self._lock:
            newest = sorted(self._summaries.values(), key=lambda run: (run.created, run.id), reverse=True)
        return newest[offset : offset + limit]

    async def close(self) -> None:
        """Do nothing: the runs stay readable."""
