"""What is sent back to a model whose reply could not be read: what was wrong, and the right form."""

from __future__ import annotations

from collections.abc import Sequence

from whybox.ports import ToolSpec

_REASONS = {
    "en": {
        "empty": "The reply was empty.",
        "no_action": "The reply had neither an Action nor a Final Answer.",
        "truncated": "The reply was cut off because it was too long; nothing of it was run. Be shorter.",
        "missing_input": "The action {quoted} needs an input.",
        "malformed_action": "The action {quoted} could not be read.",
    },
    "zh": {
        "empty": "回复是空的。",
        "no_action": "回复里既没有行动，也没有最终答案。",
        "truncated": "回复太长，被截断了，没有执行任何内容。请写得短一些。",
        "missing_input": "行动 {quoted} 缺少输入。",
        "malformed_action": "无法读懂行动 {quoted}。",
    },
}
_FORMS = {
    "en": ("Go on with either\nAction: {form}\nor\nFinal Answer: the answer", "Go on with\nFinal Answer: the answer"),
    "zh": ("请接着写\n行动：{form}\n或者\n最终答案：答案", "请接着写\n最终答案：答案"),
}


def correction(reason: str, action: str, tools: Sequence[ToolSpec], language: str) -> str:
    """Return the sentence for the model.

    Args:
        reason: ``empty``, ``no_action``, ``truncated``, ``missing_input`` or ``malformed_action``.
        action: what it wrote as its action, quoted shortened.
        tools: the tools on offer; the first one, or the one that was meant, gives the right form.
        language: ``en`` or ``zh``.
    """
    language = language if language in _REASONS else "en"
    flat = " ".join(action.split())
    quoted = f'"{flat[:60]}{"…" if len(flat) > 60 else ""}"'
    said = _REASONS[language][reason].format(quoted=quoted)
    with_tools, without = _FORMS[language]
    if not tools:
        return f"{said} {without}"
    meant = next((tool for tool in tools if flat.lower().startswith(tool.name.lower())), tools[0])
    names = ", ".join(meant.parameters.get("properties", {}))
    example = meant.in_language(meant.example, language) or names
    return f"{said} {with_tools.format(form=f'{meant.name}[{example}]')}"
