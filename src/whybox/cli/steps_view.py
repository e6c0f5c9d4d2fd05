"""A run on a terminal: the same drawing for a run that is live and one that is read from the store."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, Literal

from whybox.cli import words
from whybox.cli.screen import Screen
from whybox.cli.words import money
from whybox.engine.drive import Live
from whybox.events import (
    Answered,
    Asked,
    Call,
    Called,
    Delta,
    Event,
    LimitReached,
    ModelFailed,
    Observed,
    Parsed,
    Paused,
    Reading,
    Rejected,
    Replied,
    Resumed,
    Retrying,
    Segment,
    Stamped,
    Started,
    Stopped,
    Switched,
    Usage,
)
from whybox.trace import Trace
from whybox.views.printable import folded, printable

Streaming = Literal["all", "steps", "answer"]
STYLES = {"thought": "italic bright_black", "action": "bold blue", "observation": "green", "answer": "answer"}


class StepsView:
    """Draws a run.

    Args:
        screen: where steps are drawn.
        language: of the words around them.
        streaming: ``all``: every token as it comes; ``answer``: steps whole, the answer token by token;
            ``steps``: each step whole, the answer too.
        show_prompt: print the exact prompt of each model call.
        fold: shorten long observations.
        show_answer: draw the answer here; False when it goes somewhere else.
    """

    def __init__(
        self,
        screen: Screen,
        language: str,
        *,
        streaming: Streaming = "all",
        show_prompt: bool = False,
        fold: bool = True,
        show_answer: bool = True,
    ) -> None:
        self._screen = screen
        self._say = words.In(language)
        self._streaming = streaming
        self._show_prompt = show_prompt
        self._fold = fold
        self._show_answer = show_answer
        self._trace = Trace()
        self._open: str | None = None
        self._space = ""
        self._streamed: set[str] = set()
        self._begun = time.monotonic()
        self._run = ""
        self._seen_segments: tuple[Segment, ...] = ()
        self._failed: ModelFailed | None = None
        self._calls = 0
        self._model = ""
        self._noted: set[str] = set()

    @property
    def trace(self) -> Trace:
        """The events that were drawn."""
        return self._trace

    def show(self, item: Stamped | Live) -> None:
        """Draw one event or piece of text."""
        match item:
            case Delta(section=section, text=text, anew=anew):
                if anew:
                    self._line(self._say("anew"), "yellow")
                    self._streamed.clear()
                self._delta(section, text)
            case Reading(done=done, total=total):
                self._status(self._say("reading", done=done, total=total))
            case Stamped(event=event, run=run):
                self._run = run
                self._trace = self._trace.add(event)
                self._event(item)

    def show_stored(self, events: Sequence[Stamped], step: int | None = None) -> None:
        """Draw stored events, or those of one step."""
        for stamped in events:
            number = getattr(stamped.event, "step", None)
            if step is None or number == step:
                self.show(stamped)
            else:
                self._trace = self._trace.add(stamped.event)

    def close(self) -> None:
        """Finish drawing."""
        self._draw_failure()
        self._end()
        self._screen.close()

    def _delta(self, section: str, text: str) -> None:
        wanted = self._streaming == "all" or (self._streaming == "answer" and section == "answer")
        if not wanted or (section == "answer" and not self._show_answer):
            return
        if self._open != section:
            self._end()
            if not (text := text.lstrip()):
                return
            self._begin(section)
        self._streamed.add(section)
        # White space at the end of a section is not shown, so it waits until more of the section follows.
        text = self._space + printable(text)
        shown = text.rstrip()
        self._space = text[len(shown) :]
        self._screen.write(shown)

    def _event(self, stamped: Stamped) -> None:
        if not isinstance(stamped.event, Stopped):
            self._draw_failure()
        match stamped.event:
            case Started(agent=agent):
                self._models(agent)
                self._status(self._say("loading"))
            case Asked() as asked:
                self._streamed.clear()
                self._status(self._say("asking"))
                self._asked_of(asked)
                if self._show_prompt:
                    self._prompt(asked)
            case Replied(notes=notes):
                self._end()
                self._notes(notes)
            case Parsed() as parsed:
                self._parsed(parsed)
            case Called(call=call):
                self._status(self._say("running", tool=call.tool))
            case Observed() as observed:
                self._observation(observed)
            case Answered() as answered:
                self._answered(answered)
            case ModelFailed() as failed:
                self._end()
                self._failed = failed  # drawn with what comes of it
            case Stopped() as stopped:
                self._stopped(stopped)
            case event:
                self._note(event)

    def _note(self, event: Event) -> None:
        match event:
            case Paused(call=call):
                self._line(self._say("paused", tool=call.tool), "yellow")
            case Rejected(reason=reason):
                self._line(self._say("rejected", reason=reason), "yellow")
            case LimitReached(message=message):
                self._line(self._say("limit", message=message), "yellow")
            case Resumed():
                self._line(self._say("resumed"), "dim")
            case Retrying(attempt=attempt, wait=wait):
                self._line(self._say("again", wait=round(wait, 2), attempt=attempt + 1), "yellow")
            case Switched(model=model, cause=cause, reason=reason):
                self._line(self._say(cause, model=model, reason=reason), "yellow")
            case _:
                pass

    def _draw_failure(self) -> None:
        if self._failed is not None:
            self._line(self._say("failed", message=self._failed.message), "red")
        self._failed = None

    def _stopped(self, stopped: Stopped) -> None:
        if self._failed is not None:
            message = self._say("model_stopped", message=self._failed.message, run=self._run)
        else:
            message = self._say("stopped", reason=stopped.message or stopped.reason)
        self._failed = None
        self._line(message, "red")

    def _models(self, agent: dict[str, Any]) -> None:
        """Say which other models the agent has, as the banner says which one thinks."""
        for role in ("answer", "summarize"):
            if use := agent.get(role):
                self._by(role, use["name"], use["mode"])
        if larger := agent.get("larger"):
            self._line(self._say("larger", model=larger["name"]), "dim")
        if fallbacks := agent.get("fallbacks"):
            self._line(self._say("if_down", models=", ".join(use["name"] for use in fallbacks)), "dim")
        self._model = agent.get("model", "")

    def _asked_of(self, asked: Asked) -> None:
        if asked.model != self._model:
            self._by(asked.role, asked.model, asked.mode)
        self._model = asked.model

    def _by(self, role: str, model: str, mode: str) -> None:
        self._line(self._say("by", role=self._say(f"role_{role}"), model=model, mode=mode), "dim")

    def _notes(self, notes: Sequence[str]) -> None:
        for note in notes:
            if note not in self._noted:
                self._line(self._say("noted", note=note), "dim")
        self._noted.update(notes)

    def _parsed(self, parsed: Parsed) -> None:
        self._calls = len(parsed.calls)
        if "thought" not in self._streamed and parsed.thought:
            self._whole("thought", parsed.thought)
        if "action" not in self._streamed:
            for call in parsed.calls:
                self._whole("action", _written(call))
        if parsed.report.repairs:
            self._line(self._say("repaired", repairs=", ".join(parsed.report.repairs)), "dim")
        if parsed.report.dropped.strip():
            self._line(self._say("dropped", text=_short(parsed.report.dropped)), "dim")
        if parsed.retry:
            self._line(self._say("unread", correction=_short(parsed.retry)), "yellow")

    def _observation(self, observed: Observed) -> None:
        text = printable(observed.content)
        head, lines, chars = folded(text) if self._fold else (text, 0, 0)
        self._begin("observation", "red" if observed.error else STYLES["observation"])
        if self._calls > 1:  # side by side, they come back in any order
            head = f"{printable(_written(observed.call))}:\n{head}"
        self._screen.write(head)
        self._end()
        if chars:
            step = self._trace.state.steps
            self._line(self._say("folded", lines=lines, chars=chars, run=self._run, step=step), "dim")

    def _answered(self, answered: Answered) -> None:
        if self._show_answer and "answer" not in self._streamed:
            self._whole("answer", answered.answer)
        self._end()
        if not answered.complete:
            self._line(self._say("incomplete", reason=answered.reason or ""), "yellow")

    def summary(self) -> None:
        """Print what the run used: steps, tokens, cost, time and where it is kept."""
        usage, cost = self._trace.usage, self._trace.cost
        price = self._say("cost_unknown") if cost is None else money(cost) if cost else self._say("free")
        parts = [self._steps(), *self._tokens(usage), price]
        parts += [f"{time.monotonic() - self._begun:.1f} s", self._run]
        self._screen.line("  ".join(part for part in parts if part), "dim")

    def _steps(self) -> str:
        steps = self._trace.state.steps
        return self._say("step" if steps == 1 else "steps", steps=steps)

    def _tokens(self, usage: Usage) -> list[str]:
        if not usage.prompt_tokens:
            return []
        text = self._say(
            "tokens",
            prompt=usage.prompt_tokens,
            cached=usage.cached_tokens or 0,
            completion=usage.completion_tokens or 0,
        )
        return [text]

    def _prompt(self, asked: Asked) -> None:
        new = asked.prompt[len(self._seen_segments) :]
        same = asked.prompt[: len(self._seen_segments)] == self._seen_segments
        segments = new if same else asked.prompt
        before = self._seen_segments if same else ()
        total = sum(s.tokens or 0 for s in asked.prompt)
        self._line(self._say("prompt", step=asked.step, tokens=total or "?", model=asked.model), "bold magenta")
        if before:
            tokens = sum(s.tokens or 0 for s in before)
            self._line(self._say("prompt_before", count=len(before), tokens=tokens or "?"), "magenta")
        for segment in segments:
            count = "" if segment.tokens is None else f"  {segment.tokens}"
            self._line(f"[{segment.role}] {segment.name}{count}", "magenta")
            self._line(segment.text)
        if asked.prefix:
            self._line(self._say("prefix"), "magenta")
            self._line(asked.prefix)
        self._seen_segments = asked.prompt

    def _whole(self, section: str, text: str) -> None:
        self._begin(section)
        self._screen.write(printable(text).strip())
        self._end()

    def _begin(self, section: str, style: str | None = None) -> None:
        self._end()
        self._open, self._space = section, ""
        self._screen.begin(self._say(section), style or STYLES[section])

    def _end(self) -> None:
        if self._open is not None:
            self._screen.end()
        self._open = None

    def _line(self, text: str, style: str = "") -> None:
        self._end()
        self._screen.line(printable(text), style)

    def _status(self, doing: str) -> None:
        parts = [doing, self._steps(), *self._tokens(self._trace.usage)]
        self._screen.status("  ".join([*map(printable, parts), f"{time.monotonic() - self._begun:.0f} s"]))


def _written(call: Call) -> str:
    return f"{call.tool}[{call.text}]"


def _short(text: str, limit: int = 160) -> str:
    flat = " ".join(printable(text).split())
    return flat if len(flat) <= limit else flat[: limit - 1] + "…"
