"""``whybox runs``: what was kept."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from whybox.spec import AgentSpec

app = typer.Typer(help="List, show and resume the runs that were kept.", no_args_is_help=True)


@app.command("list")
def list_runs(
    limit: Annotated[int, typer.Option(min=1, help="How many.")] = 20,
    as_json: Annotated[bool, typer.Option("--json", help="Print one run a line.")] = False,
) -> None:
    """List the newest runs."""
    from dataclasses import asdict

    from whybox.cli.printing import print_json

    rows = asyncio.run(_listed(limit))
    if as_json:
        for row in rows:
            print_json(asdict(row))
        return
    if not rows:
        typer.echo('no runs yet: whybox ask "..."', err=True)
        return
    from whybox.cli.printing import print_text

    for line in _lines(rows):
        print_text(line)


def _lines(rows: list[Any]) -> Iterator[str]:
    """Yield a line for each run; only the question is shortened, to what a terminal has room for."""
    import shutil

    from rich.cells import cell_len, set_cell_size

    from whybox.cli.printing import one_line

    ids = max(len(row.id) for row in rows)
    wide = shutil.get_terminal_size((200, 24)).columns if sys.stdout.isatty() else 10_000
    yield f"{'run':{ids}}  {'when':16}  {'outcome':10}  steps  question"
    for row in rows:
        when = row.created.astimezone().strftime("%Y-%m-%d %H:%M")
        head = f"{row.id:{ids}}  {when}  {row.outcome:10}  {row.steps:5}  "
        question = one_line(row.question)
        room = max(10, wide - len(head) - 1)
        yield head + (question if cell_len(question) <= room else set_cell_size(question, room - 1).rstrip() + "…")


@app.command()
def show(
    run: Annotated[str, typer.Argument(help="The run's id, or its beginning.")],
    step: Annotated[int | None, typer.Option(help="Only this step, nothing folded.")] = None,
    show_prompt: Annotated[bool, typer.Option("--prompt", "--show-prompt", help="With exact prompts.")] = False,
    tokens: Annotated[
        bool,
        typer.Option("--tokens", help="Show what each model call used instead: tokens by part, cache, cost, doubts."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one event a line.")] = False,
) -> None:
    """Show a run as it happened."""
    events = asyncio.run(_events(run))
    language = events[0].event.language if hasattr(events[0].event, "language") else "en"
    if tokens:
        from whybox.cli.tokens_view import print_tokens

        print_tokens(_console(), events, language, as_json=as_json)
        return
    if as_json:
        from whybox.cli.printing import print_json
        from whybox.cli.running import json_line

        for stamped in events:
            print_json(json_line(stamped))
        return
    from whybox.cli.screen import PlainScreen
    from whybox.cli.steps_view import StepsView

    view = StepsView(
        PlainScreen(_console()),
        language,
        show_prompt=show_prompt,
        fold=step is None,
    )
    view.show_stored(events, step)
    view.close()


@app.command()
def resume(
    context: typer.Context,
    run: Annotated[str, typer.Argument(help="The run's id, or its beginning.")],
    base_url: Annotated[str | None, typer.Option(help="The server, for a run that used one.")] = None,
    tools: Annotated[list[Path] | None, typer.Option(help="Python files whose @tool functions it had.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one event a line.")] = False,
) -> None:
    """Go on with a run that was stopped or whose process died, with the agent it was started with."""
    from whybox import config
    from whybox.assemble import Settings
    from whybox.cli.running import Look, Streaming, run_and_show
    from whybox.tools.base import load_tools_file

    run_id, spec = asyncio.run(_spec_of(run))
    own: list[Any] = [function for file in tools or [] for function in load_tools_file(file)]
    names = {function.spec.name for function in own}
    settings = Settings(
        model=spec.model,
        base_url=base_url or config.load().values.base_url,
        tools=[*(tool.name for tool in spec.tools if tool.name not in names), *own],
        prompt=spec.instructions,
        mode=spec.mode,
        language=spec.language,
        approve=spec.approve,
        limits=spec.limits,
        temperature=spec.temperature,
        answer_model=spec.answer.name if spec.answer else None,
        summarize_model=spec.summarize.name if spec.summarize else None,
        escalate=spec.larger.name if spec.larger else None,
        fallbacks=tuple(use.name for use in spec.fallbacks),
        logprobs=spec.logprobs,
        debug=context.obj["debug"],
    )
    raise typer.Exit(run_and_show(settings, Look(Streaming.ALL, as_json=as_json), resume=run_id))


def _console() -> Any:
    from rich.console import Console
    from rich.theme import Theme

    return Console(theme=Theme({"answer": "bold"}), highlight=False)


async def _listed(limit: int) -> list[Any]:
    from whybox.assemble import default_store

    async with default_store() as store:
        return list(await store.list_runs(limit))


async def _events(prefix: str) -> list[Any]:
    from whybox.assemble import default_store

    async with default_store() as store:
        return await store.read(await store.find(prefix))


async def _spec_of(prefix: str) -> tuple[str, AgentSpec]:
    from whybox.assemble import default_store
    from whybox.spec import AgentSpec
    from whybox.trace import Trace

    async with default_store() as store:
        run = await store.find(prefix)
        trace = Trace(stamped.event for stamped in await store.read(run))
    return run, AgentSpec.model_validate(trace.started.agent)
