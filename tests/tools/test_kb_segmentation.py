import logging
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.tools.kb_query import parse_query
from whybox.tools.segmentation import Segmenter, Stemmer, index_text, normalise, pairs, pieces
from whybox.tools.stop_words import STOP


@pytest.fixture(scope="module")
def stemmer():
    stemmer = Stemmer()
    yield stemmer
    stemmer.close()


@pytest.fixture(scope="module", params=["jieba", "pairs"])
def segmenter(request, tmp_path_factory):
    if request.param == "jieba":
        pytest.importorskip("jieba")
    return Segmenter(tmp_path_factory.mktemp("words"), request.param)


def words(query, segmenter, stemmer):
    return [term.word for term in parse_query(query, segmenter, stemmer).terms]


def test_chinese_is_indexed_as_pairs_and_single_characters_beside_whole_latin_words():
    assert index_text("Python语言 Ａ1") == "python 语言 语 言 a1"


def test_thousands_separators_do_not_matter():
    assert normalise("40,075 and 1，234,567 but 1,2 and 12,3456") == "40075 and 1234567 but 1,2 and 12,3456"


def test_full_width_and_case_do_not_matter():
    assert pieces(normalise("ＧＵＩＤＯ　Van-Rossum")) == ["guido", "van", "rossum"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("Who created Python", ["created", "python"]),
        ('"Guido"', ["guido"]),
        ("[[circumference of the Earth?]]", ["circumference", "earth"]),
        ('{"query": "Nile"}', ["nile"]),
        ("What is the population of the US", ["population", "us"]),
        ("地球的周长", ["地球", "周长"]),
        ("请问地球的周长是多少？", ["地球", "周长"]),
    ],
)
def test_a_query_is_its_content_words(query, expected, segmenter, stemmer):
    assert words(query, segmenter, stemmer) == expected


def test_words_are_longer_than_pairs_where_the_word_list_knows_them(segmenter):
    expected = {"jieba": ["世界杯", "决赛", "梅西"], "pairs": ["世界", "界杯", "杯决", "决赛", "梅西"]}

    assert segmenter.words("世界杯决赛的梅西") == expected[segmenter.kind]


def test_a_query_of_stop_words_alone_is_taken_literally(segmenter, stemmer):
    assert words("The Who", segmenter, stemmer) == ["the", "who"]
    assert words("什么", segmenter, stemmer) == ["什么"]


@pytest.mark.parametrize("query", ["", "  \n", '"" () * ^', "？！。", "🙂"])
def test_a_query_without_letters_has_no_terms(query, segmenter, stemmer):
    assert words(query, segmenter, stemmer) == []


def test_a_word_that_is_asked_for_in_two_forms_counts_once(segmenter, stemmer):
    assert len(words("river rivers River", segmenter, stemmer)) == 1
    assert len(words("长江和长江", segmenter, stemmer)) == 1


def test_a_query_of_a_megabyte_is_read_as_far_as_a_query_goes(segmenter, stemmer):
    assert words("word长江 " * 150_000, segmenter, stemmer)[:2] == ["word", "长江"]
    assert len(words(" ".join(f"w{n}" for n in range(150_000)), segmenter, stemmer)) == 24


def test_an_agent_noun_is_looked_for_as_its_verb_too(segmenter, stemmer):
    (creator, _) = parse_query("creator Linux", segmenter, stemmer).terms

    assert creator.fit("", frozenset({"creat"})) == 1
    assert 0 < creator.fit("", frozenset({"wrote"})) < 1
    assert creator.fit("", frozenset({"linux"})) == 0


@given(st.text(max_size=80))
def test_no_query_can_be_read_as_fts5_syntax(text):
    stemmer, segmenter = Stemmer(), Segmenter(None, "pairs")  # type: ignore[arg-type]  # pairs need no cache
    for term in parse_query(text, segmenter, stemmer).terms:
        for form in term.forms:
            inner = form.match[1:-1]
            assert form.match == f'"{inner}"'
            assert '"' not in inner
            assert "\0" not in inner
    stemmer.close()


def test_stems_are_those_of_the_index(stemmer):
    assert stemmer.stems(["creating", "café", "İstanbul".lower(), "c"])["creating"] == ("creat",)
    assert stemmer.stems(["café"]) == {"café": ("cafe",)}
    assert stemmer.stems([]) == {}


def test_jieba_is_quiet_and_keeps_its_word_list_in_the_given_folder(tmp_path, capfd):
    pytest.importorskip("jieba")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Segmenter(tmp_path / "made" / "here").words("大熊猫") == ["大熊猫"]

    assert [path.name for path in (tmp_path / "made" / "here").iterdir()] == ["jieba.cache"]
    assert capfd.readouterr() == ("", "")
    assert not logging.getLogger("jieba").isEnabledFor(logging.CRITICAL)


def test_words_are_cut_even_where_no_cache_can_be_kept(tmp_path, capfd):
    pytest.importorskip("jieba")
    (tmp_path / "file").write_text("in the way")

    assert Segmenter(tmp_path / "file").words("大熊猫") == ["大熊猫"]
    assert capfd.readouterr() == ("", "")


@given(st.text(alphabet="地球的周长是多少在中国梅西进了几个球", min_size=1, max_size=20))
def test_no_word_of_a_run_is_a_stop_word_and_all_are_parts_of_it(run):
    segmenter = Segmenter(None, "pairs")  # type: ignore[arg-type]  # pairs need no cache

    for word in segmenter.words(run):
        assert word in run
        assert len(word) == 2 or word not in STOP


@given(st.text(alphabet="地球长江黄河", min_size=1, max_size=9))
def test_pairs_spell_the_run(run):
    found = pairs(run)

    assert found[0][0] + "".join(pair[-1] for pair in found if len(run) > 1) == run
