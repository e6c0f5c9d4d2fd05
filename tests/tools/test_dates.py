"""The date tools, with a clock that stands still."""

from __future__ import annotations

import datetime as dt
import zoneinfo
from collections.abc import Callable

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st
from whenever import TimeDelta, ZonedDateTime, available_timezones

from whybox.errors import ToolError
from whybox.tools.date_reading import parse_moment
from whybox.tools.dates import date_tools
from whybox.tools.moments import Moment, from_clock, write_moment


def clock_in(tz: str) -> Callable[[], ZonedDateTime]:
    return lambda: ZonedDateTime(2031, 5, 14, 9, 30, 17, tz=tz)


NOW = from_clock(clock_in("Asia/Shanghai")())
TOOLS = {language: date_tools(language, clock_in("Asia/Shanghai")) for language in ("en", "zh")}


def add(date: str, amount: str, unit: str = "", language: str = "en") -> str:
    return str(TOOLS[language][1](date, amount, unit))


def diff(start: str, end: str, language: str = "en") -> str:
    return str(TOOLS[language][2](start, end))


def now(language: str = "en") -> str:
    return str(TOOLS[language][0]())


def test_now_says_date_minute_weekday_and_zone() -> None:
    assert now() == "2031-05-14 09:30 Wednesday (Asia/Shanghai, UTC+08:00)"
    assert now(language="zh") == "2031-05-14 09:30 星期三（Asia/Shanghai，UTC+08:00）"


def test_now_without_a_clock_tells_the_systems_time() -> None:
    before = dt.datetime.now(dt.UTC) - dt.timedelta(minutes=1)
    output = anyio.run(date_tools("en")[0].call, {})
    assert output.error is None
    told = parse_moment(output.text, NOW).zoned().to_stdlib()
    assert before <= told <= dt.datetime.now(dt.UTC)


ADDITIONS = [
    ("2024-02-28 09:30", "100", "hours", "2024-03-03 13:30 Sunday"),
    ("2024-02-28", "3", "days", "2024-03-02 Saturday"),
    ("2024-02-28", "2", "days", "2024-03-01 Friday"),
    ("2024-02-28", "3", "weeks", "2024-03-20 Wednesday"),
    ("2024-02-28", "-25", "weeks", "2023-09-06 Wednesday"),
    ("2024-02-28", "2", "months", "2024-04-28 Sunday"),
    ("2024-02-28", "1.5", "years", "2025-08-28 Thursday"),
    ("2024-02-28 10:00", "1.5", "hours", "2024-02-28 11:30 Wednesday"),
    ("2024-02-28 10:00", "90", "min", "2024-02-28 11:30 Wednesday"),
    ("2024-02-28 10:00", "一个半小时", "", "2024-02-28 11:30 Wednesday"),
    ("2024-02-28 10:00", "半小时", "", "2024-02-28 10:30 Wednesday"),
    ("2024-12-31 23:59:30", "45", "seconds", "2025-01-01 00:00:15 Wednesday"),
    ("2024-02-28", "2个月", "", "2024-04-28 Sunday"),
    ("2024-02-28", "100 days", "", "2024-06-07 Friday"),
    ("2024-02-28", "100 days", "days", "2024-06-07 Friday"),
    ("2024-02-28", "3 days ago", "", "2024-02-25 Sunday"),
    ("2024-02-28", "3", "days ago", "2024-02-25 Sunday"),
    ("2024-02-28", "三天前", "", "2024-02-25 Sunday"),
    ("2024-02-28", "3天后", "", "2024-03-02 Saturday"),
    ("2024-02-28", "minus 3", "days", "2024-02-25 Sunday"),
    ("2024-02-28", "two", "weeks", "2024-03-13 Wednesday"),
    ("2024-02-28", "1,000", "days", "2026-11-24 Tuesday"),
    ("2024-02-28", "days", "3", "2024-03-02 Saturday"),
    ("2024-02-28", "１０", "天", "2024-03-09 Saturday"),
    ("2024-02-28", "1", "季度", "2024-05-28 Tuesday"),
    ("2024-02-28", "0", "days", "2024-02-28 Wednesday"),
    ("today", "3", "周", "2031-06-04 Wednesday"),
    ("tomorrow", "1", "day", "2031-05-16 Friday"),
    ("昨天", "1", "天", "2031-05-14 Wednesday"),
    ("now", "100", "hours", "2031-05-18 13:30 Sunday (Asia/Shanghai, UTC+08:00)"),
    ("now()", "100", "小时", "2031-05-18 13:30 Sunday (Asia/Shanghai, UTC+08:00)"),
    ("明天 下午3点半", "1", "小时", "2031-05-15 16:30 Thursday (Asia/Shanghai, UTC+08:00)"),
    ("now Asia/Tokyo", "0", "days", "2031-05-14 10:30 Wednesday (Asia/Tokyo, UTC+09:00)"),
    ("now UTC", "0", "days", "2031-05-14 01:30 Wednesday (UTC, UTC+00:00)"),
    ("2024-02-28T09:30:00+02:00", "36", "hours", "2024-02-29 21:30 Thursday (UTC+02:00)"),
    ("2024-02-28T09:30Z", "1", "h", "2024-02-28 10:30 Wednesday (UTC+00:00)"),
]


