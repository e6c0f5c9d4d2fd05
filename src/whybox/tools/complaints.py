"""Sentences for a model about arguments that cannot be taken."""

from __future__ import annotations

from typing import Any

from pydantic_core import ErrorDetails, to_json

from whybox.tools.results import well_formed

_LONGEST_VALUE = 60
_MOST = 4

_WHOLE = {"en": "a whole number", "zh": "整数"}
_NUMBER = {"en": "a number", "zh": "数字"}
_TRUTH = {"en": "true or false", "zh": "true 或 false"}
_TEXT = {"en": "text", "zh": "文字"}
_LIST = {"en": "a list", "zh": "列表"}
_OBJECT = {"en": "an object", "zh": "对象"}
_DATE = {"en": "a date such as 2024-02-28", "zh": "日期，例如 2024-02-28"}
_MOMENT = {"en": "a date and time such as 2024-02-28T09:30", "zh": "日期和时间，例如 2024-02-28T09:30"}

_EXPECTED: dict[str, dict[str, str]] = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float", "int_parsing_size"), _WHOLE),
    **dict.fromkeys(("float_parsing", "float_type", "decimal_parsing", "decimal_type", "finite_number"), _NUMBER),
    **dict.fromkeys(("bool_parsing", "bool_type"), _TRUTH),
    **dict.fromkeys(("string_type", "string_unicode"), _TEXT),
    **dict.fromkeys(("list_type", "tuple_type", "set_type", "frozen_set_type"), _LIST),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type", "dataclass_type"), _OBJECT),
    **dict.fromkeys(("date_type", "date_parsing", "date_from_datetime_parsing"), _DATE),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), _MOMENT),
}

_SENTENCES = {
    "en": {
        "missing": '"{name}" is missing',
        "extra": '"{name}" is not an argument, allowed are: {allowed}',
        "none": '"{name}" is not an argument: it takes none',
        "must_be": '"{name}" must be {what}, got {value}',
        "wrong": '"{name}": {what}, got {value}',
        "or": " or ",
        "and": "; ",
        "one_of": "one of {choices}",
        "form": "{name}: {problem}. Right form: {form}",
        "more": "{count} more problems",
    },
    "zh": {
        "missing": "缺少“{name}”",
        "extra": "没有“{name}”这个参数，可用的参数：{allowed}",
        "none": "没有“{name}”这个参数：它不需要参数",
        "must_be": "“{name}”必须是{what}，收到的是 {value}",
        "wrong": "“{name}”：{what}，收到的是 {value}",
        "or": "或",
        "and": "；",
        "one_of": "以下之一：{choices}",
        "form": "{name}：{problem}。正确格式：{form}",
        "more": "另有 {count} 个问题",
    },
}


class Problem(Exception):
    """What is wrong with an input, in both languages; a tool turns it into its own error."""

    def __init__(self, en: str, zh: str) -> None:
        super().__init__(en)
        self.texts = {"en": en, "zh": zh}

    def text(self, language: str) -> str:
        """Return the sentence in ``language``, or in English when it is another."""
        return self.texts.get(language, self.texts["en"])


def sentence(key: str, language: str, **parts: object) -> str:
    """Return one of the sentences of this module, filled in."""
    return _SENTENCES.get(language, _SENTENCES["en"])[key].format(**parts)


def complaint(name: str, problem: str, form: str, language: str) -> str:
    """Return ``name: problem. Right form: form``, in ``en`` or ``zh``."""
    return sentence("form", language, name=name, problem=problem, form=form)


def show(value: Any) -> str:
    """Return a value as a short piece of JSON."""
    try:
        text = to_json(value, fallback=repr).decode()
    except ValueError:
        text = well_formed(repr(value))
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def describe(errors: list[ErrorDetails], given: dict[str, Any], names: tuple[str, ...], language: str) -> str:
    """Return what is wrong with the arguments ``given``, one clause for each argument."""
    grouped: dict[str, list[ErrorDetails]] = {}
    for error in errors:
        grouped.setdefault(str(error["loc"][0]) if error["loc"] else "", []).append(error)
    clauses = [_clause(name, found, given, names, language) for name, found in list(grouped.items())[:_MOST]]
    if len(grouped) > _MOST:
        clauses.append(sentence("more", language, count=len(grouped) - _MOST))
    return sentence("and", language).join(clauses)


def _clause(name: str, errors: list[ErrorDetails], given: dict[str, Any], names: tuple[str, ...], language: str) -> str:
    first = errors[0]
    place = _place(first) if len(errors) == 1 else name
    shown = well_formed(place)[:_LONGEST_VALUE]
    if first["type"] == "missing":
        return sentence("missing", language, name=shown)
    if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
        return sentence("extra" if names else "none", language, name=shown, allowed=", ".join(names))
    value = show(given.get(name) if len(first["loc"]) == 1 or len(errors) > 1 else first["input"])
    expected = dict.fromkeys(text for error in errors if (text := _expected(error, language)))
    if expected:
        return sentence("must_be", language, name=shown, what=sentence("or", language).join(expected), value=value)
    message = first["msg"].removeprefix("Value error, ").removeprefix("Assertion failed, ")
    if message.startswith("Input should be ") and language == "en":
        return sentence("must_be", language, name=shown, what=message.removeprefix("Input should be "), value=value)
    return sentence("wrong", language, name=shown, what=message[:1].lower() + message[1:], value=value)


def _place(error: ErrorDetails) -> str:
    name, rest = "".join(map(str, error["loc"][:1])), error["loc"][1:]
    return name + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in rest)


def _expected(error: ErrorDetails, language: str) -> str:
    """Return what was expected in words of the language, or nothing when pydantic's own words must do."""
    if error["type"] in {"literal_error", "enum"}:
        return sentence("one_of", language, choices=error.get("ctx", {}).get("expected", ""))
    texts = _EXPECTED.get(error["type"])
    return texts.get(language, texts["en"]) if texts else ""
