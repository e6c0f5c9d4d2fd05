"""From a model's name to the model. Nothing remote is reached unless the user named it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from whybox.errors import ConfigError, UnknownModel
from whybox.ports import Model
from whybox.providers import weights as store
from whybox.providers.catalogue import PROVIDERS, Provider
from whybox.providers.facts import Facts, Tables, known, matching, price_of
from whybox.providers.recorded import Load, RecordedModel


@dataclass(frozen=True, slots=True)
class Own:
    """What the user's configuration says of models.

    Args:
        models: facts by pattern of ``provider:model``.
        prices: prices by pattern.
        servers: more providers, or other addresses for the known ones.
        where: the file all this is from.
    """

    models: Tables = field(default_factory=dict)
    prices: Tables = field(default_factory=dict)
    servers: Mapping[str, Provider] = field(default_factory=dict)
    where: str = ""


NOTHING_OWN = Own()


def no_key(variable: str) -> str | None:
    """Return None: there are no keys."""
    return None


def no_runs(run: str) -> Load:
    """Return nothing to replay.

    Raises:
        UnknownModel: always.
    """
    raise UnknownModel(f"there is no run {run!r} to replay here")


def provider_of(model: str, base_url: str | None, own: Own = NOTHING_OWN) -> tuple[Provider, str]:
    """Return who serves ``model``, and the model's own name there.

    With a base URL that address takes the place of the provider's; the key is then ``WHYBOX_API_KEY``, since a key goes
    to its own provider only. A name at that server may have colons, such as ``qwen2.5:1.5b``.

    Raises:
        UnknownModel: there is no such provider or model.
        ConfigError: the base URL is missing.
    """
    prefix, colon, name = model.strip().partition(":")
    provider = (own.servers.get(prefix) or PROVIDERS.get(prefix)) if colon else None
    if provider is None:
        if not base_url or not model.strip():
            raise _unknown(model, own)
        provider, name = PROVIDERS["server"], model.strip()
    if not name:
        raise UnknownModel(f"the model {model!r} has no name behind the colon", f"write {provider.form}")
    server = PROVIDERS["server"]
    if base_url and provider.protocol == "openai":
        return replace(server, base_url=base_url), name
    if provider.name == "server" and not provider.base_url:
        raise ConfigError(f"{model} needs the address of its server", "add --base-url http://HOST:PORT/v1")
    return provider, name


def resolve(
    model: str,
    *,
    cache_dir: Path,
    base_url: str | None = None,
    key: Callable[[str], str | None] = no_key,
    context: int | None = None,
    timeout: float = 60.0,
    promised: Facts | None = None,
    own: Own = NOTHING_OWN,
    runs: Callable[[str], Load] = no_runs,
    debug: bool = False,
) -> Model:
    """Return the model called ``model``. Nothing is loaded and nothing is connected to yet.

    Args:
        model: ``provider:name``; with ``base_url`` the server's own name for the model is enough.
        cache_dir: whybox's cache folder, where weights are.
        base_url: the address of a server in place of the provider's own.
        key: returns the key in an environment variable.
        context: how many tokens prompt and reply may have together, if not the default.
        timeout: the longest wait for a part of a reply from a server, in seconds.
        promised: what the user says the model can do.
        own: what the user's configuration says.
        runs: returns what reads a recorded run.
        debug: let embedded models write their log.

    Raises:
        UnknownModel: there is no such provider or model.
        ConfigError: an address, a key or a setting is missing or wrong, or a script cannot be read.
        WeightsError: the weights of an embedded model are missing or damaged.
    """
    provider, name = provider_of(model, base_url, own)
    match provider.protocol:
        case "local":
            from whybox.providers.local import LocalModel

            return LocalModel.from_name(name, cache_dir, context=context, debug=debug)
        case "script":
            from whybox.providers.scripted import ScriptedModel

            return ScriptedModel.from_file(name)
        case "recording":
            return RecordedModel(f"replay:{name}", runs(name))
        case _:
            given = Facts(context=context).then(promised or Facts())
            facts = facts_of(provider, name, own).then(given)
            return _remote(provider, name, key, timeout, facts, own)


def facts_of(provider: Provider, name: str, own: Own) -> Facts:
    """Return what is known of a model behind a server, from all sources.

    Raises:
        ConfigError: a table of the user's cannot be used.
    """
    full = f"{provider.name}:{name}"
    return known(full).then(matching(full, own.models, own.where))


def _remote(
    provider: Provider, name: str, key: Callable[[str], str | None], timeout: float, facts: Facts, own: Own
) -> Model:
    full = f"{provider.name}:{name}"
    secret = key(provider.key) if provider.key else None
    if provider.key and not secret and not _optional(provider):
        raise ConfigError(f"{full} needs a key", f"set {provider.key}")
    from whybox.providers.openai_compat import OpenAICompatModel

    return OpenAICompatModel(
        full,
        provider.base_url,
        name,
        secret,
        timeout=timeout,
        abilities=facts.abilities,
        price=price_of(full, own.prices, own.where),
        empty_content=facts.empty_content or "null",
        reasoning_back=facts.reasoning_back or "never",
        extra_body=facts.extra_body,
        key_name=provider.key,
    )


def _optional(provider: Provider) -> bool:
    """Whether requests may go without a key: a server that the user named may want none."""
    return provider.name not in PROVIDERS or PROVIDERS[provider.name].base_url != provider.base_url


def _unknown(model: str, own: Own) -> UnknownModel:
    names = [f"local:{weights.name}" for weights in store.known()]
    near = difflib.get_close_matches(model, names + [name.removeprefix("local:") for name in names], n=1, cutoff=0.75)
    if store.is_path(model) and ":" not in model:
        near = [model]
    if near:
        hint = f"did you mean local:{near[0].removeprefix('local:')}?"
    else:
        providers = {**PROVIDERS, **own.servers}
        provider = difflib.get_close_matches(model.partition(":")[0], providers, n=1)
        hint = f"did you mean {providers[provider[0]].form}?" if provider else "see: whybox models"
    return UnknownModel(f"there is no model {model!r}", hint)
