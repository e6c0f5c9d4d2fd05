"""A lock between processes that its holder's death releases."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

_POLL_SECONDS = 0.2

if sys.platform == "win32":
    import msvcrt

    def _try_lock(file: BinaryIO) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(file: BinaryIO) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: BinaryIO) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)


@contextmanager
def held(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold the lock ``path`` inside the ``with`` block.

    The file stays behind, empty: removing it would let a process that waits on the old file and one that
    makes a new file both believe that they hold the lock.

    Args:
        path: the lock file; its folder exists.
        waiting: called several times a second while another process holds it; may raise to give up.

    Raises:
        OSError: the file cannot be opened or this file system has no locks.
    """
    with path.open("a+b") as file:
        while not _try_lock(file):
            waiting()
            time.sleep(_POLL_SECONDS)
        try:
            yield
        finally:
            _unlock(file)
