# Written from the answers' types by a test: crates/api/tests/description.
"""The documents that `to_dict` returns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired

Rules = Literal["empty-capture", "standard", "s-kalaha", "single-move"]
"""Names of the rule sets. `kalah.Rules` reads any text."""


Known = Literal["exact", "bounds", "estimate"]
"""Certainty of a value."""


Lift = TypedDict("Lift", {"drops": "list[int]", "from": "int"})
"""Seeds of one pit, taken up and sown. Places are numbered in sowing order from the mover's first pit."""


class Move(TypedDict):
    """Move that a player chose, and the time that it took."""

    again: bool
    """True if the same player moves again."""
    captured: NotRequired[list[int]]
    """Places whose seeds are captured."""
    depth: NotRequired[int]
    estimate: NotRequired[int]
    """Evaluation of a value that is not exact, which proves nothing."""
    finished: bool
    """True if the game is over."""
    known: NotRequired[Known]
    """Certainty of the value."""
    lower: NotRequired[int]
    """Proved lower bound of a value that is not exact."""
    move: int
    next: str
    """Position after the move, as the next player to move sees it."""
    player: str
    position: str
    rules: Rules
    seconds: float
    source: str
    """Source of the choice, such as tables, book, solver, or the name of a rule."""
    sowing: list[Lift]
    """Sowings of the move: the first one, and one for each relay."""
    upper: NotRequired[int]
    """Proved upper bound of a value that is not exact."""
    value: NotRequired[int]
    """The final store difference for the mover, if it is exact."""


class Opening(TypedDict):
    """The value of a first turn, by a search or a certificate."""

    estimate: NotRequired[int]
    """Evaluation of a value that is not exact, which proves nothing."""
    known: NotRequired[Known]
    """Certainty of the value."""
    lower: NotRequired[int]
    """Proved lower bound of a value that is not exact."""
    move: str
    """The moves, with dashes."""
    nodes: NotRequired[int]
    """Nodes of its search."""
    seconds: NotRequired[float]
    """Seconds of its search."""
    upper: NotRequired[int]
    """Proved upper bound of a value that is not exact."""
    value: NotRequired[int]
    """The final store difference for the mover, if it is exact."""


class Position(TypedDict):
    """Answer about a position."""

    best: list[int]
    """Best moves, proved if the value is exact."""
    depth: NotRequired[int]
    """Depth of the evaluations."""
    estimate: NotRequired[int]
    """Evaluation of a value that is not exact, which proves nothing."""
    finished: NotRequired[bool]
    """True if the game is over."""
    known: NotRequired[Known]
    """Certainty of the value."""
    line: NotRequired[str]
    """Line of best play."""
    line_open: NotRequired[bool]
    """True if the line stops before the end of the game, where book and tables end."""
    lower: NotRequired[int]
    """Proved lower bound of a value that is not exact."""
    moves: list[ValuedMove]
    position: str
    rules: Rules
    score: NotRequired[int]
    """Seeds in play that the mover collects, if the value is exact."""
    seeds: int
    """Seeds in play."""
    source: Source
    upper: NotRequired[int]
    """Proved upper bound of a value that is not exact."""
    value: NotRequired[int]
    """The final store difference for the mover, if it is exact."""


class Solve(TypedDict):
    """The answer of a search for a position."""

    at_least: NotRequired[int]
    """Lower bound that was tested."""
    at_most: NotRequired[int]
    """Upper bound that was tested."""
    best: NotRequired[list[int]]
    """Numbers of the moves that keep the value."""
    bound_seeds: NotRequired[int]
    """Seeds of the largest layer of bound tables."""
    estimate: NotRequired[int]
    """Evaluation of a value that is not exact, which proves nothing."""
    known: NotRequired[Known]
    """Certainty of the value."""
    line: NotRequired[str]
    """A line of best play."""
    line_open: NotRequired[bool]
    """True if the line stops before the game is over."""
    lower: NotRequired[int]
    """Proved lower bound of a value that is not exact."""
    nodes: int
    """Nodes of the search."""
    openings: NotRequired[list[Opening]]
    """Every first turn with its value."""
    position: str
    """The position."""
    proved: NotRequired[bool]
    """True if the tested bound holds."""
    rules: Rules
    seconds: float
    """Seconds of the search."""
    source: Source
    """Where the value, or the answer of the test, comes from: book or solver."""
    table_hits: int
    """Scores read from tables."""
    table_seeds: NotRequired[int]
    """Seeds of the largest layer of exact tables."""
    threads: int
    """Threads of the search."""
    upper: NotRequired[int]
    """Proved upper bound of a value that is not exact."""
    value: NotRequired[int]
    """The final store difference for the mover, if it is exact."""


Source = Literal["rules", "tables", "book", "solver", "bound", "depth"]
"""Where an answer about a position comes from."""


class ValuedMove(TypedDict):
    """A legal move with what is known of its value. Positions of a game leave out its effects."""

    again: NotRequired[bool]
    """True if the same player moves again."""
    captured: NotRequired[list[int]]
    """Places whose seeds are captured."""
    estimate: NotRequired[int]
    """Evaluation of a value that is not exact, which proves nothing."""
    finished: NotRequired[bool]
    """True if the game is over."""
    known: NotRequired[Known]
    """Certainty of the value."""
    lower: NotRequired[int]
    """Proved lower bound of a value that is not exact."""
    move: int
    """Number of the pit, from 1."""
    next: NotRequired[str]
    """Position after the move, as the next player to move sees it."""
    score: NotRequired[int]
    """Seeds in play that the mover collects, if the value is exact."""
    sowing: NotRequired[list[Lift]]
    """Sowings of the move: the first one, and one for each relay."""
    upper: NotRequired[int]
    """Proved upper bound of a value that is not exact."""
    value: NotRequired[int]
    """The final store difference for the mover, if it is exact."""
