"""What the sections of a reply mean together: calls, an answer, or why neither."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from whybox.dialects import prose
from whybox.dialects.actions import Action, read_action
from whybox.dialects.answers import AnswerStream
from whybox.dialects.endings import without_special
from whybox.dialects.label_table import LabelTable
from whybox.dialects.labels import fold
from whybox.dialects.markup import left_over, opening, read_markup
from whybox.dialects.scanner import Scanner, Span, Where
from whybox.dialects.tool_names import clean_name, known
from whybox.ports import ToolSpec

_QUOTED = re.compile(r"^[ \t]{0,3}>[ \t]?", re.MULTILINE)
_INVISIBLE = "\ufeff\u200b\u200c\u200d\u2060 \t\r\n"
_TOKEN = re.compile(r"<[|｜][\w▁ /-]{1,40}[|｜]>|\[/?TOOL_CALLS?\]")


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a reply means, and the thought that came with it."""

    action: Action
    thought: str


def meaning(
    scanner: Scanner, raw: str, tools: Sequence[ToolSpec], table: LabelTable, answer: AnswerStream
) -> Meaning | None:
    """Return what a scanned reply means; None when what was found to be markup is none, and it must be scanned again.

    Args:
        scanner: has walked the whole reply.
        raw: the reply.
        tools: the tools on offer.
        table: the labels.
        answer: has been fed with what stood behind the answer's label, if there was one.
    """
    return _Sections(scanner, raw, tools, table).meaning(answer)


def call_before_answer(scanner: Scanner, raw: str, tools: Sequence[ToolSpec], table: LabelTable) -> Meaning | None:
    """Return the call in JSON that the text before the answer's label ends with, or None when there is none."""
    return _Sections(scanner, raw, tools, table).call_before_answer()


