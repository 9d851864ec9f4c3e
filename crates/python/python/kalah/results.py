"""The results of calls. They can be compared and pickled."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from . import notebook

if TYPE_CHECKING:
    from . import answers
    from ._kalah import Document, Line, Position

__all__ = ["BuildProgress", "BuildReport", "Choice", "Probe", "Solution", "SolveProgress"]


@dataclass(frozen=True)
class Probe:
    """Result of looking a position up in tables."""

    position: Position
    """The position."""
    score: int
    """The score: the number of seeds in play that the mover collects with best play."""
    value: int
    """The final store difference for the mover with best play."""
    moves: dict[int, int]
    """The mover's score after each legal move, seeds stored by the move included. A dict with numbers of pits from 1 as
    keys; empty if the game is over."""
    best: list[int]
    """The moves that reach the score."""
    line: Line
    """A line of best play to the end of the game."""
    _document: Document = field(compare=False)

    def to_dict(self) -> answers.Position:
        """Returns the document that `kalah probe --json` prints."""
        document: answers.Position = json.loads(str(self._document))
        return document

    def __repr__(self) -> str:
        return (
            f"Probe({self.position}, score={self.score}, value={self.value:+}, best={self.best}, line={self.line!r})"
        )

    def _repr_html_(self) -> str:
        return notebook.probe(self)


@dataclass(frozen=True)
class Solution:
    """A solved position."""

    position: Position
    """The position."""
    score: int
    """The score: the number of seeds in play that the mover collects with best play."""
    value: int
    """The final store difference for the mover with best play."""
    best: list[int]
    """All moves that keep the value, as numbers of pits from 1. Empty if the game is over."""
    line: Line
    """A line of best play."""
    line_open: bool
    """True if the line stops before the game is over: the answer is from the book, which lacks the rest."""
    nodes: int
    """Nodes visited for it; 0 if it is from the book."""
    seconds: float
    """Elapsed seconds."""
    _document: Document = field(compare=False)

    def to_dict(self) -> answers.Solve:
        """Returns the document that `kalah solve --json` prints."""
        document: answers.Solve = json.loads(str(self._document))
        return document

    def __repr__(self) -> str:
        line = f"{self.line!r}{', line_open=True' if self.line_open else ''}"
        return f"Solution({self.position}, score={self.score}, value={self.value:+}, best={self.best}, line={line})"


@dataclass(frozen=True)
class SolveProgress:
    """Progress of a search."""

    nodes: int
    """Nodes visited so far by the solver."""
    table_hits: int
    """Scores read from tables so far."""
    seconds: float
    """Seconds since the call."""
    lower: int
    """Proved lower bound of the value of the position."""
    upper: int
    """Proved upper bound of this value."""

    def __repr__(self) -> str:
        numbers = f"nodes={self.nodes}, table_hits={self.table_hits}, seconds={self.seconds:.2f}"
        return f"SolveProgress({numbers}, lower={self.lower:+}, upper={self.upper:+})"


@dataclass(frozen=True)
class Choice:
    """A move that a player chose."""

    move: int
    """The move: the number of a pit from 1."""
    value: int | None
    """The proved final store difference for the mover, or None. Only with a proved value is it certain that no other
    move is better."""
    lower: int | None
    """Proved lower bound of the value of the move."""
    upper: int | None
    """Proved upper bound of the value of every move."""
    evaluation: int | None
    """The player's evaluation of the move, which proves nothing."""
    source: str
    """Source of the choice: 'tables', 'book', 'solver', 'bound', 'depth', 'only-move', or the name of a rule."""
    _document: Document = field(compare=False)

    def to_dict(self) -> answers.Move:
        """Returns the document that `kalah move --json` prints."""
        document: answers.Move = json.loads(str(self._document))
        return document

    def __repr__(self) -> str:
        numbers = {name: getattr(self, name) for name in ("value", "lower", "upper", "evaluation")}
        shown = "".join(f", {name}={number:+}" for name, number in numbers.items() if number is not None)
        return f"Choice(move={self.move}{shown}, source={self.source!r})"


@dataclass(frozen=True)
class BuildProgress:
    """Progress of a build."""

    positions: int
    """Positions computed so far."""
    total: int
    """Positions to compute."""
    seeds: int
    """Seeds in play of the current layer; 0 before the first one."""


@dataclass(frozen=True)
class BuildReport:
    """Result of a build."""

    kept: int
    """Layers that existed already."""
    built: int
    """Layers built or completed."""
    positions: int
    """Positions computed."""
    seconds: float
    """Elapsed seconds."""
    _document: Document = field(compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Returns the document that `kalah build --json` prints."""
        document: dict[str, Any] = json.loads(str(self._document))
        return document

    def __repr__(self) -> str:
        layers = f"kept={self.kept}, built={self.built}, positions={self.positions}"
        return f"BuildReport({layers}, seconds={self.seconds:.3f})"
