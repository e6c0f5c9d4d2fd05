"""``whybox parse``: what the parser makes of a reply, with every repair. No model is needed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from whybox.errors import UsageError


class FormName(StrEnum):
    """In which form a reply is given."""

    text = "text"
    choice = "choice"
    chunks = "chunks"
    fragments = "fragments"


_WORDS = {
    "en": {
        "action": "Action",
        "answer": "Answer",
        "retry": "Asked again",
        "thought": "Thought",
        "form": "read as {dialect}, confidence {confidence}",
        "repair": "repair",
        "span": "bytes",
        "dropped": "cut off",
        "nothing": "nothing had to be repaired",
    },
    "zh": {
        "action": "行动",
        "answer": "答案",
        "retry": "重新询问",
        "thought": "思考",
        "form": "读作 {dialect}，把握 {confidence}",
        "repair": "修复",
        "span": "字节",
        "dropped": "截去",
        "nothing": "没有需要修复的地方",
    },
}


def parse(
    file: Annotated[Path | None, typer.Argument(help="The reply; standard input when left out.")] = None,
    tools: Annotated[
        str, typer.Option("--tools", help='The tools on offer: "search(query),add(a:number,b:number),now()".')
    ] = "",
    form: Annotated[
        FormName,
        typer.Option(
            "--form",
            help="text; choice: JSON of a chat completion's choice; chunks: JSON list of a stream's chunks; "
            "fragments: JSON list of pieces of text.",
        ),
    ] = FormName.text,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    batch: Annotated[
        Path | None,
        typer.Option("--batch", help="Read cases (id, tools, form, output) from JSON lines; print one object a line."),
    ] = None,
    lang: Annotated[str, typer.Option("--lang", help="en or zh: of the sentence that asks the model again.")] = "en",
) -> None:
    """Show what a model's reply is read as, and what had to be repaired, without a model."""
    from whybox.cli.printing import print_json, read_text
    from whybox.output_parser import read_form, tools_of

    if batch is not None:
        if file is not None:
            raise UsageError("--batch reads its own file", "leave the other one out")
        raise typer.Exit(_batch(_content(batch).split("\n"), lang))
    text = read_text() if file is None or str(file) == "-" else _content(file)
    found = read_form(tools_of(tools), form.value, text, lang)
    if as_json:
        print_json(found)
    else:
        _show(text, found, lang)


def _content(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig", "replace")
    except OSError as error:
        raise UsageError(
            f"{file} cannot be read ({error.strerror or error})", "give a file, or pipe the text in"
        ) from None


def _batch(lines: Iterable[str], lang: str) -> int:
    """Print how each case is read; a line that is no case is named, and the others are read all the same."""
    from whybox.cli.printing import print_json
    from whybox.output_parser import read_case

    failed = 0
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            case = json.loads(line)
            found = read_case(case if isinstance(case, dict) else {}, lang)
            print_json({"id": case.get("id"), **found})
        except (ValueError, RecursionError, UsageError) as error:
            failed += 1
            typer.echo(f"whybox: line {number} is left out: {error}", err=True)
    return 2 if failed else 0


def _show(text: str, found: dict[str, Any], lang: str) -> None:
    from whybox.cli.printing import print_text

    print_text("\n".join(_lines(text, found, _WORDS.get(lang, _WORDS["en"]), "zh" if lang == "zh" else "en")))


def _lines(text: str, found: dict[str, Any], say: dict[str, str], lang: str) -> Iterator[str]:
    from whybox.dialects.repairs import REPAIRS

    if found["thought"]:
        yield f"{say['thought']}: {found['thought']}"
    for call in found["calls"]:
        given = call["input"] if isinstance(call["input"], str) else json.dumps(call["input"], ensure_ascii=False)
        yield f"{say['action']}: {call['tool']}[{given}]"
    if found["answer"] is not None:
        yield f"{say['answer']}: {found['answer']}"
    if found["retry"]:
        yield f"{say['retry']} ({found['reason']}): {found['retry']}"
    report = found["report"]
    yield ""
    yield say["form"].format(dialect=report["dialect"], confidence=report["confidence"])
    for repair in report["repairs"]:
        yield f"{say['repair']}: {repair}: {getattr(REPAIRS[repair], lang)}"
    if not report["repairs"] and not found["retry"]:
        yield say["nothing"]
    data = text.encode("utf-8", "replace")
    for where, start, end in report["spans"]:
        yield f"{say['span']} {start}-{end} {where}: {_shortened(data[start:end].decode('utf-8', 'replace'))}"
    if report["dropped"]:
        yield f"{say['dropped']}: {_shortened(report['dropped'])}"


def _shortened(text: str, length: int = 70) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= length else flat[: length - 1] + "…"
