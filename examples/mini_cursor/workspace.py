"""File tools that cannot leave one folder and never write without asking."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tools import ToolError

MAX_BYTES = 1_000_000
LINES = 80


@dataclass(frozen=True)
class Workspace:
    """A folder, and a person who is asked before anything in it changes.

    Args:
        root: the folder, as an absolute path without symbolic links.
        confirm: gets a path and a diff, returns whether the person agrees.
    """

    root: Path
    confirm: Callable[[str, str], bool]

    def tools(self) -> list[Callable[..., str]]:
        """The methods that a model may call."""
        return [self.list_files, self.read_file, self.search_text, self.write_file, self.edit_file]

    def list_files(self) -> str:
        """List the paths of all files, without what is in them."""
        return "\n".join(self._names()) or "the folder is empty"

    def read_file(self, path: str, start: str = "1") -> str:
        """Read a text file whose path is known, 80 lines at a time, from line number start."""
        lines = self._text(path).splitlines()
        first = max(int(start), 1)
        shown = lines[first - 1 : first - 1 + LINES]
        return "\n".join([f"lines {first}-{first - 1 + len(shown)} of {len(lines)}", *shown])

    def search_text(self, words: str) -> str:
        """Find the lines, in all files, that contain the words, or as many of them as any line does."""
        wanted = words.casefold().split()
        found: dict[int, list[str]] = {}
        for name in filter(self._readable, self._names()):
            for number, line in enumerate(self._text(name).splitlines(), 1):
                if score := sum(word in line.casefold() for word in wanted):
                    found.setdefault(score, []).append(f"{name}:{number}: {line.strip()[:200]}")
        return "\n".join(found[max(found)]) if found else "no line contains any of these words"

    def write_file(self, path: str, content: str) -> str:
        """Write a whole text file, new or in place of the old one. The person is asked first."""
        before = self._text(path) if self.resolve(path).exists() else ""
        return self._save(path, before, content)

    def edit_file(self, path: str, old: str, new: str) -> str:
        """Replace a piece of text that occurs exactly once in a file. The person is asked first."""
        before = self._text(path)
        if (count := before.count(old)) != 1:
            raise ToolError(f"the old text occurs {count} times in {path}; give a piece that occurs exactly once")
        return self._save(path, before, before.replace(old, new))

    def resolve(self, path: str) -> Path:
        """Return the real path, after symbolic links and ``..``, if it is inside the folder.

        Raises:
            ToolError: it is outside.
        """
        real = (self.root / path).resolve()
        if not real.is_relative_to(self.root):
            raise ToolError(f"{path} is outside the workspace; only files inside it can be used")
        return real

    def _names(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self.root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            for name in sorted(files):
                yield str((Path(folder) / name).relative_to(self.root))

    def _readable(self, path: str) -> bool:
        real = (self.root / path).resolve()
        return real.is_relative_to(self.root) and real.is_file() and real.stat().st_size <= MAX_BYTES

    def _text(self, path: str) -> str:
        real = self.resolve(path)
        if not real.is_file():  # also keeps away from devices and pipes, which may never end
            raise ToolError(f"there is no file {path}; list_files shows what there is")
        if real.stat().st_size > MAX_BYTES:
            raise ToolError(f"{path} is larger than {MAX_BYTES} bytes")
        return real.read_bytes().decode(errors="replace")

    def _save(self, path: str, before: str, after: str) -> str:
        diff = difflib.unified_diff(before.splitlines(), after.splitlines(), path, path, lineterm="")
        if not self.confirm(path, "\n".join(diff)):
            return f"The person said no, {path} is unchanged. Do not try again; say so in the Final Answer."
        real = self.resolve(path)  # again: the folder may have changed while the person was thinking
        real.parent.mkdir(parents=True, exist_ok=True)
        real.write_bytes(after.encode())
        return f"wrote {path}, {len(after.splitlines())} lines"
