import os
import sqlite3
import threading

import pytest

from whybox.errors import StoreError, UsageError
from whybox.tools.kb import KnowledgeBase


@pytest.fixture
def kb(tmp_path):
    kb = KnowledgeBase(tmp_path / "index" / "kb.sqlite3", tmp_path / "cache", "pairs")
    yield kb
    kb.close()


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "docs"
    (folder / "zh").mkdir(parents=True)
    (folder / "nile.md").write_text("# Nile\n\nThe Nile is a long river in Africa.\n")
    (folder / "tea.txt").write_text("Tea is made from leaves.")
    (folder / "zh" / "changjiang.md").write_text("# 长江\n\n长江全长约6300公里。\n", encoding="utf-8")
    return folder


def outcomes(handled):
    return {file.path.name: file.outcome for file in handled}


def found(kb, query, language="en"):
    return [passage.name for passage in kb.search(query, language)]


def test_a_knowledge_base_without_a_file_is_empty_and_reading_it_makes_no_file(kb):
    assert kb.empty
    assert kb.sources() == []
    assert kb.search("nile") == []
    assert kb.remove([kb.path]) == []
    assert not kb.path.parent.exists()


def test_files_of_a_folder_are_found_by_their_path_within_it(kb, folder):
    assert set(outcomes(kb.add([folder])).values()) == {"added"}

    assert not kb.empty
    assert found(kb, "Nile") == ["nile.md"]
    assert found(kb, "长江的长度", "zh") == ["zh/changjiang.md"]
    assert [(source.name, source.title, source.passages) for source in kb.sources()] == [
        ("nile.md", "Nile", 1),
        ("tea.txt", "tea", 1),
        ("zh/changjiang.md", "长江", 1),
    ]


def test_a_passage_tells_where_it_stands(kb, folder):
    kb.add([folder / "nile.md"])
    (passage,) = kb.search("river africa")

    assert (passage.title, passage.line, passage.path) == ("Nile", 3, folder / "nile.md")
    assert passage.text == passage.excerpt == "The Nile is a long river in Africa."


def test_unchanged_files_are_left_alone_and_changed_ones_replaced(kb, folder):
    kb.add([folder])
    (folder / "nile.md").write_text("# Nile\n\nIt has crocodiles.\n")

    assert outcomes(kb.add([folder])) == {"nile.md": "updated", "tea.txt": "unchanged", "changjiang.md": "unchanged"}
    assert found(kb, "crocodile") == ["nile.md"]
    assert found(kb, "africa") == []
    assert len(kb.sources()) == 3


def test_files_that_are_gone_from_a_folder_are_removed_when_it_is_added_again(kb, folder):
    kb.add([folder])
    (folder / "tea.txt").unlink()

    assert outcomes(kb.add([folder]))["tea.txt"] == "removed"
    assert found(kb, "leaves") == []
    assert len(kb.sources()) == 2


def test_a_file_that_became_unreadable_is_no_longer_found(kb, folder):
    kb.add([folder])
    (folder / "tea.txt").write_bytes(b"tea leaves\0")

    assert outcomes(kb.add([folder]))["tea.txt"] == "unreadable"
    assert found(kb, "leaves") == []


def test_removing_takes_out_files_and_whole_folders_and_nothing_else(kb, folder):
    kb.add([folder])

    assert kb.remove([folder / "zh"]) == [folder / "zh" / "changjiang.md"]
    assert kb.remove([folder / "nile.md", folder / "nile.md"]) == [folder / "nile.md"]
    assert kb.remove([folder.parent / "doc"]) == []
    assert found(kb, "nile") == []
    assert found(kb, "长江", "zh") == []
    assert found(kb, "tea") == ["tea.txt"]


def test_removing_works_when_the_file_itself_is_gone(kb, folder):
    kb.add([folder])
    (folder / "tea.txt").unlink()

    assert kb.remove([folder / "tea.txt"]) == [folder / "tea.txt"]


def test_after_adding_and_removing_the_index_is_sound_and_bare(kb, folder):
    kb.add([folder])
    kb.remove([folder])

    assert kb.empty
    with sqlite3.connect(kb.path) as db:
        db.execute("INSERT INTO indexed(indexed) VALUES ('integrity-check')")
        assert db.execute("SELECT count(*) FROM term").fetchone() == (0,)
    db.close()


def test_unsupported_and_unreadable_files_are_reported_each_with_its_reason(kb, folder):
    (folder / "scan.pdf").write_bytes(b"%PDF")
    (folder / "README").write_text("no suffix")
    (folder / "binary.txt").write_bytes(b"\0\1")
    (folder / "empty.md").write_text("")
    reasons = {file.path.name: (file.outcome, file.reason) for file in kb.add([folder]) if file.reason}

    assert reasons == {
        "scan.pdf": ("unsupported", ".pdf is not supported"),
        "README": ("unsupported", "no suffix is not supported"),
        "binary.txt": ("unreadable", "not a text file"),
        "empty.md": ("unreadable", "there is no text in it"),
    }
    assert len(kb.sources()) == 3


