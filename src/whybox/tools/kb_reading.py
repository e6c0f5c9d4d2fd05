"""Documents to passages: decoding, headings, paragraphs, and pieces of a size that a small model can read."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from whybox.tools.sentences import joint, sentence_spans

if TYPE_CHECKING:
    from markdown_it.token import Token

LONGEST: Final = 700
"""Most characters of a passage, except for a short last paragraph that is kept with the one before."""

_SPLIT_AT: Final = 600
_LONGEST_TITLE: Final = 120
_SHORT: Final = 150

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
_TAG: Final = re.compile(r"<[^<>]*>")
_SPACES: Final = re.compile(r"[^\S\n]+")


class NotText(ValueError):
    """The file cannot be read as text; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A passage of a document.

    Args:
        line: number of the line in the file where it begins, from 1.
        heading: the headings above it, outermost first, joined by " > "; the title is not repeated.
        text: plain text, paragraphs separated by a line break.
    """

    line: int
    heading: str
    text: str


@dataclass(frozen=True, slots=True)
class Document:
    """A file as it is indexed."""

    title: str
    pieces: tuple[Piece, ...]


@dataclass(slots=True)
class _Block:
    heading: str
    lines: list[tuple[int, str]] = field(default_factory=list)

    def sentences(self) -> list[tuple[int, str]]:
        """Return (line, sentence) pairs, none longer than a passage may be."""
        text, starts = "", []
        for _, line in self.lines:
            text += joint(text, line)
            starts.append(len(text))
            text += line
        return [
            (self.lines[max(0, bisect_right(starts, start + offset) - 1)][0], part)
            for start, end in sentence_spans(text)
            for offset, part in _cut(text[start:end])
        ]


def supported(path: PurePath) -> bool:
    """Whether files with this name can be read."""
    return path.suffix.lower() in _READERS


def read_document(path: PurePath, data: bytes) -> Document:
    """Return the passages of a file.

    Args:
        path: the file's name; its suffix decides how it is read.
        data: its bytes. UTF-8 (with or without a byte order mark), UTF-16 with one, and GB 18030 are understood.

    Raises:
        NotText: the bytes are not text in one of these encodings, or there is nothing but headings and blanks.
    """
    title, blocks = _READERS[path.suffix.lower()](decode(data))
    if not any(block.lines for block in blocks):
        raise NotText("there is no text in it")
    title = (title or _name_as_title(path))[:_LONGEST_TITLE]
    return Document(title, tuple(_pack(blocks)))


def decode(data: bytes) -> str:
    """Return the text of ``data`` with ``\\n`` line ends and without control characters.

    Raises:
        NotText: the bytes are not text in an encoding that is understood.
    """
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        encodings = ["utf-16"]
    elif b"\0" in data:
        raise NotText("not a text file")
    else:
        encodings = ["utf-8-sig", "gb18030"]
    for encoding in encodings:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding != "utf-8-sig" and not _plausible(text):
            continue
        return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n"))
    raise NotText("neither UTF-8 nor GB 18030 text")


def _plausible(text: str) -> bool:
    """Whether text decoded by an encoding that accepts almost anything looks like text."""
    odd = sum(1 for char in text if "\ue000" <= char <= "\uf8ff" or (char < " " and char not in "\t\n\r\f\x1b"))
    return odd == 0


def _name_as_title(path: PurePath) -> str:
    return re.sub(r"[-_.]+", " ", path.stem).strip() or path.name


def _numbered(lines: Sequence[str], first: int) -> list[tuple[int, str]]:
    clean = ((number, _SPACES.sub(" ", line).strip()) for number, line in enumerate(lines, first))
    return [(number, line) for number, line in clean if line]


def _cut(sentence: str) -> Iterator[tuple[int, str]]:
    position = 0
    while position < len(sentence):
        end = position + LONGEST
        if end < len(sentence):
            space = sentence.rfind(" ", position + LONGEST // 2, end)
            end = space + 1 if space >= 0 else end
        part = sentence[position:end]
        if part.strip():
            yield position, part.strip()
        position = end


def _pack(blocks: Sequence[_Block]) -> Iterator[Piece]:
    for heading, group in groupby(blocks, key=lambda block: block.heading):
        yield from (Piece(line, heading, text) for line, text in _pack_section(list(group)))


def _pack_section(blocks: Sequence[_Block]) -> list[tuple[int, str]]:
    """Join short paragraphs and split long ones, so that passages have about the same size."""
    packed: list[tuple[int, str]] = []
    for block in blocks:
        sentences = block.sentences()
        length = sum(len(text) + 1 for _, text in sentences)
        fresh = True
        for line, text in sentences:
            room = LONGEST if length <= LONGEST else _SPLIT_AT
            needed = length if fresh and length <= LONGEST else len(text)
            if packed and len(packed[-1][1]) + needed <= room:
                first, so_far = packed[-1]
                packed[-1] = (first, so_far + ("\n" if fresh else joint(so_far, text)) + text)
            else:
                packed.append((line, text))
            fresh = False
    if len(packed) > 1 and len(packed[-1][1]) < _SHORT:
        (line, text), (_, rest) = packed[-2:]
        packed[-2:] = [(line, f"{text}\n{rest}")]
    return packed


def _read_text(text: str) -> tuple[str, list[_Block]]:
    blocks: list[_Block] = []
    last = 0
    for number, line in _numbered(text.split("\n"), 1):
        if not blocks or number > last + 1:
            blocks.append(_Block(""))
        blocks[-1].lines.append((number, line))
        last = number
    first = blocks[0].lines if len(blocks) > 1 else []
    if len(first) == 1 and len(first[0][1]) <= 80 and first[0][1][-1] not in ".!?。！？；,，:：":
        return first[0][1], blocks[1:]
    return "", blocks


def _read_markdown(text: str) -> tuple[str, list[_Block]]:
    from markdown_it import MarkdownIt  # here, because answering a query does not need it

    text, title = _without_front_matter(text)
    parser = MarkdownIt("commonmark").enable("table")
    reader = _MarkdownReader(title)
    for token in parser.parse(text):
        reader.take(token)
    if not reader.title and reader.first_heading:
        return reader.first_heading, reader.blocks
    return reader.title, reader.blocks


class _MarkdownReader:
    def __init__(self, title: str) -> None:
        self.title = title
        self.first_heading = ""
        self.blocks: list[_Block] = []
        self._headings: list[tuple[int, str]] = []
        self._level = 0
        self._row: list[str] | None = None
        self._line = 1

    def take(self, token: Token) -> None:
        """Read the next token of the document."""
        if token.map:
            self._line = token.map[0] + 1
        match token.type:
            case "heading_open":
                self._level = int(token.tag[1:])
            case "heading_close":
                self._level = 0
            case "tr_open":
                self._row = []
            case "tr_close":
                self._add([" | ".join(self._row or [])])
                self._row = None
            case "inline":
                self._take_inline(_inline_text(token))
            case "fence":
                self._line += 1
                self._add_each(token.content)
            case "code_block":
                self._add_each(token.content)
            case "html_block":
                self._add_each(_TAG.sub(" ", token.content))

    def _take_inline(self, text: str) -> None:
        if self._level:
            self._start_section(" ".join(text.split())[:_LONGEST_TITLE])
        elif self._row is not None:
            self._row.append(" ".join(text.split()))
        else:
            self._add(text.split("\n"))

    def _start_section(self, text: str) -> None:
        self.first_heading = self.first_heading or text
        if self._level == 1 and not self.title:
            self.title = text
        self._headings = [(depth, name) for depth, name in self._headings if depth < self._level]
        if text and text != self.title:
            self._headings.append((self._level, text))

    def _add_each(self, text: str) -> None:
        for line in text.split("\n"):
            self._add([line])
            self._line += 1

    def _add(self, lines: Sequence[str]) -> None:
        block = _Block(" > ".join(name for _, name in self._headings), _numbered(lines, self._line))
        if block.lines:
            self.blocks.append(block)


def _inline_text(token: Token) -> str:
    text = ""
    for child in token.children or []:
        if child.type in ("text", "code_inline"):
            text += child.content
        elif child.type in ("softbreak", "hardbreak"):
            text += "\n"
        elif child.type == "image":
            text += _inline_text(child)
    return text


def _without_front_matter(text: str) -> tuple[str, str]:
    """Return the text with a leading YAML block blanked, line numbers unchanged, and that block's title."""
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return text, ""
    end = next((i for i, line in enumerate(lines[1:200], 1) if line.rstrip() in ("---", "...")), 0)
    if not end:
        return text, ""
    title = next((line[6:].strip().strip("\"'") for line in lines[1:end] if line.startswith("title:")), "")
    return "\n".join([""] * (end + 1) + lines[end + 1 :]), title


_READERS: Final[dict[str, Callable[[str], tuple[str, list[_Block]]]]] = {
    ".txt": _read_text,
    ".md": _read_markdown,
    ".markdown": _read_markdown,
}
