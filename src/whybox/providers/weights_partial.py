"""The beginning of a weights file that is still being fetched."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from whybox.errors import WeightsError
from whybox.providers.weights_catalogue import Weights
from whybox.providers.weights_files import CHUNK, Files, read_json, write_json, write_stamp
from whybox.providers.weights_progress import Watch


class Partial:
    """A file that only grows at its end, with the digest of what it holds.

    Its length is the whole state of a fetch: any source can go on from there, because all of them hold the same
    bytes. What lies behind the last :meth:`commit` is cut off when the file is opened again.

    Args:
        files: where it lies.
        weights: what it will be.
    """

    def __init__(self, files: Files, weights: Weights) -> None:
        self._files = files
        self._weights = weights
        self._digest = hashlib.sha256()
        self.length = 0
        recorded = _recorded(files, weights)
        # Unbuffered, so that a full disk is noticed at the write that met it and `length` is never ahead of the file.
        self._file: BinaryIO = files.partial.open("r+b" if recorded else "w+b", buffering=0)
        self._file.truncate(recorded)

    def load(self, watch: Watch) -> None:
        """Take up what an earlier fetch left: read it once, for the digest."""
        while block := self._file.read(CHUNK):
            self._digest.update(block)
            self.length += len(block)
            watch.at("checking", self.length)

    @property
    def finished(self) -> bool:
        """Whether :meth:`finish` was called: nothing can be written any more."""
        return self._file.closed

    @property
    def folder(self) -> Path:
        """The folder it lies in."""
        return self._files.folder

    @property
    def missing(self) -> int:
        """How many bytes are still to come."""
        return self._weights.size - self.length

    def write(self, data: bytes) -> None:
        """Append ``data``.

        Raises:
            OSError: the disk is full or broken; ``length`` counts what was written.
        """
        view = memoryview(data)
        while view:
            count = self._file.write(view)
            self._digest.update(view[:count])
            self.length += count
            view = view[count:]

    def commit(self) -> None:
        """Make what was written so far survive the death of this process or machine."""
        os.fsync(self._file.fileno())
        write_json(self._files.state, {"sha256": self._weights.sha256, "length": self.length})

    def restart(self) -> None:
        """Forget everything that was written."""
        self._cut(0, hashlib.sha256())

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Commit what the ``with`` block writes; when it fails, take that back."""
        length, digest = self.length, self._digest.copy()
        try:
            yield
        except BaseException:
            self._cut(length, digest)
            raise
        self.commit()

    def finish(self) -> Path:
        """Make this the whole file, if it is what was published, and return its path.

        Raises:
            WeightsError: it is not; it was removed.
        """
        os.fsync(self._file.fileno())
        self._file.close()
        if self._digest.hexdigest() != self._weights.sha256:
            self._files.partial.unlink()
            self._files.state.unlink(missing_ok=True)
            raise WeightsError(
                f"what was downloaded for {self._weights.name} is not the published file (its SHA-256 is "
                f"{self._digest.hexdigest()[:12]}..., not {self._weights.sha256[:12]}...) and was removed",
                "download it again; if that happens twice, the source is damaged",
            )
        self._files.partial.replace(self._files.ready)
        write_stamp(self._files, self._weights)
        self._files.state.unlink(missing_ok=True)
        return self._files.ready

    def keep(self) -> None:
        """Commit what was written, as far as the disk still lets us."""
        # On a full disk even the small state file may not fit: then the last commit counts, and the error that
        # brought us here is the one to be told.
        with suppress(OSError):
            self.commit()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _cut(self, length: int, digest: hashlib._Hash) -> None:
        self._file.truncate(length)
        self._file.seek(length)
        self.length, self._digest = length, digest


def _recorded(files: Files, weights: Weights) -> int:
    state = read_json(files.state)
    length = state.get("length")
    if state.get("sha256") != weights.sha256 or not isinstance(length, int) or not files.partial.is_file():
        return 0
    return length if 0 <= length <= min(weights.size, files.partial.stat().st_size) else 0


@contextmanager
def opened(files: Files, weights: Weights, watch: Watch) -> Iterator[Partial]:
    """Open the partial file, with what an earlier fetch left of it, and keep what the ``with`` block adds."""
    partial = Partial(files, weights)
    try:
        partial.load(watch)
        try:
            yield partial
        finally:
            if not partial.finished:
                partial.keep()
    finally:
        partial.close()
