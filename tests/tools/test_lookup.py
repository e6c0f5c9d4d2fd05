import re
from pathlib import Path

import anyio
import pytest

from whybox.tools.kb import KnowledgeBase
from whybox.tools.lookup import found_text, lookup_tool

ARTICLES = Path(__file__).parents[2] / "examples" / "kb"


@pytest.fixture(scope="module")
def kb(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kb")
    kb = KnowledgeBase(folder / "kb.sqlite3", folder)
    kb.add([ARTICLES])
    yield kb
    kb.close()


def call(kb, query, language="en"):
    return anyio.run(lookup_tool(kb, language).call, {"query": query})


def test_the_tool_says_what_it_is_for_in_both_languages(kb):
    spec = lookup_tool(kb, "zh").spec

    assert (spec.name, spec.risk, spec.grounds) == ("lookup", "read", True)
    assert list(spec.parameters["properties"]) == ["query"]
    assert set(spec.description) == set(spec.example) == {"en", "zh"}
    assert "key words" in spec.description["en"]
    assert "关键词" in spec.description["zh"]
    assert all(len(text) < 200 for text in spec.description.values())


def test_each_result_is_one_numbered_line_with_title_file_and_line(kb):
    output = call(kb, "length of the Nile")

    assert output.error is None
    lines = output.text.splitlines()
    assert re.fullmatch(r"\[1\] Nile \(nile\.md:3\): .*6,650 kilometres\..*", lines[0])
    assert all(re.match(rf"\[{number}\] .+ \(.+\.md:\d+\): .", line) for number, line in enumerate(lines, 1))


@pytest.mark.parametrize(
    ("query", "fact"),
    [
        ("Who created Python", "Guido van Rossum"),
        ('query: "circumference of the Earth"', "40,075"),
        ("地球的周长", "40075公里"),
        ("【地球周长】", "40075公里"),
        ("2022 World Cup final goals Messi", "Messi scored 2 goals"),
    ],
)
def test_the_fact_is_in_the_first_line(kb, query, fact):
    language = "zh" if "地" in query else "en"

    assert fact in call(kb, query, language).text.splitlines()[0]


def test_an_observation_is_short_enough_for_a_small_model(kb):
    for query in (
        "Earth",
        "Python",
        "World Cup final Argentina France Messi",
        "river",
        "中国",
        "月球 地球 太阳",
        "DNA",
    ):
        assert len(call(kb, query).text) < 950


def test_nothing_found_is_said_in_words_and_is_no_error(kb):
    output = call(kb, "[best pizza in Naples]")
    assert output.error is None
    assert output.text.startswith('Nothing found for "[best pizza in Naples]". Try fewer or other words')

    output = call(kb, "“特斯拉股价”", "zh")
    assert output.error is None
    assert output.text.startswith("没有找到")
    assert "特斯拉股价" in output.text


def test_a_long_query_is_not_repeated_in_full(kb):
    output = call(kb, "zyzzyva " * 100_000)

    assert output.error is None
    assert len(output.text) < 250


def test_a_query_with_braces_and_signs_is_repeated_as_it_is(kb):
    assert '"{0} %q \\zz {zz}"' in call(kb, "{0} %q \\zz {zz}").text


@pytest.mark.parametrize("query", ["", "  ", '""'])
def test_an_empty_query_is_a_bad_argument(kb, query):
    output = call(kb, query)

    assert output.error == "bad_arguments"
    assert "what to look up" in output.text


def test_a_missing_query_is_a_bad_argument(kb):
    assert anyio.run(lookup_tool(kb).call, {}).error == "bad_arguments"


def test_a_damaged_index_is_a_failure_that_says_so(tmp_path):
    (tmp_path / "kb.sqlite3").write_text("no database, " * 100)
    kb = KnowledgeBase(tmp_path / "kb.sqlite3", tmp_path)

    output = call(kb, "anything")

    assert output.error == "failed"
    assert "not a knowledge base" in output.text
    kb.close()


def test_lookups_run_side_by_side(kb):
    outputs = []

    async def one(query):
        outputs.append(await lookup_tool(kb).call({"query": query}))

    async def all_at_once():
        async with anyio.create_task_group() as group:
            for query in ("Nile length", "Moon distance", "地球周长", "Linux creator") * 3:
                group.start_soon(one, query)

    anyio.run(all_at_once)

    assert len(outputs) == 12
    assert all(output.text.startswith("[1]") and output.error is None for output in outputs)


def test_a_language_without_words_of_its_own_is_served_in_english():
    assert found_text("x", [], "fr").startswith("Nothing found")
