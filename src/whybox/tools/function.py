"""``@tool``: a plain typed function becomes something an agent can call."""

from __future__ import annotations

import functools
import inspect
import unicodedata
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, overload

from whybox.errors import ToolDefinitionError, ToolError
from whybox.ports import Output, Risk, ToolSpec
from whybox.tools.arguments import Arguments, BadArguments
from whybox.tools.complaints import complaint
from whybox.tools.docstrings import parse_docstring
from whybox.tools.results import failure, render, well_formed
from whybox.tools.threads import in_thread

P = ParamSpec("P")
R = TypeVar("R")

_RESERVED = {"finish"}
_NOT_IN_NAMES = frozenset("[](){}<>\"'`:：,，=|\\/")
_LONGEST_NAME = 64


class FunctionTool(Generic[P, R]):
    """A tool made of a function. Called as a function it is that function; made by :func:`tool`.

    Args:
        function: the plain function, sync or async.
        spec: what a model is told of it.
        arguments: how its arguments are read.
        language: ``en`` or ``zh``, for the sentences about wrong arguments and empty results.
    """

    __wrapped__: Callable[P, R]

    def __init__(self, function: Callable[P, R], spec: ToolSpec, arguments: Arguments, language: str = "en") -> None:
        functools.update_wrapper(self, function)
        self.spec = spec
        self.language = language
        self._arguments = arguments
        self._is_async = inspect.iscoroutinefunction(function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the plain function."""
        return self.__wrapped__(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<tool {self.form}>"

    @property
    def form(self) -> str:
        """How the tool is called, by its example: ``date_add[2024-02-28, 3, days]``."""
        example = self.spec.in_language(self.spec.example, self.language)
        return f"{self.spec.name}[{example if self.spec.example else ', '.join(self._arguments.names)}]"

    async def call(self, arguments: dict[str, Any]) -> Output:
        """Run the function on arguments that a model sent.

        A function that is not async runs in a thread of its own; when the call is cancelled, the thread is left to
        itself. Errors become an :class:`Output` with ``error``; only cancellation and exceptions that end a program
        (KeyboardInterrupt, SystemExit) are raised.
        """
        try:
            args, kwargs = self._arguments.read(arguments, self.language)
        except BadArguments as error:
            text = complaint(self.spec.name, error.message, self.form, self.language)
            return Output(text=well_formed(text), error="bad_arguments")
        try:
            value = await self._run(functools.partial(self.__wrapped__, *args, **kwargs))
            return value if isinstance(value, Output) else Output(text=render(value, self.language))
        except BadArguments as error:
            return Output(text=well_formed(str(error)), error="bad_arguments")
        except ToolError as error:
            return Output(text=well_formed(str(error)), error="failed")
        except Exception as error:  # noqa: BLE001 - a tool is somebody else's code; what it raises is an observation
            return failure(error)

    async def _run(self, function: Callable[[], Any]) -> Any:
        value = function() if self._is_async else await in_thread(function)
        return await value if inspect.isawaitable(value) else value


@overload
def tool(function: Callable[P, R], /) -> FunctionTool[P, R]: ...


@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    zh: str | None = None,
    example: str | Mapping[str, str] | None = None,
    risk: Risk = "read",
    grounds: bool = False,
    language: str = "en",
) -> Callable[[Callable[P, R]], FunctionTool[P, R]]: ...


def tool(
    function: Callable[P, R] | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    zh: str | None = None,
    example: str | Mapping[str, str] | None = None,
    risk: Risk = "read",
    grounds: bool = False,
    language: str = "en",
) -> FunctionTool[P, R] | Callable[[Callable[P, R]], FunctionTool[P, R]]:
    """Make a plain typed function, sync or async, into a tool. Used as ``@tool`` or as ``@tool(...)``.

    The argument schema comes from the signature; ``Args:`` in the docstring (Google style) describes the arguments.

    Args:
        function: the function.
        name: how the model calls it; the function's name when None.
        description: what it is for, in English; the docstring up to its first section when None.
        zh: the description in Chinese.
        example: one input as it is written between the brackets, for all languages or by language code.
        risk: ``read`` changes nothing, ``write`` changes something, ``danger`` cannot be undone.
        grounds: the tool states facts, as opposed to computing from its input.
        language: ``en`` or ``zh``, for the sentences about wrong arguments and empty results.

    Raises:
        ToolDefinitionError: there is no description, an argument has no type, or one that JSON cannot carry ...
    """

    def decorate(plain: Callable[P, R]) -> FunctionTool[P, R]:
        title = _checked_name(plain, name)
        _check_function(plain, title)
        told = {"en": description or parse_docstring(plain)[0], **({"zh": zh} if zh else {})}
        if not told["en"]:
            raise ToolDefinitionError(f'tool "{title}" has no description', "give the function a docstring")
        if risk not in ("read", "write", "danger"):
            raise ToolDefinitionError(f'tool "{title}": risk is "{risk}"', "it is one of read, write, danger")
        arguments = Arguments(plain, title)
        examples = {"en": example} if isinstance(example, str) else dict(example or {})
        spec = ToolSpec(
            name=title, description=told, example=examples, parameters=arguments.schema, risk=risk, grounds=grounds
        )
        return FunctionTool(plain, spec, arguments, language)

    return decorate if function is None else decorate(function)


def _checked_name(function: Callable[..., Any], name: str | None) -> str:
    title = name if name is not None else getattr(function, "__name__", "")
    if not title or title != title.strip() or len(title) > _LONGEST_NAME:
        raise ToolDefinitionError(
            f'"{title}" cannot be the name of a tool', f"give it a name of 1 to {_LONGEST_NAME} characters"
        )
    wrong = next((char for char in title if char in _NOT_IN_NAMES or unicodedata.category(char)[0] == "C"), None)
    if wrong is not None or title.casefold() in _RESERVED:
        reason = f"{wrong!r} has a meaning in calls" if wrong else "it is how an answer is given"
        raise ToolDefinitionError(f'"{title}" cannot be the name of a tool: {reason}', 'use @tool(name="...")')
    return title


def _check_function(function: Callable[..., Any], name: str) -> None:
    if not inspect.isroutine(function):
        raise ToolDefinitionError(f'tool "{name}" is not a function', "put @tool above a def")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise ToolDefinitionError(f'tool "{name}" yields its results one by one', "return them as a list")
