"""A whole reply, of text, reasoning and native calls, read while it arrives and as it is stored: one way for both."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from whybox.dialects.repairs import confidence
from whybox.dialects.tool_calls import read_calls
from whybox.events import Delta, NativeCall, Parsed
from whybox.ports import Chunk, Dialect, ToolSpec
from whybox.trace import Shown


class _Whole(Protocol):
    """What a reply and the event that keeps it have in common."""

    @property
    def text(self) -> str: ...
    @property
    def finish(self) -> Literal["stop", "length"]: ...
    @property
    def reasoning(self) -> str: ...
    @property
    def calls(self) -> tuple[NativeCall, ...]: ...


class ReplyReader:
    """Reads one reply.

    Args:
        dialect: the form of its text.
        tools: the tools on offer.
        language: of the correction, when one is needed.
    """

    def __init__(self, dialect: Dialect, tools: Sequence[ToolSpec], language: str) -> None:
        self._tools = tuple(tools)
        self._language = language
        self._reader = dialect.reader(tools, language)
        self._native = dialect.name == "native"
        self._fed = False
        self._answering = False

    def begin(self, prefix: str) -> None:
        """Take text of the reply that was already fixed."""
        if prefix:
            self._reader.feed(prefix)

    def feed(self, chunk: Chunk) -> list[Delta]:
        """Take the next piece of the reply and return what may be shown of it now."""
        deltas = [Delta(section="thought", text=chunk.reasoning)] if chunk.reasoning else []
        if chunk.text:
            self._fed = True
            deltas += self._reader.feed(chunk.text)
            self._answering = self._answering or any(delta.section == "answer" for delta in deltas)
        if chunk.action:
            deltas.append(Delta(section="action", text=chunk.action))
        return deltas

    def close(self, whole: _Whole) -> tuple[list[Delta], Parsed]:
        """Return what was still held back, and what the reply means; ``whole`` is the reply, if it was not fed as well.

        Native calls are the action, and the text beside them is the thought.
        """
        deltas = [] if self._fed or not whole.text else self._reader.feed(whole.text)
        rest, parsed = self._reader.close(whole.finish)
        deltas += rest
        reasoning = whole.reasoning.strip()
        if whole.calls:
            said = parsed.thought or parsed.answer or ""
            thought = f"{reasoning}\n{said}".strip()
            if not self._answering:
                deltas = [Delta(section="thought", text=delta.text) for delta in deltas if delta.section != "action"]
            return deltas, read_calls(self._tools, self._language, whole.calls, thought, whole.finish)
        if self._native:
            parsed = _as_native(parsed)
        if reasoning:
            parsed = parsed.model_copy(update={"thought": f"{reasoning}\n{parsed.thought}".strip()})
        return deltas, parsed


def _as_native(parsed: Parsed) -> Parsed:
    """Return ``parsed`` for a model that answers without a label unless it calls a tool."""
    if parsed.answer is None or "no_label" not in parsed.report.repairs:
        return parsed
    repairs = tuple(name for name in parsed.report.repairs if name != "no_label")
    report = parsed.report.model_copy(
        update={"dialect": "native", "repairs": repairs, "confidence": confidence(repairs)}
    )
    return parsed.model_copy(update={"report": report})


def unseen(shown: Shown, reader: ReplyReader) -> Unseen:
    """Return what keeps a watcher from being shown again what an earlier try of the same reply has shown.

    Args:
        shown: what was shown.
        reader: a fresh reader of that reply.
    """
    pieces = reader.feed(Chunk(reasoning=shown.reasoning)) + reader.feed(Chunk(text=shown.text))
    return Unseen([*pieces, *reader.feed(Chunk(action=shown.action))])


class Unseen:
    """Lets through what goes beyond the deltas already shown, as long as a reply repeats them.

    Where it departs from them all of it is shown again, the first delta marked ``anew``.

    Args:
        shown: the deltas that were shown, in order.
    """

    def __init__(self, shown: Sequence[Delta]) -> None:
        self._left = _joined(shown)
        self._new: list[Delta] = []

    def feed(self, delta: Delta) -> list[Delta]:
        """Return what of ``delta`` is to be shown."""
        if not self._left:
            return [delta]
        self._new.append(delta)
        text = delta.text
        while text and self._left and self._left[0].section == delta.section:
            head = self._left[0].text
            same = min(len(head), len(text))
            if head[:same] != text[:same]:
                return self._again()
            text = text[same:]
            self._left[:1] = [Delta(section=delta.section, text=head[same:])] if head[same:] else []
        if text and self._left:
            return self._again()
        return [Delta(section=delta.section, text=text)] if text else []

    def close(self) -> list[Delta]:
        """Return what is to be shown of a reply that ended before it had repeated everything."""
        return self._again() if self._left else []

    def _again(self) -> list[Delta]:
        again = _joined(self._new) or [Delta(section=self._left[0].section, text="")]
        self._left, self._new = [], []
        return [again[0].model_copy(update={"anew": True}), *again[1:]]


def _joined(deltas: Sequence[Delta]) -> list[Delta]:
    """Return the deltas with neighbours of one section as one."""
    found: list[Delta] = []
    for delta in deltas:
        if found and found[-1].section == delta.section:
            found[-1] = Delta(section=delta.section, text=found[-1].text + delta.text)
        elif delta.text:
            found.append(Delta(section=delta.section, text=delta.text))
    return found
