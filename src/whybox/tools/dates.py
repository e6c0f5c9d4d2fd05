"""The date tools: ``now``, ``date_add`` and ``date_diff``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whenever import SYSTEM_TZ, ZonedDateTime

from whybox.tools.arguments import BadArguments
from whybox.tools.calendar_arithmetic import add
from whybox.tools.complaints import Problem, complaint
from whybox.tools.date_differences import difference
from whybox.tools.date_reading import parse_moment
from whybox.tools.durations import parse_duration
from whybox.tools.function import FunctionTool, tool
from whybox.tools.moments import WEEKDAYS, Moment, from_clock, write_moment

Clock = Callable[[], ZonedDateTime]

_ADD_EXAMPLE = {"en": "2024-02-28 09:30, 100, hours", "zh": "2024-02-28 09:30, 100, 小时"}
_DIFF_EXAMPLE = {"en": "2024-02-28, 2024-12-25", "zh": "2024-02-28, 2024-12-25"}


def _system_clock() -> ZonedDateTime:
    return ZonedDateTime.now(SYSTEM_TZ)


def date_tools(language: str, clock: Clock | None = None) -> list[FunctionTool[..., Any]]:
    """Return ``now``, ``date_add`` and ``date_diff``, whose observations are in ``language``.

    Args:
        language: ``en`` or ``zh``.
        clock: gives the current time in the zone of the person; the system's clock and zone when None.
    """
    ticking = clock or _system_clock
    return [_now_tool(language, ticking), _add_tool(language, ticking), _diff_tool(language, ticking)]


def _now_tool(language: str, clock: Clock) -> FunctionTool[..., Any]:
    @tool(
        name="now",
        zh="现在的日期、时间和星期；只有问现在或今天时才用。",
        example={"en": "", "zh": ""},
        language=language,
    )
    def now() -> str:
        """The current date, time and weekday; only for questions about now or today."""
        return write_moment(from_clock(clock()), language)

    return now


def _add_tool(language: str, clock: Clock) -> FunctionTool[..., Any]:
    @tool(
        name="date_add",
        zh="给一个日期加上一段时间，往前用负数。单位：分钟、小时、天、周、个月、年。",
        example=_ADD_EXAMPLE,
        language=language,
    )
    def date_add(date: str, amount: str, unit: str = "") -> str:
        """Add time to a date; a negative amount goes back. Units: minutes, hours, days, weeks, months, years.

        Args:
            date: a date or date and time, such as 2024-02-28 09:30, or today
            amount: how many, such as 3, -25 or 1.5
            unit: minutes, hours, days, weeks, months, years or business days
        """
        try:
            current = from_clock(clock())
            start = _moment(date, "date", current)
            end, notes = add(start, parse_duration(amount, unit), current, language)
        except Problem as problem:
            raise _refusal("date_add", problem, _ADD_EXAMPLE, language) from None
        return _with_notes(write_moment(end, language), [*_weekday_note(start, language), *notes], language)

    return date_add


def _diff_tool(language: str, clock: Clock) -> FunctionTool[..., Any]:
    @tool(
        name="date_diff",
        zh="两个日期之间相差多久。",
        example=_DIFF_EXAMPLE,
        language=language,
    )
    def date_diff(start: str, end: str) -> str:
        """Count the time between two dates.

        Args:
            start: the date to count from, such as 2024-02-28, or today
            end: the date to count to
        """
        try:
            current = from_clock(clock())
            first, second = _moment(start, "start", current), _moment(end, "end", current)
        except Problem as problem:
            raise _refusal("date_diff", problem, _DIFF_EXAMPLE, language) from None
        notes = [*_weekday_note(first, language), *_weekday_note(second, language)]
        return _with_notes(difference(first, second, language), notes, language)

    return date_diff


def _moment(text: str, argument: str, current: Moment) -> Moment:
    try:
        return parse_moment(text, current)
    except Problem as problem:
        raise Problem(f'"{argument}": {problem.texts["en"]}', f"“{argument}”：{problem.texts['zh']}") from None


def _refusal(name: str, problem: Problem, examples: dict[str, str], language: str) -> BadArguments:
    example = examples.get(language, examples["en"])
    return BadArguments(complaint(name, problem.text(language), f"{name}[{example}]", language))


def _weekday_note(moment: Moment, language: str) -> list[str]:
    """Return a note when the weekday given beside a date is not that date's."""
    if moment.weekday is None:
        return []
    names = WEEKDAYS["zh" if language == "zh" else "en"]
    date = moment.local.date()
    given, own = names[moment.weekday], names[date.day_of_week().value - 1]
    if language == "zh":
        return [f"{date.format_iso()} 是{own}，不是{given}"]
    return [f"{date.format_iso()} is a {own}, not a {given}"]


def _with_notes(text: str, notes: list[str], language: str) -> str:
    if not notes:
        return text
    return f"{text}。注意：{'；'.join(notes)}" if language == "zh" else f"{text}. Note: {'; '.join(notes)}"
