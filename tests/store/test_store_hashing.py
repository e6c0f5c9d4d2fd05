"""Content addresses."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.event_samples import any_text, segments
from whybox.events import Segment
from whybox.store.hashing import Chain, Prompts, blob_hash, follow, node_hash, segment_of, to_bytes, to_text

prompts = st.lists(segments, max_size=5).map(tuple)


def question(text: str, **fields: object) -> Segment:
    return Segment.model_validate({"name": "question", "role": "user", "text": text, **fields})


@settings(deadline=None)
@given(any_text)
def test_bytes_give_back_any_text(text: str) -> None:
    assert to_text(to_bytes(text)) == text


@settings(deadline=None)
@given(known=prompts, prompt=prompts)
def test_a_chain_is_the_same_whatever_was_known_before(known, prompt) -> None:
    before, _ = follow(Chain(), known)
    assert follow(before, known + prompt)[0] == follow(Chain(), known + prompt)[0]
    assert follow(before, prompt)[0] == follow(Chain(), prompt)[0]


@settings(deadline=None)
@given(known=prompts, prompt=prompts)
def test_only_what_is_new_makes_nodes_and_all_nodes_together_make_the_prompt(known, prompt) -> None:
    before, first = follow(Chain(), known)
    after, second = follow(before, known + prompt)
    assert len(second) == len(prompt)
    nodes = {**first, **second}
    rebuilt = Prompts(
        {node.hash: node.parent for node in nodes},
        {node.hash: segment_of(node.label, to_text(data)) for node, data in nodes.items()},
    )
    assert rebuilt.prompt(after.head) == known + prompt
    assert rebuilt.prompt(before.head) == known


@settings(deadline=None)
@given(prompts)
def test_every_node_carries_the_hash_of_what_it_holds(prompt) -> None:
    for node, data in follow(Chain(), prompt)[1].items():
        assert node.text == blob_hash(data)
        assert node.hash == node_hash(node.parent, node.text, node.label)


@pytest.mark.parametrize(
    "other",
    [
        question("b"),
        question("a", name="history:1"),
        question("a", role="system"),
        question("a", tokens=1),
        question("a", cached=True),
    ],
)
def test_prompts_that_differ_in_anything_have_different_names(other: Segment) -> None:
    assert follow(Chain(), (question("a"),))[0].head != follow(Chain(), (other,))[0].head
    behind = question("same")
    assert follow(Chain(), (question("a"), behind))[0].head != follow(Chain(), (other, behind))[0].head


def test_the_name_of_a_prompt_is_the_same_in_every_version() -> None:
    head = follow(Chain(), (question("今天", tokens=2), question("b")))[0].head
    assert head is not None
    assert head.hex() == "945cb1a2fd100491f87a7832f21cbb15fecb36917bf6fb259751376fd78972ea"


def test_a_prompt_with_a_missing_or_circular_node_is_a_key_error() -> None:
    segment = question("a")
    for broken in (Prompts({b"1": b"2"}, {b"1": segment}), Prompts({b"1": b"1"}, {b"1": segment})):
        with pytest.raises(KeyError):
            broken.prompt(b"1")
