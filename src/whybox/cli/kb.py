"""``whybox kb``: the documents that ``lookup`` finds facts in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whybox.errors import UsageError

if TYPE_CHECKING:
    from whybox.tools.kb import Handled, KnowledgeBase

app = typer.Typer(help="Add, list, search and remove the documents that the lookup tool reads.", no_args_is_help=True)

Paths = Annotated[list[Path], typer.Argument(help="Files and folders.", show_default=False)]
KbFile = Annotated[
    Path | None, typer.Option("--kb-file", help="Another index file than the one in the data folder.", metavar="FILE")
]

_NAMED = 5


@contextmanager
def _opened(kb_file: Path | None) -> Iterator[KnowledgeBase]:
    from whybox.config import cache_dir, data_dir
    from whybox.tools.kb import KnowledgeBase

    kb = KnowledgeBase(kb_file or data_dir() / "kb.sqlite3", cache_dir())
    try:
        yield kb
    finally:
        kb.close()


@app.command()
def add(paths: Paths, kb_file: KbFile = None) -> None:
    """Add text and Markdown files, and those in folders. Files that have changed are updated."""
    handled: list[Handled] = []
    with _opened(kb_file) as kb:
        try:
            with _progress() as show:

                def note(file: Handled) -> None:
                    handled.append(file)
                    show(file)

                kb.add(paths, note)
        except KeyboardInterrupt:
            typer.echo(f"stopped; {_summary(handled)}; the same command goes on from there", err=True)
            raise typer.Exit(130) from None
        for line in _complaints(handled):
            typer.echo(line, err=True)
        if not any(file.outcome in ("added", "updated", "unchanged", "removed") for file in handled):
            raise UsageError("there was no file to add", "text (.txt) and Markdown (.md) files are read")
        sources = kb.sources()
    typer.echo(f"{_summary(handled)}; {_amount(len(sources), sum(source.passages for source in sources))} in all")


@app.command("list")
def list_sources(kb_file: KbFile = None) -> None:
    """Show the documents: passages, title and file of each."""
    from whybox.tools.kb_files import printable

    with _opened(kb_file) as kb:
        sources = kb.sources()
        for source in sources:
            typer.echo(f"{source.passages:>5}  {source.title}  {printable(source.path)}")
        typer.echo(f"{_amount(len(sources), sum(source.passages for source in sources))} in {printable(kb.path)}")


@app.command()
def remove(paths: Paths, kb_file: KbFile = None) -> None:
    """Take documents out of the index, by file or folder. The files themselves are left alone."""
    from whybox.tools.kb_files import printable

    with _opened(kb_file) as kb:
        removed = kb.remove(paths)
    if not removed:
        raise UsageError(f"nothing of {printable(paths[0])} is in the knowledge base", "see them with: whybox kb list")
    for path in removed:
        typer.echo(f"removed {printable(path)}")


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="Key words or a question.")],
    kb_file: KbFile = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=50, help="How many passages at most.")] = 3,
) -> None:
    """Show what the lookup tool finds. Exit code 1 when it finds nothing."""
    from whybox.tools.lookup import found_text
    from whybox.tools.segmentation import is_cjk

    if not query.strip():
        raise UsageError("there is nothing to search for", "whybox kb search 'key words'")
    language = "zh" if is_cjk(query) else "en"
    with _opened(kb_file) as kb:
        passages = kb.search(query, language, limit)
    typer.echo(found_text(query, passages, language))
    if not passages:
        raise typer.Exit(1)


def _amount(files: int, passages: int) -> str:
    return f"{files} file{'' if files == 1 else 's'}, {passages} passage{'' if passages == 1 else 's'}"


def _summary(handled: Sequence[Handled]) -> str:
    count = Counter(file.outcome for file in handled)
    skipped = count["unsupported"] + count["unreadable"]
    parts = [f"{count['added']} added", f"{count['updated']} updated", f"{count['unchanged']} unchanged"]
    parts += [f"{count['removed']} removed"] if count["removed"] else []
    parts += [f"{skipped} skipped"] if skipped else []
    return ", ".join(parts)


def _complaints(handled: Sequence[Handled]) -> Iterator[str]:
    from whybox.tools.kb_files import printable

    for file in handled:
        if file.outcome == "unreadable":
            yield f"skipped {printable(file.path)}: {file.reason}"
    unsupported = [file.path for file in handled if file.outcome == "unsupported"]
    if unsupported:
        names = ", ".join(printable(path.name) for path in unsupported[:_NAMED])
        more = f" and {len(unsupported) - _NAMED} more" if len(unsupported) > _NAMED else ""
        yield f"skipped, not a format that is read (.txt, .md): {names}{more}"


@contextmanager
def _progress() -> Iterator[Callable[[Handled], None]]:
    """Show a bar over the bytes of all files on a terminal; the summary is enough elsewhere."""
    from rich import progress as rich
    from rich.console import Console

    console = Console(stderr=True)
    bar = rich.Progress(
        rich.TextColumn("adding"),
        rich.BarColumn(bar_width=None),
        rich.DownloadColumn(),
        rich.TransferSpeedColumn(),
        rich.TimeRemainingColumn(compact=True),
        console=console,
        transient=True,
        disable=not console.is_terminal or console.is_dumb_terminal,
    )
    task = bar.add_task("adding", total=None)
    with bar:
        yield lambda file: bar.update(task, total=file.total, completed=file.done)
