"""Matches of OpenSpiel's bots against perfect play, with the seeds that their moves lose.

python crates/python/benches/openspiel.py TABLES GAMES SIMULATIONS...

TABLES is a directory with tables of the rules `standard` and 6 pits, preferably to 24 seeds in play. OpenSpiel's MCTS
bot (one random rollout a visit, SIMULATIONS simulations a move), or its random bot for 0 simulations, plays GAMES games
against `PerfectBot` from the start of Kalah(6,4), half of them as the first player. Prints a row of a table for each
number of simulations. The agents have fixed seeds. The choice of the perfect bot among several best moves may depend on
its threads.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
import pyspiel

import kalah
from kalah.openspiel import RULES, PerfectBot, Referee, play_game


def agent(simulations: int, player: int, seed: int) -> Any:
    """OpenSpiel's MCTS bot (UCT with c = 2, a solver for proved outcomes); or its random bot for 0 simulations."""
    if simulations == 0:
        return pyspiel.make_uniform_random_bot(player, seed)
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    return pyspiel.MCTSBot(pyspiel.load_game("mancala"), evaluator, 2.0, simulations, 500, True, seed, False)


def main() -> None:
    directory, count, *simulations = sys.argv[1:]
    tables = kalah.Tables.open(directory, RULES)
    perfect, referee = PerfectBot(tables), Referee(tables)
    print("| agent | games | won/drawn/lost | margin a game | moves that lose seeds | seeds lost a move | a game |")
    print("|---|---|---|---|---|---|---|")
    for number in map(int, simulations):
        start = time.perf_counter()
        margins, choices, lost, mistakes = [], 0, 0, 0
        for game_number in range(int(count)):
            side = game_number % 2
            bots = [agent(number, side, 1000 * number + game_number), perfect]
            game = play_game(bots if side == 0 else bots[::-1], referee)
            assert game.lost[1 - side] == 0, "the perfect bot lost seeds"
            margins.append(game.stores[side] - game.stores[1 - side])
            choices += game.choices[side]
            lost += game.lost[side]
            mistakes += game.mistakes[side]
        outcomes = "/".join(str(sum(np.sign(margin) == sign for margin in margins)) for sign in (1, 0, -1))
        name = f"MCTS, {number:,} simulations" if number else "random"
        print(
            f"| {name} | {count} | {outcomes} | {np.mean(margins):+.1f} | "
            f"{100 * mistakes / choices:.0f} % of {choices:,} | {lost / choices:.2f} | {lost / int(count):.1f} |",
            flush=True,
        )
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
