"""A run on the terminal, from the settings to the exit code: shown as steps, or as one event a line."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from whybox.agent import Agent
    from whybox.assemble import Settings
    from whybox.cli.screen import Screen
    from whybox.engine.drive import Live
    from whybox.events import Stamped
    from whybox.ports import Store
    from whybox.trace import Trace

Items = AsyncGenerator["Stamped | Live", None]


class Streaming(StrEnum):
    """What is shown token by token."""

    ALL = "all"
    STEPS = "steps"
    ANSWER = "answer"


@dataclass(frozen=True, slots=True)
class Look:
    """How a run is shown."""

    streaming: Streaming = Streaming.ALL
    show_prompt: bool = False
    as_json: bool = False


def run_and_show(settings: Settings, look: Look, *, question: str = "", resume: str = "") -> int:
    """Run or resume, show it, and return the exit code."""
    import asyncio

    from whybox.assemble import default_store

    ensure_weights(settings)
    try:
        return asyncio.run(_show(settings, look, default_store(), question, resume))
    except KeyboardInterrupt:
        _leave_at_once(130)
    return 130


async def _show(settings: Settings, look: Look, store: Store, question: str, resume: str) -> int:
    from whybox.agent import Agent
    from whybox.cli.person import TerminalPerson
    from whybox.prompts.language import language_of

    person = TerminalPerson() if sys.stdin.isatty() and not look.as_json else None
    agent = Agent(settings, store=store, person=person)
    try:
        language = settings.language or language_of(question)
        items = agent.resume_stream(resume) if resume else agent.stream(question)
        if look.as_json:
            return await _as_json(items, store)
        return await _on_screen(items, agent, look, language, person)
    finally:
        await agent.close()
        await store.close()


async def _as_json(items: Items, store: Store) -> int:
    from whybox.cli.printing import print_json
    from whybox.events import Stamped

    last: Stamped | None = None
    try:
        async with aclosing(items):
            async for item in items:
                last = item if isinstance(item, Stamped) else last
                print_json(json_line(item))
    finally:
        # Interrupted: what was stored behind the last printed event has not been seen yet.
        if last is not None:
            for stamped in await store.read(last.run, last.seq):
                last = stamped
                print_json(json_line(stamped))
    return exit_code(last)


def json_line(item: Stamped | Live) -> dict[str, Any]:
    """Return an event or a piece of text as one line of ``--json``."""
    from whybox.events import Stamped, to_data

    if not isinstance(item, Stamped):
        return to_data(item)
    return {"run": item.run, "seq": item.seq, "at": item.at.isoformat(), **to_data(item.event)}


async def _on_screen(items: Items, agent: Agent, look: Look, language: str, person: Any) -> int:
    from whybox.cli.printing import print_text
    from whybox.cli.steps_view import StepsView
    from whybox.events import Stamped

    _, screen, answer_apart = screens()
    view = StepsView(
        screen,
        language,
        streaming=look.streaming.value,
        show_prompt=look.show_prompt,
        show_answer=not answer_apart,
    )
    if person is not None:
        person.screen = screen
    model = agent.model
    banner = f"whybox  {model.name}  {model.location}  {model.price}  {agent.mode}"
    last: Stamped | None = None
    try:
        async with aclosing(items):
            async for item in items:
                if last is None:
                    screen.line(banner, "dim")
                last = item if isinstance(item, Stamped) else last
                view.show(item)
    finally:
        if last is not None:
            for stamped in await agent.store.read(last.run, last.seq):
                view.show(stamped)
        view.close()
        if view.trace.state.steps:
            view.summary()
        if last is not None and _was_stopped(view.trace):
            screen.line(f"whybox runs resume {last.run}", "dim")
    if answer_apart and view.trace.answer:
        print_text(view.trace.answer.answer)
    return exit_code(last)


def _was_stopped(trace: Trace) -> bool:
    """Whether a person ended the run; when its model did, the line that says why also says how to go on."""
    from whybox.events import ModelFailed, Stopped

    return len(trace) > 0 and isinstance(trace[-1], Stopped) and not isinstance(trace.last, ModelFailed)


def screens() -> tuple[Console, Screen, bool]:
    """Return where steps go, and whether the answer goes to standard output on its own."""
    from rich.console import Console
    from rich.theme import Theme

    from whybox.cli.screen import LiveScreen, PlainScreen

    piped = not sys.stdout.isatty()
    theme = Theme({"answer": "bold", "markdown.code": "bold cyan"})
    console = Console(stderr=piped, theme=theme, highlight=False, no_color=True if piped else None)
    live = console.is_terminal and not console.is_dumb_terminal and not piped
    return console, (LiveScreen(console) if live else PlainScreen(console)), piped


def exit_code(last: Stamped | None) -> int:
    """Return the exit code for a run that ended with this event."""
    from whybox.events import Answered, Stopped

    if last is None:
        return 1
    match last.event:
        case Answered():
            return 0 if last.event.complete else 1
        case Stopped(reason="interrupted"):
            return 130
        case Stopped(reason=reason) if reason.startswith("model_"):
            return 3
    return 1


def ensure_weights(settings: Settings) -> None:
    """Fetch the weights of the known embedded models that were named and are not here yet."""
    for name in _embedded(settings):
        _ensure(name)


def _embedded(settings: Settings) -> Iterator[str]:
    for model in settings.all_models:
        provider, _, name = str(model).partition(":")
        # A server has its own names, and they may begin in the same way.
        if provider == "local" and not (settings.base_url and model == settings.model):
            yield name


def _ensure(name: str) -> None:
    from whybox import config
    from whybox.providers import weights

    if weights.is_path(name) or weights.weights_path(name, config.cache_dir()):
        return
    from whybox.cli.progress import shown

    try:
        with shown() as show:
            weights.pull(name, config.cache_dir(), show)
    except KeyboardInterrupt:
        typer.echo("stopped; what was downloaded is kept, the same command goes on from there", err=True)
        raise


def _leave_at_once(code: int) -> None:
    """End the process without waiting for llama.cpp, whose threads would crash while the interpreter is torn down."""
    import os

    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
