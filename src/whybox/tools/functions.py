"""The calculator's functions and constants."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cmp_to_key

from whybox.tools import arithmetic as ar
from whybox.tools.arithmetic import CONTEXT, PRECISION, Number, Trouble, to_decimal

PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510582097494459230781640628620899862803482534211706798214808651"
)
E = Decimal("2.7182818284590452353602874713526624977572470936999595749669676277240766303535475945713821785251664274")

_LARGEST_ANGLE = Decimal(10) ** 30
_DEEP = Context(prec=PRECISION + 35)
_EPSILON = Decimal(10) ** -(PRECISION + 30)
_NOISE = Decimal(10) ** -45
_SMALL_TANGENT = Decimal("0.05")
_MOST_DECIMALS = 100


@dataclass(frozen=True, slots=True)
class Angle:
    """An angle in degrees."""

    degrees: Number


Argument = Number | Angle


@dataclass(frozen=True, slots=True)
class Function:
    """A function and how many arguments it takes; ``most`` is None for any number."""

    apply: Callable[[Sequence[Number]], Number]
    least: int = 1
    most: int | None = 1


def _sine_of(radians: Decimal) -> Decimal:
    """Return the sine by its Taylor series, of an angle brought into -pi/2 ... pi/2."""
    if radians.copy_abs() > _LARGEST_ANGLE:
        raise Trouble("the angle is too large", "角度太大")
    turns = _DEEP.divide(radians, PI).to_integral_value()
    x = _DEEP.subtract(radians, _DEEP.multiply(turns, PI))
    square = _DEEP.multiply(x, x)
    total, term, n = x, x, 1
    while term.copy_abs() > _EPSILON:
        n += 2
        term = _DEEP.divide(_DEEP.multiply(term.copy_negate(), square), Decimal(n * (n - 1)))
        total = _DEEP.add(total, term)
    result = CONTEXT.plus(total.copy_negate() if int(turns) % 2 else total)
    # A result this small from an angle that is not small is what rounding left of zero.
    return Decimal(0) if result.copy_abs() < _NOISE and radians.copy_abs() > 1 else result


def _sine_of_degrees(degrees: Number) -> Number:
    """Return the sine; the multiples of 30 degrees that have a rational one are exact."""
    turned = ar.modulo(degrees, Fraction(360))
    known = {0: 0, 30: 1, 90: 2, 150: 1, 180: 0, 210: -1, 270: -2, 330: -1}
    whole = ar.integer(turned)
    if whole in known:
        return Fraction(known[whole], 2)
    return _sine_of(_DEEP.divide(_DEEP.multiply(to_decimal(turned), PI), Decimal(180)))


def sine(x: Argument) -> Number:
    """Return the sine of an angle, or of a number in radians."""
    return _sine_of_degrees(x.degrees) if isinstance(x, Angle) else _sine_of(to_decimal(x))


def cosine(x: Argument) -> Number:
    """Return the cosine of an angle, or of a number in radians."""
    if isinstance(x, Angle):
        return _sine_of_degrees(ar.add(x.degrees, Fraction(90)))
    return _sine_of(_DEEP.add(to_decimal(x), _DEEP.divide(PI, Decimal(2))))


def tangent(x: Argument) -> Number:
    """Return the tangent of an angle, or of a number in radians."""
    below = cosine(x)
    if below == 0:
        raise Trouble("tan has no value there", "tan 在此处没有值")
    return ar.divide(sine(x), below)


def _arctangent(x: Decimal) -> Decimal:
    """Return the arc tangent in radians, by halving the angle until the series is quick."""
    halvings = 0
    while x.copy_abs() > _SMALL_TANGENT:
        root = _DEEP.sqrt(_DEEP.add(Decimal(1), _DEEP.multiply(x, x)))
        x = _DEEP.divide(x, _DEEP.add(Decimal(1), root))
        halvings += 1
    square = _DEEP.multiply(x, x)
    total, term, n = x, x, 1
    while term.copy_abs() > _EPSILON:
        n += 2
        term = _DEEP.multiply(term.copy_negate(), square)
        total = _DEEP.add(total, _DEEP.divide(term, Decimal(n)))
    return _DEEP.multiply(total, Decimal(2**halvings))


def _arcsine(x: Number) -> Number:
    value = to_decimal(x)
    if value.copy_abs() > 1:
        raise Trouble("asin and acos need a number from -1 to 1", "asin 和 acos 的参数必须在 -1 到 1 之间")
    if value.copy_abs() == 1:
        return CONTEXT.divide(PI, Decimal(2)).copy_sign(value)
    rest = _DEEP.sqrt(_DEEP.multiply(_DEEP.subtract(Decimal(1), value), _DEEP.add(Decimal(1), value)))
    return CONTEXT.plus(_arctangent(_DEEP.divide(value, rest)))


def _positive(x: Number) -> Decimal:
    if x <= 0:
        raise Trouble("the logarithm needs a number above 0", "对数的参数必须大于 0")
    return to_decimal(x)


def _log(x: Number, base: Number = Fraction(10)) -> Number:
    argument, foot = _positive(x), _positive(base)
    if foot == 1:
        raise Trouble("a logarithm cannot have base 1", "对数的底不能是 1")
    if foot == 10:
        return CONTEXT.log10(argument)
    quotient = CONTEXT.divide(CONTEXT.ln(argument), CONTEXT.ln(foot))
    whole = ar.integer(quotient)
    return quotient if whole is None else Fraction(whole)


def _whole(x: Number, name: str) -> int:
    whole = ar.integer(x)
    if whole is None:
        raise Trouble(f"{name} needs whole numbers", f"{name} 需要整数")
    return whole


def _round(x: Number, digits: Number = Fraction(0)) -> Number:
    places = _whole(digits, "round")
    if abs(places) > _MOST_DECIMALS:
        raise Trouble(f"round takes up to {_MOST_DECIMALS} decimals", f"round 最多保留 {_MOST_DECIMALS} 位小数")
    return ar.round_to(x, places)


def _cube_root(x: Number) -> Number:
    root = ar.power(ar.absolute(x), Fraction(1, 3))
    whole = ar.integer(root)
    exact = root if whole is None else Fraction(whole)
    return ar.negate(exact) if x < 0 else exact


def _sum(numbers: Sequence[Number]) -> Number:
    total: Number = Fraction(0)
    for number in numbers:
        total = ar.add(total, number)
    return total


def _one(function: Callable[[Number], Number]) -> Function:
    return Function(lambda given: function(given[0]))


def _mean(numbers: Sequence[Number]) -> Number:
    return ar.divide(_sum(numbers), Fraction(len(numbers)))


_ORDER = cmp_to_key(ar.compare)

TRIGONOMETRIC: dict[str, Callable[[Argument], Number]] = {"sin": sine, "cos": cosine, "tan": tangent}

CONSTANTS: dict[str, Number] = {"pi": CONTEXT.plus(PI), "e": CONTEXT.plus(E)}

FUNCTIONS: dict[str, Function] = {
    **{name: _one(function) for name, function in TRIGONOMETRIC.items()},
    "asin": _one(_arcsine),
    "acos": _one(lambda x: ar.subtract(CONTEXT.divide(PI, Decimal(2)), _arcsine(x))),
    "atan": _one(lambda x: CONTEXT.plus(_arctangent(to_decimal(x)))),
    "radians": _one(lambda x: ar.multiply(x, CONTEXT.divide(PI, Decimal(180)))),
    "degrees": _one(lambda x: ar.multiply(x, CONTEXT.divide(Decimal(180), PI))),
    "sqrt": _one(ar.square_root),
    "cbrt": _one(_cube_root),
    "abs": _one(ar.absolute),
    "floor": _one(ar.floor),
    "ceil": _one(lambda x: -ar.floor(ar.negate(x))),
    "exp": _one(lambda x: CONTEXT.exp(to_decimal(x))),
    "ln": _one(lambda x: CONTEXT.ln(_positive(x))),
    "log": Function(lambda given: _log(*given), most=2),
    "log2": _one(lambda x: _log(x, Fraction(2))),
    "log10": _one(_log),
    "factorial": _one(ar.factorial),
    "round": Function(lambda given: _round(*given), most=2),
    "pow": Function(lambda given: ar.power(given[0], given[1]), least=2, most=2),
    "mod": Function(lambda given: ar.modulo(given[0], given[1]), least=2, most=2),
    "min": Function(lambda given: min(given, key=_ORDER), most=None),
    "max": Function(lambda given: max(given, key=_ORDER), most=None),
    "sum": Function(_sum, most=None),
    "mean": Function(_mean, most=None),
    "gcd": Function(lambda given: Fraction(math.gcd(*(_whole(x, "gcd") for x in given))), most=None),
    "lcm": Function(lambda given: ar.bounded(Fraction(math.lcm(*(_whole(x, "lcm") for x in given)))), most=None),
}

ALIASES = {
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "tg": "tan",
    "avg": "mean", "average": "mean", "ave": "mean", "lg": "log10", "ceiling": "ceil", "fact": "factorial",
    "power": "pow", "absolute": "abs", "deg2rad": "radians", "rad2deg": "degrees", "minimum": "min", "maximum": "max",
    "math.log": "ln",
}  # fmt: skip
"""Other names; ``math.log`` is the natural logarithm because it is in Python, where the name comes from."""
