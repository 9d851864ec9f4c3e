"""Games, move by move."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, final

from . import _arguments
from ._kalah import Line, Rules
from .errors import IllegalMoveError

if TYPE_CHECKING:
    from ._kalah import Position
    from .names import RulesName

__all__ = ["Game"]


@final
class Game:
    """A game: moves are pushed, and popped to take them back. Player 0 begins, and is South when a game is printed.

    >>> game = kalah.Game("6x4", "standard")
    >>> for move in (3, 6, 5):
    ...     game.push(move)
    >>> print(game)
        5  0  5  5  5  5
     1                    2
        5  5  0  5  5  0
    >>> game.pop(), str(game.line), game.player
    (5, '36', 1)
    """

    def __init__(self, start: Position | str = "6x4", rules: Rules | RulesName = "empty-capture") -> None:
        """Begins a game at `start`, where player 0 is to move. Raises PositionError or RulesError."""
        self.rules = rules if isinstance(rules, Rules) else Rules(rules)
        """The rule set."""
        self._places = [(_arguments.position(start), 0)]
        """The position before each move and after the last one, and the player who sees it."""
        self._moves: list[int] = []

    @property
    def start(self) -> Position:
        """The first position."""
        return self._places[0][0]

    @property
    def position(self) -> Position:
        """The position now, seen by `player`."""
        return self._places[-1][0]

    @property
    def player(self) -> int:
        """The player to move, 0 or 1. Once the game is over, the one who did not make the last move."""
        return self._places[-1][1]

    @property
    def board(self) -> Position:
        """The position now, seen by player 0."""
        return self.position if self.player == 0 else self.position.turned()

    @property
    def moves(self) -> tuple[int, ...]:
        """The moves so far, as numbers of pits from 1."""
        return tuple(self._moves)

    @property
    def line(self) -> Line:
        """The moves so far, turn by turn."""
        made = zip(self._moves, self._places, strict=False)
        between = "," if self.start.pits > 9 else ""
        turns = (between.join(str(move) for move, _ in turn) for _, turn in groupby(made, lambda each: each[1][1]))
        return Line(" ".join(turns), self.start.pits)

    @property
    def is_over(self) -> bool:
        """True if a row is empty, which ends the game."""
        return self.position.is_over

    @property
    def value(self) -> int | None:
        """The final store difference for player 0. None if the game is not over."""
        return self.board.final_value

    def legal_moves(self) -> list[int]:
        """Returns the legal moves, as numbers of pits from 1. Empty if the game is over."""
        return self.position.moves()

    def push(self, move: int) -> None:
        """Plays a move. Raises IllegalMoveError if it is not legal; nothing has changed then."""
        position, again = self.position.play(move, self.rules)
        self._places.append((position, self.player if again else 1 - self.player))
        self._moves.append(move)

    def pop(self) -> int:
        """Takes the last move back, and returns it. Raises IllegalMoveError if there is no move."""
        if not self._moves:
            raise IllegalMoveError("there is no move to take back")
        self._places.pop()
        return self._moves.pop()

    def __repr__(self) -> str:
        return f"<kalah.Game: {self.rules}, {self.start}, line '{self.line}'>"

    def __str__(self) -> str:
        """Returns the board with South's row below, from left to right, and the stores beside."""
        board = self.board
        north, south = (" ".join(f"{seeds:2}" for seeds in row) for row in (reversed(board.other), board.mover))
        return f"   {north}\n{board.other_store:2} {' ' * len(south)} {board.mover_store:2}\n   {south}"

    def _repr_svg_(self) -> str:
        return self.board._repr_svg_()
