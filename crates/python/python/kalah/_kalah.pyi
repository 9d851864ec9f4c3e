from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Final, final, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import disjoint_base

from ._filesystem import Directory
from .names import PlayerName, RulesName
from .results import BuildProgress, BuildReport, Choice, Probe, Solution, SolveProgress

__all__ = [
    "Document",
    "Line",
    "MAX_TABLE_PITS",
    "MAX_TABLE_SEEDS",
    "Player",
    "Position",
    "Rules",
    "Solver",
    "Tables",
    "__version__",
    "build",
    "is_address",
    "layer_positions",
]

__version__: Final[str]
MAX_TABLE_PITS: Final[int]
MAX_TABLE_SEEDS: Final[int]

@final
class Document:
    """The JSON document of an answer, made when it is asked for."""
    def __new__(cls, text: str) -> Document: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Rules:
    """A rule set: the effect of the last seed of a sowing.

    `Rules(name)` takes one of the names 'empty-capture', 'standard', 's-kalaha' and 'single-move', in upper or
    lower case. Functions that take a rule set accept its name too. Raises RulesError for any other name.
    """
    def __new__(cls, name: str) -> Rules: ...
    @staticmethod
    def all() -> list[Rules]:
        """Returns all rule sets."""
    @property
    def name(self) -> str:
        """The name, as in names of files."""
    @property
    def summary(self) -> str:
        """Description of the special rules, in a sentence or two."""
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Position:
    """A position: both rows, both stores. The mover is always South.

    `Position(text)` reads one of three forms:

    - '<m,S,N,s1..sm,n1..nm>', a Kalah Game Protocol literal: pits a side, the mover's store, the other store,
      the mover's row, the other row;
    - 's1,..,sm/n1,..,nm', without stores;
    - a start position such as '6x4'.

    Rows are in their owner's sowing order: the last pit is next to the owner's store. Functions that take a
    position accept such a text too. Raises PositionError for any other text.

    Positions are immutable. They can be compared, hashed and pickled.
    """
    def __new__(cls, text: str) -> Position: ...
    @staticmethod
    def from_rows(
        mover: Iterable[int], other: Iterable[int], mover_store: int = 0, other_store: int = 0
    ) -> Position:
        """Returns a position with these seeds in the pits of both rows, 1 to 16 a side, each in its owner's sowing
        order.

        Raises PositionError if the rows have different numbers of pits, none, or too many, or if a number of
        seeds is negative or too large.
        """
    @property
    def mover(self) -> tuple[int, ...]:
        """The seeds in the mover's pits, first pit first."""
    @property
    def other(self) -> tuple[int, ...]:
        """The seeds in the other player's pits, in that player's sowing order."""
    @property
    def mover_store(self) -> int:
        """The seeds in the mover's store."""
    @property
    def other_store(self) -> int:
        """The seeds in the other player's store."""
    @property
    def pits(self) -> int:
        """Pits a side."""
    @property
    def seeds(self) -> int:
        """Seeds in play: those in the pits."""
    @property
    def is_over(self) -> bool:
        """True if a row is empty, which ends the game."""
    @property
    def final_value(self) -> int | None:
        """The final store difference for the mover of a finished game. Seeds in the pits belong to the owner of
        their row. None if the game is not over.
        """
    def value(self, score: int) -> int:
        """Returns the final store difference for the mover if the mover collects `score` of the seeds in play.

        Raises ArgumentError if there are fewer seeds in play.
        """
    def moves(self) -> list[int]:
        """Returns the legal moves, as numbers of pits from 1. Empty if the game is over."""
    def play(self, move: int, rules: Rules | RulesName = "empty-capture") -> tuple[Position, bool]:
        """Plays the move of pit number `move`, from 1. Returns the position after it, seen by the player to move
        next, and True if that is the same player. If the game is over, it is False.

        Raises IllegalMoveError if the game is over, or the pit is empty or not on the board.
        """
    def turned(self) -> Position:
        """Returns the same board seen from the other side."""
    def _repr_svg_(self) -> str: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Line:
    """A line of play: the turns of alternating players, each with its moves in order.

    `Line(text, pits=6)` reads turns separated by spaces. The moves of a turn are written together ('36 21 4')
    or, on boards with more than nine pits, with commas ('11,3 2'). Raises PositionError for any other text, and
    ArgumentError for an invalid number of pits. `replay` checks that a line is legal.

    A line is a sequence of its turns: it has a length, indices and slices, and can be iterated.
    """
    def __new__(cls, text: str, pits: int = 6) -> Line: ...
    @property
    def turns(self) -> tuple[tuple[int, ...], ...]:
        """The turns: a tuple each of moves, which are numbers of pits from 1."""
    @property
    def moves(self) -> tuple[int, ...]:
        """All moves in order, as numbers of pits from 1."""
    def replay(self, start: Position | str, rules: Rules | RulesName = "empty-capture") -> Position:
        """Plays the line from `start` and returns the position at its end, seen by the player to move.

        Raises IllegalMoveError if a move is illegal, or a turn ends too early or has too many moves.
        """
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[tuple[int, ...]]: ...
    @overload
    def __getitem__(self, index: int, /) -> tuple[int, ...]: ...
    @overload
    def __getitem__(self, index: slice, /) -> tuple[tuple[int, ...], ...]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@disjoint_base
