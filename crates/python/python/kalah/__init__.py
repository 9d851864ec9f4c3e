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
from typing import TYPE_CHECKING

from . import errors
from ._kalah import (
    MAX_TABLE_PITS,
    MAX_TABLE_SEEDS,
    BuildProgress,
    BuildReport,
    Choice,
    Line,
    Player,
    Position,
    Probe,
    Rules,
    Solution,
    SolveProgress,
    Solver,
    Tables,
    __version__,
    build,
    layer_positions,
)
from .errors import Error

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

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
    seed: int = 0,
    *,
    pits: int = 6,
    directory: str | os.PathLike[str] | None = None,
) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
    """Draws `n` positions with `seeds` seeds in play, uniformly and independently, with their exact scores.

    Returns a uint8 array of shape (n, 2 x pits), the mover's pits and then the other player's, and an int8 array of
    shape (n,). The same `seed` gives the same positions. Samples of different seeds are independent.

    Tables are read from `directory`. The default is the value of the environment variable KALAH_TABLES, or else
    `tables`.

    Raises `MissingTableError` if the tables do not reach this many seeds; the message states the remedy. Raises as
    `Tables.open` and `Tables.sample` do.
    """
    if directory is None:
        directory = os.environ.get("KALAH_TABLES") or "tables"
    return Tables.open(directory, rules, pits).sample(n, seeds, seed)


def to_array(positions: Position | str | list[Position] | list[str]) -> NDArray[np.uint8]:
    """Converts positions to the uint8 array of shape (n, 2 x pits) that `Tables.scores` takes. Stores are left out.

    Raises `PositionError` if the positions have different numbers of pits, or a pit has more than 255 seeds.
    """
    import numpy

    several = positions if isinstance(positions, list) else [positions]
    read = [position if isinstance(position, Position) else Position(position) for position in several]
    if len({position.pits for position in read}) > 1:
        raise errors.PositionError("the positions have different numbers of pits")
    rows = numpy.array([position.mover + position.other for position in read], dtype=numpy.int64)
    if rows.size and rows.max() > 255:
        raise errors.PositionError("a pit has more than 255 seeds")
    return rows.astype(numpy.uint8)
