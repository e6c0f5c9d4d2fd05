import pytest
from typer.testing import CliRunner

from whybox.cli.kb import app
from whybox.errors import StoreError, UsageError
from whybox.tools.kb import KnowledgeBase


@pytest.fixture
def kb(tmp_path, monkeypatch):
    monkeypatch.setenv("WHYBOX_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("WHYBOX_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "nile.md").write_text("# Nile\n\nThe Nile is 6,650 kilometres long.\n")
    (tmp_path / "docs" / "huanghe.md").write_text("# 黄河\n\n黄河全长5464公里。\n", encoding="utf-8")

    def run(*arguments):
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


def test_adding_says_what_was_done_and_what_there_is_now(kb):
    result = kb("add", "docs")
    assert (result.exit_code, result.output) == (0, "2 added, 0 updated, 0 unchanged; 2 files, 2 passages in all\n")

    result = kb("add", "docs/nile.md")
    assert result.output == "0 added, 0 updated, 1 unchanged; 2 files, 2 passages in all\n"


def test_what_is_skipped_is_named_in_one_line(kb, tmp_path):
    for number in range(8):
        (tmp_path / "docs" / f"{number}.png").write_bytes(b"\x89PNG")
    (tmp_path / "docs" / "bad.txt").write_bytes(b"\0")
    result = kb("add", "docs")

    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        f"skipped {tmp_path / 'docs' / 'bad.txt'}: not a text file",
        "skipped, not a format that is read (.txt, .md): 0.png, 1.png, 2.png, 3.png, 4.png and 3 more",
    ]
    assert result.stdout.startswith("2 added, 0 updated, 0 unchanged, 9 skipped;")


def test_a_path_that_does_not_exist_is_a_usage_error(kb):
    result = kb("add", "docs", "missing")

    assert isinstance(result.exception, UsageError)
    assert str(result.exception) == "missing does not exist; nothing was added"
    assert result.exception.exit_code == 2


def test_adding_only_what_cannot_be_read_is_a_usage_error(kb, tmp_path):
    (tmp_path / "scan.pdf").write_bytes(b"%PDF")
    result = kb("add", "scan.pdf")

    assert isinstance(result.exception, UsageError)
    assert "scan.pdf" in result.stderr


def test_documents_are_listed_with_passages_title_and_file(kb, tmp_path):
    assert kb("list").output == f"0 files, 0 passages in {tmp_path}/data/kb.sqlite3\n"
    kb("add", "docs")
    lines = kb("list").output.splitlines()

    assert lines[0] == f"    1  黄河  {tmp_path}/docs/huanghe.md"
    assert lines[1] == f"    1  Nile  {tmp_path}/docs/nile.md"
    assert lines[2] == f"2 files, 2 passages in {tmp_path}/data/kb.sqlite3"


def test_searching_shows_what_lookup_shows(kb):
    kb("add", "docs")

    assert kb("search", "Nile length").output == "[1] Nile (nile.md:3): The Nile is 6,650 kilometres long.\n"
    assert kb("search", "黄河长度").output == "[1] 黄河 (huanghe.md:3): 黄河全长5464公里。\n"


def test_finding_nothing_is_said_and_exits_with_1(kb):
    result = kb("search", "pizza")

    assert result.exit_code == 1
    assert result.output.startswith('Nothing found for "pizza".')
    assert isinstance(kb("search", " ").exception, UsageError)


def test_removing_names_what_was_removed_and_refuses_what_is_not_there(kb, tmp_path):
    kb("add", "docs")

    assert kb("remove", "docs/nile.md").output == f"removed {tmp_path}/docs/nile.md\n"
    assert isinstance(kb("remove", "docs/nile.md").exception, UsageError)
    assert (tmp_path / "docs" / "nile.md").exists()
    assert kb("search", "Nile").exit_code == 1


def test_another_index_file_can_be_named(kb, tmp_path):
    kb("add", "docs", "--kb-file", "other.db")

    assert kb("search", "Nile", "--kb-file", "other.db").exit_code == 0
    assert not (tmp_path / "data").exists()
    assert isinstance(kb("list", "--kb-file", "docs/nile.md").exception, StoreError)


def test_an_interruption_says_what_is_kept_and_exits_with_130(kb, monkeypatch):
    add = KnowledgeBase.add

    def interrupted(self, paths, progress=None):
        def stop(file):
            progress(file)
            raise KeyboardInterrupt

        return add(self, paths, stop)

    monkeypatch.setattr(KnowledgeBase, "add", interrupted)
    result = kb("add", "docs")

    assert result.exit_code == 130
    assert result.stderr == "stopped; 1 added, 0 updated, 0 unchanged; the same command goes on from there\n"
    assert len(kb("list").output.splitlines()) == 2


def test_terminal_controls_in_names_are_not_printed(kb, tmp_path):
    (tmp_path / "docs" / "a\x1b[31m.txt").write_text("red")
    kb("add", "docs")

    assert "\x1b" not in kb("list").output
    assert "a?[31m.txt" in kb("list").output
    assert kb("remove", tmp_path / "docs" / "a\x1b[31m.txt").exit_code == 0
