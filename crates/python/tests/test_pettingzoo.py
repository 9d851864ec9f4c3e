"""The environment of PettingZoo passes PettingZoo's own tests, and plays by the rules."""

from __future__ import annotations

import warnings
from typing import Any, get_args

import numpy as np
import pytest

import kalah
from kalah import Position, Rules, Tables
from kalah.errors import ArgumentError, IllegalMoveError

pytest.importorskip("pettingzoo")

from pettingzoo.test import api_test, seed_test  # noqa: E402

from kalah.pettingzoo import kalah_v0  # noqa: E402


@pytest.mark.parametrize("rules", Rules.all(), ids=str)
def test_pettingzoos_own_tests(directory: Any, rules: Rules) -> None:
    tables = Tables.open(directory, rules, 3)
    with warnings.catch_warnings():
        # Of spaces that are dictionaries, as those of all its games, and of masks at the end of a game.
        warnings.simplefilter("ignore")
        api_test(kalah_v0.env("3x2", rules, tables=tables), num_cycles=200, verbose_progress=False)
        api_test(kalah_v0.env(rules=rules, reward="difference"), num_cycles=200, verbose_progress=False)
    seed_test(lambda: kalah_v0.env("3x3", rules, tables=tables), num_cycles=200)


def play(environment: Any, chance: np.random.Generator) -> list[tuple[str, int, Position]]:
    """Plays a game with random moves. Returns the agents, their moves, and the positions before them."""
    turns = []
    for agent in environment.agent_iter():
        observation, _, termination, truncation, _ = environment.last()
        if termination or truncation:
            environment.step(None)
            continue
        action = int(chance.choice(np.flatnonzero(observation["action_mask"])))
        turns.append((agent, action + 1, environment.unwrapped.game.position))
        environment.step(action)
    return turns


@pytest.mark.parametrize("rules", Rules.all(), ids=str)
def test_games_follow_the_rules(rules: Rules) -> None:
    chance = np.random.default_rng(3)
    for reward in get_args(kalah_v0.Reward):
        for _ in range(20):
            environment = kalah_v0.raw_env("4x3", rules, reward=reward)
            environment.reset()
            rewards = {}
            position, player = Position("4x3"), 0
            while not position.is_over:
                assert environment.game.position == position
                assert environment.agent_selection == f"player_{player}"
                seen = environment.observe(f"player_{player}")
                seeds = [*position.mover, *position.other, position.mover_store, position.other_store]
                assert seen["observation"].tolist() == seeds
                assert (np.flatnonzero(seen["action_mask"]) + 1).tolist() == position.moves()
                other = environment.observe(f"player_{1 - player}")
                turned = [*position.other, *position.mover, position.other_store, position.mover_store]
                assert other["observation"].tolist() == turned and not other["action_mask"].any()
                move = int(chance.choice(position.moves()))
                environment.step(move - 1)
                position, again = position.play(move, rules)
                player = player if again else 1 - player
            rewards = environment.rewards
            value = position.final_value
            assert value is not None and environment.terminations == {"player_0": True, "player_1": True}
            value = value if reward == "difference" else (value > 0) - (value < 0)
            assert rewards == {f"player_{player}": value, f"player_{1 - player}": -value}


def test_lost_seeds_explain_the_result(standard: Tables) -> None:
    """A lost seed changes the store difference by two. Without losses, the difference is the value of the start."""
    chance, start = np.random.default_rng(1), Position("0,2,1,3,1,2/1,0,3,2,1,2")
    environment = kalah_v0.env("6x4", "standard", tables=standard, reward="difference")
    total = 0
    for _ in range(10):
        environment.reset(options={"board": start})
        lost = [0, 0]
        inner = environment.unwrapped
        while not all(inner.terminations.values()):
            agent = inner.agent_selection
            environment.step(int(chance.choice(np.flatnonzero(inner.observe(agent)["action_mask"]))))
            lost[int(agent[-1])] += inner.infos[agent]["lost"]
        assert inner.rewards["player_0"] == standard.value(start) - 2 * lost[0] + 2 * lost[1]
        total += sum(lost)
    assert total > 0
    environment.reset()
    environment.step(0)
    assert environment.unwrapped.infos["player_0"] == {"lost": None}


def test_turns_repeat_and_illegal_moves_end_the_game() -> None:
    environment = kalah_v0.env()
    environment.reset()
    assert environment.agent_selection == "player_0"
    environment.step(2)
    assert environment.agent_selection == "player_0"
    environment.step(5)
    assert environment.agent_selection == "player_1"
    environment.reset()
    environment.step(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        environment.step(2)
    assert environment.rewards == {"player_0": -1, "player_1": 0}
    raw = kalah_v0.raw_env()
    raw.reset()
    for wrong in [-1, 6, None]:
        with pytest.raises(IllegalMoveError):
            raw.step(wrong)


def test_boards_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    environment = kalah_v0.raw_env("<3,1,2,3,4,5,6,7,8>", render_mode="ansi")
    environment.reset()
    shown = "    8  7  6   player_1\n 2           1\n    3  4  5   player_0\n"
    assert environment.render() == shown
    environment.step(0)
    environment = kalah_v0.raw_env("<3,1,2,3,4,5,6,7,8>", render_mode="human")
    environment.reset()
    environment.render()
    assert capsys.readouterr().out == shown + "\n"


def test_wrong_arguments_are_errors(tables: Tables) -> None:
    wrong: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"board": "0,0/1,1"}, ArgumentError, "over"),
        ({"board": 5}, TypeError, "board"),
        ({"tables": tables}, ArgumentError, "not for standard"),
        ({"tables": "tables"}, TypeError, "kalah.Tables"),
        ({"reward": "seeds"}, ArgumentError, "reward"),
        ({"render_mode": "rgb_array"}, ArgumentError, "render_mode"),
        ({"rules": "chess"}, kalah.errors.RulesError, "chess"),
    ]
    for arguments, error, message in wrong:
        with pytest.raises(error, match=message):
            kalah_v0.raw_env(**arguments)
    for board in ["6x5", "5x4"]:
        with pytest.raises(ArgumentError, match="other pits or more seeds"):
            kalah_v0.raw_env().reset(options={"board": board})
