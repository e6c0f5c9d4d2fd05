"""What is sent back to a model whose reply could not be read: what was wrong, and the right form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from whybox.dialects.arguments import parameters
from whybox.dialects.tool_names import known, nearest
from whybox.ports import ToolSpec

_REASONS = {
    "en": {
        "empty": "The reply was empty.",
        "no_action": "The reply had neither an Action nor a Final Answer.",
        "truncated": "The reply was cut off in the middle; nothing of it was run. Be shorter.",
        "missing_input": "The action {quoted} needs an input.",
        "malformed_action": "The action {quoted} could not be read.",
        "unknown_tool": "There is no tool {quoted}.{nearest} Tools: {tools}.",
        "bad_json": "The JSON of the action {quoted} could not be read; nothing was run.",
        "leaked_markup": "The tool call was written in a form that could not be read; nothing was run.",
        "unread_labels": "The labels of the reply could not be read; nothing was run.",
    },
    "zh": {
        "empty": "回复是空的。",
        "no_action": "回复里既没有行动，也没有最终答案。",
        "truncated": "回复在中间被截断了，没有执行任何内容。请写得短一些。",
        "missing_input": "行动 {quoted} 缺少输入。",
        "malformed_action": "无法读懂行动 {quoted}。",
        "unknown_tool": "没有名为 {quoted} 的工具。{nearest}可用的工具：{tools}。",
        "bad_json": "无法读懂行动 {quoted} 的 JSON，没有执行任何内容。",
        "leaked_markup": "工具调用的写法无法读懂，没有执行任何内容。",
        "unread_labels": "无法读懂回复的标签，没有执行任何内容。",
    },
}
_NEAREST = {"en": " Did you mean {name}?", "zh": "您是不是指 {name}？"}
_NO_TOOLS = {"en": "none", "zh": "无"}
Form = Literal["text", "json", "native"]
_FORMS: dict[Form, dict[str, tuple[str, str]]] = {
    "text": {
        "en": (
            "Go on with either\nAction: {tool}[{input}]\nor\nFinal Answer: the answer",
            "Go on with\nFinal Answer: the answer",
        ),
        "zh": ("请接着写\n行动：{tool}[{input}]\n或者\n最终答案：答案", "请接着写\n最终答案：答案"),
    },
    "json": {
        "en": (
            'Write one JSON object, either\n{{"thought": "...", "action": "{tool}", "action_input": {{{json}}}}}\n'
            'or\n{{"thought": "...", "answer": "..."}}',
            'Write one JSON object:\n{{"thought": "...", "answer": "..."}}',
        ),
        "zh": (
            '请写一个 JSON 对象，\n{{"thought": "...", "action": "{tool}", "action_input": {{{json}}}}}\n'
            '或者\n{{"thought": "...", "answer": "..."}}',
            '请写一个 JSON 对象：\n{{"thought": "...", "answer": "..."}}',
        ),
    },
    "native": {
        "en": ("Call a tool, or write\nFinal Answer: the answer", "Write\nFinal Answer: the answer"),
        "zh": ("请调用工具，或者写\n最终答案：答案", "请写\n最终答案：答案"),
    },
}
_LONGEST_QUOTE = 60
_QUOTED = 400

REASONS = tuple(_REASONS["en"])
"""Why a reply may be sent back."""


def correction(reason: str, about: str, tools: Sequence[ToolSpec], language: str, *, form: Form = "text") -> str:
    """Return the sentence for the model.

    Args:
        reason: one of :data:`REASONS`.
        about: what it wrote as its action, or the name of the tool; quoted shortened.
        tools: the tools on offer; the one that was meant, or else the first, gives the right form.
        language: ``en`` or ``zh``.
        form: in which the model writes its steps.
    """
    language = language if language in _REASONS else "en"
    flat = " ".join(about[:_QUOTED].split())
    near = nearest(tools, flat) if reason == "unknown_tool" else None
    said = _REASONS[language][reason].format(
        quoted=f'"{flat[:_LONGEST_QUOTE]}{"…" if len(flat) > _LONGEST_QUOTE else ""}"',
        nearest=_NEAREST[language].format(name=near) if near else "",
        tools=", ".join(tool.name for tool in tools) or _NO_TOOLS[language],
    )
    with_tools, without = _FORMS[form][language]
    said += " " if language == "en" else ""
    if not tools:
        return f"{said}{without.format()}"
    meant = _meant(tools, flat, near)
    example = meant.in_language(meant.example, language) or ", ".join(parameters(meant))
    as_json = ", ".join(f'"{name}": ...' for name in parameters(meant))
    return f"{said}{with_tools.format(tool=meant.name, input=example, json=as_json)}"


def _meant(tools: Sequence[ToolSpec], about: str, near: str | None) -> ToolSpec:
    named = next((tool for tool in tools if tool.name == near), None) or known(tools, about)[0]
    starts = (tool for tool in tools if about.lower().startswith(tool.name.lower()))
    return named or next(starts, tools[0])
