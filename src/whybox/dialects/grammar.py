"""A GBNF grammar for llama.cpp of exactly the well-formed steps of text ReAct.

Free text is lines of which none begins with a label; a label is kept out by a tree of negated character classes, since
GBNF has no negation of strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from whybox.ports import ToolSpec

_LABELS = {
    "en": ("Thought: ", "Action: ", "Action Input: ", "Final Answer: "),
    "zh": ("思考：", "行动：", "行动输入：", "最终答案："),
}
_FORBIDDEN = (
    "Thought:",
    "Action:",
    "Action Input:",
    "Observation:",
    "Final Answer:",
    "Answer:",
    "Question:",
    "思考：",
    "行动：",
    "行动输入：",
    "观察：",
    "最终答案：",
    "答案：",
    "问题：",
)
_FENCE = "```"

LINES = 12
LINE_CHARS = 240
"""Bounds of a thought. Far beyond what a step needs; a model that has begun to repeat itself comes to an end there."""

_JSON = r"""
object ::= "{" ws ( member ( "," ws member )* )? "}"
member ::= string ":" ws value ws
value ::= object | array | string | number | "true" | "false" | "null"
array ::= "[" ws ( value ws ( "," ws value ws )* )? "]"
string ::= "\"" ( [^"\\\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F]{4} ) )* "\""
number ::= "-"? ( "0" | [1-9] [0-9]{0,15} ) ( "." [0-9]{1,15} )? ( [eE] [-+]? [0-9]{1,3} )?
ws ::= " "?
"""


def grammar(tools: Sequence[ToolSpec], language: str) -> str:
    """Return the grammar.

    A step is a thought of one or more lines and then one of: ``Action: tool[input]`` on one line, where the input is
    not empty and brackets in it come in pairs; ``Action: tool`` with a JSON object behind ``Action Input:``, which
    allows every text; or ``Final Answer:`` with text of any length. A tool with a parameter of format ``multiline`` has
    only the second form.

    Args:
        tools: the tools on offer.
        language: of the labels, ``en`` or ``zh``.
    """
    short = tuple(tool.name for tool in tools if not _is_multiline(tool) and _parameters(tool))
    empty = tuple(tool.name for tool in tools if not _parameters(tool))
    every = tuple(tool.name for tool in tools if _parameters(tool))
    return _grammar(short, empty, every, language if language in _LABELS else "en")


@lru_cache(maxsize=32)
def _grammar(short: tuple[str, ...], empty: tuple[str, ...], every: tuple[str, ...], language: str) -> str:
    thought, action, given, answer = _LABELS[language]
    ends = [f"{_text(answer)} answer"]
    rules: list[str] = []
    if short:
        ends.append(f'{_text(action)} short "[" given "]"')
        rules.append(f"short ::= {_either(short)}")
        rules.append('given ::= ( [^\\[\\] \\t\\n] | "[" given "]" ) inside')
        rules.append('inside ::= ( [^\\[\\]\\n] | "[" inside "]" ){0,240}')
    if empty:
        ends.append(f'{_text(action)} empty "[]"')
        rules.append(f"empty ::= {_either(empty)}")
    if every:
        ends.append(f"{_text(action)} every {_text(chr(10) + given)} object")
        rules.append(f"every ::= {_either(every)}")
    head = [
        f'root ::= {_text(thought)} first ( "\\n" line ){{0,{LINES}}} "\\n" end',
        f"end ::= {' | '.join(ends)}",
        'answer ::= [^ \\n\\t] more ( "\\n"{1,2} answer-line )*',
        "more ::= [^\\n]*",
        "first ::= [^ \\n\\t] rest",
        f"rest ::= [^\\n]{{0,{LINE_CHARS}}}",
    ]
    # A fence in a thought could hide the action behind it; in an answer it is content.
    lines = [*_line_rules("line", (*_FORBIDDEN, _FENCE), "rest"), *_line_rules("answer-line", _FORBIDDEN, "more")]
    return "\n".join([*head, *rules, *lines]) + _JSON


def _parameters(tool: ToolSpec) -> dict[str, dict[str, object]]:
    parameters: dict[str, dict[str, object]] = tool.parameters.get("properties", {})
    return parameters


def _is_multiline(tool: ToolSpec) -> bool:
    return any(schema.get("format") == "multiline" for schema in _parameters(tool).values())


def _either(names: Iterable[str]) -> str:
    return " | ".join(_text(name) for name in names)


def _text(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _class(chars: Iterable[str]) -> str:
    return "".join(f"\\{char}" if char in "]\\^-" else char for char in sorted(chars))


def _line_rules(name: str, forbidden: Sequence[str], tail: str) -> list[str]:
    """Return rules for lines that begin with none of ``forbidden``, indented or not, and go on with ``tail``."""
    rules = [f"{name} ::= [ \\t]{{0,12}} {name}-0"]
    waiting: list[tuple[str, tuple[str, ...], int]] = [(f"{name}-0", tuple(forbidden), 0)]
    count = 0
    while waiting:
        rule, words, depth = waiting.pop()
        below: dict[str, list[str]] = {}
        for word in words:
            below.setdefault(word[depth], []).append(word)
        blank = " \\t" if depth == 0 else ""
        choices = [f"[^{_class(below)}\\n{blank}] {tail}"]
        for char, longer in below.items():
            if all(len(word) > depth + 1 for word in longer):
                count += 1
                choices.append(f"{_text(char)} {name}-{count}?")
                waiting.append((f"{name}-{count}", tuple(longer), depth + 1))
        rules.append(f"{rule} ::= {' | '.join(choices)}")
    return rules
