"""From settings to the parts of an agent: the only file that knows every adapter."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from whybox import config
from whybox.dialects.react import ReAct
from whybox.engine.drive import Edges
from whybox.errors import UsageError
from whybox.people import Nobody
from whybox.ports import Dialect, Mode, Model, Person, Store, Tool
from whybox.providers.registry import resolve
from whybox.spec import AgentSpec, Approval, Limits
from whybox.tools.base import FunctionTool, ToolRegistry
from whybox.tools.runner import guard

if TYPE_CHECKING:
    from whybox.tools.kb import KnowledgeBase

ToolLike = Tool | Callable[..., object] | str


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a user can set about an agent.

    Args:
        model: ``provider:name``, or a model port.
        base_url: of an OpenAI-compatible server that serves ``model``.
        tools: tools, functions marked with ``@tool``, or names of built-in tools; None for all built-in ones.
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
        debug=settings.debug,
    )


def knowledge_base(settings: Settings) -> KnowledgeBase | None:
    """Return the knowledge base, or None when there is nothing in it."""
    path = settings.knowledge_base or config.data_dir() / "kb.sqlite3"
    if not path.exists():
        return None
    from whybox.tools.kb import KnowledgeBase

    kb = KnowledgeBase(path, config.cache_dir())
    return None if kb.empty else kb


def built_in_tools(language: str, kb: KnowledgeBase | None) -> list[FunctionTool]:
    """Return the built-in tools, in the order a model is told of them."""
    from whybox.tools.calculator import calculator_tool
    from whybox.tools.dates import date_tools

    tools: list[FunctionTool] = []
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
    return ToolRegistry([_tool(item, built_in) for item in wanted])


def _tool(item: ToolLike, built_in: Mapping[str, FunctionTool]) -> Tool:
    if isinstance(item, str):
        if item not in built_in:
            hint = "add documents with: whybox kb add PATH" if item == "lookup" else f"there are {', '.join(built_in)}"
            raise UsageError(f"there is no built-in tool {item!r} on offer", hint)
        return built_in[item]
    if hasattr(item, "spec"):
        return item
    from whybox.tools.base import tool

    return tool(item)


def spec_of(settings: Settings, model: Model, tools: ToolRegistry, language: str) -> AgentSpec:
    """Return the agent as data.

    Raises:
        UsageError: the mode is one the model cannot do.
    """
    abilities = model.abilities
    mode = settings.mode or ("grammar" if abilities.grammar else "text")
    if mode == "grammar" and not abilities.grammar:
        raise UsageError(f"{model.name} cannot be held to a grammar", "use --mode text")
    return AgentSpec(
        model=model.name,
        mode=mode,
        language=language,
        tools=tuple(tools.specs),
        prefix=abilities.prefix,
        instructions=settings.prompt,
        approve=settings.approve,
        limits=settings.limits,
        temperature=settings.temperature,
    )


def edges_of(model: Model, tools: ToolRegistry, store: Store, person: Person | None, limits: Limits) -> Edges:
    """Return what a run acts through, each tool held to its time."""
    guarded = {name: guard(tool, limits.tool_seconds) for name, tool in tools.items()}
    return Edges(model=model, tools=guarded, person=person or Nobody(), store=store)


def default_store() -> Store:
    """Return the store in the data folder."""
    from whybox.store.sql import SqlStore

    return SqlStore(config.data_dir() / "runs.sqlite3")


def dialect() -> Dialect:
    """Return the form in which text models write their steps."""
    return ReAct()
