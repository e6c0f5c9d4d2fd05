"""Moments: dates, perhaps with a time of day, perhaps in a zone, and how they are written."""

from __future__ import annotations

import functools
from dataclasses import dataclass

from whenever import PlainDateTime, Time, TimeDelta, ZonedDateTime, available_timezones

WEEKDAYS = {
    "en": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "zh": ("星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """A date, perhaps with a time of day, perhaps in a zone.

    Args:
        local: date and time on the clock there; 00:00 when there is no time of day.
        has_time: whether a time of day was given.
        tz: the zone's id, such as Asia/Shanghai.
        offset: the distance from UTC; without ``tz`` the zone is not known beyond it.
        weekday: the weekday that was given beside the date, from 0 for Monday, when it is not the date's own.
    """

    local: PlainDateTime
    has_time: bool = False
    tz: str | None = None
    offset: TimeDelta | None = None
    weekday: int | None = None

    @property
    def is_placed(self) -> bool:
        """Whether it is known how far from UTC the clock is."""
        return self.tz is not None or self.offset is not None

    def zoned(self, tz: str = "UTC") -> ZonedDateTime:
        """Return the exact moment; a moment in no known zone is taken to be in ``tz``."""
        if self.offset is not None:
            exact = self.local.assume_fixed_offset(self.offset)
            return exact.to_tz(self.tz or "UTC")
        return self.local.assume_tz(self.tz or tz, disambiguation="compatible")


def from_clock(now: ZonedDateTime) -> Moment:
    """Return the clock's time, to the minute."""
    local = now.to_plain().replace(second=0, nanosecond=0)
    return Moment(local, has_time=True, tz=now.tz_id, offset=now.offset)


def from_zoned(moment: ZonedDateTime, like: Moment) -> Moment:
    """Return an exact moment on the clock of ``like``."""
    if like.tz is None and like.offset is not None:
        return Moment(moment.to_fixed_offset(like.offset).to_plain(), has_time=True, offset=like.offset)
    return Moment(moment.to_plain(), has_time=True, tz=like.tz, offset=moment.offset if like.tz else None)


def write_moment(moment: Moment, language: str) -> str:
    """Return ``2031-05-14 09:30 Wednesday (Asia/Shanghai, UTC+08:00)`` or its Chinese form, with what is known."""
    date = moment.local.date()
    weekday = WEEKDAYS["zh" if language == "zh" else "en"][date.day_of_week().value - 1]
    clock = f" {write_time(moment.local.time())}" if moment.has_time else ""
    zone = ""
    if moment.has_time and moment.is_placed:
        parts = [
            part
            for part in (moment.tz, write_offset(moment.zoned().offset if moment.offset is None else moment.offset))
            if part
        ]
        zone = f"（{'，'.join(parts)}）" if language == "zh" else f" ({', '.join(parts)})"
    return f"{date.format_iso()}{clock} {weekday}{zone}"


def write_time(time: Time) -> str:
    """Return ``09:30``, with seconds when there are any."""
    seconds = f":{time.second:02}" if time.second else ""
    return f"{time.hour:02}:{time.minute:02}{seconds}"


def write_offset(offset: TimeDelta) -> str:
    """Return ``UTC+08:00``."""
    minutes = int(offset.total("seconds")) // 60
    return f"UTC{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}:{abs(minutes) % 60:02}"


def find_zone(name: str) -> str | None:
    """Return the id of a time zone by its id or by its city (``Asia/Tokyo``, ``new york``), in any case."""
    return _zones().get(name.strip().casefold().replace(" ", "_"))


@functools.cache
def _zones() -> dict[str, str]:
    ids = sorted(available_timezones())
    cities = {zone.rpartition("/")[2].casefold(): zone for zone in reversed(ids) if zone.count("/") == 1}
    beijing = dict.fromkeys(("beijing", "北京", "北京时间", "上海", "中国", "china"), "Asia/Shanghai")
    return {**cities, **beijing, **{zone.casefold(): zone for zone in ids}}
