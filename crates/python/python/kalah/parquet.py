"""Exact scores as Parquet files, which pandas, Polars, DuckDB, Spark and others read. Needs the package `pyarrow`.

    kalah.parquet.write("scores.parquet", tables, 12)
    kalah.parquet.write("sample.parquet", tables, 20, sample=1_000_000)

A record has the columns of `kalah export`: mover1 .. moverM and other1 .. otherM, the seeds of the two rows, each in its
owner's sowing order, and score, how many of the seeds in play the mover collects with best play. All are uint8.
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
"""Records in a row group, or in a run of a frame if that has more: what is held in memory at once."""


def write(
    path: str | os.PathLike[str], tables: Tables, seeds: int, *, sample: int | None = None, seed: int = 0
) -> int:
    """Writes all positions of the layer with `seeds` seeds in play, in the order of the table; returns how many.

    With `sample` it writes so many positions drawn uniformly and independently (`Tables.sample`), the same ones for
    the same `seed`. A file that is there is replaced when all is written; if that fails, it stays as it is.

    Raises `MissingTableError` if the tables do not reach so many seeds, `DamagedTableError` if a block of them is
    damaged, `ArgumentError` for numbers out of range or a path that no file can have, and `OSError` if the file cannot
    be written.
    """
    if not isinstance(tables, Tables):
        raise TypeError(f"tables are a kalah.Tables, not {type(tables)}")
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ArgumentError(f"a path that the system cannot have: {error}") from error
    if b"\0" in name:
        raise ArgumentError("a path that the system cannot have: it contains a null character")
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
    """The columns of the layer, some records at a time."""
    # A missing table is found before anything is written.
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
    """The columns of a sample."""
    positions, scores = tables.sample(count, seeds, seed)
    for first in range(0, count, _GROUP):
        part = slice(first, first + _GROUP)
        yield [*(np.ascontiguousarray(pit) for pit in positions[part].T), scores[part].view(np.uint8)]