@pytest.mark.parametrize(("date", "amount", "unit", "result"), ADDITIONS)
def test_time_is_added_exactly(date: str, amount: str, unit: str, result: str) -> None:
    assert add(date, amount, unit) == result


DAY = [
    "2024-02-28", "2024/2/28", "2024.02.28", "20240228", "2024年2月28日", "2024 年 2 月 28 号", "February 28, 2024",
    "Feb 28 2024", "Feb. 28th, 2024", "28 February 2024", "28th of Feb 2024", "Wednesday, February 28, 2024",
    "2024-02-28 Wednesday", "2024-02-28 (Wed)", "2024-02-28 星期三", "２０２４－０２－２８",
    '"2024-02-28"', " 2024-02-28. ",
]  # fmt: skip


@pytest.mark.parametrize("text", DAY)
def test_a_date_is_read_in_every_usual_form(text: str) -> None:
    assert add(text, "1", "day") == "2024-02-29 Thursday"


MINUTE = [
    "2024-02-28 15:05", "2024-02-28T15:05", "2024-02-28T15:05:00", "2024-02-28 15:05:00.123", "2024-02-28 3:05 PM",
    "2024-02-28 at 3:05pm", "2024-02-28, 3:05 p.m.", "2024年2月28日 15点05分", "2024年2月28日下午3点5分",
    "2024年2月28日 下午3:05", "Feb 28, 2024 15:05", "15:05, February 28, 2024", "2024-02-28　１５：０５",
]  # fmt: skip


@pytest.mark.parametrize("text", MINUTE)
def test_a_time_of_day_is_read_in_every_usual_form(text: str) -> None:
    assert add(text, "1", "hour") == "2024-02-28 16:05 Wednesday"


@pytest.mark.parametrize(
    ("text", "hour"),
    [
        ("12 am", "00"),
        ("12 pm", "12"),
        ("1 am", "01"),
        ("中午12点", "12"),
        ("中午1点", "13"),
        ("凌晨12点", "00"),
        ("晚上8点", "20"),
    ],
)
def test_halves_of_the_day_are_right(text: str, hour: str) -> None:
    assert add(f"2024-02-28 {text}", "0", "hours") == f"2024-02-28 {hour}:00 Wednesday"


def test_hours_on_a_date_without_a_time_say_that_they_count_from_midnight() -> None:
    assert add("2024-02-28", "5", "hours") == (
        "2024-02-28 05:00 Wednesday. Note: the date has no time of day, so this counts from 00:00; "
        "call now[] first for the current time"
    )
    assert add("今天", "100", "小时", "zh") == (
        "2031-05-18 04:00 星期日（Asia/Shanghai，UTC+08:00）。"
        "注意：所给日期没有时刻，按 00:00 起算；需要当前时刻请先调用 now[]"
    )
    assert "Note" not in add("now", "5", "hours")
    assert "Note" not in add("2024-02-28", "5", "days")


