"""Where weights lie in the cache, and how a whole file is known to be the published one."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from whybox.errors import WeightsError
from whybox.providers.weights_catalogue import Weights

CHUNK = 256 * 1024
_MAGIC = b"GGUF"
_SMALLEST_GGUF = 24


@dataclass(frozen=True, slots=True)
class Files:
    """The paths that belong to one model in the cache.

    Args:
        folder: the folder of all weights.
        name: the model.
    """

    folder: Path
    name: str

    @classmethod
    def of(cls, weights: Weights, cache_dir: Path) -> Files:
        """Return the paths of ``weights`` under ``cache_dir``."""
        return cls(cache_dir / "models", weights.name)

    @property
    def ready(self) -> Path:
        """The whole file."""
        return self.folder / f"{self.name}.gguf"

    @property
    def stamp(self) -> Path:
        """What was true of the whole file when its digest was last checked."""
        return self.folder / f"{self.name}.gguf.verified.json"

    @property
    def partial(self) -> Path:
        """The beginning of the file."""
        return self.folder / f"{self.name}.gguf.partial"

    @property
    def state(self) -> Path:
        """How much of the beginning is known to be on the disk."""
        return self.folder / f"{self.name}.gguf.partial.json"

    @property
    def parts(self) -> Path:
        """The folder of downloaded packages that are not joined yet."""
        return self.folder / f"{self.name}.parts"

    @property
    def lock(self) -> Path:
        """Held by the process that changes any of these."""
        return self.folder / f".{self.name}.lock"


def read_json(path: Path) -> dict[str, Any]:
    """Return the object in ``path``; an absent or damaged file is an empty one."""
    try:
        data = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def write_json(path: Path, data: dict[str, Any]) -> None:
    """Replace ``path`` by ``data``, so that a reader sees the old or the new and never a half."""
    draft = path.with_name(path.name + ".new")
    with draft.open("wb") as file:
        file.write(json.dumps(data).encode())
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def digest(path: Path, seen: Callable[[int], None]) -> str:
    """Return the SHA-256 of a file, telling ``seen`` how many bytes were read so far."""
    state = hashlib.sha256()
    done = 0
    with path.open("rb") as file:
        while block := file.read(CHUNK):
            state.update(block)
            done += len(block)
            seen(done)
    return state.hexdigest()


def _facts(path: Path, weights: Weights) -> dict[str, Any]:
    status = path.stat()
    return {"sha256": weights.sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}


def write_stamp(files: Files, weights: Weights) -> None:
    """Record that the whole file was just found to have the published digest."""
    write_json(files.stamp, _facts(files.ready, weights))


def is_stamped(files: Files, weights: Weights) -> bool:
    """Return whether the whole file was checked and has not been touched since. Reads no weights."""
    return files.ready.is_file() and read_json(files.stamp) == _facts(files.ready, weights)


def check_gguf(path: Path) -> Path:
    """Return ``path`` when it is a readable GGUF file.

    Only the header is looked at: ``GGUF`` and a version, as in the format's specification
    (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md).

    Raises:
        WeightsError: there is no such file, it cannot be read, or it is something else.
    """
    hint = "give the path of a GGUF file, as in local:/path/to/file.gguf"
    if path.is_dir():
        raise WeightsError(f"{path} is a folder, not a GGUF file", hint)
    try:
        with path.open("rb") as file:
            head = file.read(_SMALLEST_GGUF)
    except FileNotFoundError:
        raise WeightsError(f"there is no file {path}", hint) from None
    except OSError as error:
        raise WeightsError(f"{path} cannot be read: {error.strerror or error}", hint) from error
    if head[:4] != _MAGIC:
        raise WeightsError(f"{path} is not a GGUF file: it does not begin with the letters GGUF", hint)
    if len(head) < _SMALLEST_GGUF or int.from_bytes(head[4:8], "little") == 0:
        raise WeightsError(f"{path} is a damaged GGUF file: its header is cut off", hint)
    return path
