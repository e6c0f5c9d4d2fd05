"""``whybox ask`` and its neighbours as a person and a program see them."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.commands import COMMAND, PATIENCE, Shell, plain, rows_left

ADD = (
    "Thought: I need to multiply.\nAction: calculator[12 * 34]",
    "Thought: That is it.\nFinal Answer: It is **408**.",
)
ADD_ZH = (
    "思考：需要先算出这个乘积，再把结果告诉提问的人，所以现在使用计算器来算这个算式，一步一步地来，不着急。\n"
    "行动：calculator[12 * 34]",
    "思考：结果已经有了。\n最终答案：" + "12 乘以 34 的结果是 **408**，这是用计算器准确算出来的，没有任何误差。" * 3,
)
SLOW = '''import time
from pathlib import Path

@tool
def wait(file: str) -> str:
    """Wait until a file is there.

    Args:
        file: its path.
    """
    for _ in range(6000):
        if Path(file).exists():
            return "it came"
        time.sleep(0.01)
    return "it never came"
'''
HOSTILE = '''
@tool
def page(name: str) -> str:
    """Read a page.

    Args:
        name: which.
    """
    return "\\x1b]0;owned\\x07\\x1b[2J\\x1b[31mred\\x1b[0m \\x9b31m \\u202e\\x07" + "a line of the page\\n" * 60
'''


def types(events: list[dict]) -> list[str]:
    return [event["type"] for event in events if event["type"] != "delta"]


def test_piped_the_answer_alone_goes_to_stdout_and_the_steps_go_to_stderr(shell: Shell, script) -> None:
    done = shell("ask", "-m", script(*ADD), "What is 12 * 34?")
    assert (done.code, done.out) == (0, "It is **408**.\n")
    banner, *steps, summary = done.err.splitlines()
    assert "scripted:" in banner
    assert "free" in banner
    assert steps == [
        "Thought      I need to multiply.",
        "Action       calculator[12 * 34]",
        "Observation  12 * 34 = 408",
        "Thought      That is it.",
    ]
    assert summary.startswith("2 steps")
    assert "\x1b" not in done.out + done.err


@pytest.mark.parametrize("how", ["all", "steps", "answer"])
def test_what_is_streamed_token_by_token_ends_as_the_same_text(shell: Shell, script, how: str) -> None:
    done = shell("ask", "-m", script(*ADD), "--stream", how, "What is 12 * 34?")
    assert (done.code, done.out) == (0, "It is **408**.\n")
    assert [line for line in done.err.splitlines()[1:-1] if line.strip()] == [
        "Thought      I need to multiply.",
        "Action       calculator[12 * 34]",
        "Observation  12 * 34 = 408",
        "Thought      That is it.",
    ]


def test_json_is_one_event_a_line_and_the_last_is_the_answer(shell: Shell, script) -> None:
    done = shell("ask", "-m", script(*ADD), "--json", "What is 12 * 34?")
    assert (done.code, done.err) == (0, "")
    stored = [event for event in done.events if event["type"] != "delta"]
    deltas = [event for event in done.events if event["type"] == "delta"]
    for event in stored:
        assert list(event)[:4] == ["run", "seq", "at", "type"]
    assert {event["run"] for event in stored} == {stored[0]["run"]}
    assert [event["seq"] for event in stored] == list(range(1, len(stored) + 1))
    assert types(stored) == [
        "started", "asked", "replied", "parsed", "called", "observed", "asked", "replied", "parsed", "answered",
    ]  # fmt: skip
    assert stored[-1] == done.events[-1]
    assert (stored[-1]["answer"], stored[-1]["complete"]) == ("It is **408**.", True)
    assert all(set(delta) == {"type", "section", "text", "anew"} for delta in deltas)

    def streamed(section: str) -> str:
        return "".join(delta["text"] for delta in deltas if delta["section"] == section)

    assert streamed("thought").split() == ["I", "need", "to", "multiply.", "That", "is", "it."]
    assert streamed("action").strip() == "calculator[12 * 34]"
    assert streamed("answer") == "It is **408**."


def test_show_prompt_prints_what_the_model_is_sent_and_then_only_what_is_new(shell: Shell, script) -> None:
    model = script(*ADD)
    err = shell("ask", "-m", model, "--show-prompt", "What is 12 * 34?").err
    asked = [e for e in shell("ask", "-m", model, "--json", "What is 12 * 34?").events if e["type"] == "asked"]
    for segment in asked[1]["prompt"]:
        assert f"[{segment['role']}] {segment['name']}  {segment['tokens']}\n" in err
        assert err.count(segment["text"].strip()) >= 1
    assert err.count("[system] instructions") == 1
    assert f"Prompt of step 1: {sum(s['tokens'] for s in asked[0]['prompt'])} tokens to {model}" in err
    assert f"… the {len(asked[0]['prompt'])} parts from before" in err


def test_a_limit_ends_in_a_best_effort_answer_marked_incomplete_and_exit_code_1(shell: Shell, script) -> None:
    model = script(ADD[0], ADD[0], "It is 408.")
    done = shell("ask", "-m", model, "--max-steps", "2", "--json", "What is 12 * 34?")
    last = done.events[-1]
    assert done.code == 1
    assert (last["type"], last["answer"], last["complete"]) == ("answered", "It is 408.", False)
    assert "2 steps" in last["reason"]
    assert types(done.events).count("limit_reached") == 1
    done = shell("ask", "-m", model, "--max-steps", "2", "What is 12 * 34?")
    assert (done.code, done.out) == (1, "It is 408.\n")
    assert "incomplete: " in done.err


def test_a_model_that_fails_stops_the_run_with_exit_code_3_and_says_how_to_go_on(shell: Shell, script) -> None:
    model = script(ADD[0])
    done = shell("ask", "-m", model, "--json", "What is 12 * 34?")
    assert done.code == 3
    assert (done.events[-1]["type"], done.events[-1]["reason"]) == ("stopped", "model_script")
    done = shell("ask", "-m", model, "What is 12 * 34?")
    assert (done.code, done.out) == (3, "")
    assert re.search(r"^whybox: .* has 1 reply .*; go on with: whybox runs resume \S+$", done.err, re.MULTILINE)
    assert done.err.count("1 reply") == 1
    run = done.err.split()[-1]
    assert "whybox: " in shell("runs", "show", run).out


def test_a_run_that_stopped_goes_on_where_it_was(shell: Shell, script, tmp_path: Path) -> None:
    model = script(ADD[0])
    run = shell("ask", "-m", model, "--json", "What is 12 * 34?").events[0]["run"]
    Path(model.removeprefix("scripted:")).write_text(ADD[1], encoding="utf-8")
    done = shell("runs", "resume", run[:14])
    assert (done.code, done.out) == (0, "It is **408**.\n")
    again = shell("runs", "resume", run)
    assert (again.code, again.out) == (2, "")
    assert again.err == f"whybox: the run {run} has its answer (see: whybox runs show {run})\n"


@pytest.mark.parametrize("question", ["12 乘以 34 是多少？", "What is 12 * 34?\n"])
def test_a_question_can_come_from_standard_input(shell: Shell, script, question: str) -> None:
    done = shell("ask", "-m", script(*ADD), "--json", "-", stdin=question)
    assert done.code == 0
    assert done.events[0]["question"] == question.strip()


def test_tools_are_those_asked_for(shell: Shell, script, tools_file) -> None:
    file = tools_file(HOSTILE)

    def offered(*options: str | Path) -> list[str]:
        done = shell("ask", "-m", script("Thought: x.\nFinal Answer: y"), "--json", *options, "q?")
        assert done.code == 0
        return [tool["name"] for tool in done.events[0]["agent"]["tools"]]

    every = offered()
    assert every[:2] == ["calculator", "now"]
    assert offered("--tools", file) == [*every, "page"]
    assert offered("--tool", "now") == ["now"]
    assert offered("--no-tools", "--tools", file) == ["page"]
    assert offered("--no-tools") == []


def test_options_that_contradict_each_other_are_one_line(shell: Shell, script) -> None:
    done = shell("ask", "-m", script("x"), "--tool", "now", "--no-tools", "q?")
    assert (done.code, done.out) == (2, "")
    assert done.err == "whybox: --tool and --no-tools contradict each other (give one of them)\n"


def test_ctrl_c_ends_a_run_with_one_stop_and_it_can_go_on(shell: Shell, script, tools_file, tmp_path: Path) -> None:
    file = tools_file(SLOW)
    model = script(f"Thought: wait.\nAction: wait[{tmp_path}/sign]", "Thought: ok.\nFinal Answer: done")
    with shell.start("ask", "-m", model, "--tools", file, "--json", "Wait?") as running:
        assert running.stdout is not None
        printed = []
        for line in running.stdout:
            printed.append(json.loads(line))
            if printed[-1]["type"] == "called":
                running.send_signal(signal.SIGINT)
        code = running.wait(PATIENCE)
        assert running.stderr is not None
        assert running.stderr.read() == ""
    assert code == 130
    assert (printed[-1]["type"], printed[-1]["reason"]) == ("stopped", "interrupted")
    assert types(printed).count("stopped") == 1
    run = printed[0]["run"]
    stored = shell("runs", "show", run, "--json").events
    assert stored == [event for event in printed if event["type"] != "delta"]
    # A tool that only reads is called again; the script goes on behind the reply that is known.
    (tmp_path / "sign").touch()
    Path(model.removeprefix("scripted:")).write_text("Thought: ok.\nFinal Answer: done", encoding="utf-8")
    resumed = shell("runs", "resume", run, "--tools", file, "--json")
    assert (resumed.code, resumed.events[-1]["answer"]) == (0, "done")
    assert types(resumed.events)[:3] == ["resumed", "called", "observed"]


def test_ctrl_c_on_a_terminal_leaves_it_as_it_was(shell: Shell, script, tools_file, tmp_path: Path) -> None:
    model, sent = script(f"Thought: wait.\nAction: wait[{tmp_path}/never]"), []

    def interrupt(seen: str) -> str | int:
        if "running wait" in plain(seen) and not sent:
            sent.append(1)
            return signal.SIGINT
        return ""

    done = shell.on_terminal("ask", "-m", model, "--tools", tools_file(SLOW), "Wait?", typed=interrupt)
    assert done.code == 130
    assert "stopped: interrupted" in plain(done.out)
    assert "whybox runs resume " in plain(done.out)
    assert done.out.rindex("\x1b[?25h") > done.out.rindex("\x1b[?25l")


def test_a_reader_of_the_output_that_leaves_is_no_error(shell: Shell, script) -> None:
    command = [*COMMAND, "ask", "-m", script(*ADD), "--json", "What is 12 * 34?"]
    piped = ["bash", "-c", '"$@" | head -n 1', "bash", *command]
    done = subprocess.run(piped, env=shell.environment(), capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert json.loads(done.stdout)["type"] == "started"
    assert done.stderr == ""


@pytest.mark.parametrize("columns", [40, 80])
@pytest.mark.parametrize(("question", "replies"), [("What is 12 * 34?", ADD), ("12 乘以 34 是多少？", ADD_ZH)])
def test_nothing_is_wider_than_the_terminal(shell: Shell, script, columns: int, question: str, replies) -> None:
    done = shell.on_terminal("ask", "-m", script(*replies), question, columns=columns)
    assert done.code == 0
    assert max(map(cell_len, rows_left(done.out))) <= columns
    rows = rows_left(done.out)
    text = "".join("".join(rows).split())
    thought = "".join(re.split("[:：]", replies[0].split("\n")[0], maxsplit=1)[1].split())
    english = ["Thought", "Action", "Observation", "Thought", "Answer"]
    labels = english if "Thought" in text else ["思考", "行动", "观察", "思考", "答案"]
    # Each thing stands there once, in order, and nothing is left of what was drawn on the way.
    assert text.count(thought) == 1
    assert [row.split()[0] for row in rows if row.startswith(tuple(labels))] == labels
    assert ("408.2steps" if labels == english else "没有任何误差。2步") in text
    assert "**" not in text


def test_columns_set_by_hand_count(shell: Shell, script) -> None:
    done = shell.on_terminal("ask", "-m", script(*ADD_ZH), "是多少？", columns=200, COLUMNS="80")
    assert 40 < max(map(cell_len, rows_left(done.out))) <= 80


def test_on_a_terminal_each_kind_of_step_has_its_colour(shell: Shell, script) -> None:
    out = shell.on_terminal("ask", "-m", script(*ADD), "What is 12 * 34?").out
    assert "\x1b[3;90mI need to multiply.\x1b[0m" in out
    assert "\x1b[1;34mcalculator[12 * 34]\x1b[0m" in out
    assert "\x1b[32m12 * 34 = 408\x1b[0m" in out
    assert re.search(r"\x1b\[1m408", out)


@pytest.mark.parametrize("env", [{"TERM": "dumb"}, {"NO_COLOR": "1"}])
def test_no_colour_where_none_is_wanted(shell: Shell, script, env: dict[str, str]) -> None:
    done = shell.on_terminal("ask", "-m", script(*ADD), "What is 12 * 34?", **env)
    assert done.code == 0
    colours = re.findall(r"\x1b\[[0-9;]*m", done.out)
    assert not any(re.search(r"\[(?:.*;)?(?:3[0-7]|4[0-7]|9[0-7]|10[0-7])(?:;|m)", colour) for colour in colours)
    if env.get("TERM") == "dumb":
        assert "\x1b" not in done.out
    assert "Observation  12 * 34 = 408" in plain(done.out)


@pytest.mark.parametrize("env", [{"LC_ALL": "C", "PYTHONUTF8": None}, {"PYTHONIOENCODING": "ascii"}])
def test_a_locale_without_chinese_ends_no_run(shell: Shell, script, env: dict[str, str | None]) -> None:
    model = script(*ADD_ZH)
    done = shell("ask", "-m", model, "12 乘以 34 是多少？", **env)
    assert done.code == 0
    assert "408" in done.out
    done = shell("ask", "-m", model, "--json", "-", stdin="12 乘以 34 是多少？", **env)
    assert done.code == 0
    assert done.events[0]["question"] == "12 乘以 34 是多少？"
    assert "准确算出来" in done.events[-1]["answer"]
    shown = shell("runs", "show", done.events[0]["run"], "--json", **env)
    assert shown.events == [event for event in done.events if event["type"] != "delta"]
    assert shell("runs", "list", **env).code == 0


def test_what_tools_and_models_write_cannot_steer_the_terminal(shell: Shell, script, tools_file) -> None:
    file = tools_file(HOSTILE)
    model = script(
        "Thought: \x1b[2Jlook\x1b]0;owned\x07.\nAction: page[\x1b[5mx]",
        "Thought: done\x9b31m.\nFinal Answer: \x1b]8;;http://evil\x07here\x1b]8;;\x07 \x1b[2J\u202e",
    )
    args = ("ask", "-m", model, "--tools", file, "--show-prompt", "\x1b[31mWhat?")
    done = shell(*args)
    assert done.code == 0
    run = shell("runs", "list", "--json").events[0]["id"]
    outputs = [done, shell("runs", "show", run), shell("runs", "show", run, "--step", "1", "--prompt")]
    outputs += [shell("runs", "list"), shell("tools", "call", "page", "x", "--tools", file)]
    for each in outputs:
        assert not set(each.out + each.err) & {"\x1b", "\x07", "\x9b", "\u202e"}
    seen = shell.on_terminal(*args).out
    assert not set(seen) & {"\x07", "\x9b", "\u202e"}
    assert "\x1b[2J" not in seen
    assert "\x1b]" not in seen
    assert "\x1b[5m" not in seen


def test_a_long_observation_is_folded_and_can_be_unfolded(shell: Shell, script, tools_file) -> None:
    model = script("Thought: look.\nAction: page[x]", "Thought: ok.\nFinal Answer: done")
    done = shell("ask", "-m", model, "--tools", tools_file(HOSTILE), "What?")
    folded = re.search(r"… (\d+) more lines, \d+ characters: whybox (runs show \S+ --step 1)$", done.err, re.MULTILINE)
    assert folded
    assert done.err.count("a line of the page") + int(folded[1]) == 60
    assert shell(*folded[2].split()).out.count("a line of the page") == 60


def test_runs_are_listed_newest_first_and_shown_as_they_happened(shell: Shell, script) -> None:
    first = shell("ask", "-m", script(*ADD), "--json", "What is 12 * 34?")
    second = shell("ask", "-m", script(*ADD_ZH), "--json", "12 乘以 34 是多少？")
    listed = shell("runs", "list", "--json").events
    ids = [done.events[0]["run"] for done in (second, first)]
    assert [row["id"] for row in listed] == ids
    assert [(row["outcome"], row["steps"]) for row in listed] == [("answered", 2), ("answered", 2)]
    table = shell("runs", "list").out
    assert table.index(ids[0]) < table.index(ids[1])
    assert "What is 12 * 34?" in table
    shown = shell("runs", "show", ids[1])
    assert shown.code == 0
    lines = [line.rstrip() for line in shown.out.splitlines()]
    assert [line for line in lines if line.startswith(("Thought", "Action", "Observation", "Answer"))] == [
        "Thought      I need to multiply.",
        "Action       calculator[12 * 34]",
        "Observation  12 * 34 = 408",
        "Thought      That is it.",
        "Answer       It is **408**.",
    ]
    assert shell("runs", "show", ids[1], "--json").events == [e for e in first.events if e["type"] != "delta"]
    one = shell("runs", "show", ids[1], "--step", "2", "--prompt").out
    assert "That is it." in one
    assert "Action       calculator" not in one
    assert "[user] step:1.observation" in one
    unknown = shell("runs", "show", "nothing-like-it")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err.startswith("whybox: ")


def test_without_runs_the_list_says_so(shell: Shell) -> None:
    done = shell("runs", "list")
    assert (done.code, done.out, done.err) == (0, "", 'no runs yet: whybox ask "..."\n')


def test_tools_are_listed_and_can_be_tried(shell: Shell, tools_file) -> None:
    done = shell("tools", "list", "--tools", tools_file(HOSTILE))
    assert done.code == 0
    assert "calculator[expression]  (read)" in done.out
    assert "page[name]  (read)\n    Read a page." in done.out
    assert "lookup is not on offer" in done.err
    assert shell("tools", "list", "--lang", "zh").out.count("\n") > 4
    assert shell("tools", "call", "calculator", "12 * 34").out == "12 * 34 = 408\n"
    assert shell("tools", "call", "date_add", "2024-02-28", "2", "days").out.startswith("2024-03-01")
    failed = shell("tools", "call", "calculator", "1 / 0")
    assert failed.code == 1
    assert "zero" in failed.out
    unknown = shell("tools", "call", "calculate", "1")
    assert (unknown.code, unknown.out) == (2, "")
    assert unknown.err.startswith('whybox: there is no tool "calculate" (there are calculator, ')


def test_a_risky_call_is_asked_about_on_a_terminal_and_refused_without_one(shell: Shell, script, tools_file) -> None:
    source = '\n@tool(risk="write")\ndef send(text: str) -> str:\n    """Send a text."""\n    return "sent " + text\n'
    file = tools_file(source)
    model = script("Thought: send.\nAction: send[hello]", "Thought: ok.\nFinal Answer: done")
    piped = shell("ask", "-m", model, "--tools", file, "--json", "Send it?")
    assert types(piped.events)[4:6] == ["paused", "rejected"]
    assert shell("ask", "-m", model, "--tools", file, "--approve", "never", "Send it?").err.count("sent hello") == 1
    answered: list[str] = []

    def approve(seen: str) -> str:
        if "[y] yes" in plain(seen) and not answered:
            answered.append("y")
            return "y\n"
        return ""

    done = shell.on_terminal("ask", "-m", model, "--tools", file, "Send it?", typed=approve)
    assert done.code == 0
    assert "Allow this write call?" in plain(done.out)
    assert "sent hello" in plain(done.out)
