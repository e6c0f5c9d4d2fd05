"""What must not be shown, and that keeping it out costs the same for one model and for many."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.providers.openai_compat import OpenAICompatModel
from whybox.providers.secrets import Secrets


@given(st.lists(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=4, max_size=9), max_size=4))
def test_no_secret_is_left_in_a_text_whichever_contains_which(values: list[str]) -> None:
    text = Secrets(values).redacted(" ".join(values))
    assert not any(value in text.replace("[redacted]", "\0") for value in values)


def test_many_models_have_one_filter_and_all_their_keys_stay_out_of_the_logs(
    caplog: pytest.LogCaptureFixture,
) -> None:
    logger = logging.getLogger("httpx2")
    keys = [f"sk-planted-{number}" for number in range(20)]
    for key in keys:
        OpenAICompatModel("server:m", "http://127.0.0.1:9/v1", "m", key)
    assert len(logger.filters) == 1
    caplog.set_level(logging.INFO, "httpx2")
    logger.info("GET %s", " ".join(keys))
    assert caplog.messages == ["GET " + " ".join(["[redacted]"] * 20)]
