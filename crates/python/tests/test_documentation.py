"""The examples of the documentation print what it shows."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[3] / "docs"

# A block that begins a program of its own. Lines that are comments alone are its output.
BLOCK = re.compile(r"<!-- run -->\n```python\n(.*?)```", re.DOTALL)


def examples() -> list[tuple[str, str]]:
    pages = sorted(PAGES.glob("*.md"))
    return [(page.name, block) for page in pages for block in BLOCK.findall(page.read_text(encoding="utf-8"))]


def expected(block: str) -> list[str]:
    return [line.removeprefix("# ") for line in block.splitlines() if line.startswith("# ")]


@pytest.mark.parametrize(("page", "block"), examples())
def test_an_example_prints_what_its_page_shows(
    page: str, block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(block, page, "exec"), {})
    assert capsys.readouterr().out.splitlines() == expected(block) != []


def test_pages_have_examples() -> None:
    assert len(examples()) >= 2


def test_the_engine_of_the_page_plays(tmp_path: Path) -> None:
    page = (PAGES / "players.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"<!-- engine -->\n```python\n(.*?)```", page, re.DOTALL)
    path = tmp_path / "engine.py"
    path.write_text(program, encoding="utf-8")
    start = "<6,0,0,4,4,4,4,4,4,4,4,4,4,4,4>"
    session = f"kalah 1\nnewgame standard {start}\nisready\nposition {start}\ngo movetime 100\nquit\n"
    answer = subprocess.run([sys.executable, path], input=session, capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == ["id name Greta", "kalahok 1", "readyok", "bestmove 3"]
