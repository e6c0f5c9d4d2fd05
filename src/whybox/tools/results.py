"""What a tool returned or raised, as text for the model."""

from __future__ import annotations

import json
from typing import Any

from pydantic_core import to_jsonable_python

from whybox.ports import Output

_NOTHING = {"en": "(nothing returned)", "zh": "（没有返回值）"}
_EMPTY_TEXT = {"en": "(empty result)", "zh": "（结果为空）"}
_BLANK_TEXT = {"en": "(only blank characters)", "zh": "（只有空白字符）"}
_EMPTY_LIST = {"en": "(empty list)", "zh": "（空列表）"}
_EMPTY_OBJECT = {"en": "(empty object)", "zh": "（空对象）"}


def in_language(texts: dict[str, str], language: str) -> str:
    """Return the text in ``language``, or in English when there is none."""
    return texts.get(language, texts["en"])


def well_formed(text: str) -> str:
    """Return ``text`` as Unicode that can be encoded: surrogate pairs are combined, lone ones become U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def render(value: object, language: str = "en") -> str:
    """Return what a tool returned as text.

    Nothing, no text, an empty list and an empty object each have words of their own, because a model that is shown
    nothing repeats its call. Lists, objects, dataclasses and pydantic models become JSON; bytes are read as UTF-8.

    Raises:
        Exception: whatever the value's own ``__str__`` raises, or ValueError for an object that contains itself.
    """
    if value is None:
        return in_language(_NOTHING, language)
    if isinstance(value, bytes | bytearray | memoryview):
        value = bytes(value).decode(errors="replace")
    if isinstance(value, str):
        return _render_text(str(value), language)
    if isinstance(value, list | tuple | set | frozenset) and not value:
        return in_language(_EMPTY_LIST, language)
    if isinstance(value, dict) and not value:
        return in_language(_EMPTY_OBJECT, language)
    if isinstance(value, list | tuple | set | frozenset | dict) or _has_fields(value):
        data = to_jsonable_python(value, by_alias=True, fallback=str, inf_nan_mode="strings")
        return well_formed(json.dumps(data, ensure_ascii=False))
    return _render_text(str(value), language)


def _render_text(text: str, language: str) -> str:
    if not text:
        return in_language(_EMPTY_TEXT, language)
    return in_language(_BLANK_TEXT, language) if text.isspace() else well_formed(text)


def _has_fields(value: Any) -> bool:
    return hasattr(type(value), "__dataclass_fields__") or hasattr(type(value), "__pydantic_fields__")


def failure(error: Exception) -> Output:
    """Return the observation of a tool that raised, such as ``Error: ZeroDivisionError: division by zero``."""
    cause = _original(error)
    try:
        message = str(cause)
    except Exception:  # noqa: BLE001 - an error that cannot say what it is must still be reported
        message = "(its message cannot be read)"
    name = type(cause).__name__
    return Output(text=well_formed(f"Error: {name}: {message}" if message else f"Error: {name}"), error="failed")


def _original(error: Exception) -> Exception:
    """Return the StopIteration that Python turned into a RuntimeError on its way out of a coroutine."""
    cause = error.__cause__
    if isinstance(error, RuntimeError) and isinstance(cause, StopIteration | StopAsyncIteration):
        return cause
    return error
