"""From settings to the parts of an agent: the only file that knows every adapter."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast, get_args

import anyio

from whybox import config
from whybox.dialects.by_mode import Dialects
from whybox.engine.drive import Edges
from whybox.errors import UsageError
from whybox.events import Event
from whybox.people import Nobody
from whybox.ports import Abilities, Dialect, Mode, Model, Person, Store, Tool, ToolSpec, ability_for
from whybox.prompts.instructions import instructions
from whybox.providers.catalogue import PROVIDERS, Provider
from whybox.providers.facts import Facts
from whybox.providers.recorded import Load
from whybox.providers.registry import Own, resolve
from whybox.spec import AgentSpec, Approval, Limits, ModelUse
from whybox.tools.base import FunctionTool, ToolRegistry, tool
from whybox.tools.runner import SideBySide, guard

if TYPE_CHECKING:
    from whybox.store.sql import SqlStore
    from whybox.tools.kb import KnowledgeBase

ToolLike = Tool | Callable[..., object] | str
AnyTool = FunctionTool[..., Any]
ALL = "*"
"""In a list of tools: all built-in ones."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user can set about an agent.

    Args:
        model: ``provider:name``, or a model port.
        base_url: of an OpenAI-compatible server that serves ``model``.
        tools: tools, functions, or names of built-in tools (``*`` for all of them); None for all built-in ones.
        prompt: a Jinja2 template in place of the built-in instructions.
        mode: ``text``, ``grammar``, ``json`` or ``tools``; None for the one that suits the model best.
        language: ``en``, ``zh``, or None for the question's own.
        approve: which calls ask a person.
        limits: bounds of a run.
        temperature: of decoding.
        knowledge_base: the index file of ``lookup``; None for the one in the data folder.
        context: tokens an embedded model can read; None for its default.
        answer_model: the model that writes the final answer, if it is another one; likewise for summaries.
        summarize_model: see ``answer_model``.
        escalate: the model that takes over a step when there is no progress.
        fallbacks: models that are tried, in order, when the one before is down.
        logprobs: how many of the likeliest tokens are kept for each token of a reply; 0 for none.
        debug: let native libraries write their logs.
    """

    model: str | Model = config.DEFAULT_MODEL
    base_url: str | None = None
    tools: Sequence[ToolLike] | None = None
    prompt: str | None = None
    mode: Mode | None = None
    language: str | None = None
    approve: Approval = "risky"
    limits: Limits = field(default_factory=Limits)
    temperature: float = 0.0
    knowledge_base: Path | None = None
    context: int | None = None
    answer_model: str | Model | None = None
    summarize_model: str | Model | None = None
    escalate: str | Model | None = None
    fallbacks: Sequence[str | Model] = ()
    logprobs: int = 0
    debug: bool = False

    @property
    def all_models(self) -> tuple[str | Model, ...]:
        """Every model that was named, the one that thinks first."""
        others = (self.answer_model, self.summarize_model, self.escalate, *self.fallbacks)
        return (self.model, *(model for model in others if model is not None))


def model_of(settings: Settings, name: str | Model, promised: Facts | None = None) -> Model:
    """Return the model that was named.

    Args:
        settings: where its server is, unless the model's provider says so.
        name: ``provider:name``, or a model port.
        promised: what it is to be trusted to do, whatever else is known of it.

    Raises:
        UnknownModel: there is no such provider or model.
        ConfigError: a key or an address is missing, or the configuration cannot be used.
        ModelError: it is known but cannot be used here.
    """
    if not isinstance(name, str):
        return name
    main = name == settings.model
    own = own_of(config.load())
    # The others are at that server too, unless their names say that they are somewhere else.
    elsewhere = name.partition(":")[0] in {*PROVIDERS, *own.servers} - {"server"}
    return resolve(
        name,
        base_url=settings.base_url if main or not elsewhere else None,
        key=config.key,
        cache_dir=config.cache_dir(),
        context=settings.context,
        timeout=settings.limits.model_seconds,
        promised=promised or (_promised(settings) if main else None),
        own=own,
        runs=_recorded,
        debug=settings.debug,
    )


def own_of(loaded: config.Config) -> Own:
    """Return what the configuration says of models."""
    servers = {
        name: Provider(name, f"{name}:MODEL", "openai", each.base_url, each.key_env)
        for name, each in loaded.servers.items()
    }
    return Own(loaded.models, loaded.prices, servers, str(loaded.path))


def _promised(settings: Settings) -> Facts:
    """Return what a server can do because the user asks for it."""
    promised = {"logprobs": True} if settings.logprobs else {}
    if settings.mode is not None and settings.mode != "text":
        promised[ability_for(settings.mode)] = True
    return Facts.model_validate(promised) if settings.base_url else Facts()


def _recorded(run: str) -> Load:
    async def load() -> list[Event]:
        async with default_store() as store:
            return [stamped.event for stamped in await store.read(await store.find(run))]

    return load


def knowledge_base(settings: Settings) -> KnowledgeBase | None:
    """Return the knowledge base, or None when there is nothing in it."""
    path = settings.knowledge_base or config.data_dir() / "kb.sqlite3"
    if not path.exists():
        return None
    from whybox.tools.kb import KnowledgeBase

    kb = KnowledgeBase(path, config.cache_dir())
    return None if kb.empty else kb


def built_in_tools(language: str, kb: KnowledgeBase | None) -> list[AnyTool]:
    """Return the built-in tools, in the order a model is told of them."""
    from whybox.tools.calculator import calculator_tool
    from whybox.tools.dates import date_tools

    tools: list[AnyTool] = []
    if kb is not None:
        from whybox.tools.lookup import lookup_tool

        tools.append(lookup_tool(kb, language))
    return [*tools, calculator_tool(language), *date_tools(language)]


def tools_of(settings: Settings, language: str, kb: KnowledgeBase | None) -> ToolRegistry:
    """Return the tools that are on offer.

    Raises:
        UsageError: a name is not that of a built-in tool.
        ToolDefinitionError: a function cannot be made into a tool, or two tools have one name.
    """
    built_in = {tool.spec.name: tool for tool in built_in_tools(language, kb)}
    wanted: Sequence[ToolLike] = list(built_in.values()) if settings.tools is None else settings.tools
    found: list[Tool] = []
    for item in wanted:
        found += list(built_in.values()) if item == ALL else [_tool(item, built_in)]
    return ToolRegistry(found)


def _tool(item: ToolLike, built_in: Mapping[str, AnyTool]) -> Tool:
    if isinstance(item, str):
        if item not in built_in:
            hint = "add documents with: whybox kb add PATH" if item == "lookup" else f"there are {', '.join(built_in)}"
            raise UsageError(f"there is no built-in tool {item!r} on offer", hint)
        return built_in[item]
    if isinstance(getattr(item, "spec", None), ToolSpec):
        return cast("Tool", item)
    return tool(cast("Callable[..., object]", item))


def mode_of(settings: Settings, model: Model) -> Mode:
    """Return how the model is held to the format: as set, or the best it can do.

    Raises:
        UsageError: the mode is one the model cannot do.
    """
    if settings.mode is None:
        return _best_mode(model.abilities)
    if not model.abilities.can(settings.mode):
        modes = [mode for mode in get_args(Mode) if model.abilities.can(mode)]
        hint = f"use --mode {' or '.join(modes)}, or find out what it can do: whybox models check {model.name}"
        raise UsageError(f"{model.name} {_CANNOT[settings.mode]}", hint)
    return settings.mode


def _best_mode(abilities: Abilities) -> Mode:
    return abilities.best or ("grammar" if abilities.grammar else "text")


_CANNOT = {
    "grammar": "cannot be held to a grammar",
    "json": "cannot be held to a JSON schema",
    "tools": "has no native tool calls",
}


def use_of(model: Model, mode: Mode | None, logprobs: int = 0) -> ModelUse:
    """Return how a model is used: in ``mode`` if it can, else in the one that suits it best."""
    abilities = model.abilities
    if mode is None or not abilities.can(mode):
        mode = _best_mode(abilities)
    return ModelUse(name=model.name, mode=mode, prefix=abilities.prefix, logprobs=logprobs if abilities.logprobs else 0)


def spec_of(settings: Settings, models: Mapping[str | Model, Model], tools: ToolRegistry, language: str) -> AgentSpec:
    """Return the agent as data.

    Args:
        settings: what was set.
        models: the model of each name in it.
        tools: what it may use.
        language: of prompts and labels.

    Raises:
        UsageError: the mode is one the model cannot do.
        ConfigError: the prompt template cannot be rendered.
    """
    model = models[settings.model]
    mode = mode_of(settings, model)
    instructions(settings.prompt, tools.specs, language, mode)

    def use(name: str | Model | None) -> ModelUse | None:
        return None if name is None else use_of(models[name], mode, settings.logprobs)

    think = use_of(model, mode, settings.logprobs)
    return AgentSpec(
        model=model.name,
        mode=mode,
        language=language,
        tools=tuple(tools.specs),
        prefix=think.prefix,
        instructions=settings.prompt,
        approve=settings.approve,
        limits=settings.limits,
        temperature=settings.temperature,
        logprobs=think.logprobs,
        answer=use(settings.answer_model),
        summarize=use(settings.summarize_model),
        larger=use(settings.escalate),
        fallbacks=tuple(use_of(models[name], mode, settings.logprobs) for name in settings.fallbacks),
    )


def edges_of(
    models: Iterable[Model],
    tools: ToolRegistry,
    store: Store,
    person: Person | None,
    limits: Limits,
    language: str,
) -> Edges:
    """Return what a run acts through, each tool held to its time."""
    guarded = {name: guard(each, limits.tool_seconds, language) for name, each in tools.items()}
    return Edges(
        models={model.name: model for model in models},
        tools=SideBySide(guarded),
        person=person or Nobody(),
        store=store,
        pause=jittered,
    )


async def jittered(seconds: float) -> None:
    """Wait up to a quarter longer than ``seconds``, so that runs that failed together do not come back together."""
    await anyio.sleep(seconds * random.uniform(1, 1.25))  # noqa: S311 - no secret depends on it


def default_store() -> SqlStore:
    """Return the store in the data folder."""
    from whybox.store.sql import SqlStore

    return SqlStore(config.data_dir() / "runs.sqlite3")


def dialects_of(text: Dialect | None) -> Dialects:
    """Return the form of replies in each mode; ``text`` takes the place of text ReAct."""
    return Dialects(text)
