"""Exact arithmetic within limits: fractions where a result is rational, 60 decimal digits where it is not."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal, DivisionByZero, Inexact, InvalidOperation, Overflow, Underflow
from fractions import Fraction

from whybox.tools.complaints import Problem

Number = Fraction | Decimal
"""A Fraction is exact; a Decimal has :data:`PRECISION` digits, the last ones of them uncertain."""

MAX_DIGITS = 4000
PRECISION = 60
SHOWN_DIGITS = 12
_LONGEST_SHOWN = 30

_LIMIT = 10**MAX_DIGITS
_MAX_BITS = int(MAX_DIGITS * math.log2(10))
_MAX_DENOMINATOR_BITS = 3000
_NOISE = Decimal(10) ** -45

CONTEXT = Context(
    prec=PRECISION,
    Emax=MAX_DIGITS,
    Emin=-MAX_DIGITS,
    traps=[Overflow, Underflow, InvalidOperation, DivisionByZero],
)


class Trouble(Problem):
    """Why an expression has no value that can be given, in both languages."""


class Unreadable(Trouble):
    """Why a text is not one expression, in both languages."""


def too_large() -> Trouble:
    """Return the error of a result beyond :data:`MAX_DIGITS` digits."""
    return Trouble(f"the result has more than {MAX_DIGITS} digits", f"结果超过 {MAX_DIGITS} 位数字")


def too_small() -> Trouble:
    """Return the error of a result too close to zero."""
    return Trouble(f"the result is too close to zero (under 1e-{MAX_DIGITS})", f"结果太接近零（小于 1e-{MAX_DIGITS}）")


def division_by_zero() -> Trouble:
    """Return the error of a division by zero."""
    return Trouble("division by zero", "除数不能为零")


def to_decimal(number: Number) -> Decimal:
    """Return ``number`` with :data:`PRECISION` digits."""
    if isinstance(number, Decimal):
        return number
    return CONTEXT.divide(Decimal(number.numerator), Decimal(number.denominator))


def bounded(number: Number) -> Number:
    """Return ``number``, as a Decimal when it is a fraction too long to go on with exactly.

    Raises:
        Trouble: it has too many digits.
    """
    if isinstance(number, Decimal):
        return number
    whole_bits = number.numerator.bit_length() - number.denominator.bit_length()
    if whole_bits >= _MAX_BITS and abs(number) >= _LIMIT:
        raise too_large()
    if number.denominator.bit_length() > _MAX_DENOMINATOR_BITS:
        return to_decimal(number)
    return number


def integer(number: Number) -> int | None:
    """Return the whole number that ``number`` is, up to the noise of inexact digits, or None."""
    if isinstance(number, Fraction):
        return number.numerator if number.denominator == 1 else None
    nearest = int(number.to_integral_value())
    return nearest if abs(number - nearest) <= _NOISE * max(Decimal(1), number.copy_abs()) else None


def negate(a: Number) -> Number:
    """Return ``-a``. (The operators of Decimal would round to the digits of the thread's own context.)"""
    return -a if isinstance(a, Fraction) else a.copy_negate()


def absolute(a: Number) -> Number:
    """Return ``|a|``."""
    return abs(a) if isinstance(a, Fraction) else a.copy_abs()


def add(a: Number, b: Number) -> Number:
    """Return ``a + b``; a difference that is only the noise of inexact digits is zero."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bounded(a + b)
    left, right = to_decimal(a), to_decimal(b)
    total = CONTEXT.add(left, right)
    if total.copy_abs() <= CONTEXT.multiply(_NOISE, max(left.copy_abs(), right.copy_abs())):
        return Fraction(0)
    return total


def subtract(a: Number, b: Number) -> Number:
    """Return ``a - b``."""
    return add(a, negate(b))


def multiply(a: Number, b: Number) -> Number:
    """Return ``a * b``."""
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bounded(a * b)
    return CONTEXT.multiply(to_decimal(a), to_decimal(b))


def divide(a: Number, b: Number) -> Number:
    """Return ``a / b``."""
    if b == 0:
        raise division_by_zero()
    if isinstance(a, Fraction) and isinstance(b, Fraction):
        return bounded(a / b)
    return CONTEXT.divide(to_decimal(a), to_decimal(b))


def floor(a: Number) -> Fraction:
    """Return the largest whole number that is not above ``a``."""
    whole = integer(a)
    return Fraction(whole if whole is not None else math.floor(a))


def floor_divide(a: Number, b: Number) -> Number:
    """Return ``a // b``, rounded down."""
    return floor(divide(a, b))


def modulo(a: Number, b: Number) -> Number:
    """Return the remainder of ``a // b``; it has the sign of ``b``."""
    return subtract(a, multiply(b, floor_divide(a, b)))


def round_to(a: Number, digits: int) -> Fraction:
    """Return ``a`` rounded to ``digits`` decimals, halves away from zero as people round."""
    scale = Fraction(10) ** digits
    exact = Fraction(a) * scale
    rounded = math.floor(abs(exact) + Fraction(1, 2))
    return Fraction(rounded if exact >= 0 else -rounded) / scale


def power(a: Number, b: Number) -> Number:
    """Return ``a`` to the power of ``b``.

    Raises:
        Trouble: the result is not a real number, or too large to write down.
    """
    exponent = integer(b)
    if a == 0 and b < 0:
        raise division_by_zero()
    if isinstance(a, Fraction) and exponent is not None:
        return _rational_power(a, exponent)
    if a < 0 and exponent is None:
        raise Trouble("a negative number to a fractional power is not a real number", "负数的非整数次方不是实数")
    if a == 0:
        return Fraction(0)
    return CONTEXT.power(to_decimal(a), Decimal(exponent) if exponent is not None else to_decimal(b))


def _rational_power(a: Fraction, exponent: int) -> Number:
    if exponent == 0 or a in (0, 1, -1):
        return Fraction(1) if exponent == 0 else a if exponent % 2 else abs(a)
    bits = (max(abs(a.numerator), a.denominator).bit_length() - 1) * abs(exponent)
    if bits <= _MAX_BITS:
        return bounded(a**exponent)
    if a.denominator == 1 and exponent > 0:
        raise too_large()
    return CONTEXT.power(to_decimal(a), Decimal(exponent))


def factorial(a: Number) -> Number:
    """Return ``a!``.

    Raises:
        Trouble: ``a`` is negative or no whole number, or the result is too large to write down.
    """
    whole = integer(a)
    if whole is None or whole < 0:
        raise Trouble("! needs a whole number that is not negative", "阶乘（!）只能用于非负整数")
    if whole > MAX_DIGITS or math.lgamma(whole + 1) / math.log(10) > MAX_DIGITS:
        raise too_large()
    return Fraction(math.factorial(whole))


def square_root(a: Number) -> Number:
    """Return the square root, exact where it is rational.

    Raises:
        Trouble: ``a`` is negative.
    """
    if a < 0:
        raise Trouble("the square root of a negative number is not a real number", "负数的平方根不是实数")
    if isinstance(a, Fraction):
        top, bottom = math.isqrt(a.numerator), math.isqrt(a.denominator)
        if top * top == a.numerator and bottom * bottom == a.denominator:
            return Fraction(top, bottom)
    return CONTEXT.sqrt(to_decimal(a))


def compare(a: Number, b: Number) -> int:
    """Return -1, 0 or 1 as ``a`` is less than, equal to or greater than ``b``, up to the noise of inexact digits."""
    difference = subtract(a, b)
    return (difference > 0) - (difference < 0)


def write(number: Number) -> str:
    """Return ``number`` in decimal digits: whole numbers and short decimals exactly, others with 12 digits or more.

    A whole part of up to 28 digits is written out; beyond, and close to zero, the form is ``1.5e-10``.
    """
    if isinstance(number, Fraction) and number.denominator == 1:
        return str(Decimal(number.numerator))
    context = CONTEXT.copy()
    context.clear_flags()
    value = to_decimal(number)
    if isinstance(number, Fraction):
        value = context.divide(Decimal(number.numerator), Decimal(number.denominator))
        if not context.flags[Inexact] and len(value.normalize(CONTEXT).as_tuple().digits) <= _LONGEST_SHOWN:
            return _digits(value)
    whole_digits = max(0, value.adjusted() + 1)
    shown = max(SHOWN_DIGITS, whole_digits + 2) if whole_digits + 2 <= _LONGEST_SHOWN else SHOWN_DIGITS
    return _digits(Context(prec=shown, rounding=ROUND_HALF_UP, Emax=2 * MAX_DIGITS, Emin=-2 * MAX_DIGITS).plus(value))


def _digits(value: Decimal) -> str:
    if value == 0:
        return "0"
    value = value.normalize(CONTEXT)
    if -8 < value.adjusted() <= _LONGEST_SHOWN - 3:
        return f"{value:f}"
    sign, digits, _ = value.as_tuple()
    mantissa = "".join(map(str, digits))
    point = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
    return f"{'-' if sign else ''}{mantissa[0]}{point}e{value.adjusted()}"