class _Sections:
    def __init__(self, scanner: Scanner, raw: str, tools: Sequence[ToolSpec], table: LabelTable) -> None:
        self._scanner = scanner
        self._raw = raw
        self._tools = tools
        self._table = table
        self._spans = scanner.spans
        self._opened = {span.where for span in scanner.spans}

    def meaning(self, answer: AnswerStream) -> Meaning | None:
        if "markup" in self._opened:
            return self._marked(self._span("markup"))
        if "answer" in self._opened:
            text = answer.text
            found = Action("final_answer", answer=text) if text.strip() else Action("final_answer", reason="empty")
            return Meaning(found, self._thought())
        if "action" in self._opened:
            return self._act()
        if "input" in self._opened:
            return self._continued()
        if "thought" in self._opened:
            return self._thought_only()
        return self._unlabelled()

    def call_before_answer(self) -> Meaning | None:
        text = self._joined("preamble", "thought")
        if not text.endswith(("}", "]", "```", "~~~")):
            return None
        call = prose.call_in_prose(self._tools, text, ends=True)
        if call is None or not call[0].calls:
            return None
        return Meaning(call[0], "\n".join(part for part in (call[1], call[0].thought) if part))

    def _span(self, where: Where) -> Span:
        found = self._scanner.last(where)
        return found or Span(where, 0, 0)

    def _text(self, span: Span) -> str:
        text = self._raw[span.start : span.end]
        if span.quoted:
            text = _QUOTED.sub("", text)
        if span.open_marks:
            line, newline, rest = text.partition("\n")
            bare = line.rstrip()
            line = bare.removesuffix(span.open_marks) if bare.endswith(span.open_marks) else line
            text = line + newline + rest.removesuffix(span.open_marks)
        if span.where in {"action", "input"} and "\n" in text:
            # A token at the very end hides what a stop sequence has left before it.
            bare, token = without_special(text)
            head, _, last = bare.rpartition("\n")
            text = head if token and self._table.is_leftover(last) else text
        return text

    def _joined(self, *wheres: Where) -> str:
        parts = (self._text(span).strip(_INVISIBLE) for span in self._spans if span.where in wheres)
        return "\n".join(part for part in parts if part)

    def _thought(self) -> str:
        """Return the labelled thoughts and the reasoning; else what stood in front of the step without a label."""
        thought = self._joined("thought", "think")
        return thought or self._joined("preamble").removesuffix("```").rstrip()

    def _marked(self, span: Span) -> Meaning | None:
        found = read_markup(self._tools, self._raw[span.start : span.end])
        if found is None:
            return None
        action, inside = found
        thought = "\n".join(part for part in (self._joined("preamble", "thought", "think"), inside) if part)
        return Meaning(action, thought)

    def _act(self) -> Meaning:
        span = self._span("action")
        text = self._text(span)
        lean = text.lstrip()
        if lean[:1] in {"<", "[", "✿"} and opening(lean, 0, final=True):
            found = read_markup(self._tools, lean)
            if found is not None:
                return Meaning(found[0], self._thought())
        if self._scanner.cut_in_string:
            return Meaning(Action("react", reason="truncated", name=text), self._thought())
        given = self._text(self._span("input")) if "input" in self._opened else None
        # Only what stands behind a bracket that was closed can have been meant as the next thing.
        action = read_action(self._tools, text, given, open_input=self._scanner.cut_by == "rest_dropped")
        thought = "\n".join(part for part in (self._thought(), action.thought) if part)
        return Meaning(replace(action, name=action.name or text), thought)

    def _continued(self) -> Meaning:
        """Read an input whose action the prompt had begun: its name stands in front, without a label."""
        text = self._joined("preamble")
        first = next((line for line in text.split("\n") if line.strip()), "")
        if known(self._tools, clean_name(first))[0] is None or first.strip() != text:
            return Meaning(Action("react", reason="no_action"), "")
        action = read_action(self._tools, text, self._text(self._span("input")))
        return Meaning(action.repaired("continued"), "")

    def _thought_only(self) -> Meaning:
        text = self._joined("thought")
        found = self._in_text(text, ends=True)
        if found is not None:
            return found
        return Meaning(Action("react", reason="no_action" if text else "empty"), self._joined("thought", "think"))

    def _unlabelled(self) -> Meaning:
        text = self._plain_text()
        thinking = self._joined("think")
        if not text:
            return Meaning(Action("none", reason="empty"), thinking)
        if self._scanner.cut_in_string:
            return Meaning(Action("json", reason="truncated", name=text), thinking)
        call = prose.bare_call(self._tools, text)
        if call is not None:
            return Meaning(call, call.thought or thinking)
        marked = prose.marked_call(self._tools, text)
        if marked is not None:
            return Meaning(*marked)
        found = self._in_text(text, ends=False)
        if found is not None:
            return found
        if prose.has_unread_labels(self._tools, text):
            return Meaning(Action("plain", reason="unread_labels"), "")
        outside = prose.without_code(text)
        if _TOKEN.search(outside) or left_over(outside):
            return Meaning(Action("plain", reason="leaked_markup"), "")
        return Meaning(Action("plain", answer=text, repairs=("no_label",)), thinking)

    def _plain_text(self) -> str:
        """Return the text without labels, whole: a question in front of it was no echo of the prompt."""
        plain = [span for span in self._spans if span.where in {"preamble", "question"} and span.end > span.start]
        if not plain:
            return ""
        first, end = plain[0], plain[-1].end
        start = first.start if "think" in self._opened or self._scanner.fenced_whole else 0
        text = self._raw[start:end].strip(_INVISIBLE)
        if self._scanner.fenced_whole and not text.endswith("```"):
            return without_special(text)[0]
        if self._scanner.fenced_whole:
            return self._fence_kept(text)
        stream = AnswerStream()
        stream.feed(text)
        stream.close()
        return stream.text

    def _fence_kept(self, text: str) -> str:
        """Return a reply that is one fence: its content when that is a call, else the whole of it."""
        inside = text.removesuffix("```").strip()
        if not inside or prose.bare_call(self._tools, inside) is not None:
            return inside
        return self._raw.strip(_INVISIBLE)

    def _in_text(self, text: str, *, ends: bool) -> Meaning | None:
        found = self._fenced_step(text)
        if found is not None:
            return found
        call = prose.call_in_prose(self._tools, text, ends=ends) or prose.in_line(self._tools, text)
        if call is None or (not ends and call[0].reason == "unknown_tool"):
            return None
        action, before = call
        return Meaning(action, "\n".join(part for part in (before, action.thought) if part))

    def _fenced_step(self, text: str) -> Meaning | None:
        """Read the code fence that ``text`` ends with, if it holds a step with labels."""
        fenced = prose.fenced_steps(text)
        if fenced is None:
            return None
        inside, before = fenced
        scanner = Scanner(self._table, lambda rest: names_tool(self._tools, rest), markup=False)
        answer = AnswerStream()
        for where, piece in (*scanner.feed(inside), *scanner.close()):
            if where == "answer":
                answer.feed(piece)
        answer.close()
        if not {"action", "answer"} & {span.where for span in scanner.spans}:
            return None
        inner = _Sections(scanner, inside, self._tools, self._table).meaning(answer)
        if inner is None or not (inner.action.calls or inner.action.answer):
            return None
        thought = "\n".join(part for part in (before.strip(), inner.thought) if part)
        return Meaning(inner.action.repaired("fenced_step"), thought)


def names_tool(tools: Sequence[ToolSpec], rest: str) -> bool:
    """Return whether the rest of a line, behind a word that may be a label, names a tool on offer or the answer."""
    name = re.split(r"[\[(（{［]", rest, maxsplit=1)[0]
    if not clean_name(name):
        return rest.strip().startswith(("{", "[")) and any(f'"{tool.name}"' in rest for tool in tools)
    return known(tools, clean_name(name))[0] is not None or fold(clean_name(name)) == "finish"
