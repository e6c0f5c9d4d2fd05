"""The instructions of an agent, from its own template or the built-in one of its language."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from whybox.errors import ConfigError
from whybox.ports import ToolSpec

LANGUAGES = ("en", "zh")


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)


@lru_cache(maxsize=8)
def built_in(language: str) -> str:
    """Return the built-in template for ``language`` (English where there is none)."""
    name = language if language in LANGUAGES else "en"
    return (files("whybox.prompts") / "templates" / f"instructions.{name}.jinja").read_text(encoding="utf-8")


def instructions(template: str | None, tools: Sequence[ToolSpec], language: str) -> str:
    """Return the instructions for an agent with these tools.

    Args:
        template: a Jinja2 template, or None for the built-in one. It sees ``tools`` (specifications), ``names``,
            ``facts`` (names of the tools that state facts, joined by commas) and ``language``.
        tools: the tools on offer.
        language: ``en`` or ``zh``.

    Raises:
        ConfigError: the template cannot be rendered.
    """
    facts = ", ".join(tool.name for tool in tools if tool.grounds)
    try:
        text = _environment().from_string(template or built_in(language))
        return text.render(tools=tools, names=[tool.name for tool in tools], facts=facts, language=language)
    except TemplateError as error:
        raise ConfigError(f"the prompt template cannot be rendered: {error}") from error


def tool_line(tool: ToolSpec, language: str) -> str:
    """Return what tells a model of a tool: how it is called, by example where there is one, and what it is for."""
    names = ", ".join(tool.parameters.get("properties", {}))
    example = tool.in_language(tool.example, language) if tool.example else names
    return f"- {tool.name}[{example}]: {tool.in_language(tool.description, language)}"
