"""What a list of runs shows of each, kept up to date event by event."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from whybox.events import Answered, Asked, Event, Replied, Resumed, Started, Stopped
from whybox.store.codec import plain

Outcome = Literal["answered", "incomplete", "stopped", "unfinished"]
"""``unfinished`` is a run that is going on, waits for a person, or whose process died."""

LONGEST_QUESTION = 500


@dataclass(frozen=True, slots=True)
class RunSummary:
    """One line of a list of runs.

    Args:
        id: the run's id.
        created: when its first event was stored.
        updated: when its last event was stored.
        events: how many it has; also the number of the last one.
        question: what was asked, in one line, cut to 500 characters.
        language: the language of the prompts.
        model: who answered first, as ``provider:name``; empty before it was asked.
        outcome: how it ended.
        steps: the number of the last step.
        prompt_tokens: all prompts together, in tokens; None when no reply said.
        completion_tokens: all replies together, in tokens; None when no reply said.
    """

    id: str
    created: datetime
    updated: datetime
    events: int = 0
    question: str = ""
    language: str = ""
    model: str = ""
    outcome: Outcome = "unfinished"
    steps: int = 0
    prompt_tokens: int | None = None
    completion_tokens: int | None = None

    @property
    def tokens(self) -> int | None:
        """Prompts and replies together, in tokens; None when no reply said."""
        return _add(self.prompt_tokens, self.completion_tokens)

    @property
    def seconds(self) -> float:
        """Time from the first event to the last, in seconds, pauses included."""
        return (self.updated - self.created).total_seconds()

    def add(self, event: Event, at: datetime) -> RunSummary:
        """Return the summary with one more event, stored at ``at``."""
        changed = replace(self, events=self.events + 1, updated=at, steps=max(self.steps, _step(event)))
        match event:
            case Started():
                question = plain(event.question, LONGEST_QUESTION)
                return replace(changed, question=question, language=plain(event.language, 20))
            case Asked() if not self.model:
                return replace(changed, model=plain(event.model, 200))
            case Replied():
                return replace(
                    changed,
                    prompt_tokens=_add(self.prompt_tokens, event.usage.prompt_tokens),
                    completion_tokens=_add(self.completion_tokens, event.usage.completion_tokens),
                )
            case Answered():
                return replace(changed, outcome="answered" if event.complete else "incomplete")
            case Stopped():
                return replace(changed, outcome="stopped")
            case Resumed():
                return replace(changed, outcome="unfinished")
            case _:
                return changed


def _step(event: Event) -> int:
    step = getattr(event, "step", 0)
    return step if isinstance(step, int) else 0


def _add(total: int | None, more: int | None) -> int | None:
    return total if more is None else (total or 0) + more
