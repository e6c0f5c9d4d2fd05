"""From a model's name to the model. Nothing remote is reached unless the user named it."""

from __future__ import annotations

import difflib
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
