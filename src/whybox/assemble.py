"""From settings to the parts of an agent: the only file that knows every adapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from whybox import config
from whybox.dialects.react import ReAct
from whybox.engine.drive import Edges
from whybox.errors import UsageError
from whybox.people import Nobody
from whybox.ports import Abilities, Dialect, Mode, Model, Person, Store, Tool, ToolSpec
from whybox.prompts.instructions import instructions
from whybox.providers.registry import resolve
from whybox.spec import AgentSpec, Approval, Limits
from whybox.tools.base import FunctionTool, ToolRegistry, tool
from whybox.tools.runner import guard

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
        mode: ``text`` or ``grammar``; None for the best the model can do.
        language: ``en``, ``zh``, or None for the question's own.
        approve: which calls ask a person.
        limits: bounds of a run.
        temperature: of decoding.
        knowledge_base: the index file of ``lookup``; None for the one in the data folder.
        context: tokens an embedded model can read; None for its default.
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
    debug: bool = False


def model_of(settings: Settings) -> Model:
    """Return the model that was named.

    Raises:
        UnknownModel: there is no such provider or model.
        ModelError: it is known but cannot be used here.
    """
    if not isinstance(settings.model, str):
        return settings.model
    return resolve(
        settings.model,
        base_url=settings.base_url,
        api_key=config.api_key(),
        cache_dir=config.cache_dir(),
        context=settings.context,
        abilities=_promised(settings),
        debug=settings.debug,
    )


def _promised(settings: Settings) -> Abilities | None:
    """Return what a server can do because the user says so; None for plain text."""
    if settings.base_url and settings.mode == "grammar":
        return Abilities(grammar=True, context=settings.context)
    return None


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
    if settings.mode == "grammar" and not model.abilities.grammar:
        raise UsageError(f"{model.name} cannot be held to a grammar", "use --mode text")
    return settings.mode or ("grammar" if model.abilities.grammar else "text")


def spec_of(settings: Settings, model: Model, tools: ToolRegistry, language: str) -> AgentSpec:
    """Return the agent as data.

    Raises:
        UsageError: the mode is one the model cannot do.
        ConfigError: the prompt template cannot be rendered.
    """
    instructions(settings.prompt, tools.specs, language)
    return AgentSpec(
        model=model.name,
        mode=mode_of(settings, model),
        language=language,
        tools=tuple(tools.specs),
        prefix=model.abilities.prefix,
        instructions=settings.prompt,
        approve=settings.approve,
        limits=settings.limits,
        temperature=settings.temperature,
    )


def edges_of(
    model: Model, tools: ToolRegistry, store: Store, person: Person | None, limits: Limits, language: str
) -> Edges:
    """Return what a run acts through, each tool held to its time."""
    guarded = {name: guard(each, limits.tool_seconds, language) for name, each in tools.items()}
    return Edges(model=model, tools=guarded, person=person or Nobody(), store=store)


def default_store() -> SqlStore:
    """Return the store in the data folder."""
    from whybox.store.sql import SqlStore

    return SqlStore(config.data_dir() / "runs.sqlite3")


def default_dialect() -> Dialect:
    """Return the form in which text models write their steps."""
    return ReAct()
