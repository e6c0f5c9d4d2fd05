"""What one append writes and one read finds, between events and tables. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime, timedelta
from typing import Any

from whybox.errors import StoreError
from whybox.events import Asked, Event, Stamped
from whybox.store.codec import Row, decode, encode, why_unreadable
from whybox.store.hashing import Chain, Node, Prompts, blob_hash, follow, node_hash, segment_of, to_text
from whybox.store.summary import RunSummary

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_SUMMARY = tuple(each.name for each in fields(RunSummary))


def to_micros(at: datetime) -> int:
    """Return the time as microseconds since 1970, UTC, exactly."""
    return (at - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the time that is ``micros`` microseconds behind 1970, UTC."""
    return _EPOCH + micros * _MICROSECOND


@dataclass
class Batch:
    """The rows that one append adds, by table."""

    chain: Chain
    events: list[dict[str, Any]] = field(default_factory=list)
    event_texts: list[dict[str, Any]] = field(default_factory=list)
    prompt_nodes: dict[bytes, dict[str, Any]] = field(default_factory=dict)
    blobs: dict[bytes, bytes] = field(default_factory=dict)

    def add(self, run: str, seq: int, at: int, event: Event) -> None:
        """Add the rows of one event.

        Raises:
            StoreError: the event has no JSON form.
        """
        row = encode(event)
        head = self._add_prompt(event) if isinstance(event, Asked) else None
        self.events.append({"run": run, "seq": seq, "at": at, "type": row.type, "body": row.body, "prompt": head})
        for name, data in row.texts.items():
            key = blob_hash(data)
            self.blobs[key] = data
            self.event_texts.append({"run": run, "seq": seq, "field": name, "hash": key})

    def _add_prompt(self, event: Asked) -> bytes | None:
        self.chain, nodes = follow(self.chain, event.prompt)
        for node, data in nodes.items():
            self.blobs[node.text] = data
            row = {"hash": node.hash, "parent": node.parent, "text_hash": node.text, "label": node.label}
            self.prompt_nodes[node.hash] = row
        return self.chain.head


def batch(run: str, stamped: Sequence[Stamped], chain: Chain) -> Batch:
    """Return the rows for ``stamped``, which follow a prompt that is stored already.

    Raises:
        StoreError: an event has no JSON form.
    """
    rows = Batch(chain)
    for item in stamped:
        rows.add(run, item.seq, to_micros(item.at), item.event)
    return rows


def summary_row(summary: RunSummary) -> dict[str, Any]:
    """Return the summary as a row of ``runs``."""
    row = {name: getattr(summary, name) for name in _SUMMARY}
    return {**row, "created": to_micros(summary.created), "updated": to_micros(summary.updated)}


def summary_of(row: Mapping[Any, Any]) -> RunSummary:
    """Return the summary that a row of ``runs`` holds."""
    values = {name: row[name] for name in _SUMMARY}
    return RunSummary(**{**values, "created": from_micros(row["created"]), "updated": from_micros(row["updated"])})


@dataclass
class Found:
    """What a database holds of one run, or of its end.

    Args:
        summary: its row in the list of runs, when that was asked for.
        rows: ``(seq, at, type, body, prompt)`` in order.
        texts: ``(seq, field, hash, data)``; data is None when the text is not there.
        nodes: each with its text, which is None when it is not there.
    """

    summary: RunSummary | None
    rows: list[tuple[int, int, str, str, bytes | None]]
    texts: list[tuple[int, str, bytes, bytes | None]]
    nodes: list[tuple[Node, bytes | None]]


def events_of(run: str, found: Found) -> list[Stamped]:
    """Return the events.

    Raises:
        StoreError: one of them cannot be read.
    """
    events, problems = _decode_all(run, found, stop=True)
    if problems:
        raise StoreError(
            f"run {run} cannot be read: {problems[0]}; the events before it are unharmed",
            "put a copy of the database in its place, or use the version of whybox that wrote it",
        )
    return events


def problems_of(run: str, found: Found) -> list[str]:
    """Return what is wrong with a stored run, one sentence each: gaps, unreadable events, hashes that do not fit."""
    events, problems = _decode_all(run, found, stop=False)
    problems += [
        f"event {seq}: the text of {name or 'the event'!r} does not fit its hash"
        for seq, name, key, data in found.texts
        if data is not None and blob_hash(data) != key
    ]
    for node, data in found.nodes:
        if node_hash(node.parent, node.text, node.label) != node.hash:
            problems.append(f"prompt {node.hash.hex()[:12]}: its name, role or place does not fit its hash")
        if data is not None and blob_hash(data) != node.text:
            problems.append(f"prompt {node.hash.hex()[:12]}: its text does not fit its hash")
    numbers = [row[0] for row in found.rows]
    if numbers != list(range(1, len(numbers) + 1)):
        missing = sorted(set(range(1, max(numbers) + 1)) - set(numbers))
        problems.append(f"events are missing: {', '.join(map(str, missing[:10]))}{' ...' if missing[10:] else ''}")
    if not problems and found.summary != summarise(run, events):
        problems.append("the list of runs does not say what the events say")
    return problems


def summarise(run: str, events: Sequence[Stamped]) -> RunSummary | None:
    """Return the summary of a run with these events; None for a run without any."""
    if not events:
        return None
    summary = RunSummary(run, events[0].at, events[0].at)
    for item in events:
        summary = summary.add(item.event, item.at)
    return summary


def _decode_all(run: str, found: Found, *, stop: bool) -> tuple[list[Stamped], list[str]]:
    prompts, events, problems = _prompts(found.nodes), [], []
    texts: dict[int, dict[str, bytes]] = {}
    absent: set[int] = set()
    for seq, name, _, data in found.texts:
        if data is None:
            absent.add(seq)
        else:
            texts.setdefault(seq, {})[name] = data
    for seq, at, kind, body, head in found.rows:
        try:
            if seq in absent:
                raise ValueError("a text of it is not there")  # noqa: TRY301 - told like any other damage
            event = decode(Row(kind, body, texts.get(seq, {})), prompts.prompt(head))
        except KeyError:
            problems.append(f"event {seq}: a part of its prompt is not there")
        except (ValueError, RecursionError) as error:
            problems.append(f"event {seq}: {why_unreadable(error)}")
        else:
            events.append(Stamped.model_construct(run=run, seq=seq, at=from_micros(at), event=event))
        if problems and stop:
            break
    return events, problems


def _prompts(nodes: Sequence[tuple[Node, bytes | None]]) -> Prompts:
    segments = {}
    for node, data in nodes:
        if data is None:
            continue
        try:
            segments[node.hash] = segment_of(node.label, to_text(data))
        except ValueError:
            continue  # told as a missing part by whoever needs it
    return Prompts({node.hash: node.parent for node, _ in nodes}, segments)
