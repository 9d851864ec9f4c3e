"""Tables in file systems of fsspec."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from kalah import Tables
from kalah.errors import ArgumentError, DamagedTableError, MissingTableError, TableError

LAYERS = "empty-capture-6-*.kalah"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache of its own."""
    monkeypatch.setenv("KALAH_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def memory(directory: Path) -> Iterator[Any]:
    """A file system in memory, with tables in `bucket/tables`."""
    files = fsspec.filesystem("memory")
    for path in directory.glob(LAYERS):
        files.pipe_file(f"bucket/tables/{path.name}", path.read_bytes())
    yield files
    files.rm("bucket", recursive=True)


def test_answers_are_those_of_the_same_tables_here(tables: Tables, directory: Path, memory: Any) -> None:
    local = fsspec.filesystem("file")
    for files, path in [(memory, "bucket/tables"), (memory, "memory://bucket/tables/"), (local, str(directory))]:
        there = Tables.open(path, filesystem=files)
        assert there.max_seeds == tables.max_seeds and there.directory == files.unstrip_protocol(path.rstrip("/"))
        positions, scores = tables.sample(2000, tables.max_seeds, seed=1)
        assert np.array_equal(there.scores(positions), scores)
        assert np.array_equal(there.scores_of_moves(positions), tables.scores_of_moves(positions))
        assert there.probe("6x1") == tables.probe("6x1")
        assert np.array_equal(pickle.loads(pickle.dumps(there)).scores(positions), scores)
        there.check()


def test_only_blocks_are_fetched_and_once(tables: Tables, memory: Any) -> None:
    there = Tables.open("bucket/tables", filesystem=memory)
    opened, size = there.fetched, memory.info("bucket/tables/empty-capture-6-14.kalah")["size"]
    assert 0 < opened < 20_000 and tables.fetched == 0
    position = "1,2,1,0,1,2/0,3,1,1,1,1"
    assert there.score(position) == tables.score(position)
    assert 0 < there.fetched - opened < 3 * 65536 < size
    fetched = there.fetched
    assert there.score(position) == tables.score(position) and there.fetched == fetched
    # The cache has them for the next one.
    again = Tables.open("bucket/tables", filesystem=memory)
    headers = again.fetched
    assert again.score(position) == tables.score(position) and again.fetched == headers


def test_flipped_bytes_are_damage(memory: Any) -> None:
    for seeds in (6, 13):
        path = f"bucket/tables/empty-capture-6-{seeds:02}.kalah"
        sound = memory.cat_file(path)
        there = Tables.open("bucket/tables", filesystem=memory)
        place = 3 * len(sound) // 4
        memory.pipe_file(path, sound[:place] + bytes([sound[place] ^ 1]) + sound[place + 1 :])
        with pytest.raises(DamagedTableError, match=path):
            there.layer(seeds)
        memory.pipe_file(path, sound)
        assert there.layer(seeds).max() <= seeds


class Broken(MemoryFileSystem):  # type: ignore[misc]
    """Raises `error` once it is set."""

    cachable = False
    error: BaseException | None = None

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **options: Any) -> bytes:
        if self.error:
            raise self.error
        data: bytes = super().cat_file(path, start=start, end=end, **options)
        return data


def test_errors_of_the_file_system_are_causes(memory: Any) -> None:
    files = Broken()
    there = Tables.open("bucket/tables", filesystem=files)
    files.error = OSError("no route to host")
    with pytest.raises(TableError, match="memory://.*no route to host") as raised:
        there.score("6x1")
    assert raised.value.__cause__ is files.error
    # Ctrl-C is not an error of the tables.
    files.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        there.score("6x1")
    files.error = None
    assert there.score("6x1") == 7


class Stale(MemoryFileSystem):  # type: ignore[misc]
    """Lists layers that others have removed."""

    cachable = False

    def ls(self, path: str, detail: bool = True, **options: Any) -> list[Any]:
        listed: list[Any] = super().ls(path, detail=True, **options)
        gone = {"name": f"/{path}/empty-capture-6-15.kalah", "size": None, "type": "file"}
        return [*listed, gone]


def test_a_layer_that_is_gone_is_missing(memory: Any) -> None:
    assert not memory.exists("bucket/tables/empty-capture-6-15.kalah")
    assert Tables.open("bucket/tables", filesystem=Stale()).max_seeds == 14


def test_closed_tables_let_go_of_the_file_system(memory: Any) -> None:
    for close in (Tables.close, lambda tables: None):
        files = Broken()
        there = Tables.open("bucket/tables", filesystem=files)
        assert there.score("6x1") == 7
        gone = weakref.ref(files)
        del files
        gc.collect()
        assert gone() is not None
        close(there)
        if not there.closed:
            del there
        gc.collect()
        assert gone() is None
    # Tables that others have open do not end.
    one, two = (Tables.open("bucket/tables", filesystem=memory) for _ in range(2))
    one.close()
    assert two.score("6x1") == 7
    assert Tables.open("bucket/tables", filesystem=memory).score("6x1") == 7


def test_wrong_arguments_are_refused(memory: Any, directory: Path) -> None:
    with pytest.raises(MissingTableError, match="there are no tables at memory://"):
        Tables.open("bucket/other", filesystem=memory)
    with pytest.raises(MissingTableError):
        Tables.open("bucket/tables", "standard", filesystem=memory)
    with pytest.raises(TypeError, match="fsspec"):
        Tables.open(directory, filesystem=7)
    with pytest.raises(ArgumentError, match="filesystem"):
        Tables.open("hf://datasets/someone/tables")
