"""The read beginnings of prompts, kept on disk.

Instructions, tools and examples are the same for every question to an agent. A small machine reads them at some 80
tokens a second, so the first answer of each process would wait ten seconds for them. llama.cpp can write what it
computed for a text (its key-value cache) to a file and take it back in milliseconds. Only the part that is the same
for every question is written: what people ask never is.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

MOST_FILES = 8


class Openings:
    """Files of read beginnings of one model.

    Args:
        folder: where they are; made when the first is written.
        identity: whatever makes files of one set-up unusable for another: weights, context length, engine version.
    """

    def __init__(self, folder: Path, identity: Sequence[str]) -> None:
        self.folder = folder
        self._identity = "\n".join(identity)

    def name(self, tokens: Sequence[int]) -> str:
        """Return the file name for a beginning."""
        text = f"{self._identity}\n{','.join(map(str, tokens))}"
        return f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.kv"

    def has(self, name: str) -> bool:
        """Return whether the file is there, and note that it was wanted."""
        path = self.folder / name
        if not path.is_file():
            return False
        try:
            os.utime(path)
        except OSError:
            return True  # a read-only cache still serves
        return True

    def prepare(self) -> bool:
        """Make the folder, readable by its owner only; False when nothing can be written there."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            return False
        return os.access(self.folder, os.W_OK)

    def tidy(self) -> None:
        """Remove the files that have not been wanted for the longest time, beyond the most that are kept."""
        files = sorted(self.folder.glob("*.kv"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in files[MOST_FILES:]:
            path.unlink(missing_ok=True)
