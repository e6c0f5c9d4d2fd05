"""How whybox and other libraries read recorded kinds of replies: ``python benchmarks/parsers.py``.

    pip install langchain-classic llama-index-core qwen-agent soundfile smolagents

A library that is not installed is named as such. Each case has one outcome:

* right: what the case expects, or asking again where that is what it expects;
* asked again: the model would be asked again, though the reply could be read;
* raised: another error, or no end within the time limit;
* silently wrong: something was returned that the case does not accept;
* not applicable: native tool calls, for a parser of text.

A library with several parsers has a line for each, and one in which each case has the best outcome of any of them: no
user could choose so well, since a parser is chosen before the reply is there. ``parser_peers.py`` says how else the
other libraries are read generously. whybox was written with these cases at hand, so its own count says little about
other replies. Most of the other agents ask the server to stop before an observation; ``--stops`` shows each of them
replies that were cut there.
"""

from __future__ import annotations

import argparse
import json
import runpy
import signal
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from parser_peers import STOPS, AskedAgain, Got, Reply, libraries, reply_of
from whybox.output_parser import read_case

FOLDER = Path(__file__).parents[1] / "tests" / "dialects" / "cases"
OUTCOMES = ("right", "asked again", "raised", "silently wrong", "not applicable")  # the best first
MOST_SECONDS = 10.0

Case = dict[str, Any]
Outcomes = dict[str, dict[str, str]]  # of a parser: of a case
check: Callable[[Case, Got], list[str]] = runpy.run_path(str(FOLDER / "grade.py"))["check"]


class OutOfTime(BaseException):
    """No Exception, so that no parser takes it for an error of the reply."""


@contextmanager
def time_limit(most: float) -> Iterator[None]:
    """End what runs longer, where the system can."""
    if not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        raise OutOfTime

    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, most)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def outcome(case: Case, read: Callable[[], Got]) -> str:
    """Return what became of a case."""
    expected = case["expect"]["kind"]
    try:
        with time_limit(case["expect"].get("max_seconds", MOST_SECONDS)):
            got = read()
    except AskedAgain:
        got = {"kind": "retry"}
    except (Exception, OutOfTime):  # noqa: BLE001 - any error is an outcome here
        return "raised"
    if accepted(case, got):
        return "right"
    return "asked again" if got["kind"] == "retry" and expected != "retry" else "silently wrong"


def accepted(case: Case, got: Got) -> bool:
    """Say whether a case accepts what was returned."""
    try:
        return not check(case, got)
    except (TypeError, ValueError, RecursionError):  # it holds what is no JSON, or JSON too deep to be compared
        return False


def stopped(reply: Reply, stops: tuple[str, ...]) -> Reply:
    """Return the reply as a server gives it that ends at these stop sequences."""
    text = reply.content
    ends = [at for stop in stops if (at := text.find(stop)) >= 0]
    return replace(reply, content=text[: min(ends)]) if ends else reply


def outcomes(cases: list[Case], stops: bool) -> tuple[Outcomes, dict[str, str]]:
    """Return the outcomes of each parser, and of each library as a whole; and which libraries are missing."""
    found: Outcomes = {"whybox": {case["id"]: outcome(case, lambda case=case: read_case(case)) for case in cases}}
    missing: dict[str, str] = {}
    for library, parsers in libraries().items():
        if isinstance(parsers, str):
            missing[library] = parsers
            continue
        each: Outcomes = {f"  {parser.name}": {} for parser in parsers}
        for case in cases:
            reply = stopped(reply_of(case), STOPS.get(library, ()) if stops else ())
            for parser in parsers:
                result = "not applicable"
                if parser.takes(reply):
                    result = outcome(case, lambda p=parser, r=reply, c=case: p.got(r, c["tools"]))
                each[f"  {parser.name}"][case["id"]] = result
        whole = {case["id"]: min((of[case["id"]] for of in each.values()), key=OUTCOMES.index) for case in cases}
        found[f"{library}, any of {len(parsers)}" if len(parsers) > 1 else library] = whole
        found |= {f"{name} ({library})": of for name, of in each.items()} if len(parsers) > 1 else {}
    return found, missing


def print_table(found: Outcomes, missing: dict[str, str]) -> None:
    print(f"{'':<44}", *(f"{name:>14}" for name in OUTCOMES))
    for name, of in found.items():
        counts = Counter(of.values())
        print(f"{name:<44}", *(f"{counts[each]:14}" for each in OUTCOMES))
    for library, why in missing.items():
        print(f"{library:<44} {why}")


def print_families(found: Outcomes, cases: list[Case]) -> None:
    """Print how many cases of each family each library has right, and how many silently wrong."""
    whole = [name for name in found if not name.startswith(" ")]
    families: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        families[case["family"]].append(case["id"])
    print(f"\n{'right / silently wrong':<30}", *(f"{name.split(',')[0]:>18}" for name in whole))
    for family, ids in sorted(families.items()):
        counts = [Counter(found[name][each] for each in ids) for name in whole]
        cells = [f"{count['right']} / {count['silently wrong']}" for count in counts]
        print(f"{f'{family} ({len(ids)})':<30}", *(f"{cell:>18}" for cell in cells))


def main() -> None:
    parser = argparse.ArgumentParser(description="How whybox and other libraries read recorded kinds of replies.")
    parser.add_argument("--cases", type=Path, default=FOLDER / "parser.jsonl", help="the cases, one JSON object a line")
    parser.add_argument("--family", action="store_true", help="a second table, for each family of cases")
    parser.add_argument("--stops", action="store_true", help="cut replies for the others at their stop sequences")
    parser.add_argument("--json", type=Path, help="write the outcome of every case to this file")
    given = parser.parse_args()
    # Not splitlines: a reply may hold other line ends than \n.
    cases = [json.loads(line) for line in given.cases.read_text(encoding="utf-8").split("\n") if line.strip()]
    found, missing = outcomes(cases, given.stops)
    print(f"{len(cases)} cases of {given.cases.name}")
    print_table(found, missing)
    if given.family:
        print_families(found, cases)
    if given.json:
        written = {"outcomes": {name.strip(): of for name, of in found.items()}, "missing": missing}
        given.json.write_text(json.dumps(written, ensure_ascii=False, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
