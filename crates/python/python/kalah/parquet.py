"""Exact scores as Parquet files, for pandas, Polars, DuckDB, Spark, Hugging Face and others. Needs `pyarrow`.

    kalah.parquet.write("scores.parquet", tables, 12)
    kalah.parquet.write("sample.parquet", tables, 20, sample=1_000_000)
    kalah.parquet.dataset("kalah-scores", tables, [18, 20], train=10_000_000)

A record has the columns of `kalah export`, all of type uint8. mover1 .. moverM and other1 .. otherM are the seeds of
the two rows, each in its owner's sowing order. score is the number of seeds in play that the mover collects with best
play. With `moves`, the columns move1 .. moveM of type int8 have the mover's score after each move, -1 if it is illegal.

The metadata of a file has the key `kalah`, a JSON object with the rules, pits, seeds, seed and the version of this
package.
"""

from __future__ import annotations

import json
import os
import tempfile
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from . import Tables, __version__, _arguments, layer_positions
from .data import Batches, _layers
from .errors import ArgumentError, _shown
from .names import Part, Source

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

__all__ = ["dataset", "write"]

_GROUP = 1 << 20
"""Maximum records in a row group, and in memory at a time."""

_BATCH = 1 << 16
"""Records of a batch of a data set."""

_SHARD = 1 << 22
"""Maximum records in a file of a data set."""

_RECORDS = 10**12
"""Maximum records of a split."""

_Columns = list["NDArray[Any]"]


def write(
    path: str | os.PathLike[str],
    tables: Tables,
    seeds: int,
    *,
    sample: int | None = None,
    seed: int | np.random.Generator | None = 0,
    part: Part | None = None,
    test: float = 0.1,
    source: Source = "uniform",
    moves: bool = False,
) -> int:
    """Writes all positions of the layer with `seeds` seeds in play, in the order of the table. Returns their number.

    With `sample` it writes that many positions drawn by `Tables.sample`, which describes `seed`, `part`, `test` and
    `source`. An existing file is replaced once the new one is complete, and stays unchanged after an error.

    Raises `MissingTableError` if the tables do not reach this many seeds, and `DamagedTableError` if a block of them is
    damaged. Raises `ArgumentError` for numbers out of range or an invalid path, and `OSError` if the file cannot be
    written.
    """
    _check(tables, path)
    _arguments.name("source", source, Source)
    if not isinstance(moves, bool):
        raise TypeError(f"moves is True or False, not {type(moves)}")
    if sample is None and (part is not None or source != "uniform"):
        raise ArgumentError("part and source are of a sample: give sample, too")
    about: dict[str, Any] = {"seeds": [_arguments.number("seeds", seeds, 2, 48)]}
    if sample is None:
        groups = _layer(tables, seeds)
    else:
        number = _arguments.seed(seed)
        about |= {"sample": _arguments.number("sample", sample, 0, _RECORDS), "seed": number}
        about |= {"source": source}
        drawn = tables.sample(sample, seeds, number, part=part, test=test, source=source)
        groups = _groups(*drawn)
        about |= {} if part is None else {"part": part, "test": float(test)}
    return _write(path, _schema(tables, moves, about), _with_moves(tables, groups) if moves else groups)


def dataset(
    directory: str | os.PathLike[str],
    tables: Tables,
    seeds: int | Iterable[int],
    *,
    train: int = 1_000_000,
    test: int = 100_000,
    sources: Iterable[Source] = ("uniform", "play"),
    seed: int | np.random.Generator | None = 0,
) -> int:
    """Writes a data set in the layout of Hugging Face: Parquet files and a card, `README.md`. Returns the records.

    `seeds` is a number of seeds in play or a list of several, whose positions are mixed at random. `sources` are those
    of `Tables.sample`; each is a configuration with `train` and `test` records in two splits. No position is in both
    splits. Records have the scores of every move.

    The directory must be missing or empty, and appears once it is complete. Raises as `write` does.
    """
    name = _check(tables, directory)
    layers, number = _layers(seeds), _arguments.seed(seed)
    counts = {name: _arguments.number(name, count, 1, _RECORDS) for name, count in [("train", train), ("test", test)]}
    names = _sources(sources)
    share = counts["test"] / (counts["train"] + counts["test"])
    made = [
        (source, part, tables.batches(layers, _BATCH, seed=number, part=part, test=share, source=source))
        for source in names
        for part in get_args(Part)
    ]
    if os.path.isdir(directory) and os.listdir(directory):
        raise ArgumentError(f"the directory {name} is not empty")
    target = os.path.abspath(directory)
    written = 0
    with tempfile.TemporaryDirectory(prefix=".kalah-", dir=os.path.dirname(target)) as temporary:
        unfinished = os.path.join(temporary, "unfinished")
        for source, part, batches in made:
            about = {"seeds": list(layers), "sample": counts[part], "seed": number, "source": source}
            about |= {"part": part, "test": share}
            _shards(os.path.join(unfinished, source), batches, counts[part], _schema(tables, True, about))
            written += counts[part]
        with open(os.path.join(unfinished, "README.md"), "w", encoding="utf-8") as card:
            card.write(_card(tables, layers, names, counts, number))
        if os.path.isdir(target):
            os.rmdir(target)
        os.rename(unfinished, target)
    return written


def _sources(sources: Iterable[Source]) -> list[Source]:
    """Returns the names of the sources, which must be different ones."""
    if isinstance(sources, (str, bytes)):
        raise TypeError(f"sources are a list of 'uniform' or 'play' or both, not {_shown(sources)}")
    names: list[Source] = []
    for source in sources:
        names.append(_arguments.name("a source", source, Source))
        if len(set(names)) < len(names):
            raise ArgumentError(f"sources has {source!r} twice")
    if not names:
        raise ArgumentError("sources must be a list of 'uniform' or 'play' or both")
    return names


