"""The type stubs have the documentation of the compiled module."""

from __future__ import annotations

import importlib.util
from pathlib import Path


def test_stubs_have_the_docstrings_of_the_module() -> None:
    path = Path(__file__).parents[1] / "stubs.py"
    spec = importlib.util.spec_from_file_location("stubs", path)
    assert spec is not None and spec.loader is not None
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    source = stubs.STUBS.read_text(encoding="utf-8")
    assert stubs.documented(source) == source, "run python crates/python/stubs.py"
    assert source.count('"""') > 100
