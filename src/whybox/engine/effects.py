"""What can be done next: the answers of ``decide``."""

from __future__ import annotations

from dataclasses import dataclass

from whybox.events import Asked, Call, Event
from whybox.ports import Ask, Request


@dataclass(frozen=True, slots=True)
class AskModel:
    """Ask the model. ``asked`` is recorded first; ``request`` is what is sent."""

    asked: Asked
    request: Request


@dataclass(frozen=True, slots=True)
class RunTool:
    """Run a tool."""

    step: int
    call: Call


@dataclass(frozen=True, slots=True)
class AskPerson:
    """Ask a person whether a call may run."""

    step: int
    ask: Ask


@dataclass(frozen=True, slots=True)
class Note:
    """Record a fact that follows from the trace alone."""

    event: Event


Effect = AskModel | RunTool | AskPerson | Note