def _check(tables: Tables, path: str | os.PathLike[str]) -> str:
    """Returns the path as a text, if the arguments are valid."""
    if not isinstance(tables, Tables):
        raise TypeError(f"tables are a kalah.Tables, not {type(tables)}")
    try:
        name = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise ArgumentError(f"the path is invalid on this system: {error}") from error
    if b"\0" in name:
        raise ArgumentError("the path is invalid on this system: it contains a null character")
    return os.fsdecode(name)


def _schema(tables: Tables, moves: bool, about: dict[str, Any]) -> pa.Schema:
    pits = range(1, tables.pits + 1)
    fields = [(f"{row}{pit}", pa.uint8()) for row in ("mover", "other") for pit in pits] + [("score", pa.uint8())]
    if moves:
        fields += [(f"move{pit}", pa.int8()) for pit in pits]
    about = {"version": __version__, "rules": tables.rules.name, "pits": tables.pits} | about
    return pa.schema(fields, metadata={"kalah": json.dumps(about)})


def _write(path: str | os.PathLike[str], schema: pa.Schema, groups: Iterator[_Columns]) -> int:
    """Writes the records of `groups`. Returns their number."""
    written = 0
    with tempfile.TemporaryDirectory(prefix=".kalah-", dir=os.path.dirname(os.path.abspath(path))) as temporary:
        unfinished = os.path.join(temporary, "unfinished")
        with pq.ParquetWriter(unfinished, schema, compression="zstd") as writer:
            for columns in groups:
                writer.write_table(pa.table(columns, schema=schema))
                written += len(columns[0])
        os.replace(unfinished, path)
    return written


def _layer(tables: Tables, seeds: int) -> Iterator[_Columns]:
    """Yields the columns of the layer, some records at a time."""
    count = layer_positions(tables.pits, seeds)
    for first in range(0, count, _GROUP):
        positions = tables.unrank(seeds, np.arange(first, min(first + _GROUP, count)))
        yield from _groups(positions, tables.scores(positions))


def _groups(positions: NDArray[np.uint8], scores: NDArray[np.int8]) -> Iterator[_Columns]:
    """Yields the columns of these positions, some records at a time."""
    for first in range(0, len(scores), _GROUP):
        part = slice(first, first + _GROUP)
        yield [*(np.ascontiguousarray(pit) for pit in positions[part].T), scores[part].view(np.uint8)]


def _with_moves(tables: Tables, groups: Iterator[_Columns]) -> Iterator[_Columns]:
    """Adds the columns of moves."""
    for columns in groups:
        moves = tables.scores_of_moves(np.column_stack(columns[:-1]))
        yield [*columns, *(np.ascontiguousarray(move) for move in moves.T)]


def _shards(directory: str, batches: Batches, count: int, schema: pa.Schema) -> None:
    """Writes `count` records to files of equal size."""
    os.makedirs(directory, exist_ok=True)
    files = -(-count // _SHARD)
    records = iter(batches)
    for file in range(files):
        left = count * (file + 1) // files - count * file // files
        path = os.path.join(directory, f"{batches.part}-{file:05}-of-{files:05}.parquet")
        with pq.ParquetWriter(path, schema, compression="zstd") as writer:
            while left > 0:
                positions, scores = next(records)
                positions, scores = positions[:left], scores[:left]
                for group in _with_moves(batches.tables, _groups(positions, scores)):
                    writer.write_table(pa.table(group, schema=schema))
                left -= len(scores)


_DRAWN = {
    "uniform": "all positions of a layer are equally likely",
    "play": "positions after random moves from a start position, one of each game",
}


def _card(tables: Tables, layers: tuple[int, ...], sources: list[Source], counts: dict[str, int], seed: int) -> str:
    """Returns the card of a data set."""
    rules, pits = tables.rules.name, tables.pits
    configs = []
    for source in sources:
        default = "  default: true\n" if source == sources[0] else ""
        configs.append(f"- config_name: {source}\n{default}  data_files:\n")
        configs += [f"  - split: {part}\n    path: {source}/{part}-*.parquet\n" for part in counts]
    drawn = "\n".join(f"- `{source}`: {_DRAWN[source]}" for source in sources)
    numbers = ", ".join(map(str, layers))
    return f"""---
pretty_name: Exact scores of Kalah positions, {pits} pits, {rules}
tags: [kalah, mancala, board-games, tablebase]
configs:
{"".join(configs)}---

# Exact scores of Kalah positions

Positions of Kalah with {pits} pits a side under the rules `{rules}`, with {numbers} seeds in play.
Scores are exact: they come from endgame tables. Made by `kalah.parquet.dataset` of the package
kalah {__version__} with the seed {seed}.

Each configuration has {counts["train"]:,} records for training and {counts["test"]:,} for testing, in
random order. A hash of the position decides its split, so that no position is in both. Positions may
occur several times in a split.

{drawn}

| column | type | contents |
|---|---|---|
| `mover1` .. `mover{pits}` | uint8 | seeds in the mover's pits, in sowing order |
| `other1` .. `other{pits}` | uint8 | seeds in the other player's pits, in that player's sowing order |
| `score` | uint8 | seeds in play that the mover collects with best play |
| `move1` .. `move{pits}` | int8 | the mover's score after each move; -1 if it is illegal |

The value of a position without stores is 2 x score - seeds in play.
"""
