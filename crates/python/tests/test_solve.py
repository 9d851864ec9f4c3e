"""Solving, and players."""

from __future__ import annotations

import copy
import itertools
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import kalah
from kalah import Player, Position, Solver, Tables
from kalah.errors import IllegalMoveError, InUseError, SolveError, TimeUpError

SMALL = 1 << 24
"""Bytes of a transposition table."""


def test_values_are_the_published_ones(reference: Callable[[str], Iterator[dict[str, str]]]) -> None:
    """Irving et al. 2000, Table 9."""
    solved = 0
    for row in reference("irving-2000-game-values.csv"):
        pits, seeds, value = int(row["pits"]), int(row["seeds"]), row["value"]
        if not value or pits * seeds > 12:
            continue
        solution = kalah.solve(f"{pits}x{seeds}", memory=SMALL)
        assert solution.value == int(value)
        assert solution.position.value(solution.score) == solution.value
        end = solution.line.replay(solution.position)
        assert end.final_value == solution.value * (-1) ** len(solution.line)
        solved += 1
    assert solved >= 5


def test_outcomes_of_s_kalaha_are_the_published_ones(reference: Callable[[str], Iterator[dict[str, str]]]) -> None:
    """Kvitberg 2026, Table 5."""
    solved = 0
    for row in reference("kvitberg-2026-values.csv"):
        pits, seeds = int(row["houses"]), int(row["seeds"])
        if pits * seeds <= 12:
            value = kalah.solve(f"{pits}x{seeds}", "s-kalaha", memory=SMALL).value
            assert row["outcome"] == "LDW"[(value > 0) - (value < 0) + 1]
            solved += 1
    assert solved >= 15


def test_a_solver_finds_what_the_tables_have(tables: Tables) -> None:
    solver = Solver("6x2", tables=Tables.open(tables.directory, max_seeds=9), memory=SMALL, threads=2)
    assert (solver.pits, solver.max_seeds, solver.rules.name) == (6, 24, "empty-capture")
    rows, _ = tables.sample(40, 14, seed=4)
    for row in rows.tolist():
        position = Position.from_rows(row[:6], row[6:], 3, 1)
        probe = tables.probe(position)
        solution = solver.solve(position)
        assert (solution.score, solution.value, solution.best) == (probe.score, probe.value, probe.best)
        assert solver.value(position) == probe.value
        assert solver.move_scores(position) == probe.moves


