"""``whybox models``: which models can be used here, and the weights of the embedded ones."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from whybox.providers import weights as store
from whybox.providers.catalogue import PROVIDERS, Provider

app = typer.Typer(help="List the models that can be used here; fetch and remove the weights of embedded ones.")

Name = Annotated[str, typer.Argument(help="A model of `whybox models list`, with or without `local:`.")]


def _cache() -> Path:
    from whybox.config import cache_dir

    return cache_dir()


def _plain(name: str) -> str:
    return name.removeprefix("local:")


@app.callback(invoke_without_command=True)
def models(context: typer.Context) -> None:
    """List the models that can be used here; fetch and remove the weights of embedded ones."""
    if context.invoked_subcommand is None:
        list_models()


@app.command("list")
def list_models(
    verify: Annotated[bool, typer.Option("--verify", help="Read the weights that are here and check them.")] = False,
) -> None:
    """Show what is usable here, and why the others are not."""
    cache = _cache()
    if verify:
        _verify(cache)
    from whybox import config
    from whybox.assemble import own_of

    loaded = config.load()
    rows = [(f"local:{weights.name}", _state(weights, cache)) for weights in store.known()]
    rows += [(each.form.rpartition(" or ")[2], _reach(each)) for each in PROVIDERS.values()]
    rows += [(each.form, _reach(each)) for each in own_of(loaded).servers.values()]
    width = max(len(name) for name, _ in rows)
    for name, state in rows:
        typer.echo(f"{name:<{width}}  {state}")
    typer.echo(f"used unless another is named: {loaded.values.model} ({loaded.source('model')})", err=True)


def _reach(provider: Provider) -> str:
    """Return whether models of a provider can be used, and why not. Nothing that is not on this machine is asked."""
    from whybox import config
    from whybox.providers.http_client import shown_address

    if provider.name == "local" and _engine():
        return _engine()
    if provider.name == "ollama" and not _listens(provider.base_url):
        return f"not usable: nothing listens at {provider.base_url}"
    if provider.key and provider.base_url and not config.key(provider.key):
        return f"not usable: set {provider.key} ({provider.note or shown_address(provider.base_url)})"
    return f"ready: {provider.note or shown_address(provider.base_url)}"


def _listens(base_url: str) -> bool:
    import socket
    from urllib.parse import urlsplit

    url = urlsplit(base_url)
    try:
        with socket.create_connection((url.hostname, url.port), timeout=0.3):
            return True
    except OSError:
        return False


def _verify(cache: Path) -> None:
    from whybox.cli.progress import shown

    for weights in store.known():
        if store.state_of(weights, cache).kind in {"ready", "damaged"}:
            with shown() as show:
                store.verify(weights, cache, show)


def _engine() -> str:
    if importlib.util.find_spec("xllamacpp"):
        return ""
    return "not usable: embedded models need `pip install 'whybox[local]'`"


def _state(weights: store.Weights, cache: Path) -> str:
    state = store.state_of(weights, cache)
    size, what = store.amount(weights.size), f"{weights.title}, {weights.license}"
    match state.kind:
        case "ready":
            return _engine() or f"ready: {what}, {size}"
        case "partial":
            return f"not downloaded: {store.amount(state.here)} of {size} are here; `whybox models pull {weights.name}`"
        case "damaged":
            return f"damaged: {state.path}; `whybox models remove {weights.name}`, then pull it"
        case "absent":
            return f"not downloaded: `whybox models pull {weights.name}` fetches {size} ({what})"


@app.command("check")
def check_model(
    name: Annotated[str, typer.Argument(help="provider:name, or a server's model with --base-url.")],
    base_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible server.")] = None,
) -> None:
    """Try each ability with a few tokens, print what was found, and a table of it for the configuration file."""
    import asyncio

    asyncio.run(_check(name, base_url))


async def _check(name: str, base_url: str | None) -> None:
    from whybox.assemble import Settings, model_of
    from whybox.cli.printing import one_line, print_text
    from whybox.cli.words import money
    from whybox.ports import Abilities
    from whybox.providers.check import EVERYTHING, check
    from whybox.trace import added_cost

    settings = Settings(model=name, base_url=base_url)
    assumed = model_of(settings, name).abilities
    model = model_of(settings, name, promised=EVERYTHING)
    print_text(f"{model.name}  {model.location}  {model.price}")
    found: dict[str, bool] = {}
    cost: float | None = 0.0
    try:
        async for finding in check(model):
            found[finding.ability] = finding.able
            cost = added_cost(cost, finding.cost)
            before = getattr(assumed, finding.ability, None)
            changed = "" if before in (None, finding.able) else "  (assumed otherwise)"
            said = one_line(finding.said)[:80]
            print_text(f"  {finding.ability:<12} {'yes' if finding.able else 'no ':<4}{changed}  {said}")
    finally:
        await model.close()
    print_text(f"cost: {money(cost)}")
    if not found.get("text"):
        raise typer.Exit(3)
    if model.name.startswith("local:"):
        return  # what an embedded model can do is not read from the configuration
    facts = {ability: able for ability, able in found.items() if ability in Abilities.model_fields}
    print_text(f'\n[models."{model.name}"]')
    for ability, able in facts.items():
        print_text(f"{ability} = {str(able).lower()}")


@app.command()
def pull(name: Name) -> None:
    """Fetch the weights of an embedded model; an interrupted fetch goes on where it was."""
    from whybox.cli.progress import shown

    try:
        with shown() as show:
            path = store.pull(_plain(name), _cache(), show)
    except KeyboardInterrupt:
        typer.echo("stopped; what was downloaded is kept, the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    typer.echo(path)


@app.command()
def path(name: Name) -> None:
    """Print the path of a model's weights."""
    found = store.resolve(_plain(name), _cache())
    if found is None:
        from whybox.errors import WeightsError

        raise WeightsError(f"the weights of {_plain(name)} are not here", f"whybox models pull {_plain(name)}")
    typer.echo(found)


@app.command()
def remove(name: Name) -> None:
    """Remove a model's weights, and what an interrupted fetch left of them."""
    freed = store.remove(_plain(name), _cache())
    if freed:
        typer.echo(f"removed {_plain(name)}, {store.amount(freed)}")
    else:
        typer.echo(f"there was nothing of {_plain(name)} to remove")
