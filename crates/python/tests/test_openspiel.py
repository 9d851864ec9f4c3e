"""OpenSpiel's `mancala` is Kalah(6,4) by the rules `standard`, and the adapter plays it."""

from __future__ import annotations

import os
import random

import pytest

import kalah
from kalah import Position, Tables

pyspiel = pytest.importorskip("pyspiel")

from kalah.openspiel import RULES, PerfectBot, Referee, action_of, move_of, play_game, position_of  # noqa: E402

GAMES = int(os.environ.get("KALAH_OPENSPIEL_GAMES", "2000"))
"""How many random games are compared. 20,000 were, by hand."""


def test_random_games_agree_move_by_move() -> None:
    game, chance, moves = pyspiel.load_game("mancala"), random.Random(1), 0
    for _ in range(GAMES):
        state, position, player = game.new_initial_state(), Position("6x4"), 0
        while not position.is_over:
            assert not state.is_terminal() and state.current_player() == player
            assert position_of(state) == position
            assert [move_of(action, player) for action in state.legal_actions()] == position.moves()
            move = chance.choice(position.moves())
            state.apply_action(action_of(move, player))
            position, again = position.play(move, RULES)
            player = player if again else 1 - player
            moves += 1
        assert state.is_terminal()
        value = position.final_value
        assert value is not None
        value = value if player == 0 else -value
        assert state.returns() == [(value > 0) - (value < 0), (value < 0) - (value > 0)]
    assert moves > 20 * GAMES


class RandomBot(pyspiel.Bot):  # type: ignore[misc]
    def __init__(self, seed: int) -> None:
        pyspiel.Bot.__init__(self)
        self._random = random.Random(seed)

    def step(self, state: object) -> int:
        action: int = self._random.choice(state.legal_actions())  # type: ignore[attr-defined]
        return action

    def restart_at(self, state: object) -> None:
        pass

    def inform_action(self, state: object, player: int, action: int) -> None:
        pass


@pytest.mark.parametrize("side", [0, 1])
def test_the_perfect_bot_loses_nothing(standard: Tables, side: int) -> None:
    referee = Referee(standard)
    bots = [PerfectBot(standard), RandomBot(side)]
    game = play_game(bots if side == 0 else bots[::-1], referee)
    assert game.lost[side] == game.mistakes[side] == 0
    assert sum(game.stores) == 48 and game.stores[side] > game.stores[1 - side]
    assert sum(game.moves) == len(game.actions) and game.lost[1 - side] > 0


def test_what_both_lose_explains_the_result(standard: Tables) -> None:
    """A seed lost by a player is two in the difference of the stores; without losses it is the value of the game."""
    value = kalah.solve("6x4", RULES, tables=standard).value
    game = play_game([RandomBot(2), RandomBot(3)], Referee(standard))
    assert game.stores[0] - game.stores[1] == value - 2 * game.lost[0] + 2 * game.lost[1]


def test_openspiels_own_loop_plays_the_bot(standard: Tables) -> None:
    evaluate_bots = pytest.importorskip("open_spiel.python.algorithms.evaluate_bots")
    import numpy

    state = pyspiel.load_game("mancala").new_initial_state()
    returns = evaluate_bots.evaluate_bots(state, [PerfectBot(standard), RandomBot(4)], numpy.random.RandomState(1))
    assert list(returns) == [1.0, -1.0]
    _, action = PerfectBot(standard).step_with_policy(pyspiel.load_game("mancala").new_initial_state())
    assert action in range(1, 7)
