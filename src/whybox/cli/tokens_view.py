"""``whybox runs show --tokens``: the anatomy of each model call, as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from whybox.cli import words
from whybox.cli.printing import print_json
from whybox.cli.words import money
from whybox.events import Stamped, Usage
from whybox.views.anatomy import PARTS, Hesitation, ModelCall, cached_share, model_calls, totals
from whybox.views.printable import printable

_UNKNOWN = "?"


def print_tokens(console: Console, events: Sequence[Stamped], language: str, *, as_json: bool = False) -> None:
    """Print what each model call of a run used, what the models used together, and where they hesitated.

    Args:
        console: where to.
        events: the run's.
        language: of the words in the tables.
        as_json: print one call a line instead.
    """
    say = words.In(language)
    calls = model_calls(events)
    if as_json:
        for call in calls:
            parts = dict(zip(PARTS, call.parts, strict=True))
            print_json(asdict(call) | {"parts": parts, "usage": call.usage.model_dump()})
        return
    for each in _tables(calls, say):
        console.print(each)


def _tables(calls: Sequence[ModelCall], say: words.In) -> Iterator[RenderableType]:
    yield _calls(calls, say)
    share = cached_share(calls)
    if share is not None:
        yield Text(say("cached_share", share=f"{share:.1%}"), "bold")
    if any(call.usage.estimated for call in calls):
        yield Text(say("estimated"), "dim")
    yield _totals(calls, say)
    for call in calls:
        for hesitation in call.hesitations:
            yield Text(printable(_hesitation(call, hesitation, say)), "dim")


def _calls(calls: Sequence[ModelCall], say: words.In) -> Table:
    shown = [at for at, part in enumerate(PARTS) if part != "other" or any(call.parts[at] for call in calls)]
    table = _table(say("calls_title"))
    table.add_column(say("column_step"), justify="right")
    for at in shown:
        table.add_column(say(f"part_{PARTS[at]}"), justify="right")
    for column in ("template", "prompt", "cached", "reply", "reasoning", "cost", "seconds"):
        table.add_column(say(f"column_{column}"), justify="right")
    for call in calls:
        usage = call.usage
        cells = [_count(call.parts[at]) for at in shown]
        cells += [_template(call), _count(usage.prompt_tokens), _cached(usage), *_reply(usage)]
        money_spent = say("failed_call") if call.failed else money(call.cost)
        seconds = "" if call.seconds is None else f"{call.seconds:.1f}"
        table.add_row(str(call.step), *cells, money_spent, seconds)
    return table


def _totals(calls: Sequence[ModelCall], say: words.In) -> Table:
    table = _table(say("totals_title"))
    for column in ("role", "model"):
        table.add_column(say(f"column_{column}"), overflow="fold")
    for column in ("calls", "prompt", "cached", "reply", "reasoning", "cost", "seconds"):
        table.add_column(say(f"column_{column}"), justify="right")
    for (role, model), total in totals(calls).items():
        usage = total.usage
        cells = [str(total.calls), _count(usage.prompt_tokens), _cached(usage), *_reply(usage)]
        table.add_row(say(f"role_{role}"), printable(model), *cells, money(total.cost), f"{total.seconds:.1f}")
    return table


def _table(title: str) -> Table:
    return Table(title=title, title_justify="left", title_style="bold", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))


def _template(call: ModelCall) -> str:
    """Return what the prompt has beside its parts: the marks of the chat template."""
    known = [count for count in call.parts if count is not None]
    if len(known) < len(PARTS) or call.usage.prompt_tokens is None or call.usage.estimated:
        return _UNKNOWN
    return str(call.usage.prompt_tokens - sum(known))


def _cached(usage: Usage) -> str:
    if usage.cached_tokens is None or not usage.prompt_tokens:
        return _count(usage.cached_tokens)
    return f"{usage.cached_tokens} ({usage.cached_tokens / usage.prompt_tokens:.0%})"


def _reply(usage: Usage) -> tuple[str, str]:
    return _count(usage.completion_tokens), "" if usage.reasoning_tokens is None else str(usage.reasoning_tokens)


def _count(count: int | None) -> str:
    return _UNKNOWN if count is None else str(count)


def _hesitation(call: ModelCall, hesitation: Hesitation, say: words.In) -> str:
    others = ", ".join(f"{_quoted(text)} {chance:.0%}" for text, chance in hesitation.others) or "-"
    return say(
        "hesitation",
        step=call.step,
        before=_quoted(hesitation.before),
        token=_quoted(hesitation.text),
        chance=f"{hesitation.probability:.0%}",
        others=others,
    )


def _quoted(text: str) -> str:
    return "`" + text.replace("\n", "⏎") + "`"
