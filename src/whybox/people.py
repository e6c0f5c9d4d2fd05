"""Who approves calls when nobody sits at the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from whybox.ports import Ask, Decision


class Nobody:
    """Refuses every call that needs a person: there is none to ask."""

    async def decide(self, ask: Ask) -> Decision:
        """Return a refusal."""
        return Decision(verdict="reject", reason="it needs approval and nobody can be asked")


class ScriptedPerson:
    """Gives prepared decisions in order; the public fake of :class:`whybox.ports.Person`.

    Args:
        decisions: one for each time a person is asked.

    ``asked`` holds what it was asked, in order.
    """

    def __init__(self, decisions: Sequence[Decision]) -> None:
        self._decisions = list(decisions)
        self.asked: list[Ask] = []

    async def decide(self, ask: Ask) -> Decision:
        """Return the next decision, or stop the run when there is none left."""
        self.asked.append(ask)
        if not self._decisions:
            return Decision(verdict="stop", reason="the script has no further decision")
        return self._decisions.pop(0)
