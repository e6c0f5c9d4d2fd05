"""An event that was stored is the event that is read, whatever is in it."""

from __future__ import annotations

import json

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.store.event_samples import any_event, any_text, asked
from whybox.errors import StoreError
from whybox.events import Asked, Call, Called, Event, Observed, Replied, Segment, Unknown
from whybox.store.codec import DEEPEST, LARGE, WHOLE, Row, decode, encode, plain
from whybox.store.sql import SqlStore


@settings(deadline=None)
@given(any_event)
def test_decoding_undoes_encoding_byte_for_byte(event: Event) -> None:
    decoded = decode(encode(event), event.prompt if isinstance(event, Asked) else ())
    assert decoded == event
    assert type(decoded) is type(event)
    # Order counts too: a replay shows the same bytes.
    assert json.dumps(decoded.model_dump()) == json.dumps(event.model_dump())


@settings(deadline=None)
@given(any_event)
def test_a_row_holds_only_what_any_database_can_keep_as_text(event: Event) -> None:
    row = encode(event)
    for text in (row.type, row.body, *row.texts):
        assert "\0" not in text
        text.encode()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(runs=st.lists(st.lists(any_event, min_size=1, max_size=5), min_size=1, max_size=3))
def test_a_database_gives_back_the_very_events_and_finds_nothing_wrong(tmp_path_factory, runs) -> None:
    async def store_and_read() -> None:
        path = tmp_path_factory.mktemp("store") / "runs.db"
        async with SqlStore(path) as store:
            stored = [await store.append(f"r{number}", 0, events) for number, events in enumerate(runs)]
        async with SqlStore(path) as store:
            for number, stamped in enumerate(stored):
                assert await store.read(f"r{number}") == stamped
                assert [s.event for s in stamped] == runs[number]
                assert await store.verify(f"r{number}") == []

    anyio.run(store_and_read)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(events=st.lists(asked, min_size=2, max_size=5), cut=st.integers(0, 3))
def test_prompts_stored_one_by_one_come_back_whole_even_when_they_do_not_only_grow(
    tmp_path_factory, events: list[Asked], cut: int
) -> None:
    grown = [events[0].prompt[:cut]]
    for event in events[1:]:
        grown.append(grown[-1][: len(grown[-1]) - (cut % 2)] + event.prompt)
    given_events = [event.model_copy(update={"prompt": prompt}) for event, prompt in zip(events, grown, strict=True)]

    async def store_and_read() -> None:
        async with SqlStore(tmp_path_factory.mktemp("store") / "runs.db") as store:
            for number, event in enumerate(given_events):
                await store.append("r", number, [event])
            assert [s.event for s in await store.read("r")] == given_events
            assert await store.verify("r") == []

    anyio.run(store_and_read)


def test_a_large_text_is_kept_beside_its_row_and_a_small_one_in_it() -> None:
    large, small = Replied(step=1, text="x" * LARGE), Replied(step=1, text="x" * (LARGE - 1))
    assert encode(large).texts == {"text": b"x" * LARGE}
    assert len(encode(large).body) < 300
    assert encode(small).texts == {}


def test_chinese_stays_readable_in_the_row() -> None:
    assert "今天" in encode(Observed(step=1, call=Call(tool="now"), content="今天")).body


def test_surrogates_move_the_whole_body_out_of_the_text_column() -> None:
    row = encode(Observed(step=1, call=Call(tool="now"), content="\ud83d"))
    assert row.body == ""
    assert set(row.texts) == {WHOLE}


def test_two_surrogates_side_by_side_are_not_joined() -> None:
    event = Unknown(type="later", text="\ud83d\ude00")
    assert decode(encode(event)) == event


def nested(levels: int) -> object:
    value: object = 1
    for level in range(levels):
        value = [value] if level % 2 else {"in": value}
    return value


def test_nesting_is_kept_up_to_the_limit() -> None:
    event = Called(step=1, call=Call(tool="x", arguments={"a": nested(DEEPEST - 3)}))
    assert decode(encode(event)) == event
    wide = Called(step=1, call=Call(tool="x", arguments={"a": [[] for _ in range(10 * DEEPEST)]}))
    assert decode(encode(wide)) == wide


def test_what_has_no_json_form_is_refused_in_one_line() -> None:
    for value in (object(), nested(DEEPEST - 2), nested(2000), 10**6000):
        with pytest.raises(StoreError, match="'called' event cannot be kept") as caught:
            encode(Called(step=1, call=Call(tool="x", arguments={"a": value})))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("body", ["", "{", "[]", '{"type": "replied"}', '{"no": "type"}'])
def test_a_damaged_row_is_a_value_error(body: str) -> None:
    with pytest.raises(ValueError):
        decode(Row("replied", body))


def test_a_prompt_is_given_as_it_is_and_not_checked_again() -> None:
    event = Asked(step=1, model="m", mode="text", prompt=(Segment(name="q", role="user", text="?"),), max_tokens=1)
    decoded = decode(encode(event), event.prompt)
    assert decoded == event
    assert decoded.prompt is event.prompt


@settings(deadline=None)
@given(any_text, st.integers(1, 50))
def test_plain_text_is_short_one_line_and_valid(text: str, longest: int) -> None:
    shown = plain(text, longest)
    assert len(shown) <= longest
    assert shown.splitlines() in ([], [shown])
    assert "\0" not in shown
    shown.encode()
