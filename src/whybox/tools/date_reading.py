"""Reading dates and times as people, models and the date tools themselves write them."""

from __future__ import annotations

import re
from dataclasses import replace

from whenever import Date, Time, TimeDelta

from whybox.tools.cleaning import plain, unwrap
from whybox.tools.complaints import Problem
from whybox.tools.moments import WEEKDAYS, Moment, find_zone, from_zoned, write_offset

LONGEST_TEXT = 200

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS_FROM_TODAY = {
    "day after tomorrow": 2, "day before yesterday": -2, "today": 0, "tomorrow": 1, "yesterday": -1,
    "current date": 0, "今天": 0, "今日": 0, "当前日期": 0, "今日日期": 0, "明天": 1, "明日": 1, "昨天": -1, "昨日": -1,
    "大后天": 3, "后天": 2, "大前天": -3, "前天": -2,
}  # fmt: skip
_NOW = ("right now", "now", "current time", "current date and time", "现在", "此刻", "目前", "当前时间", "当前")

_MONTH_NAME = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATES = (
    re.compile(r"(?P<y>\d{4})([-/.])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d)"),
    re.compile(r"(?P<y>\d{4})(?P<m>\d{2})(?P<d>\d{2})(?!\d)"),
    re.compile(r"(?P<y>\d{4})\s?年\s?(?P<m>\d{1,2})\s?月\s?(?P<d>\d{1,2})\s?[日号]?"),
    re.compile(rf"(?P<m>{_MONTH_NAME})\s?(?P<d>\d{{1,2}})(?:st|nd|rd|th)?,?\s?(?P<y>\d{{4}})(?!\d)", re.IGNORECASE),
    re.compile(
        rf"(?P<d>\d{{1,2}})(?:st|nd|rd|th)?[ -]?(?:of\s)?(?P<m>{_MONTH_NAME}),?[ -]?(?P<y>\d{{4}})(?!\d)", re.IGNORECASE
    ),
)
_PERIOD = r"(?P<p>凌晨|早上|上午|中午|下午|傍晚|晚上)?\s?"
_TIMES = (
    re.compile(
        _PERIOD + r"T?(?P<h>\d{1,2}):(?P<min>\d{2})(?::(?P<s>\d{2})(?:\.\d{1,9})?)?(?!\d)\s?(?P<ap>[ap]\.?m\b\.?)?",
        re.IGNORECASE,
    ),
    re.compile(
        _PERIOD + r"(?P<h>\d{1,2})\s?[点时](?:钟|整)?"
        r"(?:(?P<half>半)|(?P<min>\d{1,2})\s?分?(?:(?P<s>\d{1,2})\s?秒)?)?"
    ),
    re.compile(r"(?P<h>\d{1,2})\s?(?P<ap>[ap]\.?m\b\.?)", re.IGNORECASE),
)
_WEEKDAY = re.compile(
    r"(?:(?P<en>mon|tue|wed|thu|fri|sat|sun)(?:day|s|sday|nesday|rs|r|rsday|urday)?\b|(?:星期|礼拜|周)(?P<zh>[一二三四五六日天]))\.?",
    re.IGNORECASE,
)
_OFFSET = re.compile(
    r"(?:(?:UTC|GMT)\s?(?P<s1>[+-])(?P<h1>\d{1,2})|(?P<s2>[+-])(?P<h2>\d{2}))(?::?(?P<min>\d{2}))?(?!\d)"
)
_ZULU = re.compile(r"Z\b")
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*")
_SKIPPED = re.compile(r"(?:[\s,()\[\]<>\"']|的|\b(?:at|on|the|in)\b)+", re.IGNORECASE)
_NOTE = re.compile(r"\.\s?(?:note|注意):", re.IGNORECASE)


def parse_moment(text: str, now: Moment) -> Moment:
    """Read a date with or without a time of day, zone and weekday, in any order that is in use.

    Understood are ISO 8601 in its spellings, ``2024/2/28``, ``May 14, 2031``, ``2024年2月28日 下午3点``, words such as
    ``today``, ``now()`` and 明天, and all that :func:`write_moment` writes, with a note behind it.

    Args:
        text: what was given.
        now: the clock's time, for words such as ``today``.

    Raises:
        Problem: it is not understood, or there is no such date.
    """
    if len(text) > LONGEST_TEXT:
        raise Problem(f"a date has at most {LONGEST_TEXT} characters", f"日期最多 {LONGEST_TEXT} 个字符")
    # Here a dot ends a sentence and a comma ends a part; both are what plain() makes of their full-width forms.
    return _Reader(_NOTE.split(unwrap(plain(text)), maxsplit=1)[0].rstrip(". "), now).read()


