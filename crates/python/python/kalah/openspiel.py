"""Perfect play and exact values for OpenSpiel, whose game `mancala` is Kalah(6,4) under the rules `standard`.

`PerfectBot` is a bot. `Referee` computes the seeds that a move loses. `play_game` plays a game between two bots, with
or without a referee. Needs the package `open_spiel`.

    tables = kalah.Tables.open("tables", "standard")
    game = play_game([PerfectBot(tables), another_bot], Referee(tables))
    print(game.stores, game.lost)
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import pyspiel

from . import Player, Position, Solver, Tables
from .errors import ArgumentError, IllegalMoveError, _shown

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["RULES", "Game", "PerfectBot", "Referee", "action_of", "move_of", "play_game", "position_of"]

RULES: Final = "standard"
"""The rules of OpenSpiel's `mancala`."""

PITS = 6
_STORE = PITS + 1
"""Index of player 0's store on OpenSpiel's board. Indices follow the sowing order; player 1's store has index 0."""


def position_of(state: Any) -> Position:
    """Returns the position of a state of `mancala`, seen by the player to move, or by player 0 if the game is over.

    Raises `ArgumentError` for a state of another game.
    """
    if not isinstance(state, pyspiel.State):
        raise TypeError(f"a state of OpenSpiel is expected, not {type(state)}")
    game = state.get_game().get_type().short_name
    if game != "mancala":
        raise ArgumentError(f"a state of mancala is expected, not of {game}")
    board = [int(seeds) for seeds in state.observation_tensor(0)]
    rows = board[1:_STORE], board[_STORE + 1 : 2 * _STORE]
    stores = board[_STORE], board[0]
    mover = 1 if state.current_player() == 1 else 0
    return Position.from_rows(rows[mover], rows[1 - mover], stores[mover], stores[1 - mover])


def action_of(move: int, player: int) -> int:
    """Returns OpenSpiel's action for a move of player 0 or 1. Moves are numbers of pits from 1.

    Raises `IllegalMoveError` if there is no such pit, and `ArgumentError` if there is no such player.
    """
    first = _first(player)
    if not 1 <= operator.index(move) <= PITS:
        raise IllegalMoveError(f"move {_shown(operator.index(move))} is not legal: there is no such pit")
    return first + operator.index(move)


def move_of(action: int, player: int) -> int:
    """Returns the move of player 0 or 1 for OpenSpiel's action. Moves are numbers of pits from 1.

    Raises `IllegalMoveError` if it is not an action of this player, and `ArgumentError` if there is no such player.
    """
    move = operator.index(action) - _first(player)
    if not 1 <= move <= PITS:
        raise IllegalMoveError(f"action {_shown(operator.index(action))} is not one of player {player}")
    return move


def _first(player: int) -> int:
    """Returns the index before a player's first pit."""
    if operator.index(player) not in (0, 1):
        raise ArgumentError(f"players are 0 and 1, not {_shown(operator.index(player))}")
    return operator.index(player) * _STORE


