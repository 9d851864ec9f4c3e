"""Parquet files have the records of the tables."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pyarrow.parquet as pq
import pytest

import kalah
import kalah.parquet

PROGRAM = os.environ.get("KALAH_PROGRAM")
"""The program `kalah`, whose Parquet files are read here too."""


def records(path: Path) -> np.ndarray:
    table = pq.read_table(path)
    return np.column_stack([column.to_numpy() for column in table.columns])


def test_a_layer_has_every_position_with_its_score(directory: Path, tmp_path: Path) -> None:
    tables, path = kalah.Tables.open(directory, "standard", 3), tmp_path / "layer.parquet"
    count = kalah.parquet.write(path, tables, 12)
    assert count == kalah.layer_positions(3, 12)
    positions = tables.unrank(12, np.arange(count))
    expected = np.column_stack([positions, tables.layer(12).view(np.uint8)])
    assert np.array_equal(records(path), expected)
    schema = pq.read_schema(path)
    assert schema.names == ["mover1", "mover2", "mover3", "other1", "other2", "other3", "score"]
    assert {str(kind) for kind in schema.types} == {"uint8"}
    assert list(tmp_path.iterdir()) == [path]


def test_row_groups_are_limited_and_nothing_is_lost_between_them(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tables, path = kalah.Tables.open(directory, "standard", 3), tmp_path / "layer.parquet"
    kalah.parquet.write(path, tables, 10)
    whole = records(path)
    monkeypatch.setattr(kalah.parquet, "_GROUP", 100)
    kalah.parquet.write(path, tables, 10)
    assert pq.ParquetFile(path).num_row_groups > 20
    assert np.array_equal(records(path), whole)
    kalah.parquet.write(path, tables, 10, sample=250)
    assert pq.ParquetFile(path).num_row_groups == 3


def test_a_sample_is_that_of_the_tables(tables: kalah.Tables, tmp_path: Path) -> None:
    path = tmp_path / "sample.parquet"
    assert kalah.parquet.write(path, tables, 14, sample=1000, seed=5) == 1000
    positions, scores = tables.sample(1000, 14, 5)
    assert np.array_equal(records(path), np.column_stack([positions, scores.view(np.uint8)]))


def test_a_file_stays_as_it_is_when_writing_fails(tables: kalah.Tables, tmp_path: Path) -> None:
    path = tmp_path / "scores.parquet"
    path.write_text("old")
    with pytest.raises(kalah.errors.MissingTableError, match="kalah.build"):
        kalah.parquet.write(path, tables, 15)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError):
        kalah.parquet.write(tmp_path / "none" / "scores.parquet", tables, 3)


def test_a_file_says_what_it_has(tables: kalah.Tables, tmp_path: Path) -> None:
    path = tmp_path / "sample.parquet"
    board = {"version": kalah.__version__, "rules": "empty-capture", "pits": 6, "seeds": [9]}
    kalah.parquet.write(path, tables, 9)
    assert about(path) == board
    how: dict[str, Any] = {"source": "play", "part": "test", "test": 0.5}
    kalah.parquet.write(path, tables, 9, sample=500, seed=np.random.default_rng(3), moves=True, **how)
    seed = int(np.random.default_rng(3).integers(0, 2**64, dtype=np.uint64))
    assert about(path) == {**board, "sample": 500, "seed": seed, **how}
    positions, scores = tables.sample(500, 9, seed, **how)
    moves = tables.scores_of_moves(positions)
    assert np.array_equal(records(path), np.column_stack([positions, scores.view(np.uint8), moves]))
    schema = pq.read_schema(path)
    assert schema.names[-6:] == [f"move{pit}" for pit in range(1, 7)] and str(schema.types[-1]) == "int8"
    with pytest.raises(kalah.errors.ArgumentError, match="give sample"):
        kalah.parquet.write(path, tables, 9, part="test")


def about(path: Path) -> Any:
    return json.loads(pq.read_schema(path).metadata[b"kalah"])


def test_a_data_set_has_shards_and_a_card(
    tables: kalah.Tables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kalah.parquet, "_SHARD", 400)
    monkeypatch.setattr(kalah.parquet, "_BATCH", 150)
    directory = tmp_path / "set"
    assert kalah.parquet.dataset(directory, tables, [9, 12], train=1000, test=300, seed=4) == 2600
    names = ["test-00000-of-00001", *(f"train-0000{shard}-of-00003" for shard in range(3))]
    expected = [f"{source}/{name}.parquet" for source in ("play", "uniform") for name in names]
    assert sorted(str(path.relative_to(directory)) for path in directory.glob("*/*")) == expected
    share = 300 / 1300
    for source in get_args(kalah.names.Source):
        for part, count in zip(get_args(kalah.names.Part), (1000, 300), strict=True):
            files = sorted((directory / source).glob(f"{part}-*.parquet"))
            rows = np.concatenate([records(file) for file in files])
            positions, scores, moves = rows[:, :12], rows[:, 12], rows[:, 13:]
            assert len(rows) == count
            assert np.array_equal(tables.scores(positions), scores)
            assert np.array_equal(tables.scores_of_moves(positions), moves)
            batches = tables.batches([9, 12], 150, seed=4, part=part, test=share, source=source)
            assert np.array_equal(next(iter(batches))[0], positions[:150])
            assert about(files[0])["part"] == part and about(files[0])["source"] == source
    card = (directory / "README.md").read_text(encoding="utf-8")
    header = card.split("---\n")[1]
    assert "config_name: uniform\n  default: true" in header and "path: play/test-*.parquet" in header
    assert list(tmp_path.iterdir()) == [directory]
    with pytest.raises(kalah.errors.ArgumentError, match="not empty"):
        kalah.parquet.dataset(directory, tables, 9)
    with pytest.raises(kalah.errors.MissingTableError):
        kalah.parquet.dataset(tmp_path / "other", tables, 40)
    with pytest.raises(TypeError, match="sources are a list of 'uniform' or 'play' or both, not 'uniform'"):
        kalah.parquet.dataset(tmp_path / "other", tables, 9, sources="uniform")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == [directory]


@pytest.mark.skipif(PROGRAM is None, reason="KALAH_PROGRAM does not name the program")
def test_the_program_writes_the_same_records(directory: Path, tmp_path: Path) -> None:
    def exported(name: str, *flags: str) -> Path:
        path = tmp_path / name
        layer = ["--tables", str(directory), "--rules", "standard", "--pits", "3", "--seeds", "12"]
        subprocess.run([str(PROGRAM), "export", *layer, *flags, "--output", str(path)], check=True)
        return path

    tables, expected = kalah.Tables.open(directory, "standard", 3), tmp_path / "expected.parquet"
    kalah.parquet.write(expected, tables, 12)
    layer = exported("layer.parquet", "--format", "parquet")
    assert pq.read_schema(layer).names == pq.read_schema(expected).names
    assert {str(kind) for kind in pq.read_schema(layer).types} == {"uint8"}
    assert np.array_equal(records(layer), records(expected))
    # The sample equals that of the other formats.
    sample = ["--sample", "1000", "--seed", "7"]
    array = np.load(exported("sample.npy", "--format", "npy", *sample))
    assert np.array_equal(records(exported("sample.parquet", "--format", "parquet", *sample)), array)
