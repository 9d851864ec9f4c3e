"""Parquet files have the records of the tables."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

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
