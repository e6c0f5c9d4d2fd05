"""What a user can get wrong: one clear line, the right exit code, nothing on standard output."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from tests.cli.commands import Done, Shell

ANSWER = "Thought: easy.\nFinal Answer: ok"


def complaint(done: Done, code: int) -> str:
    """Return the one line that says what is wrong; a banner of the run it came up in may stand before it."""
    assert done.code == code, done.err
    assert done.out == ""
    assert "Traceback" not in done.err
    *before, line = done.err.splitlines()
    assert [one for one in before if not one.startswith("whybox  ")] == []
    assert len(before) <= 1
    assert line.startswith("whybox: ")
    assert "unexpected" not in line
    assert len(line) < 400
    return line


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("local:qwen9", "no embedded model called 'qwen9'"),
        ("gpt-4", "no model 'gpt-4'"),
        ("qwen2.5-coder-1.5b", "did you mean local:qwen2.5-coder-1.5b?"),
        ("openai:gpt-4", "needs a key (set OPENAI_API_KEY)"),
        ("server:gpt-4", "needs the address of its server (add --base-url"),
        ("scripted:nowhere.txt", "cannot read the script nowhere.txt"),
        ("", "there is no model ''"),
    ],
)
def test_an_unknown_model(shell: Shell, model: str, said: str) -> None:
    assert said in complaint(shell("ask", f"--model={model}", "q?"), 2)


def test_a_server_that_is_not_there(shell: Shell) -> None:
    with socket.socket() as taken:  # bound and not listening: nobody else can take the port meanwhile
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        done = shell("ask", "-m", "any", "--base-url", url, "q?")
        as_json = shell("ask", "-m", "any", "--base-url", url, "--json", "q?")
    line = complaint(done, 3)
    assert f"cannot reach {url}: nothing listens there" in line
    assert re.search(r"whybox runs resume \S+$", line)
    assert (as_json.code, as_json.err) == (3, "")
    assert (as_json.events[-1]["type"], as_json.events[-1]["reason"]) == ("stopped", "model_unreachable")


@pytest.mark.parametrize("url", ["nonsense", "ftp://x/v1", "http://", "http://127.0.0.1:99999/v1"])
def test_a_base_url_that_is_none(shell: Shell, url: str) -> None:
    assert "base URL" in complaint(shell("ask", "-m", "any", "--base-url", url, "q?"), 2)


@pytest.mark.parametrize("content", [b"", b"GG", b"hello" * 100])
def test_a_file_that_is_no_gguf(shell: Shell, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "weights.gguf"
    file.write_bytes(content)
    assert f"{file} is not a GGUF file" in complaint(shell("ask", "-m", f"local:{file}", "q?"), 3)


def test_a_path_of_weights_that_leads_nowhere(shell: Shell, tmp_path: Path) -> None:
    assert "there is no file" in complaint(shell("ask", "-m", f"local:{tmp_path}/none.gguf", "q?"), 3)
    assert "is a folder" in complaint(shell("ask", "-m", f"local:{tmp_path}/", "q?"), 3)


@pytest.mark.weights
def test_weights_that_were_cut_off(shell: Shell, tmp_path: Path, smollm2_path: Path) -> None:
    file = tmp_path / "half.gguf"
    with smollm2_path.open("rb") as whole:
        file.write_bytes(whole.read(3_000_000))
    line = complaint(shell("ask", "-m", f"local:{file}", "q?"), 3)
    assert f"cannot read {file}" in line
    assert "is it a whole GGUF file?" in line


@pytest.mark.parametrize(
    "options",
    [("--max-steps", "0"), ("--max-steps", "many"), ("--temperature", "9"), ("--mode", "yaml"), ("--no-such-option",)],
)
def test_an_option_out_of_its_range_is_told_in_few_lines(shell: Shell, script, options: tuple[str, ...]) -> None:
    done = shell("ask", "-m", script(ANSWER), *options, "q?")
    assert (done.code, done.out) == (2, "")
    assert len(done.err.splitlines()) <= 4
    assert options[0] in done.err.splitlines()[-1]
    assert done.err.startswith("Usage: whybox ask ")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("def f(:\n", ":3: syntax error"),
        ("1 / 0\n", ":3: ZeroDivisionError: division by zero"),
        ("import no_such_module\n", ":3: ModuleNotFoundError"),
        ("x = 1\n", "has no tools (put @tool"),
        ("@tool\ndef f(x) -> str:\n    return x\n", "own_tools.py:3: "),
        ("raise SystemExit(7)\n", "SystemExit: 7"),
    ],
)
def test_a_tools_file_that_cannot_be_used(shell: Shell, script, tools_file, source: str, said: str) -> None:
    file = tools_file(source)
    line = complaint(shell("ask", "-m", script(ANSWER), "--tools", file, "q?"), 2)
    assert str(file) in line
    assert said in line


def test_a_tools_file_that_is_not_there(shell: Shell, script) -> None:
    line = complaint(shell("ask", "-m", script(ANSWER), "--tools", "none.py", "q?"), 2)
    assert "none.py cannot be read: no such file" in line


@pytest.mark.parametrize("question", ["", "  \n\t"])
def test_an_empty_question(shell: Shell, script, question: str) -> None:
    assert "the question is empty" in complaint(shell("ask", "-m", script(ANSWER), question), 2)
    assert "the question is empty" in complaint(shell("ask", "-m", script(ANSWER), "-", stdin=question), 2)


def test_a_question_of_a_megabyte(shell: Shell, script) -> None:
    line = complaint(shell("ask", "-m", script(ANSWER), "-", stdin="天地玄黄 " * 80_000), 2)
    assert "the question has 399,999 characters, the most is 100,000" in line


def test_the_longest_question_is_answered(shell: Shell, script) -> None:
    done = shell("ask", "-m", script(ANSWER), "-", stdin="x" * 100_000)
    assert (done.code, done.out) == (0, "ok\n")


def test_a_knowledge_base_that_is_not_there(shell: Shell, script, tmp_path: Path) -> None:
    line = complaint(shell("kb", "add", tmp_path / "none"), 2)
    assert f"{tmp_path}/none does not exist; nothing was added" in line
    line = complaint(shell("ask", "-m", script(ANSWER), "--kb", tmp_path / "none", "q?"), 2)
    assert f"there is no knowledge base {tmp_path}/none (make it with: whybox kb add PATH" in line


def test_a_knowledge_base_that_is_something_else(shell: Shell, script, tmp_path: Path) -> None:
    file = tmp_path / "letter.txt"
    file.write_text("Dear reader,\n" * 100)
    line = complaint(shell("ask", "-m", script(ANSWER), "--kb", file, "q?"), 2)
    assert "is not a knowledge base" in line
    assert file.read_text() == "Dear reader,\n" * 100


@pytest.mark.parametrize(
    ("content", "said"), [(b"{% if %}", "template"), (b"\xff\xfe", "not UTF-8"), (None, "no such file")]
)
def test_a_prompt_template_that_cannot_be_used(
    shell: Shell, script, tmp_path: Path, content: bytes | None, said: str
) -> None:
    file = tmp_path / "prompt.jinja"
    if content is not None:
        file.write_bytes(content)
    line = complaint(shell("ask", "-m", script(ANSWER), "--prompt", file, "q?"), 2)
    assert said in line.lower() or said in line


def test_a_data_folder_that_is_a_file(shell: Shell, script, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("x")
    line = complaint(shell("ask", "-m", script(ANSWER), "q?", WHYBOX_DATA_DIR=str(tmp_path / "taken")), 2)
    assert "not a directory" in line.lower()


def mounted(folder: Path, options: str) -> list[str]:
    """Return the beginning of a command that sees an empty file system of its own at ``folder``."""
    folder.mkdir()
    prefix = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    prefix += [f'mount -t tmpfs -o {options} none "$0" && exec "$@"', str(folder)]
    problem = "there is no unshare"
    if shutil.which("unshare"):
        tried = subprocess.run([*prefix, "true"], capture_output=True, text=True, check=False)
        if tried.returncode == 0:
            return prefix
        problem = tried.stderr.strip()
    if os.environ.get("WHYBOX_REQUIRE") == "all":
        pytest.fail(f"no file system can be mounted here: {problem}")
    pytest.skip(f"no file system can be mounted here: {problem}")


@pytest.mark.parametrize("by", ["home", "data"])
def test_a_home_that_cannot_be_written_to(shell: Shell, script, tmp_path: Path, by: str) -> None:
    home = tmp_path / "home"
    prefix = mounted(home, "ro")
    unset = {"XDG_DATA_HOME": None, "XDG_CACHE_HOME": None}
    env = (
        {"HOME": str(home), "WHYBOX_DATA_DIR": None, **unset} if by == "home" else {"WHYBOX_DATA_DIR": str(home / "d")}
    )
    line = complaint(shell("ask", "-m", script(ANSWER), "q?", prefix=prefix, **env), 2)
    assert "read-only file system" in line.lower()
    assert str(home) in line
    document = tmp_path / "a.md"
    document.write_text("# Tides\n\nThe moon.\n")
    assert str(home) in complaint(shell("kb", "add", document, prefix=prefix, **env), 2)
    # What only reads does not mind.
    assert shell("tools", "call", "calculator", "1 + 1", prefix=prefix, **env).out == "1 + 1 = 2\n"


def test_no_room_on_the_disk(shell: Shell, script, tmp_path: Path) -> None:
    small = tmp_path / "small"
    prefix = mounted(small, "size=64k")
    done = shell("ask", "-m", script(ANSWER), "q?", prefix=prefix, WHYBOX_DATA_DIR=str(small))
    line = complaint(done, 2)
    assert "full" in line.lower() or "no space" in line.lower()


def test_room_that_runs_out_in_the_middle_keeps_what_was_shown(
    shell: Shell, script, tools_file, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    prefix = mounted(small, "size=1m")
    source = '''
@tool
def page(number: int) -> str:
    """Return a long page."""
    import random
    return random.Random(number).randbytes(300_000).hex()
'''
    replies = [f"Thought: {n}.\nAction: page[{n}]" for n in range(9)]
    arguments = ("ask", "-m", script(*replies), "--tools", tools_file(source), "--json", "q?")
    done = shell(*arguments, prefix=prefix, WHYBOX_DATA_DIR=str(small))
    assert done.code == 2
    assert done.events[0]["type"] == "started"
    assert len([event for event in done.events if event["type"] == "observed"]) < 9
    (line,) = done.err.splitlines()
    assert line.startswith("whybox: ")
    assert f"its first {done.events[-1]['seq']} events are kept" in line
