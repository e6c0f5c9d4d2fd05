"""What whybox weighs before it does anything: time of imports and of ``--help``, and size of the base install.

    python benchmarks/imports.py [--repeat 9]

All times are of fresh interpreters in one run, without the interpreter's own start, as medians and as ratios to
``import pydantic``. Allowed are twice that for ``import whybox``, four times for ``whybox --help``, and 30
distributions.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterable
from importlib.metadata import requires
from statistics import median

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HELP = "import sys; sys.argv = ['whybox', '--help']; from whybox.cli.main import main; main()"
CASES = {"import pydantic": "import pydantic", "import whybox": "import whybox", "whybox --help": HELP}
ALLOWED = {"import pydantic": 1.0, "import whybox": 2.0, "whybox --help": 4.0}
MOST_DISTRIBUTIONS = 30


def distributions(name: str = "whybox", extras: Iterable[str] = ()) -> set[str]:
    """Return what installing ``name`` installs, itself included, by the metadata of what is installed here."""
    found: set[str] = set()
    _collect(Requirement(f"{name}[{','.join(extras)}]"), found, set())
    return found


def _collect(wanted: Requirement, found: set[str], walked: set[tuple[str, str]]) -> None:
    name = canonicalize_name(wanted.name)
    found.add(name)
    for extra in {"", *wanted.extras}:
        if (name, extra) in walked:
            continue
        walked.add((name, extra))
        for text in requires(wanted.name) or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                _collect(needed, found, walked)


def seconds(code: str) -> float:
    """Return how long a fresh interpreter takes for ``code``, in seconds."""
    begun = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def main() -> None:
    """Measure in turn, so that a busy moment of the machine touches every case, and print the table."""
    parser = argparse.ArgumentParser(description="Time of imports, and size of the base install.")
    parser.add_argument("--repeat", type=int, default=9, help="runs of each case (default 9)")
    repeat = max(1, parser.parse_args().repeat)
    times: dict[str, list[float]] = {name: [] for name in ("", *CASES)}
    for turn in range(repeat + 1):
        for name in times:
            taken = seconds(CASES.get(name, ""))
            if turn:  # the first turn only warms the file system's cache
                times[name].append(taken)
    start = median(times[""])
    own = {name: median(times[name]) - start for name in CASES}
    print(f"interpreter alone  {start * 1000:6.0f} ms  (taken off below; medians of {repeat})")
    for name, taken in own.items():
        ratio = taken / own["import pydantic"]
        print(f"{name:<17}  {taken * 1000:6.0f} ms  {ratio:5.2f} x pydantic, allowed {ALLOWED[name]:.0f} x")
    base = distributions()
    print(f"base install       {len(base):6} distributions, allowed {MOST_DISTRIBUTIONS}: {', '.join(sorted(base))}")


if __name__ == "__main__":
    main()
