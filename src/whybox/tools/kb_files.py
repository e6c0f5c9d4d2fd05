"""Which files the paths that a user names stand for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from whybox.errors import UsageError


@dataclass(frozen=True, slots=True)
class Found:
    """A file to read.

    Args:
        path: where it really is, links followed.
        name: how it is called towards people and models: its path within the folder that was named.
        size: in bytes.
    """

    path: Path
    name: str
    size: int


def find_files(paths: Sequence[Path]) -> list[Found]:
    """Return each file among ``paths`` and in their folders once, in order; hidden files of folders are left out.

    Raises:
        UsageError: one of the paths does not exist or is neither a file nor a folder.
    """
    missing = [path for path in paths if not path.exists()]
    if missing:
        raise UsageError(f"{printable(missing[0])} does not exist; nothing was added")
    found: dict[Path, Found] = {}
    for named in paths:
        if named.is_dir():
            for path in _walk(named):
                _note(found, path, os.fspath(path.relative_to(named)))
        elif named.is_file():
            _note(found, named, named.name)
        else:
            raise UsageError(f"{printable(named)} is neither a file nor a folder; nothing was added")
    return list(found.values())


def printable(path: Path | str) -> str:
    """Return a path for a terminal: characters that would move the cursor or hide are shown as ``?``."""
    return "".join(char if char.isprintable() else "?" for char in os.fspath(path))


def _note(found: dict[Path, Found], path: Path, name: str) -> None:
    real = path.resolve()
    if real.is_file():
        found.setdefault(real, Found(real, Path(name).as_posix(), real.stat().st_size))


def _walk(folder: Path) -> Iterator[Path]:
    seen: set[tuple[int, int]] = set()
    for place, folders, files in os.walk(folder, followlinks=True):
        status = Path(place).stat()
        if (status.st_dev, status.st_ino) in seen:
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(files) if not name.startswith("."))
