"""The repairs by name: the rungs of the ladder, in the order in which they are tried, and how sure each leaves us."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Repair:
    """One repair.

    Args:
        rung: the rung of the ladder it belongs to.
        sure: by how much the confidence in the reading is multiplied.
        means: what was done, in a few words.
    """

    rung: str
    sure: float
    means: str


REPAIRS: dict[str, Repair] = {
    "label": Repair("labels", 0.98, "a label was decorated or spelled in another way"),
    "other_label": Repair("labels", 0.9, "a word was taken for a label because of what stands around it"),
    "special_token": Repair("endings", 0.98, "an end-of-text token was removed"),
    "stop_leftover": Repair("endings", 0.98, "what a stop sequence had left was removed"),
    "invented_observation": Repair("endings", 0.95, "an observation that the model invented was cut off"),
    "next_turn": Repair("endings", 0.95, "a turn that the model invented for somebody else was cut off"),
    "rest_dropped": Repair("endings", 0.95, "what followed the action was dropped"),
    "chatter_dropped": Repair("endings", 0.95, "text around the action that is no part of it was dropped"),
    "fence_removed": Repair("fences", 0.98, "a code fence around the whole was removed"),
    "fenced_step": Repair("fences", 0.85, "the step stood inside a code fence at the end"),
    "leaked_markup": Repair("markup", 0.9, "a call in a vendor's markup was read"),
    "json_commas": Repair("json", 0.95, "commas were added or removed"),
    "json_quotes": Repair("json", 0.95, "names or values stood without or in other quotation marks"),
    "json_colons": Repair("json", 0.95, "another sign stood for a colon"),
    "json_literals": Repair("json", 0.98, "literals of another language were read"),
    "json_numbers": Repair("json", 0.95, "numbers were in a form that JSON does not have"),
    "json_newlines": Repair("json", 0.95, "line breaks inside a string were kept"),
    "json_escapes": Repair("json", 0.9, "backslashes were taken as they stand"),
    "json_comments": Repair("json", 0.95, "comments were removed"),
    "json_inner_quotes": Repair("json", 0.8, "quotation marks inside a string were kept"),
    "json_joined": Repair("json", 0.95, "strings joined with + were joined"),
    "json_twice": Repair("json", 0.95, "JSON inside a JSON string was read"),
    "json_entities": Repair("json", 0.9, "HTML entities were read"),
    "json_closed": Repair("json", 0.85, "brackets at the end were closed"),
    "json_wrapped": Repair("json", 0.95, "a list around the arguments was removed"),
    "json_rest_dropped": Repair("json", 0.95, "brackets behind the end were dropped"),
    "unquoted": Repair("arguments", 1.0, "quotation marks around the whole input were removed"),
    "name_removed": Repair("arguments", 0.95, "the parameter's name in front of the input was removed"),
    "coerced": Repair("arguments", 0.98, "a value was brought to the type that the tool asks for"),
    "input_ignored": Repair("arguments", 0.9, "an input for a tool that takes none was ignored"),
    "bracket_closed": Repair("brackets", 0.85, "the bracket at the end was closed"),
    "bracket_added": Repair("brackets", 0.85, "an input without brackets was read"),
    "tool_name": Repair("names", 0.95, "the tool's name was spelled in another way"),
    "first_line": Repair("first line", 0.85, "the name stood on a line of its own"),
    "continued": Repair("heuristics", 0.9, "the reply went on where the prompt had stopped"),
    "in_prose": Repair("heuristics", 0.85, "the call stood in text without labels"),
    "in_line": Repair("heuristics", 0.8, "the labels stood in the middle of a line"),
    "no_label": Repair("heuristics", 0.9, "text without any label was taken for the answer"),
    "truncated": Repair("endings", 0.7, "the reply was cut by the token limit"),
}

_ORDER = {name: index for index, name in enumerate(REPAIRS)}


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Return the names once each, in the ladder's order."""
    return tuple(sorted(set(names), key=_ORDER.__getitem__))


def confidence(names: Iterable[str]) -> float:
    """Return how sure a reading is that needed these repairs: 1.0 for none."""
    sure = 1.0
    for name in in_order(names):
        sure *= REPAIRS[name].sure
    return round(sure, 3)
