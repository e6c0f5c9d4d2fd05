"""The calculator: exact arithmetic on an expression as people and models write it."""

from __future__ import annotations

from typing import Any

from whybox.errors import ToolError
from whybox.tools.arithmetic import Trouble, Unreadable
from whybox.tools.complaints import complaint
from whybox.tools.evaluator import evaluate_tokens
from whybox.tools.expression import expression_tokens, without_words
from whybox.tools.function import FunctionTool, tool
from whybox.tools.lexer import Token, read_tokens

MAX_CHARACTERS = 10_000
_EXAMPLE = "(3 + 4) * 12"
_LONGEST_FORM = 200
_LONGEST_SHOWN = 80


def evaluate(expression: str, language: str = "en") -> str:
    """Return the value of an arithmetic expression in decimal digits, or ``true`` or ``false`` for a comparison.

    Whole numbers and short decimals are exact, other results have at least 12 significant digits. ``log`` has base
    10, ``round`` rounds halves away from zero, angles are radians unless marked (``30°``, ``30度``). Commas group
    thousands, except in a call of a function with several arguments, where they separate: ``min(1,234)`` is 1.

    Args:
        expression: at most 10,000 characters; words of asking and one kind of unit around the numbers are dropped.
        language: ``en`` or ``zh``, for errors.

    Raises:
        ToolError: it is not one expression, has no value, or its value has more than 4,000 digits; with the right
            form.
    """
    cleaned, tokens = "", list[Token]()
    try:
        cleaned, tokens = _tokens(expression)
        return evaluate_tokens(expression_tokens(tokens))
    except Trouble as trouble:
        raise ToolError(_explain(trouble, cleaned, tokens, language)) from None


def worked(expression: str, value: str) -> str:
    """Return ``expression = value``, or the value alone where that would be long or say nothing.

    A bare number tells a small model nothing of what it is, and the next thought then mixes it up with another.
    """
    shown = " ".join(expression.split())
    if len(shown) > _LONGEST_SHOWN or shown == value or any(sign in shown for sign in "=<>＝＜＞"):
        return value
    return f"{shown} = {value}"


def _tokens(expression: str) -> tuple[str, list[Token]]:
    if len(expression) > MAX_CHARACTERS:
        raise Unreadable(f"the input has more than {MAX_CHARACTERS} characters", f"输入超过 {MAX_CHARACTERS} 个字符")
    cleaned, tokens = read_tokens(expression)
    if not any(token.kind in {"number", "name"} for token in tokens):
        raise Unreadable("there is no expression in the input", "输入中没有算式")
    return cleaned, tokens


def _explain(trouble: Trouble, cleaned: str, tokens: list[Token], language: str) -> str:
    """Return the sentence for the model; what cannot be read comes with the right form."""
    problem = trouble.text(language)
    if isinstance(trouble, Unreadable):
        form = _reduced(cleaned, tokens) or _EXAMPLE
        return complaint("calculator", problem, f"calculator[{form}]", language)
    return f"calculator：{problem}。" if language == "zh" else f"calculator: {problem}."


def _reduced(cleaned: str, tokens: list[Token]) -> str | None:
    """Return the expression without the words behind its numbers, where that is an expression and not long."""
    form = without_words(cleaned, tokens)
    if form is None or len(form) > _LONGEST_FORM:
        return None
    try:
        evaluate_tokens(expression_tokens(read_tokens(form)[1]))
    except Trouble:
        return None
    return form


def calculator_tool(language: str) -> FunctionTool[..., Any]:
    """Return the calculator as a tool whose observations are in ``language``, ``en`` or ``zh``."""

    @tool(
        name="calculator",
        zh="准确计算一个算式：数字、+ - * / ^ % ! ( )、sqrt、round、min、max、sin(30°)、log、pi。",
        example=_EXAMPLE,
        language=language,
    )
    def calculator(expression: str) -> str:
        """Work out one expression exactly: numbers, + - * / ^ % ! ( ), sqrt, round, min, max, sin(30°), log, pi.

        Args:
            expression: the expression, such as (3 + 4) * 12
        """
        return worked(expression, evaluate(expression, language))

    return calculator
