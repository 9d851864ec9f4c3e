"""The examples of the documentation print what it shows."""

import re
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
