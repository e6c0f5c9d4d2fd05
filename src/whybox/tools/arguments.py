"""The arguments of a function: their JSON schema, and the reading of what a model sent for them."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PydanticUserError, TypeAdapter, ValidationError, create_model
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import PydanticSerializationError, to_jsonable_python

from whybox.errors import ToolDefinitionError, ToolError
from whybox.tools.cleaning import number_text
from whybox.tools.complaints import describe
from whybox.tools.docstrings import parse_docstring
from whybox.tools.results import well_formed

_LISTED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
_TRUTH = {"是": "true", "对": "true", "真": "true", "否": "false", "不是": "false", "假": "false"}
_MANY = {"array", "object"}
_NUMBERS = {"integer", "number"}


class BadArguments(ToolError):
    """A tool was called with arguments it cannot take; the message says what is wrong and shows the right form."""


class _Schema(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: Any) -> bool:
        """Leave out titles: they repeat the names and cost tokens."""
        return False


class Arguments:
    """The arguments of one function.

    Args:
        function: a plain typed function.
        name: the tool's name, for messages.

    Raises:
        ToolDefinitionError: an argument has no annotation, or a type that JSON cannot carry, or is ``*args``.
    """

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self._parameters = _parameters(function, name)
        self._model = _model(function, name, self._parameters)
        schema = self._model.model_json_schema(schema_generator=_Schema)
        self.schema: dict[str, Any] = {"type": "object", "properties": {}, **_without_title(schema)}
        definitions = schema.get("$defs", {})
        self._types = {name: _types(part, definitions) for name, part in self.schema["properties"].items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the arguments, in order."""
        return tuple(self._parameters)

    def read(self, arguments: dict[str, Any], language: str = "en") -> tuple[list[Any], dict[str, Any]]:
        """Return the positional and the keyword arguments to call the function with.

        Values are converted as far as that is certain: ``"2"`` and ``"２"`` to 2 for an int, 1067 to ``"1067"`` for a
        str, a text of JSON for a list. ``null`` counts as not given where the function has a default.

        Raises:
            BadArguments: with what is wrong in each argument, without the tool's name and form.
        """
        arguments = {well_formed(str(name)): value for name, value in arguments.items()}
        prepared = {
            name: _prepare(value, self._types.get(name, set()), self.schema["properties"].get(name, {}).get("enum"))
            for name, value in arguments.items()
            if value is not None or not self._may_be_left_out(name)
        }
        try:
            read = self._model.model_validate(prepared)
        except ValidationError as error:
            problems = describe(error.errors(include_url=False), arguments, self.names, language)
            raise BadArguments(problems) from None
        return self._split(read)

    def _may_be_left_out(self, name: str) -> bool:
        parameter = self._parameters.get(name)
        return parameter is not None and parameter.default is not parameter.empty and "null" not in self._types[name]

    def _split(self, read: BaseModel) -> tuple[list[Any], dict[str, Any]]:
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for number, (name, parameter) in enumerate(self._parameters.items()):
            field = f"p{number}"
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(getattr(read, field))
            elif field in read.model_fields_set:
                keywords[name] = getattr(read, field)
        return positional, keywords


def _parameters(function: Callable[..., Any], name: str) -> dict[str, inspect.Parameter]:
    try:
        parameters = dict(inspect.signature(function).parameters)
    except (NameError, ValueError) as error:
        raise ToolDefinitionError(f'tool "{name}": its signature cannot be read: {error}') from None
    for parameter in parameters.values():
        if parameter.kind in _LISTED:
            raise ToolDefinitionError(
                f'tool "{name}": "{parameter}" takes any number of arguments, which a model cannot be told of',
                "name each argument, or take one list",
            )
        if parameter.annotation is parameter.empty:
            raise ToolDefinitionError(
                f'tool "{name}": argument "{parameter.name}" has no type', f'write "{parameter.name}: str"'
            )
    return parameters


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    """Return the types of the arguments, also where they are written as text and defined inside a function."""
    plain = getattr(function, "__func__", function)
    local = dict(inspect.getclosurevars(plain).nonlocals) if inspect.isfunction(plain) else {}
    try:
        return typing.get_type_hints(function, localns=local, include_extras=True)
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        raise ToolDefinitionError(f'tool "{name}": a type cannot be resolved: {error}') from None


def _model(function: Callable[..., Any], name: str, parameters: dict[str, inspect.Parameter]) -> type[BaseModel]:
    """Return a model with one field for each argument: ``p0``, ``p1`` ..., by its name as alias.

    The fields have names of their own because pydantic reserves some (``json``, ``model_...``, ``_x``).
    """
    hints = _hints(function, name)
    _, described = parse_docstring(function)
    stranger = next((argument for argument in described if argument not in parameters), None)
    if stranger is not None:
        raise ToolDefinitionError(f'tool "{name}": its docstring describes "{stranger}", which it does not take')
    config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)
    fields: dict[str, Any] = {}
    for number, (argument, parameter) in enumerate(parameters.items()):
        _check_type(hints[argument], name, argument)
        settings: dict[str, Any] = {"alias": argument, **_default(parameter.default)}
        if argument in described:
            settings["description"] = described[argument]
        fields[f"p{number}"] = (hints[argument], Field(**settings))
    return create_model("Arguments", __config__=config, **fields)


def _check_type(hint: Any, name: str, argument: str) -> None:
    try:
        TypeAdapter(hint).json_schema()
    except (PydanticUserError, TypeError, NameError) as error:
        reason = str(error).partition("\n")[0]
        raise ToolDefinitionError(
            f'tool "{name}": argument "{argument}" has a type that a model cannot fill in: {reason}',
            "use str, int, float, bool, list, dict, a Literal, a dataclass or a pydantic model",
        ) from None


def _default(default: Any) -> dict[str, Any]:
    if default is inspect.Parameter.empty:
        return {}
    try:
        to_jsonable_python(default)
    except (PydanticSerializationError, ValueError):
        return {"default_factory": lambda: default}  # kept out of the schema, which could not show it
    return {"default": default}


def _without_title(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in {"title", "description"}}


def _types(schema: dict[str, Any], definitions: dict[str, Any]) -> set[str]:
    """Return the JSON types that a schema allows; none when it allows everything."""
    types = {schema["type"]} if isinstance(schema.get("type"), str) else set()
    for part in schema.get("anyOf", ()):
        types |= _types(part, definitions)
    referred = definitions.get(schema.get("$ref", "").rpartition("/")[2])
    # A class may refer to itself; its own type is all that is asked for here.
    return types | ({str(referred["type"])} if referred and "type" in referred else set())


def _prepare(value: Any, types: set[str], choices: list[Any] | None) -> Any:
    """Return ``value`` in the form that its type's own reading understands; what is unclear stays as it is."""
    if isinstance(value, bool):
        return json.dumps(value) if types and "boolean" not in types else value
    if not isinstance(value, str):
        return value
    if "string" in types:
        return _choice(value, choices)
    if types & _NUMBERS:
        return number_text(value)
    if types & _MANY:
        return _parsed(value)
    return _TRUTH.get(value.strip(), value.strip()) if "boolean" in types else value


def _choice(value: str, choices: list[Any] | None) -> str:
    if choices is None or value in choices:
        return value
    wanted = value.strip().casefold()
    return next((choice for choice in choices if isinstance(choice, str) and choice.casefold() == wanted), value)


def _parsed(value: str) -> Any:
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return value
    return parsed if isinstance(parsed, list | dict) else value
