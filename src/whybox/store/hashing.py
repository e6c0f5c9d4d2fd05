"""Content addresses: a text is named by its hash, a prompt by the hash of its last segment and all before it.

A prompt is a chain of nodes, one for each segment; a node's hash covers its parent's. Prompts that begin alike
share nodes, so a run whose prompts grow at the end takes space in proportion to its steps, not to their square.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from whybox.events import Segment

NO_PARENT = bytes(32)


@dataclass(frozen=True, slots=True)
class Node:
    """One segment of a stored prompt.

    Args:
        hash: SHA-256 of the other fields.
        parent: the hash of the node before it, or None for the first.
        text: the hash of the segment's text.
        label: the rest of the segment (name, role, tokens, later fields) as JSON.
    """

    hash: bytes
    parent: bytes | None
    text: bytes
    label: bytes


@dataclass(frozen=True, slots=True)
class Chain:
    """A prompt and the hashes of its nodes, one for each segment."""

    segments: tuple[Segment, ...] = ()
    hashes: tuple[bytes, ...] = ()

    @property
    def head(self) -> bytes | None:
        """The hash that names the whole prompt; None for an empty one."""
        return self.hashes[-1] if self.hashes else None


def to_bytes(text: str) -> bytes:
    """Return the text as UTF-8. Lone surrogates, which UTF-8 has no place for, keep their three-byte form."""
    return text.encode("utf-8", "surrogatepass")


def to_text(data: bytes) -> str:
    """Return the text that :func:`to_bytes` made ``data`` from.

    Raises:
        UnicodeDecodeError: no text did.
    """
    return data.decode("utf-8", "surrogatepass")


def blob_hash(data: bytes) -> bytes:
    """Return the 32 bytes that name ``data``."""
    return hashlib.sha256(data).digest()


def node_hash(parent: bytes | None, text: bytes, label: bytes) -> bytes:
    """Return the 32 bytes that name a node. The two hashes have a fixed length, so no two nodes read the same."""
    return hashlib.sha256((parent or NO_PARENT) + text + label).digest()


def follow(known: Chain, prompt: tuple[Segment, ...]) -> tuple[Chain, dict[Node, bytes]]:
    """Return the chain of ``prompt`` and the nodes that ``known`` does not have, each with its text.

    Only the segments behind the common beginning are hashed, so a prompt that grew by one segment costs one.
    """
    shared = _common(known.segments, prompt)
    hashes = list(known.hashes[:shared])
    parent = hashes[-1] if hashes else None
    nodes: dict[Node, bytes] = {}
    for segment in prompt[shared:]:
        data, label = to_bytes(segment.text), _label(segment)
        text = blob_hash(data)
        parent_of, parent = parent, node_hash(parent, text, label)
        nodes[Node(parent, parent_of, text, label)] = data
        hashes.append(parent)
    return Chain(prompt, tuple(hashes)), nodes


def segment_of(label: bytes, text: str) -> Segment:
    """Return the segment that a node stands for.

    Raises:
        ValueError: the label is not what :func:`follow` writes.
    """
    fields = json.loads(to_text(label))
    return Segment.model_validate({**fields, "text": text} if isinstance(fields, dict) else fields)


class Prompts:
    """Prompts rebuilt from their nodes; those that share a beginning share its segments.

    Args:
        parents: the parent of each node.
        segments: the segment of each node.
    """

    def __init__(self, parents: Mapping[bytes, bytes | None], segments: Mapping[bytes, Segment]) -> None:
        self._parents = parents
        self._segments = segments
        self._built: dict[bytes | None, tuple[Segment, ...]] = {None: ()}

    def prompt(self, head: bytes | None) -> tuple[Segment, ...]:
        """Return the prompt that ``head`` names.

        Raises:
            KeyError: a node is missing.
        """
        tail: list[Segment] = []
        node = head
        while node not in self._built:
            if node is None or len(tail) > len(self._segments):
                raise KeyError(head)
            tail.append(self._segments[node])
            node = self._parents[node]
        self._built[head] = prompt = self._built[node] + tuple(reversed(tail))
        return prompt


def _common(known: tuple[Segment, ...], prompt: tuple[Segment, ...]) -> int:
    count = 0
    for old, new in zip(known, prompt, strict=False):
        # Identity and plain dictionaries first: this runs over the whole prompt at every step.
        if not (old is new or (old.__dict__ == new.__dict__ and old == new)):
            break
        count += 1
    return count


_LATER = ("part", "call", "result_of", "blocks")


def _label(segment: Segment) -> bytes:
    # A field that came later is left out at its default, so that the name of a prompt is the same in every version.
    unused = {name for name in _LATER if getattr(segment, name) == Segment.model_fields[name].default}
    fields = segment.model_dump(exclude={"text", *unused})
    return to_bytes(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))
