"""A person at the terminal who approves calls."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from whybox.ports import Ask, Decision
from whybox.views.printable import printable

if TYPE_CHECKING:
    from whybox.cli.screen import Screen


class TerminalPerson:
    """Asks on the terminal: y, n with a reason, or q to stop the run. ``screen`` is drawn on meanwhile."""

    def __init__(self) -> None:
        self.screen: Screen | None = None

    async def decide(self, ask: Ask) -> Decision:
        """Return what the person typed."""
        call = printable(f"{ask.call.tool} {json.dumps(ask.call.arguments, ensure_ascii=False)}")
        if self.screen is not None:
            self.screen.status("")
            self.screen.line(f"Allow this {ask.risk} call?  {call}", "bold yellow")
            self.screen.line("[y] yes   [n reason] no   [q] stop the run", "yellow")
        typed = (await asyncio.to_thread(sys.stdin.readline)).strip()
        word, _, reason = typed.partition(" ")
        if word.lower() in {"y", "yes", "是"}:
            return Decision(verdict="approve")
        if not typed or word.lower() in {"q", "quit", "stop"}:
            return Decision(verdict="stop", reason="stopped at an approval")
        return Decision(verdict="reject", reason=reason if word.lower() in {"n", "no", "否"} else typed)