def test_progress_time_and_ctrl_c() -> None:
    solver = Solver("6x6", book=False, memory=SMALL)
    with pytest.raises(TimeUpError) as caught:
        solver.value("6x6", seconds=0.2)
    assert isinstance(caught.value, TimeoutError)
    seen: list[kalah.SolveProgress] = []

    def interrupt(progress: kalah.SolveProgress) -> None:
        seen.append(progress)
        if progress.nodes > 0 and progress.seconds > 0.1:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        solver.solve("6x6", progress=interrupt)
    assert seen[-1].nodes > 0
    assert -72 <= seen[-1].lower <= seen[-1].upper <= 72
    # It can be used again afterwards.
    assert solver.value("1,0,0,0,0,0/0,0,0,0,0,2") == -1
    with pytest.raises(ZeroDivisionError):
        solver.solve("6x6", progress=lambda _: 1 // 0)


def test_one_thread_at_a_time_uses_a_solver() -> None:
    solver = Solver("6x6", book=False, memory=SMALL)
    refused: list[BaseException] = []

    def ask() -> None:
        try:
            solver.value("6x1")
        except InUseError as error:
            refused.append(error)

    def second(progress: kalah.SolveProgress) -> None:
        thread = threading.Thread(target=ask)
        thread.start()
        thread.join()
        raise StopIteration

    with pytest.raises(StopIteration):
        solver.value("6x6", progress=second)
    assert len(refused) == 1 and isinstance(refused[0], RuntimeError)


def test_what_does_not_fit_is_refused(tables: Tables) -> None:
    with pytest.raises(ValueError, match="standard"):
        Solver("6x2", "standard", tables=tables)
    with pytest.raises(ValueError, match="not for empty-capture with 3"):
        Solver("3x2", tables=tables)
    with pytest.raises(SolveError):
        Solver("16x20", memory=SMALL)
    solver = Solver("6x1", memory=SMALL)
    for position in ["6x2", "5x1"]:
        with pytest.raises(ValueError, match="this solver is for"):
            solver.value(position)
    with pytest.raises(ValueError, match="seconds"):
        solver.value("6x1", seconds=-1.0)


def test_the_book_knows_kalah_6_4_at_once() -> None:
    solver, start = Solver("6x4"), time.monotonic()
    solution = solver.solve("6x4", seconds=0)
    assert (solution.value, solution.best, solution.nodes) == (10, [3], 0)
    assert solution.line_open and "line_open=True" in repr(solution)
    # The line keeps the value, as far as it leads.
    position, sign = Position("6x4"), 1
    for move in itertools.chain(*solution.line):
        position, again = position.play(move)
        sign = sign if again else -sign
        assert sign * solver.value(position, seconds=0) == 10
    assert time.monotonic() - start < 5


def test_the_time_holds_from_the_call_on() -> None:
    # The book has thousands of positions below this one, though not this one. Their places in a large transposition
    # table would take seconds to touch.
    position, start = Position.from_rows([6] * 6, [5, *[6] * 5]), time.monotonic()
    with pytest.raises(TimeUpError):
        kalah.solve(position, seconds=0.5)
    assert time.monotonic() - start < 5


def test_players_choose_legal_moves_and_perfect_ones_the_best(tables: Tables) -> None:
    names = ["perfect", "minimax:2", "alphabeta:3", "heuristic", "minimax2:1", "minimax3:1", "greedy", "random:5"]
    players = [Player(name, tables=tables) for name in names]
    assert [player.name for player in players] == names
    for row in tables.sample(50, 14, seed=2)[0].tolist():
        position = Position.from_rows(row[:6], row[6:])
        probe = tables.probe(position)
        for player in players:
            choice = player.choose(position)
            assert choice.move in probe.moves
            if player.name == "perfect":
                assert choice.move in probe.best and choice.value == probe.value and choice.source == "tables"
    assert players[0].choose("6x4").source == "book"
    # Above the tables with a time limit, it still plays a legal move.
    choice = Player("perfect", "s-kalaha", memory=SMALL).choose("6x4", 0.3)
    assert choice.move in range(1, 7)
    with pytest.raises(IllegalMoveError):
        players[0].choose("0,0/1,1")
    with pytest.raises(ValueError, match="unknown player"):
        Player("deep-blue")
    with pytest.raises(ValueError):
        Player("perfect", "standard", tables=tables)


def test_a_random_player_without_a_seed_plays_other_moves_each_time() -> None:
    def moves(name: str) -> list[int]:
        player = Player(name)
        assert player.name == name
        return [player.choose("6x4").move for _ in range(30)]

    assert moves("random") != moves("random")
    assert moves("random:5") == moves("random:5")


def test_players_play_the_published_games(reference: Callable[[str], Iterator[dict[str, str]]]) -> None:
    """Pekař et al. 2020, Table 2: the cells with equal results (docs/results.md)."""

    def seeds(first: str, second: str) -> tuple[int, int]:
        players, position, player = [Player(name, "standard") for name in (first, second)], Position("6x4"), 0
        while not position.is_over:
            position, again = position.play(players[player].choose(position).move, "standard")
            player = player if again else 1 - player
        mover, other = position.mover_store + sum(position.mover), position.other_store + sum(position.other)
        return (mover, other) if player == 0 else (other, mover)

    same, compared = [], 0
    for row in reference("pekar-2020-table-2.csv"):
        names = row["first"], row["second"]
        if "minimax2:6" not in names:
            compared += 1
            if seeds(*names) == (int(row["first_seeds"]), int(row["second_seeds"])):
                same.append(names)
    assert compared == 64
    assert same == [("heuristic", "heuristic"), ("minimax2:1", "minimax3:1"), ("minimax3:4", "minimax2:1")]


def test_results_can_be_compared_and_pickled(tables: Tables) -> None:
    solver, player = Solver("6x2", tables=tables, memory=SMALL), Player("perfect", tables=tables)
    seen: list[kalah.SolveProgress] = []
    solution = solver.solve("6x2", progress=seen.append)
    pairs: list[tuple[Any, object]] = [
        (tables.probe("6x1"), tables.probe("<6,1,0,1,1,1,1,1,1,1,1,1,1,1,1>")),
        (solution, solver.solve("6x2")),
        (player.choose("6x1"), player.choose("1,0,0,0,0,1/1,1,1,1,1,1")),
    ]
    for one, other in pairs:
        for same in [pickle.loads(pickle.dumps(one)), copy.deepcopy(one)]:
            assert same == one and same is not one and repr(same) == repr(one)
            attributes = [name for name in dir(one) if not name.startswith("_") and name != "to_dict"]
            assert [getattr(same, name) for name in attributes] == [getattr(one, name) for name in attributes]
            assert same.to_dict() == one.to_dict()
        assert one != other and one != 5
    progress = seen[-1] if seen else None
    assert pickle.loads(pickle.dumps(progress)) == progress


def test_ctrl_c_ends_the_wait_for_a_move() -> None:
    player = Player("perfect", book=False, memory=SMALL)
    timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        player.choose("6x6")
    timer.join()