class Tables:
    """The part of `kalah.Tables` that reads tables."""
    def __new__(
        cls,
        path: str,
        rules: Rules | RulesName,
        pits: int,
        max_seeds: int,
        mapped: bool,
        filesystem: Directory | None,
    ) -> Tables: ...
    def close(self) -> None:
        """Closes the files, and lets go of a file system, as soon as no call and no solver reads them. Closing again
        does nothing.
        """
    @property
    def closed(self) -> bool:
        """True once the tables are closed."""
    @property
    def directory(self) -> Path | str:
        """The directory, as an absolute path, or the address."""
    @property
    def fetched(self) -> int:
        """Bytes fetched so far from an address or a file system; 0 for tables on this machine and closed ones."""
    @property
    def rules(self) -> Rules:
        """The rule set."""
    @property
    def pits(self) -> int:
        """Pits a side."""
    @property
    def max_seeds(self) -> int:
        """Seeds in play of the largest layer."""
    def probe(self, position: Position | str) -> Probe:
        """Looks a position up: score, value, all moves, and a line of best play.

        Raises MissingTableError if the position has more seeds in play than the largest table,
        DamagedTableError if a table is damaged, and PositionError if it has other pits than the tables.
        """
    def score(self, position: Position | str) -> int:
        """Returns the score: the number of seeds in play that the mover collects with best play. Raises as `probe`
        does.
        """
    def move_scores(self, position: Position | str) -> dict[int, int]:
        """Returns the mover's score after each legal move, seeds stored by the move included: a dict with numbers
        of pits from 1 as keys. Raises as `probe` does.
        """
    def check(self, *, threads: int | None = None) -> None:
        """Compares all tables with their checksums. Raises DamagedTableError."""
    def scores(
        self,
        positions: ArrayLike,
        *,
        default: int | None = None,
        threads: int | None = None,
    ) -> NDArray[np.int8]:
        """Returns the scores of many positions, as an int8 array of shape (n,).

        Positions with more seeds in play than the largest table get the result `default`, if that is given.

        Always releases the interpreter's lock. `threads` is the number of cores by default. Raises
        MissingTableError, DamagedTableError, PositionError (for another shape, or more than 48 seeds in play),
        OutOfMemoryError, or TypeError (no array of integers).
        """
    def scores_of_moves(
        self,
        positions: ArrayLike,
        *,
        default: int | None = None,
        threads: int | None = None,
    ) -> NDArray[np.int8]:
        """Returns the mover's scores after all moves of many positions, as an int8 array of shape (n, pits).
        Column i is the move of pit i + 1; -1 means that it is illegal. Arguments and exceptions are those of
        `scores`.
        """
    def _sample(
        self,
        n: int,
        seeds: int,
        seed: int,
        part: bool | None,
        test: float,
        play: bool,
        start: Position | str | None,
        threads: int | None,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Draws positions. `part` is True for the part for tests, False for the rest."""
    def unrank(self, seeds: int, ranks: ArrayLike, *, threads: int | None = None) -> NDArray[np.uint8]:
        """Returns the positions of the layer with `seeds` seeds in play that have these ranks (integers in an array or
        list), 0 to `layer_positions(pits, seeds)` - 1, as a uint8 array of shape (n, 2 x pits).

        Raises OutOfMemoryError, or ArgumentError for a rank that the layer does not have.
        """
    def rank(self, seeds: int, positions: ArrayLike, *, threads: int | None = None) -> NDArray[np.int64]:
        """Returns the ranks of positions in the layer with `seeds` seeds in play: an int64 array of shape (n,).
        They are indices of the array that `layer` returns.

        Raises OutOfMemoryError, or PositionError for a position that is not in the layer. A position with an empty
        row is in no layer.
        """
    def layer(self, seeds: int, *, threads: int | None = None) -> NDArray[np.int8]:
        """Returns all scores of the layer with `seeds` seeds in play, in the order of ranks, as an int8 array of
        shape (positions,). It takes one byte for each position.

        Raises MissingTableError, DamagedTableError, OutOfMemoryError, or ArgumentError if no tables have such a
        layer.
        """

def build(
    directory: str,
    seeds: int,
    rules: Rules | RulesName,
    pits: int,
    threads: int | None,
    memory: int | None,
    progress: Callable[[BuildProgress], object] | None,
) -> BuildReport:
    """Builds tables: `kalah.build`."""

def is_address(text: str) -> bool:
    """Returns True if a text is an address, not a path."""

def layer_positions(pits: int, seeds: int) -> int:
    """Returns the number of positions of a layer: `seeds` in play, both rows non-empty. Ranks run from 0 to one
    less.

    Raises ArgumentError if there is no such layer.
    """




@final
class Solver:
    """Solves positions of one rule set and board above the tables, by MTD(f). All results are proved.

    `Solver(largest, rules='empty-capture', *, tables=None, book=True, threads=None, memory=None)` solves
    positions with the pits of the position `largest` and at most its seeds in play. Proved bounds are kept for
    the next position. With `book`, the bounds of the book that comes with the package are taken as proved, and what
    it contains is answered at once.

    `memory` is the maximum number of bytes of the transposition table, by default 1 GiB, and less for a small board.
    The table is made by the first call that needs a search.

    Every method releases the interpreter's lock. Ctrl-C in the main thread ends it, and proved bounds are kept.
    After `seconds`, if given, it raises TimeUpError. `progress` is called about twenty times a second with a
    SolveProgress. An exception that it raises ends the search.

    Raises SolveError if the board is too large, and ArgumentError if the tables have other rules or pits.
    Raises OutOfMemoryError, also if `memory` is more than is available, DamagedTableError or TableError. Only
    one thread may use a solver at a time; others get an InUseError. A position that is too large for the
    solver, or has other pits, raises PositionError.
    """
    def __new__(
        cls,
        largest: Position | str,
        rules: Rules | RulesName = "empty-capture",
        *,
        tables: Tables | None = None,
        book: bool = True,
        threads: int | None = None,
        memory: int | None = None,
    ) -> Solver: ...
    @property
    def rules(self) -> Rules:
        """The rule set."""
    @property
    def pits(self) -> int:
        """Pits a side."""
    @property
    def max_seeds(self) -> int:
        """Maximum seeds in play of positions that it solves."""
    def solve(
        self,
        position: Position | str,
        *,
        seconds: float | None = None,
        progress: Callable[[SolveProgress], object] | None = None,
    ) -> Solution:
        """Returns score, value, all best moves and a line of best play. If the book has the value and decides every
        move, its line may stop before the end of the game.
        """
    def value(
        self,
        position: Position | str,
        *,
        seconds: float | None = None,
        progress: Callable[[SolveProgress], object] | None = None,
    ) -> int:
        """Returns the final store difference for the mover with best play."""
    def move_scores(
        self,
        position: Position | str,
        *,
        seconds: float | None = None,
        progress: Callable[[SolveProgress], object] | None = None,
    ) -> dict[int, int]:
        """Returns the mover's exact score after each legal move, seeds stored by the move included: a dict with
        numbers of pits from 1 as keys.
        """


@final
class Player:
    """A player by its name: 'perfect', 'minimax:D', 'alphabeta:D', 'heuristic', 'minimax2:D', 'minimax3:D',
    'greedy', 'random' or 'random:SEED', where D is a depth (docs/players.md). 'random' plays other moves each time,
    'random:SEED' the same ones.

    `Player(name, rules='empty-capture', *, tables=None, book=True, threads=None, memory=268435456)`. All
    arguments except the name and the rules apply to 'perfect' only. It plays by the tables, then by the book
    that comes with the package, then by the results of a search. `memory` is the maximum number of bytes of its
    transposition table.

    Raises ArgumentError for any other name, or if the tables are for other rules. Raises OutOfMemoryError if
    `memory` is more than is available. Only one thread may use a player at a time; others get an InUseError.
    """
    def __new__(
        cls,
        name: PlayerName | str,
        rules: Rules | RulesName = "empty-capture",
        *,
        tables: Tables | None = None,
        book: bool = True,
        threads: int | None = None,
        memory: int = 268435456,
    ) -> Player: ...
    @property
    def name(self) -> str:
        """The name."""
    @property
    def rules(self) -> Rules:
        """The rule set."""
    def choose(self, position: Position | str, seconds: float | None = None) -> Choice:
        """Returns the move to play in `position`, after at most about `seconds`. Without a limit, 'perfect'
        searches until the move is proved.

        Releases the interpreter's lock. Ctrl-C in the main thread ends the call. Raises IllegalMoveError if the
        game is over.
        """