def test_a_day_that_a_month_does_not_have_becomes_its_last_and_says_so() -> None:
    assert add("2024-01-31", "1", "month") == (
        "2024-02-29 Thursday. Note: that month has only 29 days, so day 31 became day 29"
    )
    assert add("2024-02-29", "1", "year").startswith("2025-02-28 Friday. Note: that month has only 28 days")
    assert add("2024-01-31", "1", "个月", "zh") == "2024-02-29 星期四。注意：那个月只有 29 天，31 日变为 29 日"
    assert add("2024-01-31", "2", "months") == "2024-03-31 Sunday"


NEW_YORK = "America/New_York"


def test_clock_changes_of_a_known_zone_are_kept() -> None:
    assert add(f"2024-03-10 01:30 ({NEW_YORK})", "1", "hour") == f"2024-03-10 03:30 Sunday ({NEW_YORK}, UTC-04:00)"
    assert add(f"2024-03-09 12:00 {NEW_YORK}", "24", "hours") == f"2024-03-10 13:00 Sunday ({NEW_YORK}, UTC-04:00)"
    assert add(f"2024-03-09 12:00 {NEW_YORK}", "1", "day") == f"2024-03-10 12:00 Sunday ({NEW_YORK}, UTC-04:00)"
    assert add(f"2024-03-09 02:30 {NEW_YORK}", "1", "day") == (
        f"2024-03-10 03:30 Sunday ({NEW_YORK}, UTC-04:00). Note: clocks skip 02:30 on that day"
    )


def test_an_hour_that_comes_twice_is_told_apart_by_its_distance_from_utc() -> None:
    assert add(f"2024-11-03 01:30 ({NEW_YORK}, UTC-04:00)", "1", "hour") == (
        f"2024-11-03 01:30 Sunday ({NEW_YORK}, UTC-05:00)"
    )
    assert add(f"2024-11-03 01:30 ({NEW_YORK}, UTC-05:00)", "1", "hour") == (
        f"2024-11-03 02:30 Sunday ({NEW_YORK}, UTC-05:00)"
    )


def test_a_clock_change_that_a_time_without_zone_would_miss_is_noted() -> None:
    date_add = date_tools("en", clock_in(NEW_YORK))[1]
    assert date_add("2024-03-09 12:00", "24", "hours") == (
        f"2024-03-10 12:00 Sunday. Note: no time zone was given; in {NEW_YORK} clocks change in between and show "
        "2024-03-10 13:00 then"
    )
    assert date_add("2024-02-09 12:00", "24", "hours") == "2024-02-10 12:00 Saturday"


def test_a_weekday_that_is_not_the_dates_is_noted() -> None:
    assert add("2031-05-14 Thursday", "1", "day") == (
        "2031-05-15 Thursday. Note: 2031-05-14 is a Wednesday, not a Thursday"
    )
    assert add("2031-05-14 周日", "1", "天", "zh") == "2031-05-15 星期四。注意：2031-05-14 是星期三，不是星期日"


@pytest.mark.parametrize(
    ("start", "amount", "end"),
    [
        ("2024-02-28", "1", "2024-02-29 Thursday"),
        ("2024-03-01", "1", "2024-03-04 Monday"),
        ("2024-03-02", "1", "2024-03-04 Monday"),
        ("2024-03-03", "-1", "2024-03-01 Friday"),
        ("2024-03-04", "-1", "2024-03-01 Friday"),
        ("2024-03-04", "10", "2024-03-18 Monday"),
        ("2024-03-02", "5", "2024-03-08 Friday"),
        ("2024-03-02", "0", "2024-03-02 Saturday"),
    ],
)
def test_business_days_leave_out_weekends(start: str, amount: str, end: str) -> None:
    assert add(start, amount, "business days") == f"{end}. Note: Monday to Friday; public holidays are not considered"


