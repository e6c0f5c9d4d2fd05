"""What the person sees and is asked."""

from __future__ import annotations

SHOWN = "\n\t"
INSTEAD = "\N{REPLACEMENT CHARACTER}"


def show(text: str) -> None:
    """Print text of a model or a file without control characters, which could rewrite what is on the screen."""
    print("".join(c if c.isprintable() or c in SHOWN else INSTEAD for c in text), end="", flush=True)


def confirm(path: str, diff: str) -> bool:
    """Show what would change and ask; anything but y means no, and so does a closed input."""
    show(f"\n{diff}\nWrite {path}? [y/N] ")
    try:
        return input().strip().lower() in {"y", "yes"}
    except EOFError:
        return False
