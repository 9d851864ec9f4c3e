"""Exact endgame tablebases for the sowing game Kalah: build, probe, solve.

A *score* counts the seeds in play that the mover collects with best play; a *value* is the final store difference for
the mover. Moves are numbers of pits, from 1 in their owner's sowing order; the last pit is next to the store.

>>> import kalah, tempfile
>>> directory = tempfile.mkdtemp()
>>> report = kalah.build(directory, 12)
>>> tables = kalah.Tables.open(directory)
>>> probe = tables.probe("6x1")
>>> probe.score, probe.value, probe.best, str(probe.line)
(7, 2, [6], '65 65 4 4 3')
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import errors
from ._kalah import (
    MAX_TABLE_PITS,
    MAX_TABLE_SEEDS,
    Line,
    Player,
    Position,
    Rules,
    Solver,
    __version__,
    layer_positions,
)
from .errors import Error
from .results import BuildProgress, BuildReport, Choice, Probe, Solution, SolveProgress
from .tables import Tables, build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "MAX_TABLE_PITS",
    "MAX_TABLE_SEEDS",
    "BuildProgress",
    "BuildReport",
    "Choice",
    "Error",
    "Line",
    "Player",
    "Position",
    "Probe",
    "Rules",
    "Solution",
    "SolveProgress",
    "Solver",
    "Tables",
    "__version__",
    "build",
    "errors",
    "from_array",
    "layer_positions",
    "sample",
    "solve",
    "to_array",
]


def solve(
    position: Position | str,
    rules: Rules | str = "empty-capture",
    *,
    tables: Tables | None = None,
    book: bool = True,
    threads: int | None = None,
    memory: int | None = None,
    guess: int | None = None,
    seconds: float | None = None,
    progress: Callable[[SolveProgress], object] | None = None,
) -> Solution:
    """Solves a position: its score, value, all best moves, and a line of best play.

    `tables` make it much faster. The other arguments and the exceptions are those of `Solver` and `Solver.solve`. To
    solve several positions, make a `Solver`, which keeps its proved bounds.
    """
    solver = Solver(position, rules, tables=tables, book=book, threads=threads, memory=memory)
    return solver.solve(position, guess=guess, seconds=seconds, progress=progress)


def sample(
    n: int,
    seeds: int,
    rules: Rules | str = "empty-capture",
    seed: int | np.random.Generator = 0,
    *,
    pits: int = 6,
    directory: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
    offset: int = 0,
    replace: bool = True,
    part: str | None = None,
    test: float = 0.1,
    source: str = "uniform",
    start: Position | str | None = None,
    threads: int | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """Draws `n` positions with `seeds` seeds in play, independently, with their exact scores: `Tables.sample`.

    Tables are read from `directory`, or several. The default are those of the environment variable KALAH_TABLES, or
    else `tables`. The other arguments are those of `Tables.sample`.

    Raises `MissingTableError` if the tables do not reach this many seeds; the message states the remedy. Raises as
    `Tables.open` and `Tables.sample` do.
    """
    if directory is None:
        directory = [path for path in os.environ.get("KALAH_TABLES", "").split(os.pathsep) if path] or "tables"
    tables = Tables.open(directory, rules, pits)
    return tables.sample(
        n,
        seeds,
        seed,
        offset=offset,
        replace=replace,
        part=part,
        test=test,
        source=source,
        start=start,
        threads=threads,
    )


def to_array(positions: Position | str | Iterable[Position | str]) -> NDArray[np.uint8]:
    """Converts positions to the uint8 array of shape (n, 2 x pits) that `Tables.scores` takes. Stores are left out.

    Raises `PositionError` if the positions have different numbers of pits, or a pit has more than 255 seeds.
    """
    several = [positions] if isinstance(positions, (Position, str)) else positions
    read = [position if isinstance(position, Position) else Position(position) for position in several]
    if len({position.pits for position in read}) > 1:
        raise errors.PositionError("the positions have different numbers of pits")
    rows = np.array([position.mover + position.other for position in read], dtype=np.int64)
    if rows.size and rows.max() > 255:
        raise errors.PositionError("a pit has more than 255 seeds")
    return rows.astype(np.uint8)


def from_array(positions: ArrayLike) -> list[Position]:
    """Converts integers of shape (n, 2 x pits), or a single row, to positions with empty stores.

    Raises `PositionError` for another shape or an invalid number of seeds, `TypeError` for other numbers, and
    `OutOfMemoryError`.
    """
    expected = "positions are integers in an array of shape (n, 2 x pits), up to 16 pits a side"
    if not isinstance(positions, (list, tuple)) and not hasattr(positions, "__array__"):
        raise TypeError(f"{expected}, not {type(positions)}")
    try:
        array = np.asarray(positions)
    except ValueError as error:
        raise errors.PositionError(f"{expected}: {error}") from error
    if array.shape == (0,):
        return []
    if array.dtype.kind not in "iu":
        raise TypeError(f"{expected}, not of type {array.dtype} and shape {array.shape}")
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[1] % 2 or not 2 <= array.shape[1] <= 32:
        raise errors.PositionError(f"{expected}, not of type {array.dtype} and shape {array.shape}")
    half = array.shape[1] // 2
    try:
        found: list[Any] = [None] * len(array)
    except MemoryError as error:
        raise errors.OutOfMemoryError(f"not enough memory for {len(array)} positions") from error
    for index, row in enumerate(array):
        seeds = row.tolist()
        found[index] = Position.from_rows(seeds[:half], seeds[half:])
    return found
