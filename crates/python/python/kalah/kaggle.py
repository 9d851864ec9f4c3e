"""Replays of Kaggle's mancala arena, with the exact loss of every move.

The arena plays OpenSpiel's `mancala`, which is Kalah(6,4) under the rules `standard`. Needs no package of either.

    replay = read_replay("replay.json")
    for move in review(replay, kalah.Tables.open("tables", "standard")):
        print(replay.names[move.player], move.move, move.lost)
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from . import Game, Position, Solver, Tables
from .errors import ArgumentError, IllegalMoveError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from os import PathLike

__all__ = ["RULES", "Move", "Replay", "read_replay", "review"]

RULES: Final = "standard"
"""The rules of the arena."""

_PITS = 6
_STORE = _PITS + 1
"""Index of player 0's store on OpenSpiel's board, where player 1's store has index 0."""


@dataclass(frozen=True)
class Replay:
    """A game of the arena. Player 0 begins."""

    moves: tuple[tuple[int, int], ...]
    """Player and pit, from 1 in the player's sowing order, of every move."""
    names: tuple[str, str]
    """Names of the players."""
    rewards: tuple[float | None, float | None]
    """Rewards of the players at the end."""
    end: Position
    """Position after the last move, seen by the player to move, or by player 0 if the game is over."""
    is_forfeit: bool
    """True if the game ended early: by an illegal move, a timeout or a fault of a player."""


@dataclass(frozen=True)
class Move:
    """A move of a game, with the exact scores of all moves at its place."""

    player: int
    """The player, 0 or 1."""
    position: Position
    """Position before the move, seen by the player."""
    move: int
    """The pit, from 1."""
    scores: dict[int, int]
    """The player's score after each legal move: seeds in play that the player collects with best play."""

    @property
    def lost(self) -> int:
        """Seeds that the move loses against a best one, with best play afterwards."""
        return max(self.scores.values()) - self.scores[self.move]


def read_replay(replay: str | PathLike[str] | Mapping[str, Any]) -> Replay:
    """Reads a replay: a file of JSON, or its contents as a mapping.

    Raises `ArgumentError` if the file cannot be read, if it is not a replay of `mancala`, or its game is not Kalah(6,4)
    under `standard` rules.
    """
    document = replay if isinstance(replay, Mapping) else _load(Path(replay))
    try:
        game = document["configuration"]["openSpielGameName"]
        last = document["steps"][-1]
        observation = next(each["observation"] for each in last if "observationString" in each["observation"])
        shown = json.loads(observation["observationString"])
        # All actions, those before the players' first ones included.
        history = re.search(r"^history=([0-9:,]*)$", observation["serializedGameAndState"], re.MULTILINE)
        actions = [each.split(":") for each in history[1].split(",") if each] if history else []
        moves = tuple((int(player), int(action) - int(player) * _STORE) for player, action in actions)
        rewards = tuple(each["reward"] for each in last)
        board, is_over = [int(seeds) for seeds in shown["board"]], bool(shown["is_terminal"])
        names = tuple((document.get("info") or {}).get("TeamNames") or ("Player 1", "Player 2"))
        if history is None or len(names) != 2 or len(rewards) != 2:
            raise ValueError
    except (AttributeError, IndexError, KeyError, StopIteration, TypeError, ValueError) as error:
        raise ArgumentError("this is not a replay of Kaggle's mancala arena") from error
    if game != "mancala":
        raise ArgumentError(f"a replay of mancala is expected, not of {game}")
    end = _game(moves)
    seen = end.board if is_over else end.position
    viewer = 0 if is_over else end.player
    rows, stores = (board[1:_STORE], board[_STORE + 1 : 2 * _STORE]), (board[_STORE], board[0])
    if seen != Position.from_rows(rows[viewer], rows[1 - viewer], stores[viewer], stores[1 - viewer]):
        raise ArgumentError(f"the moves of the replay lead to {seen}, not to its last board")
    return Replay(moves, names, rewards, seen, not is_over)


def review(
    replay: Replay, tables: Tables | None = None, *, max_seeds: int | None = None, threads: int | None = None
) -> Iterator[Move]:
    """Yields the moves of a game in order, with their exact scores.

    These are from `tables` (rules `standard`, 6 pits), and by searches above them. Larger tables leave less to search:
    with 24 seeds, a game takes some seconds. With `max_seeds`, leaves out moves with more seeds in play.
    """
    if not isinstance(replay, Replay):
        raise TypeError(f"replay is what read_replay returns, not {type(replay)}")
    solver = Solver("6x4", RULES, tables=tables, threads=threads)
    game = Game("6x4", RULES)
    for player, move in replay.moves:
        position = game.position
        game.push(move)
        if max_seeds is not None and position.seeds > max_seeds:
            continue
        within = tables is not None and position.seeds <= tables.max_seeds
        scores = tables.move_scores(position) if tables is not None and within else solver.move_scores(position)
        yield Move(player, position, move, scores)


def _load(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_bytes()
    except (OSError, ValueError) as error:
        raise ArgumentError(f"{path} cannot be read: {error}") from error
    try:
        document = json.loads(text)
    except (RecursionError, ValueError) as error:
        raise ArgumentError(f"{path} is not JSON: {error}") from error
    if not isinstance(document, Mapping):
        raise ArgumentError(f"{path} is not a replay of Kaggle's mancala arena")
    return document


def _game(moves: tuple[tuple[int, int], ...]) -> Game:
    """Returns the game with these moves, each with its player."""
    game = Game("6x4", RULES)
    for player, move in moves:
        if player != game.player:
            raise IllegalMoveError(f"player {player} moves at {game.position}, where player {game.player} has the move")
        game.push(move)
    return game
