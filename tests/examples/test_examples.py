"""The teaching edition does what its tutorial says, with a scripted endpoint and with a real model."""

from __future__ import annotations

import ast
import io
import re
import socket
import sys
import tokenize
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FIFTY = EXAMPLES / "fifty_lines.py"
MINI = sorted((EXAMPLES / "mini_cursor").glob("*.py"))
ANSWERED, NOT_ANSWERED, UNREACHABLE = 0, 1, 3


def code_lines(source: str) -> int:
    """Count the lines that hold code: no blank ones, no comments, no docstrings."""
    quiet = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in quiet:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
            lines.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len([number for number in lines if source.splitlines()[number - 1].strip()])


def imported(source: str) -> set[str]:
    """Return the top-level names of all modules that are imported anywhere."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add((node.module or "").split(".")[0])
    return names


def test_code_lines_are_counted_without_blanks_comments_and_docstrings():
    assert code_lines('"""Doc.\n\nMore."""\n\n# why\nx = """a\n\nb"""\ndef f():\n    """Doc."""\n    return x\n') == 4


def test_fifty_lines_has_at_most_sixty_lines_of_code():
    assert code_lines(FIFTY.read_text(encoding="utf-8")) <= 60


def test_fifty_lines_imports_the_standard_library_only():
    assert imported(FIFTY.read_text(encoding="utf-8")) <= sys.stdlib_module_names


@pytest.mark.parametrize("path", MINI, ids=lambda path: path.name)
def test_each_file_of_mini_cursor_is_short_and_needs_no_framework(path: Path):
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) < 120
    own = {file.stem for file in MINI}
    assert imported(source) <= sys.stdlib_module_names | own | {"httpx2", "jinja2"}


def test_fifty_lines_uses_a_tool_and_answers(script, run):
    script.replies = [
        "Thought: I compute it.\nAction: calculator[(15 + 7) * 3]",
        "Thought: That is it.\nFinal Answer: It is 66.",
    ]
    ran = run("fifty_lines.py", "What is (15 + 7) * 3?", url=script.url)
    assert ran.code == ANSWERED
    assert ran.out.splitlines() == [
        "Thought: I compute it.",
        "Action: calculator[(15 + 7) * 3]",
        "Observation: 66",
        "Thought: That is it.",
        "Final Answer: It is 66.",
    ]
    assert script.requests[0]["stop"] == ["Observation:"]
    assert script.requests[0]["temperature"] == 0
    assert script.last_words(0) == "Question: What is (15 + 7) * 3?"
    assert script.last_words(1) == "Observation: 66"


def test_fifty_lines_reads_a_chinese_reply_with_chinese_punctuation(script, run):
    script.replies = [
        "Thought: 先算括号。\nAction：calculator[（15 + 7）×3]",
        "Thought: 好了。\nFinal Answer：结果是 66。",
    ]
    ran = run("fifty_lines.py", "请计算一下 (15 + 7) * 3 的值是多少？", url=script.url)
    assert ran.code == ANSWERED
    assert "Observation: 66" in ran.out.splitlines()
    assert ran.out.endswith("Final Answer：结果是 66。\n")


def test_fifty_lines_tells_the_time_of_this_moment(script, run):
    script.replies = ["Action: now[]", "Final Answer: now"]
    ran = run("fifty_lines.py", "今天星期几？现在几点了？", url=script.url)
    assert re.search(r"^Observation: [A-Z][a-z]+day, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+$", ran.out, re.MULTILINE)


def test_fifty_lines_cuts_an_invented_observation_off_when_the_server_does_not(script, run):
    script.replies = [
        "Thought: I compute.\nAction: calculator[6 * 7]\nObservation: 1000\nThought: Done.\nFinal Answer: 1000",
        "Thought: I skip the tool.\nObservation: 2000\nFinal Answer: 2000",
        "Thought: Done.\nFinal Answer: 42",
    ]
    ran = run("fifty_lines.py", "What is 6 * 7?", url=script.url)
    assert ran.code == ANSWERED
    assert "Observation: 42" in ran.out.splitlines()
    for invented in ("1000", "2000"):
        assert invented not in ran.out
        assert invented not in str(script.requests)


def test_fifty_lines_does_not_take_an_answer_that_was_written_before_the_result(script, run):
    script.replies = ["Action: calculator[6 * 7]\nFinal Answer: 41", "Final Answer: 42"]
    ran = run("fifty_lines.py", "What is 6 * 7?", url=script.url)
    assert "41" not in ran.out
    assert ran.out.endswith("Final Answer: 42\n")


def test_fifty_lines_tells_the_model_what_was_wrong_and_goes_on(script, run):
    script.replies = [
        "I think it is 42.",
        "Action: search[6 * 7]",
        "Action: calculator[six times seven]",
        "Action: calculator[1 / 0]",
        "Final Answer: 42",
    ]
    ran = run("fifty_lines.py", "What is 6 * 7?", url=script.url)
    assert ran.code == ANSWERED
    assert 'Write "Action: tool[input]"' in script.last_words(1)
    assert "calculator, now" in script.last_words(2)
    assert script.last_words(3).startswith("Observation: calculator failed: invalid syntax")
    assert script.last_words(4) == "Observation: calculator failed: float division by zero"


@pytest.mark.parametrize("example", ["fifty_lines.py", "mini_cursor/mini_cursor.py"])
def test_powers_that_would_never_end_are_refused(example, script, run, tmp_path):
    hostile = ["9**9**9", "9**9**9**9", "2**99999 * 2**99999", "(" * 400 + "1" + ")" * 400, "-" * 200 + "1"]
    if example == "fifty_lines.py":
        script.replies = [f"Action: calculator[{text}]" for text in hostile] + ["Final Answer: no"]
        ran = run(example, "Powers?", url=script.url)
    else:
        script.replies = [f"Action: calculator\nAction Input: {text}" for text in hostile] + ["Final Answer: no"]
        ran = run(example, "Powers?", "--workspace", tmp_path, "--max-errors", "9", url=script.url)
    assert ran.code == ANSWERED
    assert all(len(script.last_words(call)) < 300 for call in range(1, len(hostile) + 1))
    assert all(word in script.last_words(1) for word in ("Observation:", "large" if "mini" in example else "failed"))


@pytest.mark.parametrize("example", ["fifty_lines.py", "mini_cursor/mini_cursor.py"])
def test_model_text_is_never_executed(example, script, run, tmp_path):
    marker = tmp_path / "executed"
    attack = f"__import__('pathlib').Path({str(marker)!r}).touch()"
    if example == "fifty_lines.py":
        script.replies = [f"Action: calculator[{attack}]", "Final Answer: no"]
        ran = run(example, "{{ 7 * 6 }}", url=script.url)
    else:
        script.replies = [f"Action: calculator\nAction Input: {attack}", "Final Answer: no"]
        ran = run(example, "{{ 7 * 6 }}", "--workspace", tmp_path, url=script.url)
    assert ran.code == ANSWERED
    assert not marker.exists()
    assert "only numbers" in script.last_words(1)
    assert script.requests[0]["messages"][-1]["content"] == "Question: {{ 7 * 6 }}"


def test_fifty_lines_stops_after_eight_steps_without_an_answer(script, run):
    script.replies = ["Action: now[]"] * 8
    ran = run("fifty_lines.py", "When?", url=script.url)
    assert ran.code == NOT_ANSWERED
    assert len(script.requests) == 8


@pytest.mark.parametrize("status", [500, None])
def test_a_model_that_cannot_be_reached_is_one_clear_line(status, script, run, tmp_path):
    with socket.socket() as nobody:  # bound but not listening: a connection to it is refused
        nobody.bind(("127.0.0.1", 0))
        url = script.url if status else f"http://127.0.0.1:{nobody.getsockname()[1]}/v1"
        script.status = status or 200
        fifty = run("fifty_lines.py", "Hello?", url=url)
        mini = run("mini_cursor/mini_cursor.py", "Hello?", "--workspace", tmp_path, url=url)
    assert fifty.code == NOT_ANSWERED
    assert mini.code == UNREACHABLE
    for ran in (fifty, mini):
        assert len(ran.err.strip().splitlines()) == 1
        assert "Traceback" not in ran.err


def test_fifty_lines_goes_through_its_loop_with_a_real_model(real_endpoint, run):
    ran = run("fifty_lines.py", "Hello", url=real_endpoint)
    observations = [line for line in ran.out.splitlines() if line.startswith("Observation: ")]
    assert ran.err == ""
    if ran.code == ANSWERED:
        assert re.search(r"^Final Answer", ran.out, re.MULTILINE)
        assert len(observations) < 8
    else:
        assert ran.code == NOT_ANSWERED
        assert len(observations) == 8
        assert ran.out.splitlines()[-1] == observations[-1]


def test_mini_cursor_goes_through_its_loop_with_a_real_model(real_endpoint, run, tmp_path):
    (tmp_path / "notes.txt").write_text("The server listens on port 8043.\n")
    ran = run(
        "mini_cursor/mini_cursor.py", "今天星期几？", "--workspace", tmp_path, "--max-errors", "1", url=real_endpoint
    )
    observations = [line for line in ran.out.splitlines() if line.startswith("Observation: ")]
    assert ran.err == ""
    if ran.code == ANSWERED:
        assert "Final Answer" in ran.out
    else:
        assert ran.code == NOT_ANSWERED
        assert observations
        assert re.search(r"^Stopped: (2 errors|no answer after 10 steps)", ran.out, re.MULTILINE)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["{}/missing.gguf"], 2, "cannot read"),
        (["{}/not_a_model.gguf"], 2, "not a GGUF file"),
        (["{}/broken.gguf", "--port", "0"], 3, "cannot serve"),
        (["{}/broken.gguf", "--port", "{port}"], 3, "cannot be used"),
        (["{}/broken.gguf", "--port", "70000"], 2, "--port must be"),
    ],
)
def test_serving_says_in_one_line_why_it_cannot(arguments, code, said, run, tmp_path):
    pytest.importorskip("xllamacpp")
    (tmp_path / "not_a_model.gguf").write_bytes(b"PK\x03\x04")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF" + bytes(64))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        filled = [text.replace("{}", str(tmp_path)).replace("{port}", port) for text in arguments]
        ran = run("serve_model.py", *filled)
    assert ran.code == code
    assert said in ran.err.strip().splitlines()[-1]
    assert "Traceback" not in ran.err


@pytest.mark.parametrize("name", ["tutorial.md", "tutorial.zh-CN.md"])
def test_the_code_in_the_tutorial_is_the_code_of_the_examples(name):
    text = (EXAMPLES.parent / "docs" / name).read_text(encoding="utf-8")
    sources = "\n".join(path.read_text(encoding="utf-8") for path in [FIFTY, *MINI])
    blocks = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    quoted = [block for block in blocks if "from whybox" not in block]
    assert len(quoted) == 5
    assert [block for block in quoted if block not in sources] == []


def test_both_tutorials_show_the_same_code_and_output():
    shown = []
    for name in ("tutorial.md", "tutorial.zh-CN.md"):
        text = (EXAMPLES.parent / "docs" / name).read_text(encoding="utf-8")
        shown.append(sorted(re.findall(r"^```\w+\n.*?^```$", text, re.MULTILINE | re.DOTALL)))
    assert len(shown[0]) > 10
    assert shown[0] == shown[1]
