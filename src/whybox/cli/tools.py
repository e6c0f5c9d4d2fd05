"""``whybox tools``: what an agent can do, and trying it by hand."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from whybox.ports import Output
    from whybox.tools.base import ToolRegistry

app = typer.Typer(help="List the tools and try them.", no_args_is_help=True)

Values = Annotated[list[str] | None, typer.Argument(help="Values in order, name=value, or one JSON object.")]
Files = Annotated[list[Path] | None, typer.Option("--tools", help="Add the @tool functions of this Python file.")]
Language = Annotated[str, typer.Option("--lang", help="en or zh.")]
KbFile = Annotated[Path | None, typer.Option("--kb", help="Knowledge base file to look things up in.")]


@app.command("list")
def list_tools(files: Files = None, lang: Language = "en", kb: KbFile = None) -> None:
    """List the tools on offer, and say why others are not."""
    registry, has_kb = _registry(files, lang, kb)
    for spec in registry.specs:
        names = ", ".join(spec.parameters.get("properties", {}))
        typer.echo(f"{spec.name}[{names}]  ({spec.risk})")
        typer.echo(f"    {spec.in_language(spec.description, lang)}")
    if not has_kb:
        typer.echo("lookup is not on offer: no documents yet (whybox kb add PATH)", err=True)


@app.command("call")
def call_tool(
    name: Annotated[str, typer.Argument(help="The tool.")],
    arguments: Annotated[
        list[str] | None, typer.Argument(help="Values in order, name=value, or one JSON object.")
    ] = None,
    files: Files = None,
    lang: Language = "en",
    kb: KbFile = None,
) -> None:
    """Call one tool with the arguments given and print what it returns."""
    from whybox.cli.printing import print_text
    from whybox.errors import UsageError

    registry, _ = _registry(files, lang, kb)
    if name not in registry:
        raise UsageError(f'there is no tool "{name}"', f"there are {', '.join(registry)}")
    output = asyncio.run(_call(registry, name, _named(registry, name, arguments or [])))
    print_text(output.text)
    raise typer.Exit(1 if output.error else 0)


def _registry(files: list[Path] | None, lang: str, kb: Path | None) -> tuple[ToolRegistry, bool]:
    from whybox.assemble import Settings, knowledge_base, tools_of
    from whybox.tools.base import load_tools_file

    added: list[Any] = [function for file in files or [] for function in load_tools_file(file)]
    settings = Settings(tools=["*", *added], knowledge_base=kb)
    index = knowledge_base(settings)
    return tools_of(settings, lang, index), index is not None


async def _call(registry: ToolRegistry, name: str, arguments: dict[str, Any]) -> Output:
    return await registry[name].call(arguments)


def _named(registry: ToolRegistry, name: str, given: list[str]) -> dict[str, Any]:
    """Return typed arguments by name: a shell has split them already, so nothing is split at commas here."""
    if len(given) == 1 and given[0].lstrip().startswith("{"):
        try:
            value = json.loads(given[0])
        except ValueError:
            value = None
        if isinstance(value, dict):
            return value
    names = list(registry[name].spec.parameters.get("properties", {}))
    pairs = [text.partition("=") for text in given]
    if given and all(sign and key in names for key, sign, _ in pairs):
        return {key: value for key, _, value in pairs}
    if len(names) == 1:
        return {names[0]: " ".join(given)} if given else {}
    named: dict[str, Any] = dict(zip(names, given, strict=False))
    return named | ({"": ", ".join(given[len(names) :])} if len(given) > len(names) else {})
