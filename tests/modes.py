"""What two runs in different modes may differ in, as long as the model says the same in both."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

from whybox.events import Asked, Event, Parsed, Replied, Started
from whybox.trace import Trace


def differences(one: Trace, other: Trace) -> set[str]:
    """Return the fields that differ, as ``type.field``, up to where the model itself says something else."""
    found: set[str] = set()
    for a, b in zip(one, other, strict=False):
        if a.type != b.type:
            return found | {f"{a.type}/{b.type}"}
        if isinstance(a, Parsed) and isinstance(b, Parsed) and meaning(a) != meaning(b):
            return found
        found |= {f"{a.type}.{name}" for name in type(a).model_fields if getattr(a, name) != getattr(b, name)}
    return found


def meaning(parsed: Parsed) -> object:
    """Return what a reply says, without how it was written."""
    calls = [(call.tool, call.arguments) for call in parsed.calls]
    return parsed.thought, calls, parsed.answer, parsed.reason


def check_shape(trace: Iterable[Event], mode: str) -> None:
    """Check what holds of every run: each call is announced, read, and was made in the mode it says."""
    events = list(trace)
    assert isinstance(events[0], Started)
    for before, event in pairwise(events):
        assert not isinstance(event, Asked) or event.mode == mode
        assert not isinstance(event, Replied) or isinstance(before, Asked)
        assert not isinstance(before, Replied) or isinstance(event, Parsed)
        assert not isinstance(event, Parsed) or isinstance(before, Replied)