@pytest.mark.parametrize(
    ("date", "amount", "unit", "reason"),
    [
        ("2024-02-28, 3, days", "3", "days", '"date": "3, days" is not understood'),
        ("2024-02-30", "1", "day", "there is no date 2024-02-30"),
        ("2024-13-01", "1", "day", "there is no date 2024-13-01"),
        ("2024-02-28 25:00", "1", "day", "there is no time 25:00"),
        ("2024-02-28 33 pm", "1", "day", "there is no time 33 pm"),
        ("next Friday", "1", "day", '"next Friday" is not understood'),
        ("05/14/2031", "1", "day", "is not understood"),
        ("09:30", "1", "day", "no date"),
        ("", "1", "day", "no date"),
        ("2024-02-28 2024-02-29", "1", "day", "is not understood"),
        ("2024-02-28 Foo/Bar", "1", "day", "is not understood"),
        ("2024-02-28 09:30 +99:00", "1", "day", "no time zone"),
        (
            "2031-05-14 09:30 (Asia/Shanghai, UTC+09:00)",
            "1",
            "day",
            "Asia/Shanghai is at UTC+08:00 then, not at UTC+09:00",
        ),
        ("2" * 10_000, "1", "day", "at most"),
        ("2024-02-28", "soon", "days", '"amount" must be a number such as 3, -25 or 1.5, got "soon"'),
        ("2024-02-28", "", "days", '"amount" must be a number'),
        ("2024-02-28", "9" * 10_000, "days", "at most"),
        ("2024-02-28", "3", "", '"unit" is missing'),
        ("2024-02-28", "3", "moons", '"unit" must be seconds, minutes'),
        ("2024-02-28", "3 days", "weeks", "there are two units"),
        ("2024-02-28", "1.5", "days", "36 hours"),
        ("2024-02-28", "0.5", "months", "months must be whole"),
        ("2024-02-28", "1.5", "business days", "must be whole"),
        ("9999-12-31", "1", "day", "out of range"),
        ("0001-01-01", "-1", "hour", "out of range"),
        ("2024-02-28", "99999", "years", "out of range"),
        ("2024-02-28", "9" * 60, "seconds", "out of range"),
        ("2024-02-28", "999999999999", "business days", "out of range"),
    ],
)
def test_what_cannot_be_added_is_refused_with_the_right_form(date: str, amount: str, unit: str, reason: str) -> None:
    with pytest.raises(ToolError) as caught:
        add(date, amount, unit)
    assert reason in str(caught.value)
    assert str(caught.value).startswith("date_add: ")
    assert str(caught.value).endswith("Right form: date_add[2024-02-28 09:30, 100, hours]")


def test_refusals_are_in_the_language_of_the_tool() -> None:
    with pytest.raises(
        ToolError, match=r"^date_add：“amount”必须是数字.*“很快”。正确格式：date_add\[2024-02-28 09:30, 100, 小时\]$"
    ):
        add("2024-02-28", "很快", "天", "zh")
    with pytest.raises(ToolError, match=r"^date_diff：“end”：看不懂“下周五”。正确格式：date_diff\["):
        diff("今天", "下周五", "zh")


