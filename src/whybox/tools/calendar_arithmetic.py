"""Adding durations to moments, exactly, with notes on what a person would want to know of it."""

from __future__ import annotations

from dataclasses import replace
from decimal import ROUND_HALF_EVEN, Decimal

from whenever import Date, PlainDateTime, TimeDelta

from whybox.tools.complaints import Problem
from whybox.tools.durations import Duration
from whybox.tools.moments import Moment, from_zoned, write_time

_LARGEST = Decimal(10) ** 12
_WORKWEEK = 5
_SATURDAY = 5


def out_of_range() -> Problem:
    """Return the error of a result that no calendar holds."""
    return Problem("the result is out of range, years go from 1 to 9999", "结果超出范围，年份只能是 1 到 9999")


def add(start: Moment, duration: Duration, now: Moment, language: str) -> tuple[Moment, list[str]]:
    """Return ``start`` plus ``duration``, and notes in ``language``.

    Seconds are exact time, in the moment's zone where it has one. Days, months and workdays go by the calendar and
    keep the time of day; a day that a month does not have becomes its last.

    Args:
        start: where to begin; without a time of day at 00:00 when seconds are added.
        duration: how far, also back.
        now: the clock's time, for its zone.
        language: ``en`` or ``zh``.

    Raises:
        Problem: the result is out of range, or part of a day, month or year was asked for.
    """
    if abs(duration.amount) > _LARGEST:
        raise out_of_range()
    try:
        if duration.base == "seconds":
            return _add_seconds(start, duration.amount, now, language)
        return _add_calendar(start, duration, language)
    except (ValueError, OverflowError):
        raise out_of_range() from None


def _add_seconds(start: Moment, amount: Decimal, now: Moment, language: str) -> tuple[Moment, list[str]]:
    seconds = TimeDelta(seconds=int(amount.to_integral_value(ROUND_HALF_EVEN)))
    notes = [] if start.has_time else [_say(_NO_TIME, language)]
    end = from_zoned(start.zoned().add(seconds), start)
    if not start.is_placed and now.tz is not None:
        there = start.zoned(now.tz).add(seconds).to_plain()
        if there != end.local:
            clock = f"{there.date().format_iso()} {write_time(there.time())}"
            notes.append(_say(_CLOCK_CHANGE, language).format(zone=now.tz, clock=clock))
    return end, notes


def _add_calendar(start: Moment, duration: Duration, language: str) -> tuple[Moment, list[str]]:
    date = start.local.date()
    count = _whole(duration)
    if duration.base == "months":
        end = date.add(months=count)
        notes = [] if end.day == date.day else [_say(_MONTH_END, language).format(end=end.day, start=date.day)]
    elif duration.base == "workdays":
        end, notes = _add_workdays(date, count), [_say(_HOLIDAYS, language)]
    else:
        end, notes = date.add(days=count), []
    return _on_day(start, end, notes, language)


def _on_day(start: Moment, day: Date, notes: list[str], language: str) -> tuple[Moment, list[str]]:
    """Return the start's time of day on another day, moved forward where clocks skip it."""
    wanted: PlainDateTime = day.at(start.local.time())
    if not start.has_time or start.tz is None:
        return replace(start, local=wanted, weekday=None), notes
    exact = wanted.assume_tz(start.tz, disambiguation="compatible")
    if exact.to_plain() != wanted:
        notes = [*notes, _say(_SKIPPED, language).format(clock=write_time(wanted.time()))]
    return from_zoned(exact, start), notes


def _whole(duration: Duration) -> int:
    if duration.amount == duration.amount.to_integral_value():
        return int(duration.amount)
    if duration.base == "days":
        hours = f"{(duration.amount * 24).normalize():f}"
        raise Problem(
            f"days must be whole; for a part of a day give hours: {hours} hours",
            f"天数必须是整数；不足一天请用小时：{hours} 小时",
        )
    if duration.base == "months":
        raise Problem("months must be whole; for a part of a month give days", "月数必须是整数；不足一个月请用天")
    raise Problem("business days must be whole", "工作日必须是整数")


def _add_workdays(date: Date, count: int) -> Date:
    """Count Mondays to Fridays; from a weekend, counting begins on the day that follows in the direction."""
    step = 1 if count >= 0 else -1
    while count and date.day_of_week().value - 1 >= _SATURDAY:
        date = date.add(days=-step)
    weeks, rest = divmod(abs(count), _WORKWEEK)
    date = date.add(days=step * weeks * 7)
    while rest:
        date = date.add(days=step)
        rest -= date.day_of_week().value - 1 < _SATURDAY
    return date


def _say(texts: dict[str, str], language: str) -> str:
    return texts.get(language, texts["en"])


_NO_TIME = {
    "en": "the date has no time of day, so this counts from 00:00; call now[] first for the current time",
    "zh": "所给日期没有时刻，按 00:00 起算；需要当前时刻请先调用 now[]",
}
_CLOCK_CHANGE = {
    "en": "no time zone was given; in {zone} clocks change in between and show {clock} then",
    "zh": "没有给出时区；在 {zone} 期间有时钟调整，届时为 {clock}",
}
_MONTH_END = {
    "en": "that month has only {end} days, so day {start} became day {end}",
    "zh": "那个月只有 {end} 天，{start} 日变为 {end} 日",
}
_HOLIDAYS = {"en": "Monday to Friday; public holidays are not considered", "zh": "按周一到周五计算，未考虑节假日"}
_SKIPPED = {
    "en": "clocks skip {clock} on that day",
    "zh": "当天时钟调整，没有 {clock} 这个时刻",
}
