"""Events as data."""

from __future__ import annotations

import json
import math

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.store.event_samples import any_event
from whybox.events import Call, Called, Delta, Event, Stamped, from_data, to_data

any_text = st.text(st.characters(exclude_categories=()))


def called(**arguments: object) -> Called:
    return Called(step=1, call=Call(tool="t", arguments=arguments))


@settings(max_examples=50, deadline=None)
@given(any_event)
def test_every_event_is_data_that_json_can_hold_and_comes_back_the_same(event: Event) -> None:
    data = to_data(event)
    # Escaped, the two halves of a character that stand side by side would be read as one.
    text = json.dumps(data, allow_nan=False, ensure_ascii=False)
    assert json.loads(text) == data
    assert to_data(from_data(json.loads(text))) == data


@given(st.dictionaries(any_text, any_text, max_size=3))
def test_lone_surrogates_in_arguments_do_not_stand_in_the_way(arguments: dict[str, str]) -> None:
    event = Called(step=1, call=Call(tool="t", arguments=arguments))
    assert from_data(to_data(event)) == event
    assert json.loads(json.dumps(to_data(event), ensure_ascii=False))["call"]["arguments"] == arguments


def test_infinite_numbers_are_said_and_not_turned_to_nothing() -> None:
    data = to_data(called(up=math.inf, down=[-math.inf], none={"x": math.nan}, one=1.5))
    assert data["call"]["arguments"] == {"up": "Infinity", "down": ["-Infinity"], "none": {"x": "NaN"}, "one": 1.5}


def test_a_delta_as_data() -> None:
    assert to_data(Delta(section="thought", text="so")) == {
        "type": "delta",
        "section": "thought",
        "text": "so",
        "anew": False,
    }


def test_an_event_of_a_later_version_is_kept_as_it_is() -> None:
    data = {"type": "dreamt", "of": ["electric", {"sheep": 1}]}
    assert to_data(from_data(data)) == data


def test_a_stamped_event_has_the_type_of_its_event() -> None:
    stamped = Stamped(run="r", seq=1, at="2026-01-01T00:00:00Z", event=called())
    assert stamped.type == "called"
