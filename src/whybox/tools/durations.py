"""Amounts of time as people and models write them: ``100`` and ``hours``, ``2个月``, ``3 days ago``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from whybox.tools.cleaning import CHINESE_DIGITS, CHINESE_UNITS, plain, read_chinese_integer, unwrap
from whybox.tools.complaints import Problem

Base = Literal["seconds", "days", "months", "workdays"]

LONGEST_TEXT = 100

_UNITS: dict[str, tuple[Base, int]] = {
    **dict.fromkeys(("second", "sec", "s", "秒", "秒钟"), ("seconds", 1)),
    **dict.fromkeys(("minute", "min", "分钟", "分"), ("seconds", 60)),
    **dict.fromkeys(("hour", "hr", "h", "小时", "钟头", "时"), ("seconds", 3600)),
    **dict.fromkeys(("day", "d", "calendar day", "天", "日"), ("days", 1)),
    **dict.fromkeys(("week", "wk", "w", "周", "星期", "礼拜"), ("days", 7)),
    **dict.fromkeys(("month", "mo", "月"), ("months", 1)),
    **dict.fromkeys(("quarter", "季度"), ("months", 3)),
    **dict.fromkeys(("year", "yr", "y", "年"), ("months", 12)),
    **dict.fromkeys(("decade",), ("months", 120)),
    **dict.fromkeys(("business day", "working day", "workday", "工作日"), ("workdays", 1)),
}  # fmt: skip

_SPOKEN = dict(
    zip(
        ("a", "an", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
        (1, 1, *range(1, 13)),
        strict=True,
    )
)
_BACK = ("ago", "before", "earlier", "之前", "以前", "前")
_FORTH = ("from now", "later", "after", "之后", "以后", "后")
_NUMERAL = "".join(sorted(CHINESE_DIGITS | CHINESE_UNITS))
_AMOUNT = re.compile(
    r"(?P<sign>[+-]|minus\b|plus\b|add\b|in\b|加上?|减去?)?\s*"
    r"(?:(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d*\.?\d+|\d+\.?)"
    rf"|(?P<numeral>[{_NUMERAL}]+)|(?P<word>{'|'.join(_SPOKEN)})\b)?"
    r"\s*(?P<half>个?半)?\s*(?P<unit>.*)",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Duration:
    """An amount of time.

    Args:
        amount: how many ``base`` units; may be negative, and not whole.
        base: seconds (exact time), days, months (calendar) or workdays (Monday to Friday).
    """

    amount: Decimal
    base: Base


def parse_duration(amount: str, unit: str) -> Duration:
    """Read an amount and its unit, also when both stand in ``amount`` or have changed places.

    Raises:
        Problem: the amount is no number, or the unit is missing or unknown.
    """
    first, second = _tidy(amount), _tidy(unit)
    if not _is_number(first) and _is_number(second) and _find_unit(first) is not None:
        first, second = second, first
    found = _AMOUNT.fullmatch(first)
    number = _number(found) if found else None
    if found is None or number is None:
        shown = amount.strip()[:40]
        raise Problem(
            f'"amount" must be a number such as 3, -25 or 1.5, got "{shown}"',
            f"“amount”必须是数字，例如 3、-25 或 1.5，收到的是“{shown}”",
        )
    glued, separate = _unit(found["unit"]), _unit(second)
    base, factor = _one_unit(glued, separate)
    sign = -1 if (found["sign"] or "").casefold() in {"-", "minus", "减", "减去"} else 1
    return Duration(number * factor * sign * glued[1] * separate[1], base)


def _tidy(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise Problem(f"an amount has at most {LONGEST_TEXT} characters", f"数量最多 {LONGEST_TEXT} 个字符")
    return unwrap(plain(text)).rstrip(".").strip()


def _is_number(text: str) -> bool:
    found = _AMOUNT.fullmatch(text)
    return found is not None and _number(found) is not None


def _number(found: re.Match[str]) -> Decimal | None:
    half = Decimal("0.5") if found["half"] else Decimal(0)
    if found["number"]:
        return Decimal(found["number"].replace(",", "")) + half
    if found["numeral"]:
        whole = read_chinese_integer(found["numeral"])
        return None if whole is None else Decimal(whole) + half
    if found["word"]:
        return Decimal(_SPOKEN[found["word"].casefold()])
    return half or None


def _unit(text: str) -> tuple[str, int]:
    """Return a unit without its direction, and -1 when that is back in time."""
    bare = text.strip().casefold()
    for words, sign in ((_BACK, -1), (_FORTH, 1)):
        for word in words:
            if bare.endswith(word):
                return bare.removesuffix(word).strip(), sign
    return bare, 1


def _find_unit(text: str) -> tuple[Base, int] | None:
    bare = " ".join(text.casefold().rstrip(".").removeprefix("个").replace("-", " ").split())
    return _UNITS.get(bare) or _UNITS.get(bare.removesuffix("s"))


def _one_unit(glued: tuple[str, int], separate: tuple[str, int]) -> tuple[Base, int]:
    names = [name for name, _ in (glued, separate) if name]
    if not names:
        raise Problem('"unit" is missing', "缺少“unit”")
    found = [_find_unit(name) for name in names]
    for name, unit in zip(names, found, strict=True):
        if unit is None:
            shown = name[:40]
            raise Problem(
                f'"unit" must be seconds, minutes, hours, days, weeks, months, years or business days, got "{shown}"',
                f"“unit”必须是秒、分钟、小时、天、周、个月、年或工作日，收到的是“{shown}”",
            )
    if len(set(found)) > 1:
        both = " / ".join(names)
        raise Problem(f"there are two units: {both}; add one span at a time", f"有两个单位：{both}；每次只加一段时间")
    unit = found[0]
    if unit is None:
        raise AssertionError("unknown units were refused above")
    return unit
