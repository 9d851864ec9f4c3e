"""Tables at an address."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

import kalah
from kalah import Rules, Tables
from kalah.errors import ArgumentError, DamagedTableError, MissingTableError


class Ranges(SimpleHTTPRequestHandler):
    """Answers range requests, which the standard library's server ignores."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        if not path.is_file():
            self.send_error(404)
            return
        data, asked = path.read_bytes(), self.headers.get("range", "bytes=0-").removeprefix("bytes=")
        first, last = (int(number) if number else None for number in asked.split("-"))
        part = data[first or 0 : None if last is None else last + 1]
        self.send_response(206)
        self.send_header("content-length", str(len(part)))
        self.send_header("content-range", f"bytes {first}-{(first or 0) + len(part) - 1}/{len(data)}")
        self.end_headers()
        self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serving(directory: Path) -> Iterator[str]:
    """Serves a directory; the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Ranges, directory=str(directory)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of each test's own."""
    monkeypatch.setenv("KALAH_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def address(directory: Path) -> Iterator[str]:
    """The address of the tables."""
    with serving(directory) as address:
        yield address


def test_answers_are_those_of_the_same_tables_here(address: str, directory: Path) -> None:
    for rules in Rules.all():
        here, there = Tables.open(directory, rules, 3), Tables.open(address, rules, 3)
        assert there.max_seeds == here.max_seeds and there.directory == address
        positions, scores = here.sample(2000, here.max_seeds, seed=1)
        assert np.array_equal(there.scores(positions), scores)
        assert np.array_equal(there.scores_of_moves(positions), here.scores_of_moves(positions))
        assert np.array_equal(pickle.loads(pickle.dumps(there)).scores(positions), scores)


def test_no_advice_for_tables_at_an_address_is_about_files_here(tmp_path: Path) -> None:
    directory = tmp_path / "tables"
    kalah.build(directory, 8, pits=3)
    largest = directory / "empty-capture-3-08.kalah"
    damaged = bytearray(largest.read_bytes())
    damaged[-100] ^= 1
    largest.write_bytes(damaged)
    with serving(directory) as address:
        tables = Tables.open(address, pits=3)
        with pytest.raises(DamagedTableError, match="at that address") as fault:
            tables.layer(8)
        with pytest.raises(MissingTableError, match="kalah.solve") as above:
            tables.score("3x2")
        for error in [fault, above]:
            assert "build" not in str(error.value) and "delete" not in str(error.value)


def test_addresses_without_tables_and_wrong_ones_are_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(MissingTableError):
        Tables.open(f"{address}/nothing")
    with pytest.raises(ArgumentError):
        Tables.open("ftp://example.org/tables")
    with pytest.raises(ArgumentError):
        kalah.build(address, 3, pits=1)
    assert list(tmp_path.glob("http*")) == []
