r"""How fast replies are parsed, and whether any kind of reply makes it slow: ``python benchmarks/parser_speed.py``.

Ordinary replies come first, beside the parsers of other libraries where these are installed (``parser_peers.py``
says how). Then floods: replies that repeat one thing, which is where a parser turns out to be quadratic. Each flood
runs in a process of its own that is ended at a time limit, at three sizes. "Slope" is that of log time against log size
between the two largest sizes: 1 is linear, 2 quadratic. Memory is the peak at the middle size as a multiple of the
reply, beside the reply itself. "By character" is a flood of 100 kB that comes so. Flagged are slopes above 1.2, more
than 5 s at the largest size, and more than 3 times the reply in memory; a profile then says where the time goes.

    python benchmarks/parser_speed.py                        # about ten minutes
    python benchmarks/parser_speed.py --everywhere --sizes 100000 1000000
    python benchmarks/parser_speed.py --only "spaces" --no-peers

Sizes are in characters. The peers only read floods of the smallest size.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import math
import pstats
import re
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import parser_peers
from whybox.dialects.tool_calls import MessageReader
from whybox.output_parser import OutputParser, tools_of

OURS = "whybox"
NATIVE = "whybox, native chunks"
SIZES = (100_000, 1_000_000, 10_000_000)
PIECES = (25_000, 100_000)  # sizes of a flood that comes character by character
PIECE = 4  # about the characters of a token
MOST_SLOPE, MOST_SECONDS, MOST_MEMORY = 1.2, 5.0, 3.0
NOISE = 0.02  # seconds: below it a slope says nothing
CASE_TOOLS = [{"name": "search", "args": ["query"]}, {"name": "write_file", "args": ["path", "content"]}]
TOOLS = tools_of("search(query),write_file(path,content)")
PROSE = "The harbour was quiet in the morning, and the boats lay still on the water, as they do.\n"

# Where a flood stands: what is written before and after it.
PLACES = {
    "plain": ("", ""),
    "thought": ("Thought: ", '\nAction: search\nAction Input: {"query": "boats"}'),
    "answer": ("Thought: I know.\nFinal Answer: ", ""),
    "input": ("Thought: look.\nAction: search\nAction Input: ", ""),
    "brackets": ("Thought: look.\nAction: search[", "]"),
    "call": ('Thought: look.\nAction: search(query="', '")'),
    "value": ('Action: write_file\nAction Input: {"path": "a.md", "content": "', '"}'),
    "object": ("Action: write_file\nAction Input: {", "}"),
    "name": ("Action: ", ""),
    "tag": ('<tool_call>\n{"name": "search", "arguments": {"query": "', '"}}\n</tool_call>'),
    "native": ('{"query": "', '"}'),
}
# What is repeated, and where by default.
FLOODS: dict[str, tuple[str, tuple[str, ...]]] = {
    "( nested": ("(", ("input", "brackets", "call")),
    "[ nested": ("[", ("input", "brackets", "object")),
    "{ nested": ("{", ("input", "brackets", "object", "plain")),
    "< flood": ("<", ("input", "plain", "answer")),
    "（ nested": ("（", ("input", "brackets")),
    "【 nested": ("【", ("input", "brackets")),
    '{"a": nested': ('{"a":', ("input", "object", "plain")),
    "[( mixed": ("[({", ("input", "brackets")),
    ") flood": (")", ("input", "call")),
    "] flood": ("]", ("input", "brackets")),
    "} flood": ("}", ("input", "object")),
    "]] flood": ("]]", ("brackets", "plain")),
    "} { objects": ("{} ", ("input", "plain")),
    "objects": ('{"a": 1}\n', ("input", "plain")),
    "calls of JSON": ('{"name": "search", "arguments": {"query": "boats"}}\n', ("input", "plain")),
    '" flood': ('"', ("input", "value", "call")),
    '" unclosed': ('"a": "b, ', ("object", "value")),
    "' flood": ("'", ("input", "object", "call")),
    '""" flood': ('"""', ("input", "value", "call")),
    "` flood": ("`", ("input", "answer")),
    "backslashes": ("\\", ("input", "value", "native")),
    "escaped quotes": ('\\"', ("input", "value", "tag")),
    "\\u floods": ("\\ud83d", ("value", "native")),
    "digits": ("7", ("input", "object", "answer")),
    "spaces": (" ", ("plain", "thought", "answer", "input", "value", "object", "name")),
    "newlines": ("\n", ("plain", "thought", "answer", "input", "value", "object", "name")),
    "spaces and newlines": (" \n", ("plain", "thought", "answer", "input", "name")),
    "tabs": ("\t", ("input", "answer")),
    "\\r flood": ("\r", ("plain", "answer", "input")),
    "\\r\\n flood": ("\r\n", ("answer", "input")),
    "U+2028 flood": ("\u2028", ("answer", "input")),
    "zero-width flood": ("\u200b", ("plain", "thought", "answer", "input", "name")),
    "U+FEFF flood": ("\ufeff", ("plain", "answer")),
    "combining marks": ("\u0301", ("answer", "name")),
    "full-width spaces": ("\u3000", ("answer", "input")),
    "** flood": ("**", ("plain", "thought", "answer", "input")),
    "** lines": ("**\n", ("plain", "answer")),
    "# lines": ("#\n", ("answer", "input")),
    "- lines": ("- a\n", ("answer", "input")),
    "> flood": ("> ", ("plain", "answer")),
    "colons": (":", ("answer", "name")),
    "fences": ("```\n", ("plain", "answer", "input")),
    "json fences": ("```json\n{}\n", ("plain", "input")),
    "tilde fences": ("~~~\n", ("answer",)),
    "label lines": ("Action: a\n", ("thought", "answer", "plain")),
    "Action: on one line": ("Action: ", ("plain", "thought", "name")),
    "known actions": ("Action: search\n", ("plain", "thought")),
    "Action Input lines": ("Action Input: a\n", ("plain", "input")),
    "Thought lines": ("Thought: a\n", ("plain", "answer", "input")),
    "Observation lines": ("Observation: a\n", ("answer", "input")),
    "Final Answer lines": ("Final Answer: a\n", ("plain", "input")),
    "words and a colon": ("some words: ", ("answer", "thought")),
    "lines with a colon": ("Note: a\n", ("answer", "thought")),
    "half labels": ("Act\n", ("plain", "answer", "input")),
    "half labels, one line": ("Act", ("plain", "name")),
    "中 labels": ("动作：甲\n", ("thought", "answer")),
    "<think> flood": ("<think>", ("plain", "answer")),
    "</think> flood": ("</think>", ("plain", "answer")),
    "<tool_call> flood": ("<tool_call>", ("plain", "answer", "input")),
    "</tool_call> flood": ("</tool_call>", ("plain", "answer")),
    "tool_call objects": ('<tool_call>{"name": "search", "arguments": {"query": "a"}}</tool_call>\n', ("plain",)),
    "<function=a> flood": ("<function=a>", ("plain", "answer", "input")),
    "<parameter=a> flood": ("<parameter=a>", ("plain", "tag")),
    "<|channel|> flood": ("<|channel|>", ("plain", "answer")),
    "<|im_end|> flood": ("<|im_end|>", ("plain", "answer")),
    "[TOOL_CALLS] flood": ("[TOOL_CALLS]", ("plain", "answer")),
    "<invoke> flood": ('<invoke name="a">', ("plain", "answer")),
    "</ flood": ("</", ("plain", "answer")),
    "<a> flood": ("<a>", ("plain", "answer")),
    "# // comments": ("# // comment\n", ("object",)),
    "/* flood": ("/*", ("object", "value")),
    "commas": (",", ("input", "object", "call")),
    "pairs": ('"k": 1, ', ("object",)),
    "bare pairs": ("k: v, ", ("object",)),
    "keyword pairs": ('a="b", ', ("input", "call")),
    "+ of strings": ('" + "', ("value", "call")),
    "signs": ("-", ("input", "object", "answer")),
    "Finish[ flood": ("Finish[", ("plain", "name")),
    "search[ flood": ("search[", ("plain", "name", "input")),
    "search( flood": ("search(", ("plain", "name", "input")),
    "prose": (PROSE, ("thought", "answer", "input", "value", "native", "plain")),
}
BALANCED = {
    "( nested": ")",
    "[ nested": "]",
    "{ nested": "}",
    "（ nested": "）",
    "【 nested": "】",
    '{"a": nested': "}",
}
SPECIAL = {"10^6 brackets": "input", "10^6 brackets in [ ]": "brackets"}


def reply(family: str, size: int) -> str:
    """Return the reply of a family, such as ``spaces / answer`` or ``( nested, closed / input``."""
    flood, _, place = family.partition(" / ")
    head, tail = PLACES[place]
    if flood in SPECIAL:
        return head + "[" * 1_000_000 + "]" * 1_000_000 + tail
    unit = FLOODS[flood.removesuffix(", closed")][0]
    room = max(0, size - len(head) - len(tail))
    if flood.endswith(", closed"):
        close = BALANCED[flood.removesuffix(", closed")]
        count = room // (len(unit) + len(close))
        return head + unit * count + close * count + tail
    return head + (unit * (room // len(unit) + 1))[:room] + tail


def families(everywhere: bool) -> list[str]:
    """Return the names of the families; ``everywhere`` puts each flood into each place."""
    names = []
    for flood, (_, places) in FLOODS.items():
        for place in PLACES if everywhere else places:
            names.append(f"{flood} / {place}")
            if flood in BALANCED:
                names.append(f"{flood}, closed / {place}")
    return names + [f"{flood} / {place}" for flood, place in SPECIAL.items()]


def ours(pieces: Iterable[str]) -> None:
    reader = OutputParser(TOOLS).stream()
    for piece in pieces:
        reader.feed(piece)
    reader.close()


def native(pieces: Iterable[str]) -> None:
    """Read a native call whose arguments arrive in pieces."""
    reader = MessageReader(TOOLS, "en")
    call: dict[str, Any] = {"index": 0, "id": "c1", "function": {"name": "search", "arguments": ""}}
    reader.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
    for piece in pieces:
        delta = {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
        reader.feed({"choices": [{"index": 0, "delta": delta}]})
    reader.close()


def reading(parser: str, text: str, step: int) -> Callable[[], object]:
    """Return what reads the text with one parser, whole or in pieces of ``step`` characters."""
    if parser in (OURS, NATIVE):
        pieces = [text[at : at + step] for at in range(0, len(text), step)] if step else [text]
        return lambda: (ours if parser == OURS else native)(pieces)
    read = parser_peers.reader(parser)
    return lambda: _heedless(read, text)


def _heedless(read: parser_peers.Read, text: str) -> None:
    try:
        read(text, CASE_TOOLS)
    except Exception:  # noqa: BLE001 - a peer that gives up has read it too, and only its time counts here
        return


def seconds(work: Callable[[], object], least: float = 0.2) -> float:
    """Return the time of one run, the mean of as many as take ``least`` seconds.

    It is the processor's time, so that a busy machine does not count; the runs are many since that clock may be coarse.
    """
    begun, runs = time.process_time(), 0
    while (taken := time.process_time() - begun) < least:
        work()
        runs += 1
    return taken / runs


# ---------------------------------------------------------------- what runs in a process of its own


def child(job: dict[str, Any]) -> None:
    """Do one job and print a line of JSON for each thing found, so that what was found before a time limit counts."""
    parser, family = job["parser"], job.get("family", "")
    reading(parser, "Final Answer: 1", 0)()  # what is made once is not the reply's
    for kind, step in (("size", 0), ("piecewise", 1)):
        before = None
        for size in job.get(kind, ()):
            if before and before[1] * size / before[0] > job["limit"] / 3:
                _tell(failed=f"{_short(size)} not tried")
                break
            before = size, seconds(reading(parser, reply(family, size), step))
            _tell(**{kind: size}, seconds=before[1])
    if names := job.get("floods"):
        _tell()  # its imports are done
        for name in names:
            _tell(**{name: seconds(reading(parser, reply(name, job["each"]), 0), 0.01)})
    if size := job.get("memory"):
        _tell(memory=memory(parser, reply(family, size)))
    if size := job.get("profile"):
        _tell(where=where(reading(parser, reply(family, size), job.get("step", 0))))


def _tell(**found: Any) -> None:
    print(json.dumps(found), flush=True)


def memory(parser: str, text: str) -> float:
    """Return the peak of memory while a text is read, as a multiple of the text's own."""
    work = reading(parser, text, 0)
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / sys.getsizeof(text)


def where(work: Callable[[], object], most: int = 3) -> list[str]:
    """Return the functions with the most time of their own, with what calls them where they are built in."""
    profile = cProfile.Profile()
    profile.runcall(work)
    stats: dict[Any, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    total = sum(entry[2] for entry in stats.values()) or 1.0
    found = []
    for function, entry in sorted(stats.items(), key=lambda item: -item[1][2])[:most]:
        callers = sorted(entry[4].items(), key=lambda item: -item[1][2])
        of = f" in {_named(callers[0][0])}" if function[0] == "~" and callers else ""
        found.append(f"{entry[2] / total:.0%} {_named(function)}{of}")
    return found


def _named(function: tuple[str, int, str]) -> str:
    file, line, name = function
    return name if file == "~" else f"{Path(file).name}:{line} {name}"


def run(job: dict[str, Any], limit: float) -> list[dict[str, Any]]:
    """Run a job in a process of its own and return what it found until the time limit."""
    command = [sys.executable, __file__, "--job", json.dumps(job)]
    try:
        done = subprocess.run(command, capture_output=True, timeout=limit, check=False)
        out, failed = done.stdout, done.returncode != 0
        error = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
    except subprocess.TimeoutExpired as ended:
        out, failed, error = ended.stdout or b"", True, [f"over {limit:.0f} s"]
    found = [json.loads(line) for line in out.decode().splitlines() if line.startswith("{")]
    return [*found, {"failed": error[0] if error else "ended"}] if failed else found


# ---------------------------------------------------------------- what is found


def slope(times: list[tuple[int, float]]) -> float | None:
    """Return the slope of log time against log size between the last two sizes, None where time is mere noise."""
    if len(times) < 2 or times[-1][1] < NOISE:
        return None
    (small, before), (large, after) = times[-2:]
    return math.log(after / before) / math.log(large / small)


def flood(family: str, parser: str, sizes: list[int], limit: float) -> dict[str, Any]:
    """Return the times, slopes and memory of one family, and what is wrong with them."""
    special = family.startswith(tuple(SPECIAL))
    sizes = [2_000_000] if special else sizes
    job = {"parser": parser, "family": family, "limit": limit}
    timed = job | {"size": sizes, "piecewise": [] if special else PIECES}
    result = _times(run(timed, limit))
    if not result["failed"] and any("slope" in each for each in wrong(result)):
        result = _times(run(timed, limit), result)  # a busy machine may be why
    if all(each.endswith("not tried") for each in result["failed"]):
        found = run(job | {"memory": sizes[len(sizes) // 2]}, limit)[0]
        result["memory"] = found.get("memory")
        result["failed"] += [f"memory: {found['failed']}"] if "failed" in found else []
    result |= {"family": family, "wrong": wrong(result)}
    if result["wrong"]:
        in_pieces = all("character" in each for each in result["wrong"])
        times = result["piecewise"] if in_pieces else result["size"]
        size = max((size for size, taken in times if taken < 2), default=sizes[0] // 10)
        hints = run(job | {"profile": size, "step": int(in_pieces)}, limit)
        result["where"] = [part for each in hints for part in each.get("where", [each.get("failed")])]
    return result


def _times(found: list[dict[str, Any]], before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the times that were found, the shorter ones where there are times from before."""
    result: dict[str, Any] = {"failed": [each["failed"] for each in found if "failed" in each], "memory": None}
    for kind in ("size", "piecewise"):
        older = dict(before[kind]) if before else {}
        times = [(each[kind], each["seconds"]) for each in found if kind in each]
        result[kind] = [(size, min(taken, older.get(size, taken))) for size, taken in times]
        result[f"{kind}_slope"] = slope(result[kind])
    return result


def wrong(result: dict[str, Any]) -> list[str]:
    """Return in words what of a family is flagged."""
    found = [str(each) for each in result["failed"]]
    if (result["size_slope"] or 0) > MOST_SLOPE:
        found.append(f"slope {result['size_slope']:.2f}")
    if (result["piecewise_slope"] or 0) > MOST_SLOPE:
        found.append(f"slope {result['piecewise_slope']:.2f} by character")
    if result["size"] and result["size"][-1][1] > MOST_SECONDS:
        found.append(f"{result['size'][-1][1]:.1f} s")
    if (result["memory"] or 0) > MOST_MEMORY:
        found.append(f"memory {result['memory']:.1f}x")
    return found


def floods(names: list[str], sizes: list[int], limit: float) -> Iterator[dict[str, Any]]:
    """Print and return what is found of each family; what is flagged has a line of its own."""
    print(f"{'seconds at':<36}", *(f"{_short(size):>8}" for size in sizes), "   slope  memory  by character, slope")
    for name in names:
        found = flood(name, NATIVE if name.endswith("/ native") else OURS, sizes, limit)
        taken = [f"{each:8.3f}" for _, each in found["size"]] + ["       -"] * len(sizes)
        piecewise = found["piecewise"][-1][1] if found["piecewise"] else None
        numbers = (found["size_slope"], found["memory"], piecewise, found["piecewise_slope"])
        print(f"{name:<36}", *taken[: len(sizes)], *(f"{_number(each):>7}" for each in numbers), flush=True)
        if found["wrong"]:
            print(f"    {'; '.join(found['wrong'])}: {', '.join(found['where'])}", flush=True)
        yield found


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _short(size: int) -> str:
    return f"{size / 1e6:g} MB" if size >= 1_000_000 else f"{size / 1e3:g} kB"


def throughput(limit: float, with_peers: bool) -> list[dict[str, Any]]:
    """Print how fast ordinary replies are read; every ratio is to whybox reading 1 MB whole."""
    rows = []
    print(f"{'prose':<50} {'read':>7} {'MB/s':>9} {'ratio':>8} {'pieces/s':>11}")
    for place in ("thought", "answer"):
        text = reply(f"prose / {place}", SIZES[1])
        whole, in_pieces = seconds(reading(OURS, text, 0), 1), seconds(reading(OURS, text, PIECE))
        measured = [(OURS, whole, len(text)), (f"{OURS}, in pieces of {PIECE}", in_pieces, len(text))]
        others = parser_peers.names() if with_peers else []
        measured += [(name, *_peer_speed(name, place, limit)) for name in others]
        for name, taken, size in measured:
            rate = f"{len(text) / PIECE / in_pieces:,.0f}" if "pieces" in name else ""
            speed, best = size / taken / 1e6, len(text) / whole / 1e6
            print(f"{f'{place}, {name}':<50} {_short(size):>7} {speed:9.3f} {speed / best:8.4f} {rate:>11}", flush=True)
            rows.append({"parser": name, "reply": place, "seconds": taken, "characters": size})
    return rows


def _peer_speed(name: str, place: str, limit: float) -> tuple[float, int]:
    """Return the time for the largest reply that a peer reads within the limit, and its size."""
    job = {"parser": name, "family": f"prose / {place}", "size": [SIZES[0] // 10, *SIZES[:2]], "limit": 3 * limit}
    found = [(each["seconds"], each["size"]) for each in run(job, limit) if "size" in each]
    return found[-1] if found else (limit, SIZES[0] // 10)


def peers(names: list[str], size: int, limit: float) -> list[dict[str, Any]]:
    """Print for how many floods of the smallest size each peer takes long, and which are the worst."""
    rows = []
    print(f"{f'{len(names)} floods of {_short(size)}':<46} over 0.1 s  over 1 s  over {limit:g} s")
    for parser in (OURS, *parser_peers.names()):
        taken = each_flood(parser, names, size, limit)
        over = [sum(each >= most for each in taken.values()) for most in (0.1, 1.0, limit)]
        print(f"{parser:<46} {over[0]:10} {over[1]:9} {over[2]:10}")
        for name, most in sorted(taken.items(), key=lambda item: -item[1])[:3]:
            print(f"    {most:6.2f} s  {name}", flush=True)
        rows.append({"parser": parser, "seconds": taken})
    return rows


def each_flood(parser: str, names: list[str], size: int, limit: float) -> dict[str, float]:
    """Return the time of each flood. The process is ended when one takes too long, and another takes the rest."""
    taken: dict[str, float] = {}
    while left := [name for name in names if name not in taken]:
        job = json.dumps({"parser": parser, "floods": left, "each": size})
        command = [sys.executable, __file__, "--job", job]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            watch = threading.Timer(60, process.kill)  # for its imports
            watch.start()
            for line in process.stdout or ():
                watch.cancel()
                taken |= json.loads(line)
                watch = threading.Timer(limit, process.kill)
                watch.start()
            watch.cancel()
        if len(taken) < len(names):
            taken[next(name for name in names if name not in taken)] = limit
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast replies are parsed.")
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES), help="sizes of a flood, in characters")
    parser.add_argument("--limit", type=float, default=40, help="seconds for one flood, all its sizes together")
    parser.add_argument("--peer-limit", type=float, default=3, help="seconds for one flood of a peer")
    parser.add_argument("--everywhere", action="store_true", help="each flood in each place")
    parser.add_argument("--only", default="", help="only floods whose name this regular expression is found in")
    parser.add_argument("--no-peers", action="store_true", help="only whybox")
    parser.add_argument("--no-floods", action="store_true", help="leave out whybox's floods")
    parser.add_argument("--json", type=Path, help="write what was found to this file")
    parser.add_argument("--job", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.job:
        child(given.job)
        return
    names = [name for name in families(given.everywhere) if re.search(given.only, name)]
    found: dict[str, Any] = {}
    if not given.only:
        found["throughput"] = throughput(given.limit, not given.no_peers)
    if not given.no_floods:
        found["floods"] = list(floods(names, sorted(given.sizes), given.limit))
    if not given.no_peers:
        text_only = [
            name for name in names if not name.endswith("/ native") and name.partition(" / ")[0] not in SPECIAL
        ]
        found["peers"] = peers(text_only, min(given.sizes), given.peer_limit)
    if given.json:
        given.json.write_text(json.dumps(found, ensure_ascii=False, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
