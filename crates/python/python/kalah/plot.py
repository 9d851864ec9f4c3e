"""Small plots of exact scores. Needs the package `matplotlib`.

    kalah.plot.layer(tables, 20)
    kalah.plot.moves(tables.probe("<6,7,21,0,2,10,1,0,1,1,3,0,1,1,0>"))

Each function draws into `axes`, by default into the current ones of pyplot, and returns them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import matplotlib.pyplot as plt
import numpy as np

from . import Probe, Tables

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["layer", "moves"]


def layer(tables: Tables, seeds: int, *, axes: Axes | None = None) -> Axes:
    """Plots the share of the positions of a layer that have each score. Raises as `Tables.layer` does."""
    if not isinstance(tables, Tables):
        raise TypeError(f"tables are a kalah.Tables, not {type(tables)}")
    scores = tables.layer(seeds)
    counts = np.bincount(scores, minlength=seeds + 1)
    axes = plt.gca() if axes is None else axes
    axes.bar(np.arange(seeds + 1), counts / len(scores))
    axes.set_xlabel("score")
    axes.set_ylabel("share of positions")
    axes.set_title(f"{tables.rules}, {tables.pits} pits, {seeds} seeds in play")
    return axes


def moves(probe: Probe, *, axes: Axes | None = None) -> Axes:
    """Plots the score of each legal move; the best ones have another colour."""
    if not isinstance(probe, Probe):
        raise TypeError(f"a kalah.Probe is expected, not {type(probe)}")
    axes = plt.gca() if axes is None else axes
    colours = ["C1" if move in probe.best else "C0" for move in probe.moves]
    axes.bar(list(probe.moves), list(probe.moves.values()), color=colours)
    axes.set_xticks(range(1, probe.position.pits + 1))
    axes.set_xlabel("move")
    axes.set_ylabel("score")
    axes.set_title(str(probe.position))
    return axes