class PerfectBot(pyspiel.Bot):  # type: ignore[misc]
    """An OpenSpiel bot for `mancala`: the player `perfect`.

    It plays by `tables` (rules `standard`, 6 pits), then by the book that comes with the package, then by a search of
    `seconds` a move. Without a limit, it searches until the move is proved.
    """

    def __init__(
        self, tables: Tables | None = None, *, seconds: float | None = None, threads: int | None = None
    ) -> None:
        pyspiel.Bot.__init__(self)
        self._player = Player("perfect", RULES, tables=tables, threads=threads)
        self._tables, self._seconds, self._threads = tables, seconds, threads

    def step(self, state: Any) -> int:
        """Returns the action to play. Raises as `position_of` does, and `IllegalMoveError` if the game is over."""
        choice = self._player.choose(position_of(state), self._seconds)
        return action_of(choice.move, state.current_player())

    def provides_policy(self) -> bool:
        """Returns True."""
        return True

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """Returns the policy that gives the action of `step` probability 1. Raises as `step` does."""
        return self.step_with_policy(state)[0]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """Returns the policy that gives the action probability 1, and the action. Raises as `step` does."""
        action = self.step(state)
        return [(other, float(other == action)) for other in state.legal_actions()], action

    def is_clonable(self) -> bool:
        """Returns True."""
        return True

    def clone(self) -> PerfectBot:
        """Returns a bot with the same tables, which another thread can use."""
        return PerfectBot(self._tables, seconds=self._seconds, threads=self._threads)

    def restart_at(self, state: Any) -> None:
        """Does nothing, since each move depends on the state alone. Raises as `position_of` does."""
        position_of(state)

    def restart(self) -> None:
        """Does nothing: each move depends on the state alone."""

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Does nothing, since each move depends on the state alone. Raises as `position_of` does."""
        position_of(state)

    def inform_actions(self, state: Any, actions: Sequence[int]) -> None:
        """Does nothing, since each move depends on the state alone. Raises as `position_of` does."""
        position_of(state)

    def __reduce__(self) -> tuple[Any, ...]:
        return _bot, (self._tables, self._seconds, self._threads)


def _bot(tables: Tables | None, seconds: float | None, threads: int | None) -> PerfectBot:
    """Makes a bot when it is unpickled."""
    return PerfectBot(tables, seconds=seconds, threads=threads)


class Referee:
    """Exact values of moves of `mancala`: from `tables` (rules `standard`, 6 pits), and by searches above them.

    Larger tables leave less to search: with 24 seeds, a game takes some seconds.
    """

    def __init__(self, tables: Tables | None = None, *, threads: int | None = None) -> None:
        self._tables = tables
        self._solver = Solver("6x4", RULES, tables=tables, threads=threads)

    def move_scores(self, position: Position | str) -> dict[int, int]:
        """Returns the mover's score after each legal move: the seeds in play that the mover collects."""
        if isinstance(position, str):
            position = Position(position)
        if not isinstance(position, Position):
            raise TypeError(f"a position is a kalah.Position or a text, not {type(position)}")
        if self._tables is not None and position.seeds <= self._tables.max_seeds:
            return self._tables.move_scores(position)
        return self._solver.move_scores(position)

    def lost(self, state: Any, action: int) -> int:
        """Returns the seeds that `action` loses against a best move, with best play afterwards.

        Raises as `position_of` does, and `IllegalMoveError` for an action that is not legal.
        """
        position = position_of(state)
        if position.is_over:
            raise IllegalMoveError("the game is over")
        move = move_of(action, state.current_player())
        if move not in position.moves():
            raise IllegalMoveError(f"action {action} is not legal: the pit holds no seeds")
        scores = self.move_scores(position)
        return max(scores.values()) - scores[move]


@dataclass
class Game:
    """A finished game. Lists have player 0 first."""

    actions: list[int] = field(default_factory=list)
    """All actions in order."""
    stores: list[int] = field(default_factory=lambda: [0, 0])
    """Seeds of each player at the end, those left in the player's own pits included."""
    moves: list[int] = field(default_factory=lambda: [0, 0])
    """Number of moves of each player."""
    choices: list[int] = field(default_factory=lambda: [0, 0])
    """Number of these moves with at least two legal moves to choose from."""
    lost: list[int] = field(default_factory=lambda: [0, 0])
    """Seeds that each player's moves lost, by the referee; 0 without a referee."""
    mistakes: list[int] = field(default_factory=lambda: [0, 0])
    """Number of each player's moves that lost seeds."""


def play_game(bots: Sequence[Any], referee: Referee | None = None, *, opening: Sequence[int] = ()) -> Game:
    """Plays a game of `mancala` between two OpenSpiel bots after the actions of `opening`. The first bot is player 0.

    The opening's moves are not counted. Raises `ArgumentError` unless there are two bots, and `IllegalMoveError` if an
    action of the opening or of a bot is not legal.
    """
    if len(bots) != 2:
        raise ArgumentError(f"a game has two bots, not {len(bots)}")
    if not all(hasattr(bot, "step") for bot in bots) or not (referee is None or hasattr(referee, "lost")):
        raise TypeError("two bots of OpenSpiel and a referee are expected")
    state = pyspiel.load_game("mancala").new_initial_state()
    game = Game()
    for action in opening:
        _play(state, action)
        game.actions.append(action)
    for bot in bots:
        bot.restart_at(state)
    while not state.is_terminal():
        player = state.current_player()
        action = bots[player].step(state)
        game.moves[player] += 1
        game.choices[player] += len(state.legal_actions()) > 1
        lost = referee.lost(state, action) if referee is not None else 0
        game.lost[player] += lost
        game.mistakes[player] += lost > 0
        _play(state, action)
        bots[1 - player].inform_action(state, player, action)
        game.actions.append(action)
    end = position_of(state)
    game.stores = [end.mover_store + sum(end.mover), end.other_store + sum(end.other)]
    return game


def _play(state: Any, action: int) -> None:
    """Applies an action, and raises an exception if it is illegal. OpenSpiel itself may not."""
    if operator.index(action) not in state.legal_actions():
        raise IllegalMoveError(f"action {_shown(operator.index(action))} is not legal")
    state.apply_action(action)