DIFFERENCES = [
    ("2024-02-28", "2024-03-01", "From 2024-02-28 Wednesday to 2024-03-01 Friday: 2 days"),
    ("2024-02-28", "2024-02-29", "From 2024-02-28 Wednesday to 2024-02-29 Thursday: 1 day"),
    ("2024-02-28", "2025-02-28", "From 2024-02-28 Wednesday to 2025-02-28 Friday: 366 days (52 weeks 2 days; 1 year)"),
    (
        "2024-03-01",
        "2024-02-28",
        "From 2024-03-01 Friday to 2024-02-28 Wednesday: -2 days (the end is 2 days before the start)",
    ),
    ("2024-02-28", "2024-02-28", "From 2024-02-28 Wednesday to 2024-02-28 Wednesday: 0 days (the same day)"),
    (
        "now",
        "2031-12-25",
        "From 2031-05-14 Wednesday to 2031-12-25 Thursday: 225 days (32 weeks 1 day; 7 months 11 days). "
        "Note: only one of them has a time of day, so this counts whole days by date",
    ),
    (
        "2024-02-28 09:30",
        "2024-03-01 12:00",
        "From 2024-02-28 09:30 Wednesday to 2024-03-01 12:00 Friday: 2 days 2 hours 30 minutes "
        "(50 hours 30 minutes in all)",
    ),
    (
        "2024-03-01 12:00",
        "2024-02-28 09:30",
        "From 2024-03-01 12:00 Friday to 2024-02-28 09:30 Wednesday: minus 2 days 2 hours 30 minutes, "
        "as the end is before the start (50 hours 30 minutes in all)",
    ),
    (
        f"2024-03-09 12:00 {NEW_YORK}",
        "2024-03-11 12:00 Asia/Shanghai",
        f"From 2024-03-09 12:00 Saturday ({NEW_YORK}, UTC-05:00) to 2024-03-11 12:00 Monday "
        "(Asia/Shanghai, UTC+08:00): 1 day 12 hours (35 hours in all)",
    ),
    (
        f"2024-03-09 12:00 {NEW_YORK}",
        "2024-03-10 12:00",
        f"From 2024-03-09 12:00 Saturday ({NEW_YORK}, UTC-05:00) to 2024-03-10 12:00 Sunday: 1 day (23 hours in all)",
    ),
    (
        "2024-02-28 09:30",
        "2024-02-28 09:45",
        "From 2024-02-28 09:30 Wednesday to 2024-02-28 09:45 Wednesday: 15 minutes",
    ),
]


@pytest.mark.parametrize(("start", "end", "sentence"), DIFFERENCES)
def test_a_difference_is_told_with_its_order(start: str, end: str, sentence: str) -> None:
    assert diff(start, end) == sentence


def test_a_difference_is_told_in_chinese() -> None:
    assert diff("2024-02-28", "2025-02-28", "zh") == (
        "从 2024-02-28 星期三 到 2025-02-28 星期五：366天（52周2天；1年）"
    )
    assert (
        diff("2024-03-01", "2024-02-28", "zh") == "从 2024-03-01 星期五 到 2024-02-28 星期三：-2天（结束比开始早 2天）"
    )


def test_a_call_that_put_everything_into_the_date_is_shown_the_right_form() -> None:
    output = anyio.run(TOOLS["en"][1].call, {"date": "2024-02-28, 3, days"})
    assert output.error == "bad_arguments"
    assert output.text == 'date_add: "amount" is missing. Right form: date_add[2024-02-28 09:30, 100, hours]'


def test_amounts_may_be_numbers_and_bad_ones_are_bad_arguments() -> None:
    date_add = TOOLS["en"][1]
    assert anyio.run(date_add.call, {"date": "2024-02-28", "amount": 3, "unit": "days"}).text == "2024-03-02 Saturday"
    assert anyio.run(date_add.call, {"date": "2024-02-28 10:00", "amount": 1.5, "unit": "hours"}).error is None
    assert anyio.run(date_add.call, {"date": "2024-02-28", "amount": "soon", "unit": "days"}).error == "bad_arguments"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_descriptions_and_examples_are_there_in_both_languages_and_the_examples_work(language: str) -> None:
    for tool in TOOLS[language]:
        assert set(tool.spec.description) == set(tool.spec.example) == {"en", "zh"}
        parts = [part.strip() for part in tool.spec.example[language].split(",") if part.strip()]
        names = list(tool.spec.parameters["properties"])
        assert anyio.run(tool.call, dict(zip(names, parts, strict=False))).error is None


ZONES = sorted(zone for zone in available_timezones() if "/" in zone or zone.isalpha())
moments = st.builds(
    lambda seconds, zone: ZonedDateTime(1970, 1, 1, tz="UTC").add(seconds=seconds * 60).to_tz(zone),
    st.integers(min_value=0, max_value=60 * 24 * 365 * 120),
    st.sampled_from(ZONES),
)


