"""Tools: plain functions with a name and a description, and the registry that runs them by name."""

from __future__ import annotations

import ast
import inspect
import json
import operator
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass

MAX_OBSERVATION = 3000  # characters; a longer result would push everything else out of a small model's context


class ToolError(Exception):
    """The tool could not do what it was asked; the message is for the model to act on."""


@dataclass(frozen=True)
class Tool:
    """A function the model may call. Name, parameters and description come from the function itself."""

    function: Callable[..., str]

    @property
    def name(self) -> str:
        """The function's name."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """The function's docstring: all that the model knows of the tool."""
        return " ".join((inspect.getdoc(self.function) or "").split())

    @property
    def signature(self) -> str:
        """The name and the parameters, ``read_file(path, start='1')``."""
        parameters = inspect.signature(self.function).parameters.values()
        return f"{self.name}({', '.join(str(p.replace(annotation=p.empty)) for p in parameters)})"

    def call(self, tool_input: dict[str, object] | str) -> str:
        """Run the function with named arguments, or with plain text where it takes only one.

        Raises:
            ToolError: the arguments do not fit the parameters.
        """
        parameters = inspect.signature(self.function)
        if isinstance(tool_input, str):
            tool_input = {next(iter(parameters.parameters)): tool_input} if tool_input else {}
        arguments = {k: v if isinstance(v, str) else json.dumps(v) for k, v in tool_input.items()}
        try:
            parameters.bind(**arguments)
        except TypeError as error:
            raise ToolError(f"wrong Action Input: {error}; it is {self.signature}") from error
        return self.function(**arguments)


class ToolRegistry:
    """The tools on offer, by name."""

    def __init__(self, *functions: Callable[..., str]) -> None:
        self._tools = {tool.name: tool for tool in map(Tool, functions)}

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def run(self, name: str, tool_input: dict[str, object] | str) -> str:
        """Run a tool and return what the model gets to see.

        Raises:
            ToolError: there is no such tool, or it failed, in whatever way.
        """
        if name not in self._tools:
            raise ToolError(f"there is no tool {name[:40]!r}; the tools are {', '.join(self._tools)}")
        try:
            result = self._tools[name].call(tool_input)
        except ToolError:
            raise
        except Exception as error:  # any exception of a tool is an observation for the model, not the end of the run
            raise ToolError(f"{name} failed: {error}") from error
        if len(result) > MAX_OBSERVATION:
            return f"{result[:MAX_OBSERVATION]}\n[cut: {len(result) - MAX_OBSERVATION} more characters]"
        return result


def power(base: float, exponent: float) -> float:
    """Raise to a power, unless the result would have more than about 1200 digits: 9**9**9 has 369 million."""
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > 4096:
        raise ToolError("this power is too large to compute")
    result: float = base**exponent
    return result


OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Mod: operator.mod, ast.USub: operator.neg, ast.Pow: power,
}  # fmt: skip


def calculator(expression: str) -> str:
    """Compute an arithmetic expression with + - * / % ** and brackets."""
    if len(expression) > 300:
        raise ToolError("the expression is longer than 300 characters")
    expression = unicodedata.normalize("NFKC", expression)  # full-width digits and brackets
    expression = expression.replace("×", "*").replace("÷", "/").replace("^", "**").strip()

    def value(node: ast.AST) -> float:
        match node:
            case ast.Constant(value=int() | float() as number):
                return number
            case ast.UnaryOp(op=op, operand=operand) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(operand))
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](value(left), value(right))
        raise ToolError("only numbers, + - * / % ** and brackets are allowed")

    # The expression becomes a syntax tree, in which only numbers and operators are looked at. Nothing is executed.
    return str(round(value(ast.parse(expression, mode="eval").body), 10))
