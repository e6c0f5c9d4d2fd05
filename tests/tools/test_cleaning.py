"""Cleaning of what models put into a tool's input."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.tools.cleaning import number_text, plain, plain_formula, read_chinese_integer, unwrap


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("（１＋２）×３％", "(1+2)*3%"),
        ("８÷４－１，２。５", "8/4-1,2.5"),
        ("“a”　‘b’：c；d？", "\"a\" 'b':c;d?"),
        ("1\u200b2\ufeff", "12"),
        ("≤≥≠−–", "<=>=!=--"),
        ("计算 abc", "计算 abc"),
    ],
)
def test_full_width_and_typographic_characters_become_ascii(text: str, cleaned: str) -> None:
    assert plain(text) == cleaned


def test_mathematical_signs_become_formulas() -> None:
    assert plain_formula("2√9+x²³−10⁻³½π") == "2 sqrt 9+x^(23)-10^(-3)(1/2)pi"


@pytest.mark.parametrize("text", ["3", ' "3" ', "`3`", "'\"3\"'", "```python\n3\n```", "```\n3```"])
def test_quotes_and_fences_around_the_whole_are_taken_off(text: str) -> None:
    assert unwrap(text) == "3"


def test_quotes_that_belong_to_the_text_stay() -> None:
    assert unwrap('"a" and "b') == '"a" and "b'
    assert unwrap("it's") == "it's"
    assert unwrap('"') == '"'


@pytest.mark.parametrize(
    ("text", "number"),
    [("１，２００", "1200"), (" '-12,345.5' ", "-12345.5"), ("1,23", "1,23"), ("1234,567", "1234,567"), ("x", "x")],
)
def test_numbers_lose_their_thousands_separators(text: str, number: str) -> None:
    assert number_text(text) == number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("零", 0), ("十", 10), ("十五", 15), ("三十二", 32), ("一百零五", 105), ("一百一十", 110),
        ("两千零二十四", 2024), ("二〇二四", 2024), ("三千五", 3500), ("一万二", 12000), ("一万零五", 10005),
        ("三万五千", 35000),
        ("一千万", 10**7), ("一亿二千万", 120_000_000), ("一万亿", 10**12),
        ("", None), ("百", None), ("十十", None), ("三三十", None), ("一千亿万万", None), ("三个", None),
        ("一" * 41, None),
    ],
)  # fmt: skip
def test_chinese_numerals_are_read(text: str, value: int | None) -> None:
    assert read_chinese_integer(text) == value


def write_chinese(number: int) -> str:
    """The reference: standard written form of 1 ... 9999 9999."""
    if number >= 10_000:
        low = number % 10_000
        zero = "零" if 0 < low < 1000 else ""
        return write_chinese(number // 10_000) + "万" + zero + (write_chinese(low) if low else "")
    text = ""
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            text += "零一二三四五六七八九"[digit] + name
        elif text and number % unit and not text.endswith("零"):
            text += "零"
    return text


@given(st.integers(min_value=1, max_value=99_999_999))
def test_every_whole_number_in_its_standard_form_is_read_back(number: int) -> None:
    assert read_chinese_integer(write_chinese(number)) == number


@given(st.text())
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    assert plain(plain(text)) == plain(text)
    assert unwrap(plain_formula(text)) is not None
