"""The environment of PettingZoo, by its AEC interface.

    env = kalah_v0.env("6x4", "standard", tables=kalah.Tables.open("tables", "standard"))
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, reward, termination, truncation, info = env.last()
        done = termination or truncation
        env.step(None if done else env.action_space(agent).sample(observation["action_mask"]))

The agents are `player_0`, who begins, and `player_1`. An agent that may move again is selected again. Action `a`
empties pit `a + 1` of the agent. An observation has the agent's pits, the other pits, the agent's store and the other
one, and an `action_mask`. The mask is 0 for the agent that is not to move, and for both at the end.

With `tables`, `infos[agent]["lost"]` is the number of seeds that the agent's latest move lost against a best move, or
None if the position had more seeds in play than the tables.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import gymnasium
import numpy as np
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from .. import Game, Position, Rules, Tables, _arguments
from ..errors import ArgumentError, IllegalMoveError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ..names import RulesName

__all__ = ["env", "raw_env"]

AGENTS = ["player_0", "player_1"]

Reward = Literal["outcome", "difference"]
RenderMode = Literal["human", "ansi"]


def env(
    board: Position | str = "6x4",
    rules: Rules | RulesName = "standard",
    *,
    tables: Tables | None = None,
    reward: Reward = "outcome",
    render_mode: RenderMode | None = None,
) -> Any:
    """Returns the environment with PettingZoo's usual wrappers: an illegal action ends the game with reward -1.

    The arguments are those of `raw_env`.
    """
    wrapped: Any = raw_env(board, rules, tables=tables, reward=reward, render_mode=render_mode)
    wrapped = wrappers.TerminateIllegalWrapper(wrapped, illegal_reward=-1)
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(wrapped))


class raw_env(AECEnv):  # type: ignore[misc]
    """The environment without wrappers.

    `board` is the first position, in which `player_0` is to move. The final reward is 1, 0 or -1 with
    reward='outcome', and the difference of the stores with reward='difference'. `render_mode` is 'human' or 'ansi'.

    `reset(options={"board": position})` begins with another position of the same pits and at most as many seeds.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["human", "ansi"],
        "name": "kalah_v0",
        "is_parallelizable": False,
    }

    def __init__(
        self,
        board: Position | str = "6x4",
        rules: Rules | RulesName = "standard",
        *,
        tables: Tables | None = None,
        reward: Reward = "outcome",
        render_mode: RenderMode | None = None,
    ) -> None:
        super().__init__()
        self.board = _position(board)
        self.rules = rules if isinstance(rules, Rules) else Rules(rules)
        if tables is not None and not isinstance(tables, Tables):
            raise TypeError(f"tables are a kalah.Tables, not {type(tables)}")
        if tables is not None and (tables.rules, tables.pits) != (self.rules, self.board.pits):
            raise ArgumentError(f"{tables} are not for {self.rules} with {self.board.pits} pits")
        _arguments.name("reward", reward, Reward)
        if render_mode is not None:
            _arguments.name("render_mode", render_mode, RenderMode)
        self.tables, self.reward, self.render_mode = tables, reward, render_mode
        pits, seeds = self.board.pits, _all_seeds(self.board)
        self.possible_agents = list(AGENTS)
        self.action_spaces = {agent: gymnasium.spaces.Discrete(pits) for agent in AGENTS}
        self.observation_spaces = {
            agent: gymnasium.spaces.Dict(
                {
                    "observation": gymnasium.spaces.Box(0, seeds, (2 * pits + 2,), np.int32),
                    "action_mask": gymnasium.spaces.Box(0, 1, (pits,), np.int8),
                }
            )
            for agent in AGENTS
        }

    def observation_space(self, agent: str) -> Any:
        """Returns the space of the agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Any:
        """Returns the space of the agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begins a game. Nothing is random, so `seed` does nothing."""
        start = _position((options or {}).get("board", self.board))
        if start.pits != self.board.pits or _all_seeds(start) > _all_seeds(self.board):
            raise ArgumentError(f"{start} has other pits or more seeds than {self.board}")
        self.game = Game(start, self.rules)
        """The game."""
        self.agents = list(AGENTS)
        self.agent_selection = AGENTS[0]
        self.rewards = dict.fromkeys(AGENTS, 0)
        self._cumulative_rewards = dict.fromkeys(AGENTS, 0)
        self.terminations = dict.fromkeys(AGENTS, False)
        self.truncations = dict.fromkeys(AGENTS, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in AGENTS}

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """Returns the agent's observation."""
        moves = agent == self.agent_selection
        position = self.game.position if moves else self.game.position.turned()
        seeds = [*position.mover, *position.other, position.mover_store, position.other_store]
        mask = np.zeros(position.pits, np.int8)
        if moves:
            mask[[move - 1 for move in position.moves()]] = 1
        return {"observation": np.array(seeds, np.int32), "action_mask": mask}

    def step(self, action: int | None) -> None:
        """Plays an action of the selected agent. Raises `IllegalMoveError` if it is not legal."""
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        if action is None:
            raise IllegalMoveError("no action is given, and the game is not over")
        before, move = self.game.position, operator.index(action) + 1
        self.game.push(move)
        if self.tables is not None:
            self.infos[agent] = {"lost": self._lost(before, move)}
        self.agent_selection = AGENTS[self.game.player]
        self._cumulative_rewards[agent] = 0
        value = self.game.value
        if value is not None:
            if self.reward == "outcome":
                value = (value > 0) - (value < 0)
            self.rewards = dict(zip(AGENTS, (value, -value), strict=True))
            self.terminations = dict.fromkeys(AGENTS, True)
        self._accumulate_rewards()
        if self.render_mode == "human":
            self.render()

    def _lost(self, position: Position, move: int) -> int | None:
        """Returns the seeds that a move loses, or None above the tables."""
        if self.tables is None or position.seeds > self.tables.max_seeds:
            return None
        scores = self.tables.move_scores(position)
        return max(scores.values()) - scores[move]

    def render(self) -> str | None:
        """Returns the board as text with render_mode='ansi', and prints it with 'human'."""
        if self.render_mode is None:
            gymnasium.logger.warn("render() does nothing without a render_mode: give 'human' or 'ansi'")
            return None
        north, stores, row = str(self.game).split("\n")
        text = f"{north}   player_1\n{stores}\n{row}   player_0\n"
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self) -> None:
        """Does nothing: the tables stay open."""

    def __str__(self) -> str:
        return "kalah_v0"


def _position(position: Position | str) -> Position:
    """Returns a position from which a game can begin."""
    if isinstance(position, str):
        position = Position(position)
    if not isinstance(position, Position):
        raise TypeError(f"a board is a kalah.Position or a text, not {type(position)}")
    if position.is_over:
        raise ArgumentError(f"the game is over in {position}")
    return position


def _all_seeds(position: Position) -> int:
    return position.seeds + position.mover_store + position.other_store