def test_hidden_files_and_folders_are_left_out_unless_named(kb, folder):
    (folder / ".git").mkdir()
    (folder / ".git" / "notes.md").write_text("secret")
    (folder / ".hidden.md").write_text("secret")
    kb.add([folder])

    assert found(kb, "secret") == []
    assert outcomes(kb.add([folder / ".hidden.md"])) == {".hidden.md": "added"}


def test_links_in_a_circle_end_and_a_file_reached_twice_is_added_once(kb, folder):
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "zh" / "up").symlink_to("..", target_is_directory=True)
    (folder / "again.md").symlink_to("nile.md")
    (folder / "broken.md").symlink_to("nowhere.md")

    assert len(kb.add([folder, folder / "nile.md"])) == 3


def test_a_path_that_does_not_exist_is_refused_before_anything_is_added(kb, folder):
    with pytest.raises(UsageError, match=r"missing\.md does not exist; nothing was added"):
        kb.add([folder, folder / "missing.md"])

    assert kb.empty


def test_a_path_that_is_no_file_is_refused(kb, folder):
    os.mkfifo(folder / "pipe.txt")

    with pytest.raises(UsageError, match="neither a file nor a folder"):
        kb.add([folder / "pipe.txt"])
    assert len(kb.add([folder])) == 3


@pytest.mark.skipif(os.name != "posix", reason="names are Unicode elsewhere")
def test_a_file_with_a_name_that_is_no_text_is_skipped_with_that_reason(kb, folder):
    (folder / os.fsdecode(b"caf\xe9.txt")).write_text("coffee")

    assert [file.reason for file in kb.add([folder]) if file.reason] == ["its name is not valid UTF-8"]
    assert kb.remove([folder / os.fsdecode(b"caf\xe9.txt")]) == []


def test_progress_counts_the_bytes_of_all_files(kb, folder):
    seen = []
    kb.add([folder], seen.append)

    total = sum(path.stat().st_size for path in folder.rglob("*.*"))
    assert [file.total for file in seen] == [total] * 3
    assert [file.done for file in seen] == sorted(file.done for file in seen)
    assert seen[-1].done == total


def test_an_interruption_keeps_the_files_that_were_whole(kb, folder):
    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kb.add([folder], stop)

    assert [source.name for source in kb.sources()] == ["nile.md"]
    assert len(kb.add([folder])) == 3
    assert len(kb.sources()) == 3


def test_a_file_is_stored_whole_or_not_at_all(kb, folder):
    kb.add([folder / "tea.txt"])
    with sqlite3.connect(kb.path) as db:
        db.execute(
            "CREATE TRIGGER stop BEFORE INSERT ON passage WHEN (SELECT count(*) FROM passage) >= 3"
            " BEGIN SELECT RAISE(ABORT, 'no more'); END"
        )
    db.close()
    (folder / "long.txt").write_text("A sentence of a long text that goes on. " * 100)

    with pytest.raises(StoreError):
        kb.add([folder / "long.txt"])
    assert [source.name for source in kb.sources()] == ["tea.txt"]
    assert found(kb, "sentence") == []
    assert found(kb, "tea") == ["tea.txt"]


def test_a_file_that_is_no_knowledge_base_is_named_and_left_alone(tmp_path, folder):
    path = tmp_path / "notes.txt"
    path.write_text("my notes, " * 200)
    kb = KnowledgeBase(path, tmp_path)

    for use in (lambda: kb.search("notes"), lambda: kb.add([folder]), kb.sources, lambda: kb.empty):
        with pytest.raises(StoreError, match="not a knowledge base"):
            use()
    assert path.read_text() == "my notes, " * 200
    kb.close()


def test_a_database_of_another_program_is_left_alone(tmp_path, folder):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE mine (x)")
    db.close()
    before = path.read_bytes()
    kb = KnowledgeBase(path, tmp_path)

    with pytest.raises(StoreError, match="left as it is"):
        kb.add([folder])
    assert path.read_bytes() == before
    kb.close()


def test_an_index_file_that_is_a_folder_or_below_a_file_is_refused_in_one_line(tmp_path, folder):
    for path in (folder, folder / "tea.txt" / "kb.sqlite3"):
        kb = KnowledgeBase(path, tmp_path)
        with pytest.raises(StoreError) as caught:
            kb.add([folder])
        assert "\n" not in str(caught.value)
        kb.close()


def test_searching_leaves_no_files_beside_the_index(kb, folder):
    kb.add([folder])
    kb.search("nile")

    assert [path.name for path in kb.path.parent.iterdir()] == ["kb.sqlite3"]


def test_other_threads_search_while_files_are_added(kb, folder):
    kb.add([folder])
    for number in range(30):
        (folder / f"{number}.txt").write_text(f"Number {number} of many files.")
    failed = []

    def search():
        failed.extend(names for names in (found(kb, "Nile") for _ in range(15)) if names != ["nile.md"])

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    kb.add([folder])
    for thread in threads:
        thread.join()

    assert failed == []
    assert len(kb.sources()) == 33
