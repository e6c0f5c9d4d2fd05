"""Numbers with what they were written as, plain, percent or degrees, and what the operators make of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from whybox.tools import arithmetic as ar
from whybox.tools.arithmetic import Number, Unreadable
from whybox.tools.functions import FUNCTIONS


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it was written as; ``spoken`` marks a power in words (``3 squared``)."""

    number: Number
    kind: Literal["plain", "percent", "angle"] = "plain"
    spoken: bool = False


def misplaced_angle() -> Unreadable:
    """Return the error of degrees where only a number makes sense."""
    return Unreadable("degrees (°) can only be given to sin, cos and tan", "角度（°）只能用于 sin、cos、tan")


def plain_number(value: Quantity) -> Number:
    """Return the number of a quantity.

    Raises:
        Unreadable: it is an angle.
    """
    if value.kind == "angle":
        raise misplaced_angle()
    return value.number


def _to_angle(value: Quantity) -> Quantity:
    return Quantity(plain_number(value), "angle")


SUFFIXES: dict[str, Callable[[Quantity], Quantity]] = {
    "°": _to_angle,
    "squared": lambda value: Quantity(ar.power(plain_number(value), Fraction(2)), spoken=True),
    "cubed": lambda value: Quantity(ar.power(plain_number(value), Fraction(3)), spoken=True),
    "rooted": lambda value: Quantity(ar.square_root(plain_number(value)), spoken=True),
    "cube rooted": lambda value: Quantity(FUNCTIONS["cbrt"].apply([plain_number(value)]), spoken=True),
}


def combine(operator: str, left: Quantity, right: Quantity) -> Quantity:
    """Return what ``+ - * / // % mod of`` makes of two quantities.

    Raises:
        Trouble: there is no such value, or degrees stand where they make no sense.
    """
    if operator in {"+", "-"}:
        return _add(left, right if operator == "+" else Quantity(ar.negate(right.number), right.kind))
    if operator in {"*", "/"} and "angle" in {left.kind, right.kind}:
        return _scale_angle(operator, left, right)
    a, b = plain_number(left), plain_number(right)
    if operator == "of":
        whole = isinstance(a, Fraction) and a.denominator == 1
        if whole and "percent" not in {left.kind, right.kind}:
            raise Unreadable('"of" needs a percentage or a fraction: 15% of 80', "“的”前后要有百分数或分数：80的15%")
        return Quantity(ar.multiply(a, b))
    if operator in {"//", "%", "mod"}:
        return Quantity(ar.floor_divide(a, b) if operator == "//" else ar.modulo(a, b))
    return Quantity(ar.multiply(a, b) if operator == "*" else ar.divide(a, b))


def _add(left: Quantity, right: Quantity) -> Quantity:
    """Add; a percentage added to a number that is none is taken of that number: 200 + 10% is 220."""
    if (left.kind == "angle") != (right.kind == "angle"):
        raise misplaced_angle()
    if right.kind == "percent" and left.kind == "plain":
        return Quantity(ar.multiply(left.number, ar.add(Fraction(1), right.number)))
    kind = left.kind if left.kind == right.kind else "plain"
    return Quantity(ar.add(left.number, right.number), kind)


def _scale_angle(operator: str, left: Quantity, right: Quantity) -> Quantity:
    if operator == "*" and "plain" in {left.kind, right.kind}:
        return Quantity(ar.multiply(left.number, right.number), "angle")
    if operator == "/" and left.kind == "angle":
        return Quantity(ar.divide(left.number, right.number), "plain" if right.kind == "angle" else "angle")
    raise misplaced_angle()
