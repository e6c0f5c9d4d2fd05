"""A finished run, for the code that asked for it."""

from __future__ import annotations

from html import escape

from whybox.events import Stamped, Stopped, Usage
from whybox.trace import Step, Trace


class Result:
    """What came of a run.

    Args:
        run_id: the run's id in the store.
        events: its events as stored.
    """

    def __init__(self, run_id: str, events: tuple[Stamped, ...]) -> None:
        self.run_id = run_id
        self.events = events
        self.trace = Trace(stamped.event for stamped in events)

    @property
    def answer(self) -> str | None:
        """The answer, or None when the run stopped without one; ``reason`` says why."""
        return self.trace.answer.answer if self.trace.answer else None

    @property
    def complete(self) -> bool:
        """Whether the answer was reached without a limit or an unreadable reply in the way."""
        return self.trace.answer is not None and self.trace.answer.complete

    @property
    def reason(self) -> str | None:
        """Why the answer is incomplete or missing; None for a complete one."""
        if self.trace.answer:
            return self.trace.answer.reason
        last = self.events[-1].event if self.events else None
        return (last.message or last.reason) if isinstance(last, Stopped) else None

    @property
    def steps(self) -> tuple[Step, ...]:
        """What the model wrote and what came of it, step by step."""
        return self.trace.steps

    @property
    def usage(self) -> Usage:
        """Tokens of all model calls together."""
        return self.trace.usage

    @property
    def cost(self) -> float | None:
        """Money spent, in US dollars; None when a price is not known."""
        return self.trace.cost

    def __repr__(self) -> str:
        return (
            f"Result(answer={self.answer!r}, complete={self.complete}, steps={len(self.steps)}, run_id={self.run_id!r})"
        )

    def _repr_html_(self) -> str:
        """Show the steps folded above the answer, in a notebook."""
        parts = []
        for step in self.steps:
            if step.parsed is None:
                continue
            calls = "".join(
                f"<div style='color:#1f6feb'><b>{escape(seen.call.tool)}</b> {escape(seen.call.text)}</div>"
                f"<pre style='color:#2da44e;white-space:pre-wrap'>{escape(seen.content)}</pre>"
                for seen in step.observed
            )
            parts.append(f"<i style='color:gray;white-space:pre-wrap'>{escape(step.parsed.thought)}</i>{calls}")
        steps = f"<details><summary>{len(self.steps)} steps</summary>{''.join(parts)}</details>"
        return f"{steps}<p><b>{escape(self.answer or self.reason or '')}</b></p>"
