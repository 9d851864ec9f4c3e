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

from typing import TYPE_CHECKING

import numpy as np

from . import _arguments, errors, names
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
from .game import Game
from .results import BuildProgress, BuildReport, Choice, Probe, Solution, SolveProgress
from .tables import Tables, build

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from .names import RulesName

__all__ = [
    "MAX_TABLE_PITS",
    "MAX_TABLE_SEEDS",
    "BuildProgress",
    "BuildReport",
    "Choice",
    "Error",
    "Game",
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
    "names",
    "solve",
    "to_array",
]


def solve(
    position: Position | str,
    rules: Rules | RulesName = "empty-capture",
    *,
    tables: Tables | None = None,
    book: bool = True,
    threads: int | None = None,
    memory: int | None = None,
    seconds: float | None = None,
    progress: Callable[[SolveProgress], object] | None = None,
) -> Solution:
    """Solves a position: its score, value, all best moves, and a line of best play.

    `tables` make it much faster. The other arguments and the exceptions are those of `Solver` and `Solver.solve`. To
    solve several positions, make a `Solver`, which keeps its proved bounds.
    """
    solver = Solver(position, rules, tables=tables, book=book, threads=threads, memory=memory)
    return solver.solve(position, seconds=seconds, progress=progress)


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
    array = _arguments.converted(positions, np.int64, expected)
    if array.shape == (0,):
        return []
    if array.ndim == 1:
        array = array[None]
    if array.ndim != 2 or array.shape[1] % 2 or not 2 <= array.shape[1] <= 32:
        raise errors.PositionError(f"{expected}, not of shape {array.shape}")
    half = array.shape[1] // 2
    return [Position.from_rows(row[:half].tolist(), row[half:].tolist()) for row in array]