class _Reader:
    """Takes a text apart from left to right, each piece by the first pattern that fits."""

    def __init__(self, text: str, now: Moment) -> None:
        self.text = text
        self.now = now
        self.at = 0
        self.date: Date | None = None
        self.time: Time | None = None
        self.tz: str | None = None
        self.offset: TimeDelta | None = None
        self.weekday: int | None = None
        self.days: int | None = None
        self.is_now = False
        self._pieces = (
            self._take_relative,
            self._take_date,
            self._take_time,
            self._take_weekday,
            self._take_zone,
        )

    def read(self) -> Moment:
        while self._skip() < len(self.text):
            if not (
                self._take_relative()
                or self._take_date()
                or self._take_time()
                or self._take_weekday()
                or self._take_zone()
            ):
                rest = self.text[self.at : self.at + 40]
                raise Problem(f'"{rest}" is not understood', f"看不懂“{rest}”")
        if self.days is not None:
            self._count_from(self._here(), self.days)
        if self.date is None:
            raise Problem("there is no date with a year", "没有带年份的日期")
        return self._moment(self.date)

    def _here(self) -> Moment:
        """Return the clock's time in the zone that was given beside a word such as today."""
        if self.tz is not None:
            moved = self.now.zoned().to_tz(self.tz)
            return Moment(moved.to_plain(), tz=self.tz, offset=moved.offset)
        if self.offset is not None:
            return from_zoned(self.now.zoned(), Moment(self.now.local, offset=self.offset))
        return self.now

    def _count_from(self, here: Moment, days: int) -> None:
        self.date = here.local.date().add(days=days)
        self.tz = here.tz
        if self.is_now and self.time is None:
            self.time, self.offset = here.local.time(), here.offset
        elif self.tz is None:
            self.offset = here.offset

    def _skip(self) -> int:
        found = _SKIPPED.match(self.text, self.at)
        self.at = found.end() if found else self.at
        return self.at

    def _take_relative(self) -> bool:
        rest = self.text[self.at :].casefold()
        word = next((word for word in _RELATIVE if rest.startswith(word)), None)
        if word is None or self.date or self.days is not None:
            return False
        if word.isascii() and rest[len(word) : len(word) + 1].isalnum():
            return False
        self.at += len(word)
        self.days = _DAYS_FROM_TODAY.get(word, 0)
        self.is_now = word in _NOW
        return True

    def _take_date(self) -> bool:
        found = next((found for pattern in _DATES if (found := pattern.match(self.text, self.at))), None)
        if found is None or self.date or self.days is not None:
            return False
        month = found["m"].casefold()
        number = int(month) if month.isdigit() else _MONTHS.index(month[:3]) + 1
        try:
            self.date = Date(int(found["y"]), number, int(found["d"]))
        except ValueError:
            raise Problem(f"there is no date {found[0].strip()}", f"没有 {found[0].strip()} 这一天") from None
        self.at = found.end()
        return True

    def _take_time(self) -> bool:
        found = next((found for pattern in _TIMES if (found := pattern.match(self.text, self.at))), None)
        if found is None or self.time is not None:
            return False
        parts = found.groupdict()
        minute = 30 if parts.get("half") else int(parts.get("min") or 0)
        hour = _hour(int(parts["h"]), (parts.get("ap") or "").casefold()[:1] or (parts.get("p") or ""))
        try:
            self.time = Time(hour, minute, int(parts.get("s") or 0))
        except ValueError:
            raise Problem(f"there is no time {found[0].strip()}", f"没有 {found[0].strip()} 这个时刻") from None
        self.at = found.end()
        return True

    def _take_weekday(self) -> bool:
        found = _WEEKDAY.match(self.text, self.at)
        if found is None or self.weekday is not None:
            return False
        if found["en"]:
            self.weekday = [name[:3].casefold() for name in WEEKDAYS["en"]].index(found["en"].casefold())
        else:
            self.weekday = 6 if found["zh"] == "天" else "一二三四五六日".index(found["zh"])
        self.at = found.end()
        return True

    def _take_zone(self) -> bool:
        found = _OFFSET.match(self.text, self.at)
        if found:
            minutes = int(found["h1"] or found["h2"]) * 60 + int(found["min"] or 0)
            sign = -1 if "-" in (found["s1"], found["s2"]) else 1
            if minutes >= 24 * 60:
                raise Problem(f"there is no time zone {found[0]}", f"没有 {found[0]} 这个时区")
            self.offset = TimeDelta(seconds=sign * minutes * 60)
        elif found := _ZULU.match(self.text, self.at):
            self.offset = TimeDelta()
        else:
            found = _ZONE.match(self.text, self.at)
            zone = find_zone(found[0]) if found else None
            if found is None or zone is None:
                return False
            self.tz = zone
        self.at = found.end()
        return True

    def _moment(self, date: Date) -> Moment:
        own = date.day_of_week().value - 1
        moment = Moment(
            date.at(self.time or Time()),
            has_time=self.time is not None,
            tz=self.tz,
            offset=self.offset,
            weekday=self.weekday if self.weekday not in (None, own) else None,
        )
        if self.tz and self.offset is not None:
            _check_offset(moment)
        return moment


_RELATIVE = sorted((*_DAYS_FROM_TODAY, *_NOW), key=len, reverse=True)


def _hour(hour: int, period: str) -> int:
    """Return the hour of the day; one that does not fit its half of the day stays out of range."""
    if period in {"p", "下午", "傍晚", "晚上"} or (period == "中午" and hour < 11):
        return 24 if hour == 12 and period == "晚上" else hour + 12 if hour < 12 else hour
    if period in {"a", "凌晨", "早上", "上午"} and hour == 12:
        return 0
    return hour


def _check_offset(moment: Moment) -> None:
    """Refuse a distance from UTC that the zone does not have then."""
    if moment.zoned().to_plain() != moment.local:
        right = write_offset(replace(moment, offset=None).zoned().offset)
        given = write_offset(moment.offset or TimeDelta())
        raise Problem(
            f"{moment.tz} is at {right} then, not at {given}",
            f"{moment.tz} 当时是 {right}，不是 {given}",
        )
