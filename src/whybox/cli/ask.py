"""``whybox ask``: one question, answered step by step before the person's eyes."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from whybox.cli.running import Look, Streaming, run_and_show


class ModeName(StrEnum):
    """How the model is held to the format."""

    TEXT = "text"
    GRAMMAR = "grammar"
    JSON = "json"
    TOOLS = "tools"


class ApprovalName(StrEnum):
    """Which calls ask a person."""

    NEVER = "never"
    RISKY = "risky"
    ALWAYS = "always"


class LanguageName(StrEnum):
    """Languages of prompts."""

    EN = "en"
    ZH = "zh"


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question; - reads it from standard input.")],
    model: Annotated[
        str | None, typer.Option("--model", "-m", help="provider:name, or a server's model with --base-url.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible server, such as http://127.0.0.1:8080/v1.")
    ] = None,
    answer_model: Annotated[str | None, typer.Option(help="Another model for the final answer.")] = None,
    escalate: Annotated[str | None, typer.Option(help="A larger model for steps without progress.")] = None,
    fallback: Annotated[
        list[str] | None, typer.Option(help="A model to go on with when the one before is down; may be repeated.")
    ] = None,
    tools: Annotated[list[Path] | None, typer.Option(help="Add the @tool functions of this Python file.")] = None,
    tool: Annotated[list[str] | None, typer.Option(help="Offer only these built-in tools.")] = None,
    no_tools: Annotated[bool, typer.Option("--no-tools", help="Offer no built-in tools.")] = False,
    kb: Annotated[Path | None, typer.Option(help="Knowledge base file to look things up in.")] = None,
    mode: Annotated[ModeName | None, typer.Option(help="How the model is held to the format.")] = None,
    lang: Annotated[LanguageName | None, typer.Option(help="Language of the prompt; else the question's.")] = None,
    prompt: Annotated[Path | None, typer.Option(help="Jinja2 template in place of the instructions.")] = None,
    max_steps: Annotated[int | None, typer.Option(min=1, help="Most replies of the model; 10.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=16, help="Longest reply, in tokens; 800.")] = None,
    model_timeout: Annotated[float | None, typer.Option(min=0.1, help="Longest model call, in seconds; 60.")] = None,
    tool_timeout: Annotated[float | None, typer.Option(min=0.1, help="Longest tool call, in seconds; 30.")] = None,
    retries: Annotated[int | None, typer.Option(min=0, help="How often a call that failed is made again; 3.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0.0, max=2.0, help="Of decoding; 0.")] = None,
    logprobs: Annotated[
        int | None, typer.Option(min=0, max=20, help="Keep the likeliest tokens for each token of a reply, this many.")
    ] = None,
    approve: Annotated[ApprovalName | None, typer.Option(help="Which calls ask first; risky.")] = None,
    stream: Annotated[
        Streaming | None,
        typer.Option(help="all (default): every token; steps: each step whole; answer: only the answer by token."),
    ] = None,
    show_prompt: Annotated[bool, typer.Option("--show-prompt", help="Print the exact prompt of each call.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one event a line.")] = False,
) -> None:
    """Answer a question, showing each thought, action and observation as it happens."""
    from whybox import config
    from whybox.agent import checked
    from whybox.assemble import Settings
    from whybox.cli.printing import read_text
    from whybox.spec import Limits

    question = checked(read_text() if question == "-" else question)
    flags = {
        "model": model,
        "base_url": base_url,
        "mode": mode.value if mode else None,
        "lang": lang.value if lang else None,
        "approve": approve.value if approve else None,
        "answer_model": answer_model,
        "escalate": escalate,
        "fallback": tuple(fallback) if fallback else None,
        "kb": kb,
        "max_steps": max_steps,
        "max_tokens": max_tokens,
        "model_timeout": model_timeout,
        "tool_timeout": tool_timeout,
        "retries": retries,
        "temperature": temperature,
        "logprobs": logprobs,
        "stream": stream.value if stream else None,
    }
    chosen = config.load().values.model_copy(update={name: each for name, each in flags.items() if each is not None})
    settings = Settings(
        model=chosen.model,
        base_url=chosen.base_url,
        tools=_tools(tools, tool, no_tools),
        prompt=_template(prompt),
        mode=chosen.mode,
        language=chosen.lang,
        approve=chosen.approve,
        limits=Limits(
            max_steps=chosen.max_steps,
            model_seconds=chosen.model_timeout,
            tool_seconds=chosen.tool_timeout,
            reply_tokens=chosen.max_tokens,
            retries=chosen.retries,
        ),
        temperature=chosen.temperature,
        knowledge_base=_existing(chosen.kb),
        context=chosen.context,
        answer_model=chosen.answer_model,
        escalate=chosen.escalate,
        fallbacks=chosen.fallback,
        logprobs=chosen.logprobs,
        debug=context.obj["debug"],
    )
    raise typer.Exit(run_and_show(settings, Look(Streaming(chosen.stream), show_prompt, as_json), question=question))


def _tools(files: list[Path] | None, names: list[str] | None, none: bool) -> list[Any] | None:
    from whybox.errors import UsageError

    if names and none:
        raise UsageError("--tool and --no-tools contradict each other", "give one of them")
    if not files and not names and not none:
        return None
    from whybox.tools.base import load_tools_file

    added: list[Any] = [function for file in files or [] for function in load_tools_file(file)]
    built_in: list[Any] = list(names) if names else [] if none else ["*"]
    return [*built_in, *added]


def _template(path: Path | None) -> str | None:
    from whybox.errors import UsageError

    if path is None:
        return None
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"the prompt template {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"the prompt template {path} is not UTF-8 text (byte {error.start})") from error


def _existing(path: Path | None) -> Path | None:
    from whybox.errors import UsageError

    if path is not None and not path.exists():
        raise UsageError(f"there is no knowledge base {path}", f"make it with: whybox kb add PATH --kb-file {path}")
    return path
