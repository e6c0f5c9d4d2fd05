"""How long lookup takes in a knowledge base of 100,000 passages: ``python benchmarks/kb.py [PASSAGES]``."""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from whybox.tools.kb import KnowledgeBase

PASSAGES = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
PER_FILE = 200
ARTICLES = Path(__file__).parents[1] / "examples" / "kb"
QUERIES = [
    "circumference of the Earth",
    "Who created the Python programming language?",
    "2022 World Cup final goals Messi",
    "Guido",
    "first year people world water river",
    "the world",
    "地球的周长",
    "梅西在2022年卡塔尔世界杯决赛中进了几个球？",
    "世界上最高的山峰",
    "中国",
    "nothing like zyzzyva here",
]


def make_files(folder: Path) -> None:
    """Write files of passages whose words follow the frequencies of ordinary text (Zipf's law)."""
    rng = random.Random(1)
    texts = [path.read_text(encoding="utf-8") for path in sorted(ARTICLES.rglob("*.md"))]
    english = [word for text in texts if text.isascii() for word in text.split()]
    chinese = "".join(char for text in texts for char in text if char >= "\u4e00")
    rare = ["".join(rng.choices("bcdfghklmnprst", k=2) + rng.choices("aeiou", k=2)) * 2 for _ in range(20_000)]
    weights = [1 / rank for rank in range(1, len(rare) + 1)]
    for number in range(PASSAGES // PER_FILE):
        paragraphs = []
        for _ in range(PER_FILE):
            if rng.random() < 0.3:
                start = rng.randrange(len(chinese) - 500)
                paragraphs.append("。".join(chinese[i : i + 25] for i in range(start, start + 450, 25)))
            else:
                words = rng.choices(english, k=40) + rng.choices(rare, weights, k=40)
                rng.shuffle(words)
                paragraphs.append(" ".join(words) + ".")
        (folder / f"{number}.txt").write_text("\n\n".join(paragraphs), encoding="utf-8")


def main() -> None:
    """Build an index, search in it, print what it took."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "files").mkdir()
        make_files(folder / "files")
        kb = KnowledgeBase(folder / "kb.sqlite3", folder)
        began = time.perf_counter()
        kb.add([ARTICLES, folder / "files"])
        took = time.perf_counter() - began
        passages = sum(source.passages for source in kb.sources())
        size = (folder / "kb.sqlite3").stat().st_size
        print(f"{passages:,} passages indexed in {took:.0f} s ({passages / took:,.0f}/s), {size / 1e6:,.0f} MB")
        kb.search("预热", "zh")  # prepares the Chinese word list, once per process
        for query in QUERIES:
            times = []
            for _ in range(7):
                began = time.perf_counter()
                found = kb.search(query, "en" if query.isascii() else "zh")
                times.append(1000 * (time.perf_counter() - began))
            best = found[0].title if found else "-"
            print(f"{statistics.median(times):7.1f} ms (first {times[0]:6.1f})  {query}  ->  {best}")
        kb.close()


if __name__ == "__main__":
    main()
