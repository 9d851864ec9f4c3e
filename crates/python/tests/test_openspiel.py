"""OpenSpiel's `mancala` is Kalah(6,4) under the rules `standard`, and the adapter plays it."""

from __future__ import annotations

import copy
import os
import pickle
import random

import pytest

import kalah
from kalah import Position, Tables

pytest.importorskip("pyspiel")

import pyspiel  # noqa: E402

from kalah.openspiel import RULES, PerfectBot, Referee, action_of, move_of, play_game, position_of  # noqa: E402

GAMES = int(os.environ.get("KALAH_OPENSPIEL_GAMES", "20000"))
"""Number of random games that are compared."""

SEEDS = 28
"""Seeds in play at which the games of the tests begin. With few tables, refereeing larger positions takes long."""


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


def opening(seed: int) -> list[int]:
    """Returns random actions until few seeds are in play."""
    chance = random.Random(seed)
    while True:
        state, actions = pyspiel.load_game("mancala").new_initial_state(), []
        while not state.is_terminal() and position_of(state).seeds > SEEDS:
            actions.append(chance.choice(state.legal_actions()))
            state.apply_action(actions[-1])
        if not state.is_terminal():
            return actions


@pytest.mark.parametrize("seed", range(4))
def test_losses_explain_the_result_and_the_perfect_bot_has_none(standard: Tables, seed: int) -> None:
    """A lost seed changes the store difference by two. Without losses, the difference is the value of the start."""
    actions, perfect = opening(seed), seed % 2
    state = pyspiel.load_game("mancala").new_initial_state()
    for action in actions:
        state.apply_action(action)
    value = kalah.solve(position_of(state), RULES, tables=standard).value * (1 - 2 * state.current_player())
    bots = [RandomBot(seed), PerfectBot(standard)]
    game = play_game(bots if perfect == 1 else bots[::-1], Referee(standard), opening=actions)
    assert sum(game.stores) == 48
    assert game.stores[0] - game.stores[1] == value - 2 * game.lost[0] + 2 * game.lost[1]
    assert game.lost[perfect] == game.mistakes[perfect] == 0
    assert game.lost[1 - perfect] > 0 and game.mistakes[1 - perfect] <= game.choices[1 - perfect]
    assert sum(game.moves) == len(game.actions) - len(actions)


def test_openspiels_own_loop_plays_the_bot(standard: Tables) -> None:
    evaluate_bots = pytest.importorskip("open_spiel.python.algorithms.evaluate_bots")
    import numpy

    state = pyspiel.load_game("mancala").new_initial_state()
    returns = evaluate_bots.evaluate_bots(state, [PerfectBot(standard), RandomBot(4)], numpy.random.RandomState(1))
    assert list(returns) == [1.0, -1.0]
    _, action = PerfectBot(standard).step_with_policy(pyspiel.load_game("mancala").new_initial_state())
    assert action in range(1, 7)


def test_a_bot_can_be_cloned_and_pickled(standard: Tables) -> None:
    state = pyspiel.load_game("mancala").new_initial_state()
    for action in opening(3):
        state.apply_action(action)
    bot = PerfectBot(standard, seconds=60, threads=1)
    policy, action = bot.step_with_policy(state)
    assert bot.provides_policy() and bot.is_clonable()
    for twin in [bot.clone(), pickle.loads(pickle.dumps(bot)), copy.deepcopy(bot)]:
        assert type(twin) is PerfectBot and twin is not bot
        assert (twin.get_policy(state), twin.step(state)) == (policy, action)
    assert policy == [(other, float(other == action)) for other in state.legal_actions()]