@given(moments, st.sampled_from(["en", "zh"]))
def test_all_that_the_tools_write_they_read_back(moment: ZonedDateTime, language: str) -> None:
    told = from_clock(moment)
    if int(moment.offset.total("seconds")) % 60:
        return  # local mean time before zones: UTC-00:44:30 is written to the minute
    assert parse_moment(write_moment(told, language), NOW) == told
    with_note = write_moment(told, language) + ("。注意：x" if language == "zh" else ". Note: x")
    assert parse_moment(with_note, NOW) == told
    dated = Moment(told.local.date().at(told.local.time().replace(hour=0, minute=0)))
    assert parse_moment(write_moment(dated, language), NOW) == dated


@given(moments, st.integers(min_value=-100_000, max_value=100_000))
def test_hours_agree_with_the_standard_library(moment: ZonedDateTime, hours: int) -> None:
    if int(moment.offset.total("seconds")) % 60 or moment.tz_id is None:
        return
    told = add(write_moment(from_clock(moment), "en"), str(hours), "hours")
    zone = zoneinfo.ZoneInfo(moment.tz_id)
    exact = moment.to_stdlib().astimezone(dt.UTC) + dt.timedelta(hours=hours)
    assert told.startswith(exact.astimezone(zone).strftime("%Y-%m-%d %H:%M"))


@given(st.dates(min_value=dt.date(1000, 1, 1)), st.integers(min_value=-3000, max_value=3000))
def test_days_and_differences_agree_with_the_standard_library(date: dt.date, days: int) -> None:
    try:
        expected = date + dt.timedelta(days=days)
    except OverflowError:
        with pytest.raises(ToolError, match="out of range"):
            add(date.isoformat(), str(days), "days")
        return
    assert add(date.isoformat(), str(days), "days") == f"{expected.isoformat()} {expected:%A}"
    plural = "" if abs(days) == 1 else "s"
    assert f": {days} day{plural}" in diff(date.isoformat(), expected.isoformat())


@given(st.dates(), st.integers(min_value=-500, max_value=500))
def test_business_days_agree_with_counting_one_by_one(date: dt.date, count: int) -> None:
    if not 3 < date.year < 9990:
        return
    day, left = date, abs(count)
    while left:
        day += dt.timedelta(days=1 if count > 0 else -1)
        left -= day.weekday() < 5
    assert add(date.isoformat(), str(count), "business days").startswith(day.isoformat())


words = st.sampled_from(
    ["2024-02-28", "now", "今天", "09:30", "T", "Z", "+08:00", "UTC", "Asia/Tokyo", "(", ")", ",", "星期三", "Mon",
     "下午", "3点", "pm", "May", "14", "2031", "/", "-", "年", "月", "日", ".", "Note:", "3", "days", "小时", "半",
     "个", "-3", "1e5", "九"]
)  # fmt: skip
texts = st.lists(words | st.text(max_size=4), max_size=6).map(" ".join) | st.lists(words, max_size=6).map("".join)


@given(texts, texts, texts, st.sampled_from(["en", "zh"]))
def test_any_arguments_give_a_result_or_a_clear_refusal(date: str, amount: str, unit: str, language: str) -> None:
    for tool, arguments in zip(
        TOOLS[language],
        ({}, {"date": date, "amount": amount, "unit": unit}, {"start": date, "end": unit}),
        strict=True,
    ):
        output = anyio.run(tool.call, arguments)
        assert output.text
        assert output.error in {None, "bad_arguments"}, output.text


def test_a_zone_known_only_by_its_distance_from_utc_is_kept() -> None:
    moment = parse_moment("2024-02-28 09:30 UTC-3:30", NOW)
    assert moment.offset == TimeDelta(hours=-3, minutes=-30)
    assert write_moment(moment, "en") == "2024-02-28 09:30 Wednesday (UTC-03:30)"
