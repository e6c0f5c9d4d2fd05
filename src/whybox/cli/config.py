"""``whybox config``: what is set, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from whybox.config import Server, Values

app = typer.Typer(help="Show what is set and where each value comes from.", no_args_is_help=True)


@app.command()
def show(as_json: Annotated[bool, typer.Option("--json", help="Print one value a line.")] = False) -> None:
    """Show each value and where it comes from; keys are only said to be set or not."""
    from whybox import config
    from whybox.cli.printing import print_json, print_text
    from whybox.providers.catalogue import PROVIDERS

    loaded = config.load()
    rows: list[tuple[str, Any, str]] = [(name, value, loaded.source(name)) for name, value in _printable(loaded.values)]
    file = str(loaded.path)
    rows += [(f'models."{name}"', table, file) for name, table in loaded.models.items()]
    rows += [(f'prices."{name}"', table, file) for name, table in loaded.prices.items()]
    rows += [(f'servers."{name}"', dict(_printable(server)), file) for name, server in loaded.servers.items()]
    variables = [each.key for each in PROVIDERS.values() if each.key]
    variables += [each.key_env for each in loaded.servers.values() if each.key_env]
    rows += [(name, "set" if config.key(name) else "not set", "environment") for name in dict.fromkeys(variables)]
    if as_json:
        for name, value, source in rows:
            print_json({"name": name, "value": value, "source": source})
        return
    width = max(len(name) for name, _, _ in rows)
    for name, value, source in rows:
        print_text(f"{name:<{width}}  {'-' if value in (None, ()) else value}  ({source})")


def _printable(values: Values | Server) -> Iterator[tuple[str, Any]]:
    """Yield each value as it may be shown: an address may hold a password."""
    from whybox.providers.http_client import shown_address

    for name, value in values:
        yield name, shown_address(value) if name == "base_url" and value else value


@app.command()
def path() -> None:
    """Print the path of the configuration file."""
    from whybox import config

    typer.echo(config.config_path())
