"""Text ReAct: thoughts, actions and answers behind labels, read while they arrive."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from whybox.dialects.actions import Action, known, read_action
from whybox.dialects.answers import AnswerStream
from whybox.dialects.arguments import json_object, unfenced
from whybox.dialects.corrections import correction
from whybox.dialects.grammar import grammar
from whybox.dialects.labels import FINISH, LINE_START, fold, is_no_action
from whybox.dialects.scanner import Scanner, Span, Where
from whybox.events import Delta, Parsed, Report
from whybox.ports import Reader, ToolSpec

Finish = Literal["stop", "length"]
_INVISIBLE = "\ufeff\u200b \t\r\n"
_NAME = re.compile(r"[^\[(（［\n{:：]+")


class ReAct:
    """The dialect of text models."""

    name = "react"

    def reader(self, tools: Sequence[ToolSpec], language: str) -> Reader:
        """Return a reader for one reply."""
        return ReActReader(tools, language)

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
    """

    def __init__(self, tools: Sequence[ToolSpec], language: str) -> None:
        self._tools = tuple(tools)
        self._language = language
        self._scanner = Scanner()
        self._raw: list[str] = []
        self._answer = AnswerStream()
        self._held_action = ""
        self._begun: set[Where] = set()

    def feed(self, text: str) -> list[Delta]:
        """Take the next piece of the reply and return what may be shown of it now."""
        self._raw.append(text)
        return self._show(self._scanner.feed(text))

    def close(self, finish: Finish = "stop") -> tuple[list[Delta], Parsed]:
        """Return what was still held back, and what the whole reply means."""
        deltas = self._show(self._scanner.close())
        parsed = self._parsed(finish)
        if parsed.calls and self._held_action:
            deltas.append(Delta(section="action", text=self._held_action))
        if parsed.answer is not None and (rest := self._answer.rest(parsed.answer)):
            deltas.append(Delta(section="answer", text=rest))
        return deltas, parsed

    def _show(self, pieces: Sequence[tuple[Where, str]]) -> list[Delta]:
        deltas: list[Delta] = []
        for where, text in pieces:
            if where in {"thought", "think"}:
                text = self._first(where, text)
                if text:
                    deltas.append(Delta(section="thought", text=text))
            elif where in {"action", "input"}:
                text = self._action(text)
                if text:
                    deltas.append(Delta(section="action", text=text))
            elif where == "answer" and (text := self._answer.feed(text)):
                deltas.append(Delta(section="answer", text=text))
        return deltas

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
        lean = self._held_action.lstrip(" \t\r\n*`'\"")
        name = _NAME.match(lean)
        if name is None or (name.end() == len(lean) and len(lean) < LINE_START):
            return ""
        word = fold(name[0]).strip(" \t\r*`'\"")
        if word in FINISH or is_no_action(word):
            return ""
        self._begun.add("action")
        held, self._held_action = self._held_action.lstrip(), ""
        return held

    def _parsed(self, finish: Finish) -> Parsed:
        scanner, raw = self._scanner, "".join(self._raw)
        spans = [span for span in scanner.spans if span.text.strip()]
        action = self._read(spans)
        repairs = [] if scanner.plain else ["label"]
        repairs += [scanner.cut_by] if scanner.cut_by else []
        repairs += action.repairs
        thought = "\n".join(s.text.strip() for s in spans if s.where in {"thought", "think"})
        if not thought and action.call and len(spans) > 1 and spans[0].where == "preamble":
            thought = spans[0].text.strip()
        call, answer, reason = action.call, action.answer, action.reason
        if finish == "length" and answer is None:
            call, reason = None, "truncated"
        if finish == "length" and answer is not None:
            repairs.append("truncated")
        written = scanner.last("action")
        return Parsed(
            thought=thought,
            calls=(call,) if call else (),
            answer=answer,
            reason=reason,
            retry=correction(reason, written.text if written else "", self._tools, self._language) if reason else None,
            report=Report(
                dialect=action.dialect,
                repairs=tuple(dict.fromkeys(repairs)),
                spans=_byte_spans(raw, spans),
                confidence=round(0.9 ** len(set(repairs)), 3),
                dropped="" if scanner.cut_at is None else raw[scanner.cut_at :],
            ),
        )

    def _read(self, spans: Sequence[Span]) -> Action:
        by_where = {span.where: span for span in spans}
        if "answer" in by_where:
            answer = self._answer.whole(by_where["answer"].text)
            return Action("final_answer", answer=answer) if answer else Action("final_answer", reason="no_action")
        opened = {span.where for span in self._scanner.spans}
        if "action" in by_where:
            given = self._scanner.last("input")
            return read_action(self._tools, by_where["action"].text, given.text if given else None)
        if "action" in opened or "thought" in by_where:
            return Action("react", reason="no_action")
        if "input" in by_where and "preamble" in by_where:
            return read_action(self._tools, by_where["preamble"].text, by_where["input"].text)
        return self._unlabelled("\n".join(s.text for s in spans if s.where == "preamble"))

    def _unlabelled(self, text: str) -> Action:
        lean = text.strip().strip(_INVISIBLE).strip()
        if not lean:
            return Action("none", reason="empty")
        bare, _ = unfenced(lean)
        name = bare.partition("[")[0].strip()
        if json_object(bare) is not None or (name != bare and known(self._tools, name)[0]):
            found = read_action(self._tools, lean, None)
            if found.call or found.answer is not None:
                return found
        return Action("plain", answer=lean, repairs=("no_label",))


def _byte_spans(raw: str, spans: Sequence[Span]) -> tuple[tuple[str, int, int], ...]:
    found: list[tuple[str, int, int]] = []
    at_char, at_byte = 0, 0
    for span in spans:
        start = at_byte + len(raw[at_char : span.start].encode("utf-8", "surrogatepass"))
        end = start + len(raw[span.start : span.end].encode("utf-8", "surrogatepass"))
        found.append((span.where, start, end))
        at_char, at_byte = span.end, end
    return tuple(found)
