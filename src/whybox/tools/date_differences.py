"""The time between two moments, as a sentence."""

from __future__ import annotations

from dataclasses import replace

from whenever import Date, ZonedDateTime

from whybox.tools.moments import Moment, write_moment

_UNITS = {
    "en": {
        "years": "year", "months": "month", "weeks": "week", "days": "day",
        "hours": "hour", "minutes": "minute", "seconds": "second",
    },
    "zh": {
        "years": "年", "months": "个月", "weeks": "周", "days": "天",
        "hours": "小时", "minutes": "分钟", "seconds": "秒",
    },
}  # fmt: skip
_TEXTS = {
    "en": {
        "frame": "From {start} to {end}: {length}",
        "before": "{length} (the end is {positive} before the start)",
        "back": "minus {length}, as the end is before the start",
        "same": "0 days (the same day)",
        "total": "{length} ({hours} in all)",
        "by_date": ". Note: only one of them has a time of day, so this counts whole days by date",
        "or": " ({parts})",
        "and": "; ",
    },
    "zh": {
        "frame": "从 {start} 到 {end}：{length}",
        "before": "{length}（结束比开始早 {positive}）",
        "back": "负{length}，因为结束早于开始",
        "same": "0天（同一天）",
        "total": "{length}（共 {hours}）",
        "by_date": "。注意：只有一个带时刻，按日期计算整天数",
        "or": "（{parts}）",
        "and": "；",
    },
}


def difference(start: Moment, end: Moment, language: str) -> str:
    """Return how far ``end`` is behind ``start``; negative when it is before it.

    Two moments with a time of day are compared exactly, each in its zone (one without a zone in that of the other);
    otherwise dates are compared and counted in whole days.

    Args:
        start: from here.
        end: to there.
        language: ``en`` or ``zh``.
    """
    texts = _TEXTS["zh" if language == "zh" else "en"]
    if start.has_time and end.has_time:
        length, note = _exact(start, end, language), ""
    else:
        by_date = start.has_time or end.has_time
        start, end = replace(start, has_time=False), replace(end, has_time=False)
        length, note = _by_date(start.local.date(), end.local.date(), language), texts["by_date"] if by_date else ""
    frame = texts["frame"].format(start=write_moment(start, language), end=write_moment(end, language), length=length)
    return frame + note


def _by_date(start: Date, end: Date, language: str) -> str:
    texts = _TEXTS["zh" if language == "zh" else "en"]
    days = (end.to_stdlib() - start.to_stdlib()).days
    if days == 0:
        return texts["same"]
    early, late = min(start, end), max(start, end)
    positive = _count(abs(days), "days", language)
    parts = []
    if abs(days) >= 7:
        parts.append(_phrase({"weeks": abs(days) // 7, "days": abs(days) % 7}, language))
    calendar = {str(unit): n for unit, n in early.until(late, in_units=["years", "months", "days"]).items()}
    if calendar["years"] or calendar["months"]:
        parts.append(_phrase(calendar, language))
    detail = texts["or"].format(parts=texts["and"].join(parts)) if parts else ""
    if days > 0:
        return positive + detail
    return texts["before"].format(length=f"-{positive}", positive=positive) + detail


def _exact(start: Moment, end: Moment, language: str) -> str:
    texts = _TEXTS["zh" if language == "zh" else "en"]
    first, second = _placed(start, end), _placed(end, start)
    early, late = min(first, second), max(first, second)
    early, late = early.to_tz(first.tz_id or "UTC"), late.to_tz(first.tz_id or "UTC")
    apart = early.until(late, in_units=["days", "hours", "minutes", "seconds"])
    parts = {str(unit): count for unit, count in apart.items()}
    seconds = int((late - early).total("seconds"))
    length = _phrase(parts, language)
    hours = {"hours": seconds // 3600, "minutes": seconds // 60 % 60, "seconds": seconds % 60}
    if second < first:
        length = texts["back"].format(length=length)
    return texts["total"].format(length=length, hours=_phrase(hours, language)) if parts["days"] else length


def _placed(moment: Moment, other: Moment) -> ZonedDateTime:
    """Return the exact moment; where only the other has a zone, it is taken to be in that one."""
    if moment.is_placed or not other.is_placed:
        return moment.zoned()
    return replace(moment, tz=other.tz, offset=None if other.tz else other.offset).zoned()


def _phrase(parts: dict[str, int], language: str) -> str:
    """Return the parts that are not zero: ``1 year 2 months 3 days``."""
    shown = [_count(int(count), unit, language) for unit, count in parts.items() if count]
    if not shown:
        return _count(0, list(parts)[-1], language)
    return ("" if language == "zh" else " ").join(shown)


def _count(count: int, unit: str, language: str) -> str:
    name = _UNITS["zh" if language == "zh" else "en"][unit]
    if language == "zh":
        return f"{count}{name}"
    return f"{count} {name}" if count == 1 else f"{count} {name}s"
