"""What can be done next: the answers of ``decide``."""

from __future__ import annotations

from dataclasses import dataclass

from whybox.events import Asked, Call, Event
from whybox.ports import Ask, Request
from whybox.trace import NOTHING_SHOWN, Shown


@dataclass(frozen=True, slots=True)
class AskModel:
    """Ask the model.

    Args:
        asked: is recorded first.
        request: what is sent.
        wait: how long is waited before, in seconds.
        shown: what a watcher has seen of this reply from tries that failed.
    """

    asked: Asked
    request: Request
    wait: float = 0.0
    shown: Shown = NOTHING_SHOWN


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run tools, side by side."""

    step: int
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Ask a person whether a call may run."""

    step: int
    ask: Ask


@dataclass(frozen=True, slots=True)
class Note:
    """Record a fact that follows from the trace alone."""

    event: Event


Effect = AskModel | RunTools | AskPerson | Note
