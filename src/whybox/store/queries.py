"""What is asked of the database, as statements that are made once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import sqlalchemy as sa

from whybox.store.hashing import Node
from whybox.store.rows import Found
from whybox.store.schema import blobs, event_texts, events, prompt_nodes, runs


def load(connection: sa.Connection, run: str, after: int) -> Found:
    """Return what is stored of the run behind event number ``after``, damaged or not."""
    which = {"run": run, "after": after}
    rows = [tuple(row) for row in connection.execute(_EVENTS, which).all()]
    texts = [tuple(row) for row in connection.execute(_TEXTS, which).all()] if rows else []
    asked = any(row[4] is not None for row in rows)
    parts: Iterable[Sequence[Any]] = connection.execute(_NODES, which).all() if asked else ()
    nodes = [(Node(row[0], row[1], row[2], row[3]), row[4]) for row in parts]
    return Found(None, rows, texts, nodes)


def _nodes() -> sa.Select[Any]:
    step = sa.select(prompt_nodes.c.hash, prompt_nodes.c.parent)
    heads = step.join(events, events.c.prompt == prompt_nodes.c.hash).where(
        events.c.run == sa.bindparam("run"), events.c.seq > sa.bindparam("after")
    )
    chain = heads.cte("chain", recursive=True)
    chain = chain.union(step.join(chain, prompt_nodes.c.hash == chain.c.parent))
    node = prompt_nodes.c
    return (
        sa.select(node.hash, node.parent, node.text_hash, node.label, blobs.c.text)
        .join(chain, chain.c.hash == node.hash)
        .outerjoin(blobs, blobs.c.hash == node.text_hash)
    )


RUN = sa.select(runs).where(runs.c.id == sa.bindparam("run"))
NEW_RUN = sa.insert(runs)
NEW_EVENT = sa.insert(events)
NEW_TEXT = sa.insert(event_texts)
ADVANCE = (
    sa.update(runs)
    .where(runs.c.id == sa.bindparam("run"), runs.c.events == sa.bindparam("after"))
    .values({name: sa.bindparam(f"new_{name}") for name in runs.c.keys() if name not in ("id", "created")})  # noqa: SIM118
)
_EVENTS = (
    sa.select(events.c.seq, events.c.at, events.c.type, events.c.body, events.c.prompt)
    .where(events.c.run == sa.bindparam("run"), events.c.seq > sa.bindparam("after"))
    .order_by(events.c.seq)
)
_TEXTS = (
    sa.select(event_texts.c.seq, event_texts.c.field, event_texts.c.hash, blobs.c.text)
    .outerjoin(blobs, blobs.c.hash == event_texts.c.hash)
    .where(event_texts.c.run == sa.bindparam("run"), event_texts.c.seq > sa.bindparam("after"))
)
_NODES = _nodes()
