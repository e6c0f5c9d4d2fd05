"""Walks a reply once, as it comes, and cuts it into sections.

A section opens at a label at the start of a line. The start of a line is held back only as long as it can still
become a label. Labels do not count inside a code fence, inside a string of JSON, and behind the answer's label, with
one exception: a question, a person's turn or an observation behind an answer is held until the end, and cut if the
model went on with a new turn.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from whybox.dialects import thinking
from whybox.dialects.fences import bare_fence, fence_length, is_fence
from whybox.dialects.label_table import LINE_START, Label, LabelTable
from whybox.dialects.labels import FINISH, INVISIBLE, fold, is_no_action
from whybox.dialects.markup import FIRST_CHARACTERS, opening
from whybox.dialects.strings import StringState
from whybox.prompts.labels import Kind

Where = Literal["preamble", "question", "think", "thought", "action", "input", "answer", "turn", "markup"]
Piece = tuple[Where, str]

_STEP: frozenset[Kind] = frozenset({"thought", "action", "answer", "observation"})
_BEHIND_ACTION: frozenset[Kind] = frozenset({"output", "question", "speaker"})
_EXPECTED: dict[Where, frozenset[Kind]] = {
    "preamble": _STEP | {"tool", "question", "input"},
    "thought": _STEP | {"tool", "reply"},
    "action": _STEP | _BEHIND_ACTION | {"input", "argument"},
    "input": _STEP | _BEHIND_ACTION | {"input"},
    "answer": frozenset({"question", "speaker", "observation"}),
    "turn": frozenset({"thought", "action"}),
    "question": frozenset(),
}
_SECTION: dict[Kind, Where] = {
    "thought": "thought",
    "question": "question",
    "action": "action",
    "tool": "action",
    "input": "input",
    "argument": "input",
    "answer": "answer",
    "reply": "answer",
}
_INLINE = re.compile(f"[{re.escape(''.join(sorted({*FIRST_CHARACTERS, *thinking.FIRST_CHARACTERS})))}]")
_NOT_PLAIN = re.compile(_INLINE.pattern[:-1] + rf"\r\n{INVISIBLE}\u0300-\u036f]")
_NEWLINE = re.compile(r"[\r\n]")
_UNCOMMON = re.compile(f"[{INVISIBLE}\u0300-\u036f]")
_QUOTED = re.compile(r"[ \t]{0,3}>[ \t]?")
_BLANK = " \t\r\n\ufeff\u200b"
_FOLLOWED = frozenset({"preamble", "action", "input"})
"""Sections in which a label may stand inside a string."""
_MOST_SECTIONS = 10_000
"""A reply with more sections is no reply; what follows is dropped."""

_MOST_UNSEEN = 64_000
_LINE = 240
"""A line that has to be seen whole is seen so far."""


@dataclass(slots=True)
class Span:
    """A section of the reply: where its content stands (in characters) and how its label was written."""

    where: Where
    start: int
    end: int
    quoted: bool = False
    open_marks: str = ""


class Scanner:
    """Cuts one reply into spans.

    Args:
        table: the labels.
        names_tool: says whether the rest of a line names a tool on offer.
        markup: look for vendors' markup.

    ``cut_at`` is where the part that does not count begins, or None; ``cut_by`` says why; ``plain`` is False when a
    label was decorated, ``other_labels`` True when a word was used that is a label only by what stands around it,
    ``fenced_whole`` when a code fence opened before anything else, ``cut_in_string`` when the cut is in a string.
    """

    def __init__(self, table: LabelTable, names_tool: Callable[[str], bool], *, markup: bool = True) -> None:
        self.spans: list[Span] = [Span("preamble", 0, 0)]
        self.cut_at: int | None = None
        self.cut_by: str | None = None
        self.plain = True
        self.other_labels = False
        self.fenced_whole = False
        self.cut_in_string = False
        self._table = table
        self._names_tool = names_tool
        self._markup = markup
        self._text = ""  # what has come and is not settled
        self._next = 0  # the first character of it that is not settled
        self._base = 0  # characters of the reply before it
        self._fresh = True  # whether the next character begins a line
        self._begun = False  # whether the section has begun, that is, its first line
        self._fenced = False
        self._fence_in_line = False  # whether the line that opened the fence may close it as well
        self._line_tail = ""
        self._action = ""  # how the action begins
        self._last = ""  # the last character that is settled
        self._simple = True  # whether the text has no characters that could hide in a label
        self._think_end = re.compile("")
        self._think_tag = ""
        self._out: list[Piece] = []
        self._ranges: list[tuple[Where, int, int]] = []  # what goes to ``_out`` next, as ranges of ``_text``
        self._candidate = -1  # where the next label may stand in ``_text``, when that has been looked for
        self._section = 0  # where the section begins in ``_text``, or has been seen up to
        self._content = False  # whether the section has been seen to hold anything
        self._dequoted = -1  # where a line goes on behind its quotation mark
        self._turn: list[str] = []
        self._turn_by: Kind | Literal["fence"] = "question"
        self._strings = StringState(json_only=True)
        self._unseen_length, self._unseen_bound = 0, _MOST_UNSEEN
        self._unseen: list[str] = []  # of this section, not yet seen by ``_strings``
        self._doubtful: int | None = None  # a label inside a string: it counts if the string never ends

    @property
    def where(self) -> Where:
        """The section that is open."""
        return self.spans[-1].where

    def last(self, where: Where) -> Span | None:
        """Return the last span of this section."""
        return next((span for span in reversed(self.spans) if span.where == where), None)

    def feed(self, text: str) -> list[Piece]:
        """Take the next piece and return the content that is settled by it, by section."""
        if not (self._fresh or self._text) and self.cut_at is None and _NOT_PLAIN.search(text) is None:
            span = self.spans[-1]
            if span.where in {"thought", "answer"} and not self._fence_in_line:
                self._base = span.end = self._base + len(text)
                self._last = text[-1:]
                return [(span.where, text)]
        self._simple = self._simple and (text.isascii() or _UNCOMMON.search(text) is None)
        self._text = self._text + text if self._text else text
        return self._walk(final=False)

    def close(self) -> list[Piece]:
        """Return what was held back."""
        out = self._walk(final=True)
        if self.where == "turn" and self.cut_at is None:
            self._end_turn(last=True)
            out += self._out
        if self._doubtful is not None and self.cut_at is None and self._string_state().open:
            self._cut_in_string(self._doubtful)
        return out

    def _walk(self, *, final: bool) -> list[Piece]:
        self._candidate = -1
        while self._next < len(self._text) and self.cut_at is None:
            where = self.where
            if where == "markup":
                self._put(len(self._text))
                moved = True
            elif where == "think":
                moved = self._thinking(final=final)
            elif self._fresh and not self._is_plain_line():
                moved = self._line_start(final=final)
            else:
                moved = self._middle(final=final)
            if not moved:
                break
        if self.cut_at is not None:
            self._next = len(self._text)
        self._keep(self._text)
        self._give()
        out, self._out = self._out, []
        self._base, self._text, self._next = self._base + self._next, self._text[self._next :], 0
        self._section = 0
        return out

    def _give(self) -> None:
        self._out += [(where, self._text[start:end]) for where, start, end in self._ranges]
        self._ranges.clear()

    def _keep(self, text: str) -> None:
        """Keep what is needed later of a section that goes on in the next walk."""
        if self._section < self._next and self.cut_at is None:
            if self.where == "turn":
                self._turn.append(text[self._section : self._next])
            elif self.where in _FOLLOWED:
                self._unseen.append(text[self._section : self._next])
                self._unseen_length += self._next - self._section
                if self._unseen_length > self._unseen_bound:
                    self._look_at_lines()
        self._section = self._next

    # The middle of a line, and whole lines that cannot begin with a label

    def _is_plain_line(self) -> bool:
        """Whether the line that begins here can be passed over with those behind it."""
        text, at = self._text, self._next
        if not (0 < at < len(text) - LINE_START and self._quick and text[at - 1] in "\r\n"):
            return False
        begins_plainly = text[at].isalnum() or text[at] in "\r\n"
        return begins_plainly and self.where != "turn" and self._next_candidate(at - 1) != at - 1

    @property
    def _quick(self) -> bool:
        """Whether labels can be found by their candidates."""
        return self._simple and not self._fenced and not self.spans[-1].quoted and self.where != "question"

    def _next_candidate(self, at: int) -> int:
        """Return the line break from ``at`` on behind which a label may stand, or the end of the text."""
        if self._candidate < at:
            found = self._table.candidate.search(self._text, at)
            self._candidate = found.start() if found else len(self._text)
        return self._candidate

    def _middle(self, *, final: bool) -> bool:
        text, where = self._text, self.where
        stop, token = len(text), None
        if where in {"preamble", "thought"} and not self._fenced:
            token = _INLINE.search(text, self._next)
            stop = token.start() if token else stop
        end, self._fresh = self._line_end(stop)
        if end > self._next:
            self._put(end)
            return True
        return self._inline(final=final)

    def _line_end(self, stop: int) -> tuple[int, bool]:
        """Return up to where the text is plain content, and whether a line begins there."""
        text, at = self._text, self._next
        if not self._quick:
            newline = _NEWLINE.search(text, at, stop)
            return (newline.end(), True) if newline else (stop, False)
        label = self._next_candidate(at)
        if label < stop:
            return label + 1, True
        line = max(text.rfind("\n", at, stop), text.rfind("\r", at, stop)) + 1
        if line and (stop == len(text) or not text[line:stop].strip(_BLANK)):
            return line, True
        return stop, False

    def _inline(self, *, final: bool) -> bool:
        """Look at a character that may begin a tag."""
        text, at = self._text, self._next
        quoted = self._last == "`"
        closing = None if quoted else thinking.closing_tag(text, at)
        if closing == "more" and not final:
            return False
        if closing is not None and closing != "more":
            if self.where == "preamble":
                self.spans[-1].where = "think"
            self._next += len(closing)
            self._begin("preamble")
            return True
        if self._markup and not quoted:
            opens = opening(text, at, final=final)
            if opens is None:
                return False
            if opens:
                self._begin("markup")
                return True
        self._put(at + 1)
        return True

    # The start of a line

    def _line_start(self, *, final: bool) -> bool:
        line = self._text[self._next : self._next + LINE_START]
        newline = _NEWLINE.search(line)
        line = line if newline is None else line[: newline.end()]
        settled = final or newline is not None or len(line) == LINE_START
        if self.where == "question" and self._begun:
            self._begin("preamble")
        where = self.where
        if self.spans[-1].quoted and self._begun and self._base + self._next != self._dequoted:
            quote = _QUOTED.match(line)
            if quote and quote.end() == len(line) and not settled:
                return False
            if quote:
                self._next += quote.end()
                self._dequoted = self._base + self._next
                line = line[quote.end() :]
            elif not settled and not line.strip(" \t"):
                return False
        if where in {"preamble", "thought"} and not self._fenced:
            tag = self._tag(line, settled=settled)
            if tag is not None:
                return tag
        if self._fence_in_line:
            self._fence_in_line = False
            self._fenced = not self._line_tail.rstrip().endswith(("```", "~~~"))
        if (fence := self._fence(line, settled=settled)) is not None:
            return fence
        found: Label | str | None = None
        if not self._fenced and (self._begun or where in {"preamble", "thought"}):
            found = self._label(line, settled=settled, final=final)
        if found == "more":
            return False
        if isinstance(found, Label) and self._counts():
            self._open_at(found)
        elif final and newline is None and self._is_leftover(line):
            self._cut(self._base + self._next, "stop_leftover")
        else:
            self._put_line(line, whole=newline is not None)
        return True

    def _put_line(self, line: str, *, whole: bool) -> None:
        if self.where == "turn" and self._turn_by == "fence" and line.strip():
            self._end_turn(last=False)
            self._fenced = True
        tag = None if self._fenced or self.where not in {"preamble", "thought"} else _INLINE.search(line)
        # Behind a character that may begin a tag the line is looked at more closely.
        self._fresh = whole and tag is None
        self._put(self._next + (len(line) if tag is None else tag.start()))

    def _tag(self, line: str, *, settled: bool) -> bool | None:
        """Take an opening tag of reasoning; None when there is none, False to wait for more."""
        lean = line.lstrip(_BLANK)
        if not lean:
            return None
        tag = thinking.opening_tag(lean)
        if tag == "more":
            return None if settled else False
        if tag is None:
            return None
        self._next += len(line) - len(lean) + len(tag[0])
        self._think_tag, self._think_end = tag[1], thinking.finds(tag[1])
        self._begin("think")
        return True

    def _fence(self, line: str, *, settled: bool) -> bool | None:
        """Take a line that is a code fence; None when it is none, False to wait for more."""
        lean = line.lstrip(" \t")
        if lean[:1] not in {"`", "~"}:
            return None
        if not settled and not any(char in line for char in "{["):
            # Whether a fence stands alone on its line shows at the line's end.
            return False if lean.startswith(("```", "~~~")) or lean in {"`", "``", "~", "~~"} else None
        if not is_fence(line):
            return None
        where = self.where
        if where == "preamble" and not self._fenced and not self.fenced_whole and not self._has_content():
            self.fenced_whole = True
            self._next += fence_length(line)
            self._begin("preamble")
            return True
        if where == "answer" and self.fenced_whole and not self._fenced and bare_fence(line):
            self._begin_turn("fence")
            self._put(self._next + len(line))
            self._fresh = True
            return True
        if where == "turn":
            return None
        if self.fenced_whole and not self._fenced and bare_fence(line) and where in {"action", "input", "thought"}:
            self._put(self._next + len(line))
        else:
            self._fenced = not self._fenced
            self._fence_in_line = self._fenced and not bare_fence(line)
            # What follows the marks on their line is looked at like any other text.
            self._put(self._next + (len(line) if bare_fence(line) else fence_length(line)))
        self._fresh = bare_fence(line) and line.endswith(("\n", "\r"))
        return True

    def _has_content(self) -> bool:
        if not self._content:
            unseen = (*self._unseen, self._text[self._section : self._next])
            self._content = self._strings.begun or any(piece.strip(_BLANK) for piece in unseen)
        return self._content

    def _label(self, line: str, *, settled: bool, final: bool) -> Label | Literal["more"] | None:
        where = self.where
        kinds = _EXPECTED[where]
        found = self._table.match(line, kinds, final=settled)
        if not isinstance(found, Label):
            return found
        if where == "thought" and not self._begun and found.kind == "observation":
            # "Thought: Observation: none so far" is a thought.
            return None
        if found.kind == "tool" or (found.kind == "action" and where == "turn"):
            rest = self._text[self._next + found.length : self._next + _LINE]
            newline = _NEWLINE.search(rest)
            if newline is None and len(rest) < _LINE - found.length and not final:
                return "more"
            if not self._names_tool(rest if newline is None else rest[: newline.start()]):
                return None
        return found

    def _counts(self) -> bool:
        """Whether a label counts here. Inside a string it is put off: it counts if the string never ends."""
        if self.where not in {"preamble", "action", "input"}:
            return True
        state = self._string_state()
        if not state.inside:
            if self._doubtful is not None and state.open:
                self._cut_in_string(self._doubtful)
            self._doubtful = None
            return True
        if self._doubtful is None:
            self._doubtful = self._base + self._next
        return False

    def _string_state(self) -> StringState:
        self._keep(self._text)
        self._strings.feed("".join(self._unseen))
        self._unseen, self._unseen_length = [], 0
        return self._strings

    def _look_at_lines(self) -> None:
        """Let the strings be followed up to the last line break, so that the text need not be kept."""
        unseen = "".join(self._unseen)
        end = unseen.rfind("\n") + 1
        self._strings.feed(unseen[:end])
        self._unseen, self._unseen_length = [unseen[end:]], len(unseen) - end
        # A line that is longer is looked at again when it has doubled, not with each character.
        self._unseen_bound = max(_MOST_UNSEEN, 2 * self._unseen_length)

    def _is_leftover(self, line: str) -> bool:
        """Whether the reply ends with the beginning of a stop sequence."""
        return self.where in {"action", "input", "answer"} and self._begun and self._table.is_leftover(line)

    # Reasoning in tags

    def _thinking(self, *, final: bool) -> bool:
        """Take thinking up to its end tag, which may come in pieces."""
        end = self._think_end.search(self._text, self._next)
        if end is not None:
            self._put(end.start())
            self._next = end.end()
            self._begin("preamble")
            return True
        tag = self._think_tag
        tail = self._text[max(self._next, len(self._text) - len(tag) + 1) :].lower()
        keep = 0 if final else next((n for n in range(len(tail), 0, -1) if tag.startswith(tail[-n:])), 0)
        before = self._next
        self._put(len(self._text) - keep)
        return self._next > before

    # Opening, closing and cutting sections

    def _open_at(self, label: Label) -> None:
        if self.cut_at is not None:
            return
        where, here, kind = self.where, self._base + self._next, label.kind
        self.plain = self.plain and label.plain
        if where == "answer":
            self._begin_turn(kind)
            self._put(self._next + label.length)
            self._fresh = False
        elif where == "turn":
            self._cut(self.spans[-1].start, "next_turn")
        elif kind in {"observation", "output"}:
            self._cut(here, "invented_observation")
        elif kind in {"question", "speaker"} and where != "preamble":
            self._cut(here, "next_turn")
        elif where in {"action", "input"} and self._ends_step(where, kind):
            self._cut(here, "rest_dropped")
        else:
            self.other_labels = self.other_labels or kind in {"tool", "argument", "reply"}
            self._next += label.length
            self._begin(_SECTION[kind])
            self.spans[-1].quoted, self.spans[-1].open_marks = label.quoted, label.open_marks
            self._fresh = True

    def _ends_step(self, where: Where, kind: Kind) -> bool:
        if kind in {"input", "argument"}:
            return where == "input"
        return not self._goes_on(kind)

    def _goes_on(self, kind: Kind) -> bool:
        """Whether a label behind an action still belongs to the step: there was no action in fact."""
        name = fold(self._action.strip(f" \t\r\n`*'\"[]{INVISIBLE}"))
        return not name or is_no_action(name) or (kind == "answer" and name in FINISH)

    def _begin(self, where: Where) -> None:
        at = self._base + self._next
        if len(self.spans) >= _MOST_SECTIONS:
            self._cut(at, "rest_dropped")
            return
        self.spans.append(Span(where, at, at))
        self._fenced = self._begun = False
        self._fresh, self._section = True, self._next
        self._strings, self._doubtful = StringState(json_only=where == "preamble"), None
        self._unseen, self._unseen_length = [], 0
        self._content = False
        if where == "action":
            self._action = ""

    def _begin_turn(self, by: Kind | Literal["fence"]) -> None:
        at = self._base + self._next
        self.spans.append(Span("turn", at, at))
        self._turn, self._turn_by, self._section = [], by, self._next
        self._fresh = False

    def _end_turn(self, *, last: bool) -> None:
        """Give a turn back to the answer before it, unless it is only what a stop sequence or a fence has left.

        Args:
            last: nothing follows.
        """
        self._keep(self._text)
        turn, text = self.spans.pop(), "".join(self._turn)
        label = self._table.match(text[:LINE_START], frozenset({"observation"}), final=True)
        empty = isinstance(label, Label) and not text[label.length :].strip()
        if last and (empty or (self._turn_by == "fence" and not text.strip(_BLANK + "`~"))):
            self._cut(turn.start, "stop_leftover" if empty else "fence_removed")
            return
        self.spans[-1].end = turn.end
        self._give()
        self._out.append(("answer", text))

    def _put(self, end: int) -> None:
        start, self._next = self._next, end
        if end == start:
            return
        self._last = self._text[end - 1]
        if self._fence_in_line:
            self._line_tail = (self._line_tail + self._text[max(start, end - 8) : end])[-8:]
        span = self.spans[-1]
        span.end = self._base + end
        self._begun = True
        where = span.where
        if where == "turn":
            return
        if where == "action" and len(self._action) < LINE_START:
            self._action += self._text[start : min(end, start + LINE_START)]
        if self._ranges and self._ranges[-1][0] == where and self._ranges[-1][2] == start:
            start = self._ranges.pop()[1]
        self._ranges.append((where, start, end))

    def _cut_in_string(self, at: int) -> None:
        self.cut_in_string = True
        self.spans[-1].end = at
        self._cut(at, "rest_dropped")

    def _cut(self, at: int, why: str) -> None:
        if self.cut_at is None:
            self.cut_at, self.cut_by = at, why
