"""Hypothesis strategies for any event that could be stored, of this version or a later one."""

from __future__ import annotations

from hypothesis import strategies as st

from whybox import events
from whybox.events import Call, Event, Report, Segment, Usage

any_text = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=20),  # lone surrogates and NUL included
    st.sampled_from(["思考：今天", "\ud83d\ude00", "\ud83d", "a\x00b", "", "\u2028", "x" * 5000, "长\ud800" * 3000]),
)
names = st.one_of(any_text, st.sampled_from(["calculator", "天气"]))
numbers = st.integers(0, 10**6)
maybe = st.none() | numbers
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**30), 10**30) | st.floats(allow_nan=False) | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
later_fields = st.dictionaries(
    st.sampled_from(["colour", "x_y", "新字段", "a\x00", "not an identifier", "body", "run", "seq"]),
    json_values,
    max_size=2,
)


def _build(kind, /, **fields):
    return st.builds(lambda known, later: kind(**later | known), st.fixed_dictionaries(fields), later_fields)


native_calls = _build(events.NativeCall, id=any_text, name=names, arguments=any_text | st.just({"a": [1]}))
segments = _build(
    Segment, name=names, role=st.sampled_from(["system", "user", "assistant"]), text=any_text, tokens=maybe
) | _build(
    Segment,
    name=names,
    role=st.sampled_from(["assistant", "tool"]),
    text=any_text,
    part=st.sampled_from(["reasoning", "call", "result", "definition"]),
    call=st.none() | native_calls,
    result_of=any_text,
    blocks=st.just(()) | st.just(({"type": "thinking", "signature": "x"},)),
)
calls = _build(Call, tool=names, arguments=st.dictionaries(any_text, json_values, max_size=3), text=any_text)
usages = _build(Usage, prompt_tokens=maybe, cached_tokens=maybe, completion_tokens=maybe, estimated=st.booleans())
reports = _build(
    Report,
    dialect=names,
    repairs=st.lists(names, max_size=2).map(tuple),
    spans=st.lists(st.tuples(names, numbers, numbers), max_size=2).map(tuple),
    confidence=st.floats(0, 1),
    dropped=any_text,
)
asked = _build(
    events.Asked,
    step=numbers,
    model=names,
    mode=names,
    prompt=st.lists(segments, max_size=4).map(tuple),
    stop=st.lists(any_text, max_size=2).map(tuple),
    max_tokens=numbers,
)
any_event: st.SearchStrategy[Event] = st.one_of(
    _build(events.Started, question=any_text, language=names, agent=st.dictionaries(any_text, json_values, max_size=3)),
    asked,
    _build(events.Replied, step=numbers, text=any_text, usage=usages),
    _build(events.ModelFailed, step=numbers, kind=names, message=any_text, partial=any_text),
    _build(
        events.Replied,
        step=numbers,
        text=any_text,
        reasoning=any_text,
        calls=st.lists(native_calls, max_size=2).map(tuple),
        blocks=st.just(({"type": "thinking", "signature": "x"},)),
        tokens=st.just((("a", -0.5, (("b", -1.0),)),)),
        notes=st.lists(any_text, max_size=2).map(tuple),
        cost=st.none() | st.floats(0, 10),
    ),
    _build(events.Retrying, step=numbers, attempt=numbers, wait=st.floats(0, 10), reason=any_text),
    _build(
        events.Switched, step=numbers, model=names, cause=st.sampled_from(["fallback", "escalated"]), reason=any_text
    ),
    _build(events.Parsed, step=numbers, thought=any_text, calls=st.lists(calls, max_size=2).map(tuple), report=reports),
    _build(events.Parsed, step=numbers, answer=any_text, report=reports),
    _build(events.Paused, step=numbers, call=calls, reason=names),
    _build(events.Approved, step=numbers, call=calls),
    _build(events.Rejected, step=numbers, call=calls, reason=any_text),
    _build(events.Called, step=numbers, call=calls),
    _build(events.Observed, step=numbers, call=calls, content=any_text, error=st.none() | names),
    _build(events.LimitReached, limit=names, message=any_text),
    _build(events.Answered, answer=any_text, complete=st.booleans(), reason=st.none() | any_text),
    _build(events.Stopped, reason=names, message=any_text),
    _build(events.Resumed),
    _build(events.Unknown, type=any_text.filter(lambda text: text not in events._types), step=json_values),
)
