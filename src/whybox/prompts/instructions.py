"""The instructions of an agent, from its own template or the built-in one of its language."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from whybox.errors import ConfigError
from whybox.ports import Mode, ToolSpec
from whybox.prompts.forms import example_arguments

LANGUAGES = ("en", "zh")


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    return ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False)


@lru_cache(maxsize=8)
def built_in(language: str, mode: Mode = "text") -> str:
    """Return the built-in template for ``language`` (English where there is none) and the form of steps in ``mode``."""
    name = language if language in LANGUAGES else "en"
    form = f"{mode}." if mode in ("json", "tools") else ""
    return (files("whybox.prompts") / "templates" / f"instructions.{form}{name}.jinja").read_text(encoding="utf-8")


def instructions(template: str | None, tools: Sequence[ToolSpec], language: str, mode: Mode = "text") -> str:
    """Return the instructions for an agent with these tools.

    Args:
        template: a Jinja2 template, or None for the built-in one. It sees ``tools`` (specifications), ``names``,
            ``facts`` (names of the tools that state facts, joined by commas), ``language`` and ``mode``.
        tools: the tools on offer.
        language: ``en`` or ``zh``.
        mode: how the model is held to the format.

    Raises:
        ConfigError: the template cannot be rendered.
    """
    facts = ", ".join(tool.name for tool in tools if tool.grounds)
    try:
        text = _environment().from_string(template or built_in(language, mode))
        names = [tool.name for tool in tools]
        return text.render(tools=tools, names=names, facts=facts, language=language, mode=mode)
    except TemplateError as error:
        raise ConfigError(f"the prompt template cannot be rendered: {error}") from error


def tool_line(tool: ToolSpec, language: str, mode: Mode = "text") -> str:
    """Return what tells a model of a tool: how it is called, by example where there is one, and what it is for."""
    example = tool.in_language(tool.example, language) if tool.example else ""
    description = tool.in_language(tool.description, language)
    if mode == "json":
        names = tool.parameters.get("properties", {})
        given = example_arguments(tool, example) if example else dict.fromkeys(names, "...")
        return f"- {tool.name} {json.dumps(given, ensure_ascii=False)}: {description}"
    names = ", ".join(tool.parameters.get("properties", {}))
    return f"- {tool.name}[{example if tool.example else names}]: {description}"
