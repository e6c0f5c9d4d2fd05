"""Text ReAct: thoughts, actions and answers behind labels, read while they arrive."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from whybox.dialects.actions import Action
from whybox.dialects.answers import AnswerStream
from whybox.dialects.corrections import Form, correction
from whybox.dialects.grammar import grammar
from whybox.dialects.label_table import LINE_START, TABLE, LabelTable
from whybox.dialects.labels import FINISH, INVISIBLE, fold, is_no_action
from whybox.dialects.repairs import confidence, in_order
from whybox.dialects.scanner import Piece, Scanner, Span, Where
from whybox.dialects.sections import Meaning, call_before_answer, meaning, names_tool
from whybox.events import Delta, Parsed, Report, Section
from whybox.ports import Reader, ToolSpec
from whybox.prompts import phrases

Finish = Literal["stop", "length"]
_NAME = re.compile(r"[^\[(（［\n{:：]+")


class ReAct:
    """The dialect of text models.

    Args:
        labels: the labels it knows; see :data:`whybox.prompts.labels.LABELS`.
    """

    name = "react"

    def __init__(self, labels: LabelTable = TABLE) -> None:
        self._labels = labels

    def reader(self, tools: Sequence[ToolSpec], language: str) -> Reader:
        """Return a reader for one reply."""
        return ReActReader(tools, language, self._labels)

    def opening(self, language: str, *, answer: bool) -> str:
        """Return the label that a reply begins with."""
        return phrases.label(language, "answer" if answer else "thought")

    def stop(self, language: str) -> tuple[str, ...]:
        """Return the stop sequences: the label that only whybox writes."""
        return ("\n观察：", "\n观察:", "\nObservation:") if language == "zh" else ("\nObservation:",)

    def grammar(self, tools: Sequence[ToolSpec], language: str) -> str:
        """Return a GBNF grammar of exactly the well-formed steps."""
        return grammar(tools, language)


def parse(text: str, tools: Sequence[ToolSpec], language: str = "en", finish: Finish = "stop") -> Parsed:
    """Return what a whole reply means. It goes the same way as a reply that comes in pieces.

    Args:
        text: the reply.
        tools: the tools on offer.
        language: of the correction, when one is needed.
        finish: ``length`` when the reply was cut by the token limit.
    """
    reader = ReActReader(tools, language)
    reader.feed(text)
    return reader.close(finish)[1]


class ReActReader:
    """Reads one reply while it arrives.

    Args:
        tools: the tools on offer.
        language: of the correction, when one is needed.
        labels: the labels of the dialect.
        form: of the steps that the correction asks for.
    """

    def __init__(
        self, tools: Sequence[ToolSpec], language: str, labels: LabelTable = TABLE, *, form: Form = "text"
    ) -> None:
        self._tools = tuple(tools)
        self._language = language
        self._labels = labels
        self._form = form
        self._scanner = self._new_scanner(markup=True)
        self._raw: list[str] = []
        self._answer: AnswerStream | None = None
        self._early: Meaning | None = None
        self._held_action = ""
        self._begun: set[Where] = set()

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece of the reply and return what may be shown of it now."""
        self._raw.append(text)
        return self._show(self._scanner.feed(text))

    def close(self, finish: Finish = "stop") -> tuple[list[Delta], Parsed]:
        """Return what was still held back, and what the whole reply means."""
        deltas = self._show(self._scanner.close())
        raw = "".join(self._raw)
        self._raw.clear()
        read = self._early or self._meaning(raw, deltas)
        if read is None:
            # What looked like a vendor's markup is none, so that labels behind it count after all.
            self._scanner = self._new_scanner(markup=False)
            deltas += self._show((*self._scanner.feed(raw), *self._scanner.close()))
            read = self._meaning(raw, deltas) or Meaning(Action("none", reason="leaked_markup"), "")
        parsed = self._parsed(read, raw, finish)
        if parsed.calls and self._held_action:
            deltas.append(Delta(section="action", text=self._held_action))
        if parsed.answer is not None and self._answer is None and self._early is None:
            deltas.append(Delta(section="answer", text=parsed.answer))
        return deltas, parsed

    def _new_scanner(self, *, markup: bool) -> Scanner:
        return Scanner(self._labels, lambda rest: names_tool(self._tools, rest), markup=markup)

    def _meaning(self, raw: str, deltas: list[Delta]) -> Meaning | None:
        answer = self._answer or AnswerStream()
        if rest := answer.close():
            deltas.append(Delta(section="answer", text=rest))
        return meaning(self._scanner, raw, self._tools, self._labels, answer)

    def _show(self, pieces: Iterable[Piece]) -> list[Delta]:
        deltas: list[Delta] = []
        for where, text in pieces:
            section: Section
            if where == "thought" or where == "think":
                section, text = "thought", self._first(where, text)
            elif where == "answer":
                if self._answer is None and self._early is None:
                    self._begin_answer()
                if self._answer is None:
                    continue
                section, text = "answer", self._answer.feed(text)
            elif where == "action" or where == "input":
                section, text = "action", self._action(text)
            else:
                continue
            if text:
                deltas.append(Delta(section=section, text=text))
        return deltas

    def _begin_answer(self) -> None:
        """Begin to show the answer, unless a call stands in front of it, so that it was given too early."""
        span = next(span for span in self._scanner.spans if span.where == "answer")
        before = self._raw[0] if len(self._raw) == 1 else "".join(self._raw)
        call = call_before_answer(self._scanner, before, self._tools, self._labels)
        if call is not None:
            self._early = Meaning(call.action.repaired("rest_dropped"), call.thought)
        else:
            self._answer = AnswerStream(span.open_marks)

    def _first(self, where: Where, text: str) -> str:
        if where not in self._begun:
            text = text.lstrip()
            if text:
                self._begun.add(where)
        return text

    def _action(self, text: str) -> str:
        """Hold an action back while it may be the one that gives the answer, or none at all."""
        if "action" in self._begun:
            return text
        self._held_action += text
        lean = self._held_action[: 4 * LINE_START].lstrip(f" \t\r\n*`'\"{INVISIBLE}")
        name = _NAME.match(lean)
        if name is None or (name.end() == len(lean) and len(lean) < LINE_START):
            return ""
        word = fold(name[0]).strip(" \t\r*`'\"")
        if word in FINISH or is_no_action(word):
            return ""
        self._begun.add("action")
        held, self._held_action = self._held_action, ""
        return held.lstrip()

    def _parsed(self, read: Meaning, raw: str, finish: Finish) -> Parsed:
        scanner, action = self._scanner, read.action
        repairs = [*action.repairs]
        repairs += [] if scanner.plain else ["label"]
        repairs += ["other_label"] if scanner.other_labels else []
        repairs += ["fence_removed"] if scanner.fenced_whole and not action.reason else []
        repairs += [scanner.cut_by] if scanner.cut_by else []
        repairs += ["special_token"] if self._answer is not None and self._answer.cut else []
        calls, answer, reason = action.calls, action.answer, action.reason
        if finish == "length" and answer is not None:
            repairs.append("truncated")
        elif finish == "length":
            calls, reason = (), "truncated"
        if not calls and not answer and reason is None:
            reason = "no_action"
        if reason is not None:
            answer = None
        ordered = in_order(repairs)
        return Parsed(
            thought=read.thought,
            calls=calls,
            answer=answer or None,
            reason=reason,
            retry=self._correction(reason, action.name) if reason else None,
            report=Report(
                dialect=action.dialect,
                repairs=ordered,
                spans=_byte_spans(raw, scanner.spans),
                confidence=confidence(ordered),
                dropped="" if scanner.cut_at is None else raw[scanner.cut_at :],
            ),
        )

    def _correction(self, reason: str, about: str) -> str:
        return correction(reason, about, self._tools, self._language, form=self._form)


def _byte_spans(raw: str, spans: Sequence[Span]) -> tuple[tuple[str, int, int], ...]:
    found: list[tuple[str, int, int]] = []
    at_char, at_byte = 0, 0
    for span in spans:
        if not raw[span.start : span.end].strip():
            continue
        start = at_byte + _bytes(raw[at_char : span.start])
        end = start + _bytes(raw[span.start : span.end])
        found.append((span.where, start, end))
        at_char, at_byte = span.end, end
    return tuple(found)


def _bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
