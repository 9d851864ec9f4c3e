"""Tables for several tests, built once."""

from __future__ import annotations

import csv
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kalah

REFERENCE = Path(__file__).parents[3] / "tests" / "reference"
"""Figures of the papers, in the files that the tests of the Rust crate read."""


def pytest_configure() -> None:
    """Restores Ctrl-C, which a background job of a script ignores, for tests and the programs that they start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables of 6 pits to 14 seeds under `empty-capture`, to 20 under `standard`; of 3 pits to 12 under all rules."""
    directory = tmp_path_factory.mktemp("tables")
    kalah.build(directory, 14)
    kalah.build(directory, 20, "standard")
    for rules in kalah.Rules.all():
        kalah.build(directory, 12, rules, 3)
    return directory


@pytest.fixture(scope="session")
def tables(directory: Path) -> kalah.Tables:
    """Tables of `empty-capture`, 6 pits, to 14 seeds."""
    return kalah.Tables.open(directory)


@pytest.fixture(scope="session")
def standard(directory: Path) -> kalah.Tables:
    """Tables of `standard`, 6 pits, to 20 seeds."""
    return kalah.Tables.open(directory, "standard")


@pytest.fixture(scope="session")
def reference() -> Callable[[str], Iterator[dict[str, str]]]:
    """Reads a file of published figures."""

    def read(name: str) -> Iterator[dict[str, str]]:
        with (REFERENCE / name).open(encoding="utf-8") as file:
            yield from csv.DictReader(line for line in file if not line.startswith("#"))

    return read
