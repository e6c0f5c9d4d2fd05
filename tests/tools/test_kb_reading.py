from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.tools.kb_reading import LONGEST, Document, NotText, decode, read_document, supported
from whybox.tools.sentences import sentence_spans

LONG = "The river flows on and on through many a country and past many a town. " * 40


def read(text, name="a.md"):
    return read_document(PurePath(name), text.encode())


def test_the_first_heading_of_level_one_is_the_title_and_deeper_ones_stand_above_passages():
    document = read(
        "# Earth\n\nA planet.\n\n## Size\n\nIt is big.\n\n### Around\n\n40,075 km.\n\n## Air\n\nNitrogen.\n"
    )

    assert document.title == "Earth"
    assert [(piece.heading, piece.line, piece.text) for piece in document.pieces] == [
        ("", 3, "A planet."),
        ("Size", 7, "It is big."),
        ("Size > Around", 11, "40,075 km."),
        ("Air", 15, "Nitrogen."),
    ]


def test_a_document_without_heading_is_named_after_its_file():
    assert read("just text", "mount-everest_notes.txt").title == "mount everest notes"
    assert read("just text", "深圳.md").title == "深圳"


def test_a_short_first_line_with_a_blank_line_below_is_the_title_of_a_text_file():
    assert read("Mount Everest\n\nIt is high.", "a.txt") == Document(
        "Mount Everest", read("\n\nIt is high.", "a.txt").pieces
    )


def test_a_first_line_that_is_a_sentence_stays_text():
    document = read("It is high.\n\nVery high.", "peak.txt")

    assert document.title == "peak"
    assert document.pieces[0].text == "It is high.\nVery high."


def test_front_matter_gives_the_title_and_no_text_and_keeps_line_numbers():
    document = read('---\ntitle: "The Sun"\ntags: [star]\n---\n\nHot.\n')

    assert document.title == "The Sun"
    assert [(piece.line, piece.text) for piece in document.pieces] == [(6, "Hot.")]


def test_a_line_of_dashes_at_the_top_that_is_never_closed_is_no_front_matter():
    assert read("---\nHot.\n").pieces[0].text == "Hot."


def test_markup_is_not_part_of_passages():
    text = "# T\n\nSee **bold**, `code`, [a *link*](http://x.y) and ![a picture](p.png).\n\n<b>raw</b> &amp; more\n"

    assert read(text).pieces[0].text == "See bold, code, a link and a picture.\nraw & more"


def test_lists_tables_and_code_keep_one_line_for_each_of_theirs():
    text = "# T\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = 1\n# no heading\n```\n"

    assert read(text).pieces[0].text == "one\ntwo\na | b\n1 | 2\nx = 1\n# no heading"


def test_hard_wrapped_lines_are_joined_with_a_blank_in_english_and_without_in_chinese():
    assert read("the\nriver").pieces[0].text == "the river"
    assert read("长江是\n大河，\n很长").pieces[0].text == "长江是大河，很长"


def test_short_paragraphs_are_joined_and_long_ones_split_at_sentences():
    pieces = read(f"# T\n\n{LONG}").pieces

    assert all(400 <= len(piece.text) <= LONGEST for piece in pieces)
    assert all(piece.text.endswith("town.") for piece in pieces)
    assert len(read("# T\n\n" + "A short one.\n\n" * 60).pieces) < 4


def test_each_passage_of_a_long_wrapped_paragraph_knows_its_own_line():
    lines = [f"Sentence number {n} stands alone on its own line of this file." for n in range(1, 60)]

    for piece in read("\n".join(lines), "a.txt").pieces:
        assert piece.text.startswith(lines[piece.line - 1])


def test_a_sentence_without_end_is_cut_and_nothing_of_it_is_lost():
    pieces = read("x" * 5000, "a.txt").pieces

    assert all(len(piece.text) <= LONGEST + 150 for piece in pieces)
    assert "".join(piece.text.replace("\n", "") for piece in pieces) == "x" * 5000


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
def test_texts_in_usual_encodings_are_read(encoding):
    assert decode("地球的周长\r\n40075公里 café".encode(encoding)) == "地球的周长\n40075公里 café"


@pytest.mark.parametrize(
    "data", [b"\x89PNG\r\n\0\0", b"text\0text", b"\xff\xfe\xff", b"\x81\x20\x81\x20\xff", b"\x01\x02\xff"]
)
def test_what_is_no_text_is_refused_in_a_few_words(data):
    with pytest.raises(NotText, match=r"^(not a text file|neither UTF-8 nor GB 18030 text)$"):
        decode(data)


@pytest.mark.parametrize("text", ["", "  \n\t\n", "# Only a title\n", "<!-- -->"])
def test_a_file_with_nothing_to_say_is_refused(text):
    with pytest.raises(NotText, match="no text"):
        read(text.replace("<!-- -->", "\n"))


def test_control_characters_and_direction_marks_do_not_get_into_passages():
    assert read("a\x1b[31mred\x07 \u202ehidden\u200b").pieces[0].text == "a[31mred hidden"


def test_only_text_and_markdown_are_supported():
    assert all(supported(PurePath(name)) for name in ("a.txt", "a.MD", "a.b.markdown"))
    assert not any(supported(PurePath(name)) for name in ("a.pdf", "md", ".txt", "a.txt.gz"))


def test_abbreviations_and_initials_do_not_end_a_sentence():
    text = "Dr. Smith met J. Robert at St. Mary in the U.S. Army. He left. 他走了。她也走了！Ángel came."

    assert [text[a:b].strip() for a, b in sentence_spans(text)] == [
        "Dr. Smith met J. Robert at St. Mary in the U.S. Army.",
        "He left.",
        "他走了。",
        "她也走了！",
        "Ángel came.",
    ]


@given(st.text(alphabet='aB1.!? \n。！"”)长', max_size=200))
def test_sentences_cover_the_text_without_overlap(text):
    spans = sentence_spans(text)

    assert "".join(text[a:b] for a, b in spans) == text


@pytest.mark.parametrize("char", [".", "。", "<", "[", "*", "\n", "#", "|", "`", "> "])
def test_long_runs_of_punctuation_are_read(char):
    try:
        document = read(char * 20_000, "a.md")
    except NotText:
        return
    assert sum(len(piece.text) for piece in document.pieces) <= 45_000


@given(st.lists(st.text(alphabet="abc 长江。.\n#-*", max_size=60), max_size=8), st.sampled_from(["a.md", "a.txt"]))
def test_any_text_gives_passages_of_bounded_size_in_the_order_of_their_lines(parts, name):
    text = "\n\n".join(parts) + "\n\nend"
    pieces = read(text, name).pieces

    assert pieces
    assert [piece.line for piece in pieces] == sorted(piece.line for piece in pieces)
    assert all(0 < len(piece.text) <= LONGEST + 200 and piece.line <= text.count("\n") + 1 for piece in pieces)
