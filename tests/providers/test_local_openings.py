"""Read beginnings of prompts on disk."""

from __future__ import annotations

import os
from pathlib import Path

from whybox.providers.local_openings import MOST_FILES, Openings


def test_a_name_depends_on_the_tokens_and_on_the_set_up(tmp_path: Path) -> None:
    one, other = Openings(tmp_path, ["a"]), Openings(tmp_path, ["b"])
    assert one.name([1, 2]) == one.name([1, 2])
    assert len({one.name([1, 2]), one.name([1, 3]), one.name([12]), other.name([1, 2])}) == 4


def test_only_the_most_recently_wanted_files_are_kept(tmp_path: Path) -> None:
    openings = Openings(tmp_path / "deep" / "down", ["a"])
    assert openings.prepare()
    for number in range(MOST_FILES + 3):
        path = openings.folder / f"{number:02}.kv"
        path.write_bytes(b"x")
        os.utime(path, (number, number))
    assert openings.has("00.kv")  # wanted again just now
    assert not openings.has("nothing.kv")
    openings.tidy()
    left = {path.name for path in openings.folder.iterdir()}
    assert left == {"00.kv", *(f"{number:02}.kv" for number in range(4, MOST_FILES + 3))}


def test_a_folder_that_cannot_be_made_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    assert not Openings(tmp_path / "file" / "below", ["a"]).prepare()
