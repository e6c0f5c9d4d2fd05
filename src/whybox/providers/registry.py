"""From a model's name to the model. Nothing remote is reached unless the user named it."""

from __future__ import annotations

import difflib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from whybox.errors import ConfigError, UnknownModel
from whybox.ports import Abilities, Model
from whybox.providers import weights as store

PROVIDERS = {
    "local": "local:NAME or local:/path/to/file.gguf",
    "openai": "openai:NAME with --base-url",
    "scripted": "scripted:FILE",
}
"""Providers, and how a model of theirs is named."""


@dataclass(frozen=True)
class Description:
    """What a person wants to know of a model before choosing it.

    Args:
        name: how to name it.
        usable: it can be used now, as it is named here.
        note: what it is, or why it cannot be used and what to do.
        location: where it runs.
        price: what it costs.
    """

    name: str
    usable: bool
    note: str
    location: str
    price: str


def resolve(
    model: str,
    *,
    cache_dir: Path,
    base_url: str | None = None,
    api_key: str | None = None,
    context: int | None = None,
    timeout: float = 60.0,
    abilities: Abilities | None = None,
    debug: bool = False,
) -> Model:
    """Return the model called ``model``. Nothing is loaded and nothing is connected to yet.

    Args:
        model: ``provider:name``; with ``base_url`` the server's own name for the model is enough.
        cache_dir: whybox's cache folder, where the weights of embedded models are.
        base_url: the address of an OpenAI-compatible server; only used for models of such a server.
        api_key: the key for that server.
        context: how many tokens prompt and reply may have together, if not the default.
        timeout: the longest wait for a part of a reply from a server, in seconds.
        abilities: what the server can do with the model, if more than plain text.
        debug: let embedded models write their log.

    Raises:
        UnknownModel: there is no such provider or model.
        ConfigError: a base URL is missing or wrong, or a script cannot be read.
        WeightsError: the weights of an embedded model are missing or damaged.
    """
    provider, colon, name = model.strip().partition(":")
    if not colon or provider not in PROVIDERS:
        # Names at a server have colons too, such as "qwen2.5:1.5b".
        if not base_url or not model.strip():
            raise _unknown(model)
        provider, name = "openai", model.strip()
    if not name:
        raise UnknownModel(f"the model {model!r} has no name behind the colon", f"write {PROVIDERS[provider]}")
    if provider == "local":
        from whybox.providers.local import LocalModel

        return LocalModel.from_name(name, cache_dir, context=context, debug=debug)
    if provider == "scripted":
        from whybox.providers.scripted import ScriptedModel

        return ScriptedModel.from_file(name)
    if not base_url:
        raise ConfigError(f"{model} needs the address of its server", "add --base-url http://HOST:PORT/v1")
    from whybox.providers.openai_compat import OpenAICompatModel

    abilities = abilities or Abilities(context=context)
    return OpenAICompatModel(f"openai:{name}", base_url, name, api_key, timeout=timeout, abilities=abilities)


def describe_all(cache_dir: Path) -> list[Description]:
    """Return what there is to choose from, the default model first.

    Args:
        cache_dir: whybox's cache folder, where the weights of embedded models are.
    """
    here = "in this process"
    engine = "" if importlib.util.find_spec("xllamacpp") else "needs `pip install 'whybox[local]'`"
    rows = []
    for weights in store.known():
        state = store.state_of(weights, cache_dir).kind
        note = f"{weights.title}, {store.amount(weights.size)}, {weights.license}"
        if problem := engine or _not_here(weights.name, state):
            note = f"{note}: {problem}"
        rows.append(Description(f"local:{weights.name}", not problem, note, here, "free"))
    note = f"any GGUF file on this machine{': ' + engine if engine else ''}"
    rows.append(Description("local:/path/to/file.gguf", not engine, note, here, "free"))
    note = "any OpenAI-compatible server, with --base-url URL"
    rows.append(Description("openai:NAME", usable=True, note=note, location="at that URL", price="the server's"))
    note = "replies from a text file, for tests and teaching"
    rows.append(Description("scripted:FILE", usable=True, note=note, location=here, price="free"))
    return rows


def _not_here(name: str, state: str) -> str:
    pull = f"`whybox models pull {name}`"
    return {
        "ready": "",
        "absent": f"not downloaded, {pull}",
        "partial": f"not wholly downloaded, {pull} goes on",
        "damaged": f"damaged, `whybox models remove {name}`, then {pull}",
    }[state]


def _unknown(model: str) -> UnknownModel:
    names = [f"local:{weights.name}" for weights in store.known()]
    near = difflib.get_close_matches(model, names + [name.removeprefix("local:") for name in names], n=1, cutoff=0.75)
    if store.is_path(model) and ":" not in model:
        near = [model]
    if near:
        hint = f"did you mean local:{near[0].removeprefix('local:')}?"
    else:
        provider = difflib.get_close_matches(model.partition(":")[0], PROVIDERS, n=1)
        known = [PROVIDERS[provider[0]]] if provider else list(PROVIDERS.values())
        hint = f"{'did you mean' if provider else 'there are'} {', '.join(known)}{'?' if provider else ''}"
    return UnknownModel(f"there is no model {model!r}", hint)
