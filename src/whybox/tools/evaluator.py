"""Evaluating the tokens of an expression, by precedence climbing.

Nothing is handed to ``eval``, and what is not understood is an error, never a guess. From loose to tight:
comparisons; ``+ -``; ``* / // % of``; sign; ``^`` (to the right); ``! % ° squared``.
"""

from __future__ import annotations

import decimal
from fractions import Fraction

from whybox.tools import arithmetic as ar
from whybox.tools.arithmetic import Trouble, Unreadable
from whybox.tools.expression import several
from whybox.tools.functions import CONSTANTS, FUNCTIONS, TRIGONOMETRIC, Angle, Function
from whybox.tools.lexer import Token
from whybox.tools.quantities import SUFFIXES, Quantity, combine, misplaced_angle, plain_number

MAX_DEPTH = 100

_PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "//": 2, "%": 2, "mod": 2, "of": 2}
_COMPARISONS = {
    "<": {-1}, "<=": {-1, 0}, ">": {1}, ">=": {1, 0}, "=": {0}, "!=": {-1, 1},
}  # fmt: skip
_END = Token("op", "", 0, 0)


class _Evaluator:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def run(self) -> str:
        left = self._binary(1)
        result = f"{ar.write(left.number)}{'°' if left.kind == 'angle' else ''}"
        truth: bool | None = None
        while self._next().kind == "op" and self._next().text in _COMPARISONS:
            accepted = _COMPARISONS[self._take().text]
            right = self._binary(1)
            if (left.kind == "angle") != (right.kind == "angle"):
                raise misplaced_angle()
            truth = (truth is not False) and ar.compare(left.number, right.number) in accepted
            left = right
        if self.at < len(self.tokens):
            raise self._unexpected()
        return result if truth is None else str(truth).lower()

    def _next(self, ahead: int = 0) -> Token:
        return self.tokens[self.at + ahead] if self.at + ahead < len(self.tokens) else _END

    def _take(self) -> Token:
        token = self._next()
        self.at += 1
        return token

    def _is(self, *operators: str) -> bool:
        return self._next().kind == "op" and self._next().text in operators

    def _unexpected(self) -> Unreadable:
        token = self._next()
        if token is _END:
            return Unreadable("the expression ends too early", "算式不完整")
        if token.kind != "op" or token.text in {",", ";", "("}:
            return several()
        return Unreadable(f'"{token.text}" cannot stand there', f"“{token.text}”的位置不对")

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unreadable(f"more than {MAX_DEPTH} levels of brackets", f"括号超过 {MAX_DEPTH} 层")

    def _binary(self, lowest: int) -> Quantity:
        left = self._unary()
        divided = False
        while True:
            token = self._next()
            precedence = _PRECEDENCE.get(token.text, 0) if token.kind == "op" else 0
            if precedence >= lowest:
                self._take()
                left = combine(token.text, left, self._binary(precedence + 1))
                divided = (divided and precedence == 2) or token.text in {"/", "//", "%", "mod"}
            elif lowest <= 2 and self._multiplies(token):
                if divided:
                    raise Unreadable("write the * that is meant behind a division", "除号后面省略乘号有歧义，请写出 *")
                left = combine("*", left, self._power())
            else:
                return left

    def _multiplies(self, token: Token) -> bool:
        """Tell whether a product without ``*`` goes on here: ``2pi``, ``2(3 + 4)``."""
        if token.apart or (token.kind == "name" and self.tokens[self.at - 1].kind == "name"):
            return False
        return token.kind == "name" or (token.kind == "op" and token.text == "(")

    def _unary(self) -> Quantity:
        negative = False
        signed = False
        while self._is("-", "+"):
            negative ^= self._take().text == "-"
            signed = True
        value = self._power()
        if signed and negative and value.spoken:
            raise Unreadable(
                "is the sign part of the power? Write (-3)^2 or -(3^2)", "负号有歧义，请写 (-3)^2 或 -(3^2)"
            )
        return Quantity(ar.negate(value.number), value.kind) if negative else value

    def _power(self) -> Quantity:
        base = self._postfix()
        if not self._is("^", "spoken^"):
            return base
        spoken = self._take().text == "spoken^"
        self._deeper()
        exponent = self._unary()
        self.depth -= 1
        return Quantity(ar.power(plain_number(base), plain_number(exponent)), spoken=spoken)

    def _postfix(self) -> Quantity:
        value = self._primary()
        while self._next().kind == "op":
            operator = self._next().text
            if operator in SUFFIXES:
                self._take()
                value = SUFFIXES[operator](value)
            elif operator in {"!", "spoken!"}:
                value = self._factorial(value)
            elif operator == "percent" or (operator == "%" and self._is_percent()):
                self._take()
                value = Quantity(ar.divide(plain_number(value), Fraction(100)), "percent")
                if self._is("of"):
                    self._take()
                    value = combine("*", value, self._unary())
            elif operator == "parts of":
                self._take()
                value = combine("/", self._postfix(), value)
            else:
                break
        return value

    def _factorial(self, value: Quantity) -> Quantity:
        spoken = self._take().text == "spoken!"
        if self._is("!"):
            raise Unreadable("!! has two meanings, write (3!)!", "!! 有歧义，请写 (3!)!")
        return Quantity(ar.factorial(plain_number(value)), spoken=spoken)

    def _is_percent(self) -> bool:
        """Tell ``50%`` from ``7 % 3``: a remainder has an operand behind the sign.

        Before a minus it is a remainder only when it is set apart and the minus is not: ``7 % -3``.
        """
        before, sign, after = self.tokens[self.at - 1], self._next(), self._next(1)
        if after.kind == "op" and after.text == "-":
            set_apart = sign.start > before.end and after.start > sign.end
            return not (set_apart and self._next(2).start == after.end)
        return not (after.kind in {"number", "name"} or (after.kind == "op" and after.text == "("))

    def _primary(self) -> Quantity:
        token = self._next()
        if token.kind == "number":
            return Quantity(self._take().value)
        if token.kind == "name":
            self._take()
            return Quantity(CONSTANTS[token.text]) if token.text in CONSTANTS else self._call(token.text)
        if self._is("percent of"):
            self._take()
            return Quantity(ar.divide(plain_number(self._postfix()), Fraction(100)), "percent")
        if not self._is("("):
            raise self._unexpected()
        self._take()
        self._deeper()
        value = self._binary(1)
        self._close(")")
        return Quantity(value.number, value.kind)

    def _close(self, bracket: str) -> None:
        if not self._is(bracket):
            if self._next() is _END:
                raise Unreadable(f'a "{bracket}" is missing', f"缺少“{bracket}”")
            raise self._unexpected()
        self._take()
        self.depth -= 1

    def _call(self, name: str) -> Quantity:
        function = FUNCTIONS[name]
        if self._is("of"):
            self._take()
        given = self._arguments() if self._is("(", "[") else [self._bare_argument(name)]
        _check_count(name, function, len(given))
        if name in TRIGONOMETRIC and given[0].kind == "angle":
            return Quantity(TRIGONOMETRIC[name](Angle(given[0].number)))
        return Quantity(ar.bounded(function.apply([plain_number(each) for each in given])))

    def _bare_argument(self, name: str) -> Quantity:
        if self._next() is _END:
            raise Unreadable(f"{name} needs a number: {name}(2)", f"{name} 需要一个数：{name}(2)")
        self._deeper()
        value = self._unary()
        self.depth -= 1
        if self._multiplies(self._next()):
            raise Unreadable(f"write what belongs to {name} in brackets", f"请用括号写明 {name} 的参数")
        return value

    def _arguments(self) -> list[Quantity]:
        self._take()
        self._deeper()
        bracket = ")" if self.tokens[self.at - 1].text == "(" else "]"
        if bracket == ")" and self._is("["):
            given = self._arguments()
        else:
            given = [] if self._is(bracket) else [self._binary(1)]
        while self._is(","):
            self._take()
            given.append(self._binary(1))
        self._close(bracket)
        return given


def _check_count(name: str, function: Function, count: int) -> None:
    if function.most is not None and count > function.most:
        raise Unreadable(
            f"{name} takes at most {function.most} number(s), got {count}; commas separate numbers there",
            f"{name} 最多 {function.most} 个数，收到 {count} 个；这里的逗号用来分隔各个数",
        )
    if count < function.least:
        raise Unreadable(
            f"{name} needs {function.least} number(s), got {count}",
            f"{name} 需要 {function.least} 个数，收到 {count} 个",
        )


def evaluate_tokens(tokens: list[Token]) -> str:
    """Return the value of an expression as text: digits, or ``true`` or ``false``.

    Raises:
        Trouble: it has no value that can be given; Unreadable where it is not one expression.
    """
    try:
        return _Evaluator(tokens).run()
    except decimal.Overflow:
        raise ar.too_large() from None
    except decimal.Underflow:
        raise ar.too_small() from None
    except decimal.DecimalException:
        raise Trouble("there is no such number", "没有这样的数") from None
    except RecursionError:
        raise Unreadable("the expression is nested too deeply", "算式嵌套太深") from None
