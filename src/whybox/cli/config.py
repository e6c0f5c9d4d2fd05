"""``whybox config``: what is set, and where it comes from."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(help="Show what is set and where each value comes from.", no_args_is_help=True)


@app.command()
def show(as_json: Annotated[bool, typer.Option("--json", help="Print one value a line.")] = False) -> None:
    """Show each value and where it comes from; keys are only said to be set or not."""
    from whybox import config
    from whybox.cli.printing import print_json, print_text
    from whybox.providers.catalogue import PROVIDERS

    loaded = config.load()
    rows = [(name, value, loaded.source(name)) for name, value in loaded.values]
    for title in ("models", "prices", "servers"):
        rows += [(f'{title}."{name}"', table, str(loaded.path)) for name, table in getattr(loaded, title).items()]
    variables = [each.key for each in (*PROVIDERS.values(),) if each.key]
    variables += [each.key_env for each in loaded.servers.values() if each.key_env]
    rows += [(name, "set" if config.key(name) else "not set", "environment") for name in dict.fromkeys(variables)]
    if as_json:
        for name, value, source in rows:
            print_json({"name": name, "value": value, "source": source})
        return
    width = max(len(name) for name, _, _ in rows)
    for name, value, source in rows:
        print_text(f"{name:<{width}}  {'-' if value in (None, ()) else value}  ({source})")


@app.command()
def path() -> None:
    """Print the path of the configuration file."""
    from whybox import config

    typer.echo(config.config_path())
