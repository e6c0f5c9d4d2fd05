"""The grammar of well-formed steps is as it was when it was last tried on a model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.dialects.kinds import TOOLS, make
from whybox.dialects.grammar import _grammar, grammar

FOLDER = Path(__file__).parent / "grammars"
CASES = {
    "en": (TOOLS, "en"),
    "zh": (TOOLS, "zh"),
    "other": (TOOLS[:1], "fr"),
    "no_tools": ((), "en"),
    "only_without_input": ((make("now"),), "en"),
    "only_multiline": ((make("python", "code", code={"format": "multiline"}),), "en"),
    "quotes": ((make('say "x"\\', "text"),), "en"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_grammar_is_as_it_was(name: str) -> None:
    _grammar.cache_clear()
    tools, language = CASES[name]
    assert grammar(tools, language) == (FOLDER / f"{name}.gbnf").read_text("utf-8")
