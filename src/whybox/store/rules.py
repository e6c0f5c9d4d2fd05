"""What every store does alike: ids, times, and what follows on what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from whybox.errors import StoreError, UsageError
from whybox.events import Event, Stamped
from whybox.store.codec import plain

Clock = Callable[[], datetime]

LONGEST_ID = 64


def now() -> datetime:
    """Return the present time, with its zone."""
    return datetime.now(UTC)


def stamp(run: str, after: int, at: datetime, events: Sequence[Event]) -> list[Stamped]:
    """Return the events with what the store gives them: numbers behind ``after``, and the time."""
    # model_construct: an Event is valid already, and checking it again costs more than keeping it in memory.
    return [
        Stamped.model_construct(run=run, seq=seq, at=at, event=event) for seq, event in enumerate(events, after + 1)
    ]


def taken(run: str, after: int, last: int) -> StoreError:
    """Return the error for events that were to follow number ``after`` of a run that ends at ``last``."""
    if last > after:
        problem = f"somebody else has added to run {run} (it has {last} events, these were to follow number {after})"
    else:
        problem = f"run {run} has only {last} events, and these were to follow number {after}"
    return StoreError(f"{problem}; what is stored is kept and nothing was added", "read the run again before going on")


def is_run_id(run: str) -> bool:
    """Return whether ``run`` can be the id of a run: 1 to 64 printable ASCII characters."""
    return 0 < len(run) <= LONGEST_ID and run.isascii() and run.isprintable()


def check_run_id(run: str) -> None:
    """Refuse what cannot be the id of a run.

    Raises:
        UsageError: it is not 1 to 64 printable ASCII characters.
    """
    if not is_run_id(run):
        raise UsageError(f"{plain(run, 40)!r} cannot be the id of a run", "use 1 to 64 printable ASCII characters")


def only(prefix: str, found: Sequence[str]) -> str:
    """Return the one run that ``prefix`` means, of the ids that begin with it in any case.

    Raises:
        UsageError: there is none, or more than one and none is exactly ``prefix``.
    """
    if prefix in found:
        return prefix
    shown = plain(prefix, 40)
    if not found:
        raise UsageError(f"no run has an id that begins with {shown!r}", "whybox runs list shows those there are")
    if len(found) > 1:
        some = ", ".join(sorted(found)[:4]) + (" ..." if len(found) > 4 else "")
        raise UsageError(f"several runs have an id that begins with {shown!r}: {some}", "give more of the id")
    return found[0]
