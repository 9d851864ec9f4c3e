"""Exact scores as Parquet files, for pandas, Polars, DuckDB, Spark and others. Needs the package `pyarrow`.

    kalah.parquet.write("scores.parquet", tables, 12)
    kalah.parquet.write("sample.parquet", tables, 20, sample=1_000_000)

A record has the columns of `kalah export`, all of type uint8. mover1 .. moverM and other1 .. otherM are the seeds of
the two rows, each in its owner's sowing order. score is the number of seeds in play that the mover collects with best
play.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import Tables
from .errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["write"]

_GROUP = 1 << 20
"""Maximum records in a row group, and in memory at a time. A longer run of a frame is one row group."""


def write(
    path: str | os.PathLike[str], tables: Tables, seeds: int, *, sample: int | None = None, seed: int = 0
) -> int:
    """Writes all positions of the layer with `seeds` seeds in play, in the order of the table. Returns their number.

    With `sample` it writes that many positions drawn uniformly and independently (`Tables.sample`), the same ones for
    the same `seed`. An existing file is replaced once the new one is complete, and stays unchanged after an error.

    Raises `MissingTableError` if the tables do not reach this many seeds, and `DamagedTableError` if a block of them is
    damaged. Raises `ArgumentError` for numbers out of range or an invalid path, and `OSError` if the file cannot be
    written.
    """
    if not isinstance(tables, Tables):
        raise TypeError(f"tables are a kalah.Tables, not {type(tables)}")
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ArgumentError(f"the path is invalid on this system: {error}") from error
    if b"\0" in name:
        raise ArgumentError("the path is invalid on this system: it contains a null character")
    names = [f"{row}{pit}" for row in ("mover", "other") for pit in range(1, tables.pits + 1)] + ["score"]
    schema = pa.schema([(name, pa.uint8()) for name in names])
    groups = _layer(tables, seeds) if sample is None else _sample(tables, seeds, sample, seed)
    directory = os.path.dirname(os.path.abspath(path))
    written = 0
    with tempfile.TemporaryDirectory(prefix=".kalah-", dir=directory) as temporary:
        unfinished = os.path.join(temporary, "unfinished")
        with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
            for columns in groups:
                writer.write_table(pa.table(columns, schema=schema))
                written += len(columns[0])
        os.replace(unfinished, path)
    return written


def _layer(tables: Tables, seeds: int) -> Iterator[list[NDArray[np.uint8]]]:
    """Yields the columns of the layer, some records at a time."""
    # A missing table must raise before anything is written.
    tables.frame(seeds, 1)
    for mover in range(1, seeds):
        scores = tables.frame(seeds, mover)
        movers, others = tables.rows(mover), tables.rows(seeds - mover)
        batch = max(1, _GROUP // len(movers))
        for first in range(0, len(others), batch):
            part = others[first : first + batch]
            columns = [np.tile(pit, len(part)) for pit in movers.T] + [np.repeat(pit, len(movers)) for pit in part.T]
            yield [*columns, scores[first : first + batch].reshape(-1).view(np.uint8)]


def _sample(tables: Tables, seeds: int, count: int, seed: int) -> Iterator[list[NDArray[np.uint8]]]:
    """Yields the columns of a sample."""
    positions, scores = tables.sample(count, seeds, seed)
    for first in range(0, count, _GROUP):
        part = slice(first, first + _GROUP)
        yield [*(np.ascontiguousarray(pit) for pit in positions[part].T), scores[part].view(np.uint8)]
