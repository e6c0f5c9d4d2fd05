"""``whybox ask``: one question, answered step by step before the person's eyes."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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


class ModeName(StrEnum):
    """How the model is held to the format."""

    TEXT = "text"
    GRAMMAR = "grammar"


class ApprovalName(StrEnum):
    """Which calls ask a person."""

    NEVER = "never"
    RISKY = "risky"
    ALWAYS = "always"


class LanguageName(StrEnum):
    """Languages of prompts."""

    EN = "en"
    ZH = "zh"


@dataclass(frozen=True, slots=True)
class Look:
    """How a run is shown."""

    streaming: Streaming = Streaming.ALL
    show_prompt: bool = False
    as_json: bool = False


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="provider:name, or a server's model with --base-url.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible server, such as http://127.0.0.1:8080/v1.")
    ] = None,
    tools: Annotated[list[Path] | None, typer.Option(help="Add the @tool functions of this Python file.")] = None,
    tool: Annotated[list[str] | None, typer.Option(help="Offer only these built-in tools.")] = None,
    no_tools: Annotated[bool, typer.Option("--no-tools", help="Offer no built-in tools.")] = False,
    kb: Annotated[Path | None, typer.Option(help="Knowledge base file to look things up in.")] = None,
    mode: Annotated[ModeName | None, typer.Option(help="How the model is held to the format.")] = None,
    lang: Annotated[LanguageName | None, typer.Option(help="Language of the prompt; else the question's.")] = None,
    prompt: Annotated[Path | None, typer.Option(help="Jinja2 template in place of the instructions.")] = None,
    max_steps: Annotated[int, typer.Option(min=1, help="Most replies of the model.")] = 10,
    max_tokens: Annotated[int, typer.Option(min=16, help="Longest reply, in tokens.")] = 800,
    model_timeout: Annotated[float, typer.Option(min=0.1, help="Longest model call, in seconds.")] = 60.0,
    tool_timeout: Annotated[float, typer.Option(min=0.1, help="Longest tool call, in seconds.")] = 30.0,
    temperature: Annotated[float, typer.Option(min=0.0, max=2.0, help="Of decoding.")] = 0.0,
    approve: Annotated[ApprovalName, typer.Option(help="Which calls ask first.")] = ApprovalName.RISKY,
    stream: Annotated[
        Streaming, typer.Option(help="all: every token; steps: each step whole; answer: only the answer by token.")
    ] = Streaming.ALL,
    show_prompt: Annotated[bool, typer.Option("--show-prompt", help="Print the exact prompt of each call.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one event a line.")] = False,
) -> None:
    """Answer a question, showing each thought, action and observation as it happens."""
    from whybox import config
    from whybox.agent import checked
    from whybox.assemble import Settings
    from whybox.cli.printing import read_text
    from whybox.spec import Limits

    question = checked(read_text() if question == "-" else question)
    settings = Settings(
        model=(config.setting("model") or config.DEFAULT_MODEL) if model is None else model,
        base_url=base_url or config.setting("base_url"),
        tools=_tools(tools, tool, no_tools),
        prompt=_template(prompt),
        mode=mode.value if mode else None,
        language=lang.value if lang else None,
        approve=approve.value,
        limits=Limits(
            max_steps=max_steps, model_seconds=model_timeout, tool_seconds=tool_timeout, reply_tokens=max_tokens
        ),
        temperature=temperature,
        knowledge_base=_existing(kb),
        debug=context.obj["debug"],
    )
    raise typer.Exit(run_and_show(settings, Look(stream, show_prompt, as_json), question=question))


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
            view.summary(str(model.price))
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
    """Fetch the weights of a known embedded model that is asked for and not here yet."""
    from whybox import config

    provider, _, name = str(settings.model).partition(":")
    if provider != "local" or settings.base_url:
        return
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


def _tools(files: list[Path] | None, names: list[str] | None, none: bool) -> list[Any] | None:
    from whybox.errors import UsageError

    if names and none:
        raise UsageError("--tool and --no-tools contradict each other", "give one of them")
    if not files and not names and not none:
        return None
    from whybox.tools.base import load_tools_file

    added: list[Any] = [function for file in files or [] for function in load_tools_file(file)]
    built_in: list[Any] = list(names) if names else [] if none else ["*"]
    return [*built_in, *added]


def _template(path: Path | None) -> str | None:
    from whybox.errors import UsageError

    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the prompt template {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the prompt template {path} is not UTF-8 text (byte {error.start})") from error


def _existing(path: Path | None) -> Path | None:
    from whybox.errors import UsageError

    if path is not None and not path.exists():
        raise UsageError(f"there is no knowledge base {path}", f"make it with: whybox kb add PATH --kb-file {path}")
    return path


def _leave_at_once(code: int) -> None:
    """End the process without waiting for llama.cpp, whose threads would crash while the interpreter is torn down."""
    import os

    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
