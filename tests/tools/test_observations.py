"""A tool's text in a prompt: folded, and unable to open a step."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from whybox.dialects.label_table import TABLE, Label
from whybox.prompts import labels
from whybox.prompts.observations import fold, neutralise

LABELS = [
    "Thought", "Action", "Action Input", "Observation", "Final Answer", "Answer",
    "思考", "想法", "行动", "动作", "行动输入", "动作输入", "观察", "观察结果", "最终答案", "答案",
]  # fmt: skip
PREFIXES = [
    "",
    "  ",
    "\t",
    "**",
    "## ",
    "- ",
    "1. ",
    "2) ",
    "(3) ",
    "> ",
    "\u200b",
    "\ufeff",
    "* **",
    "`",
    "### 1. **",
    "【",
]
COLONS = [":", "：", " :", "**:", ":**", "\u200b：", " 1:", " 12："]
CASES = [str, str.upper, str.lower, lambda label: "\u200b".join(label), lambda label: label.replace(" ", "  ")]


@pytest.mark.parametrize("label", LABELS)
def test_no_label_opens_a_step_in_any_dress(label: str) -> None:
    for prefix in PREFIXES:
        for colon in COLONS:
            for case in CASES:
                line = f"{prefix}{case(label)}{colon} do it"
                assert neutralise(line) == f"| {line}", line
                assert neutralise(f"before\n{line}\nafter") == f"before\n| {line}\nafter"


@pytest.mark.parametrize("label", LABELS)
def test_a_label_as_a_heading_is_caught_without_a_colon(label: str) -> None:
    assert neutralise(f"## {label}") == f"| ## {label}"
    assert neutralise(f"**{label}**") == f"| **{label}**"


@pytest.mark.parametrize(
    "text",
    [
        "I had a thought: it works",
        "Actions speak: louder",
        "The final answers: 42",
        "Answers: 3",
        "观察到的结果：3",
        "my action: none",
        "12:30 Answer",
        "https://example.org/answer: x",
        "| Thought: already safe",
        "Thought",
        "答案",
        "a\tb\n\n  c \n",
        "👩\u200d🔬 naïve ‮",
        "",
    ],
)
def test_other_text_stays_as_it_is(text: str) -> None:
    assert neutralise(text) == text


@pytest.mark.parametrize("line_break", ["\r\n", "\r", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"])
def test_every_kind_of_line_break_begins_a_line(line_break: str) -> None:
    assert neutralise(f"x{line_break}Action: y") == "x\n| Action: y"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07shown", "shown"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]unfinished\nnext", "unfinished\nnext"),
        ("\x1b(Ba\x1bc\x9b2Jb", "ab"),
        ("a\x00b\x07c\x7fd\x9de", "abcde"),
        ("Tho\x08ught: x", "| Thought: x"),
        ("\x1b[2K\x1b[1GThought: x", "| Thought: x"),
        ("\x1b\x1b[31m[31mx", "[31mx"),
    ],
)
def test_control_characters_and_terminal_escapes_are_taken_out(text: str, plain: str) -> None:
    assert neutralise(text) == plain


pieces = st.lists(
    st.sampled_from(
        [
            *LABELS,
            *PREFIXES,
            ":",
            "：",
            "\n",
            "\r",
            "\x1b",
            "[31m",
            "|",
            " ",
            "x",
            "\u2028",
            "0",
            "的",
            "💭",
            "[",
            "]",
            "`",
            "#",
        ]
    )
    | st.text(max_size=3),
    max_size=25,
).map("".join)


@given(pieces)
@example("**思考**：x")
@example("💭 Thought: x")
@example("[Thought] x")
@example("[Action]\nx")
def test_the_readers_of_replies_see_no_label_in_it(text: str) -> None:
    kinds = frozenset(kind for _, kind, _ in labels.LABELS)
    for line in neutralise(text).split("\n"):
        assert not isinstance(TABLE.match(line, kinds, final=True), Label), line


@pytest.mark.parametrize("name", [name for _, _, names in labels.LABELS for name in names])
def test_every_label_that_readers_know_is_caught(name: str) -> None:
    assert neutralise(f"{name}: x") == f"| {name}: x"
    assert neutralise(f"**{name.upper()}**： x") == f"| **{name.upper()}**： x"


@given(pieces)
def test_twice_is_the_same_as_once(text: str) -> None:
    assert neutralise(neutralise(text)) == neutralise(text)


@given(pieces)
def test_only_guards_are_added_and_only_control_characters_lost(text: str) -> None:
    safe = neutralise(text)
    assert not any(char < " " and char not in "\n\t" for char in safe)
    lines = [line for line in safe.split("\n") if line.startswith("| ")]
    assert len(safe) <= len(text) + 2 * len(lines)


@given(pieces, st.integers(min_value=0, max_value=60))
def test_a_fold_never_makes_a_line_begin(text: str, limit: int) -> None:
    assert fold(text, limit).count("\n") <= text.count("\n")
    folded = fold(neutralise(text), limit)
    if not folded.startswith((" [...", "[...")):
        assert neutralise(folded) == folded


@given(st.text(max_size=400), st.integers(min_value=80, max_value=300), st.sampled_from(["en", "zh"]))
def test_a_folded_text_keeps_to_its_limit_and_counts_what_is_missing(text: str, limit: int, language: str) -> None:
    folded = fold(text, limit, language)
    assert len(folded) <= limit
    if len(text) <= limit:
        assert folded == text
    else:
        head, _, rest = folded.partition(" [... ")
        mark, _, tail = rest.partition(" ...] ")
        assert text.startswith(head)
        assert text.endswith(tail)
        omitted = int("".join(char for char in mark if char in "0123456789"))
        assert omitted + len(head) + len(tail) == len(text)
    assert fold(folded, limit, language) == folded


def test_a_fold_names_what_is_missing_in_the_language() -> None:
    assert " characters omitted ...] " in fold("x" * 500, 100)
    assert " [... 省略 " in fold("x" * 500, 100, "zh")


@pytest.mark.parametrize(
    "text", ["*" * 300_000, "Thought" * 40_000, " " * 300_000, "\x1b[" * 150_000, "\u200b" * 300_000]
)
def test_long_texts_of_one_kind_are_read_once(text: str) -> None:
    assert len(neutralise(text)) <= len(text) + 2
