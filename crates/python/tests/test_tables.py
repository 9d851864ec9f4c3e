"""Single positions in tables, and faults of files."""

from __future__ import annotations

import functools
import pickle
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import kalah
from kalah import Position, Rules, Tables
from kalah.errors import ArgumentError, DamagedTableError, MissingTableError, PositionError, TableError


def brute_force(rules: Rules) -> Callable[[Position], int]:
    """Returns the score of a position by playing all lines to their end."""

    @functools.cache
    def score(position: Position) -> int:
        if position.is_over:
            return sum(position.mover)
        best = 0
        for move in position.moves():
            after, again = position.play(move, rules)
            stored = (after.mover_store if again else after.other_store) - position.mover_store
            child = score(Position.from_rows(after.mover, after.other))
            best = max(best, stored + child if again else position.seeds - child)
        return best

    return score


@pytest.mark.parametrize("rules", Rules.all(), ids=str)
def test_scores_are_those_of_brute_force(directory: Path, rules: Rules) -> None:
    tables, score = Tables.open(directory, rules, 3), brute_force(rules)
    assert tables.max_seeds == 12 and tables.rules == rules and tables.pits == 3
    for seeds in range(2, 9):
        ranks = np.arange(kalah.layer_positions(3, seeds))
        for row in tables.unrank(seeds, ranks):
            position = Position.from_rows(row[:3].tolist(), row[3:].tolist(), 5, 2)
            expected = score(Position.from_rows(position.mover, position.other))
            assert tables.score(position) == expected
            assert tables.value(position) == 2 * expected - seeds + 3


@pytest.mark.parametrize("rules", Rules.all(), ids=str)
def test_a_line_of_best_play_gives_nothing_away(directory: Path, rules: Rules) -> None:
    tables = Tables.open(directory, rules, 3)
    positions, scores = tables.sample(300, 12, seed=3)
    for row, score in zip(positions.tolist(), scores.tolist()):
        position = Position.from_rows(row[:3], row[3:], 2, 9)
        probe = tables.probe(position)
        assert probe.position == position and probe.score == score and probe.value == position.value(score)
        assert probe.moves == tables.move_scores(position) and probe.line == tables.line(position)
        assert max(probe.moves.values()) == score
        assert probe.best == [move for move, worth in probe.moves.items() if worth == score]
        end = probe.line.replay(position, rules)
        # The end is seen by the player to move: after an even number of turns, the first player.
        assert end.final_value == probe.value * (-1) ** len(probe.line)


def test_published_position_and_perfect_games(reference: Callable[[str], Iterator[dict[str, str]]]) -> None:
    """Irving et al. 2000, Table 9: the games that are legal to the end reach the published values."""
    values = {
        (row["pits"], row["seeds"]): int(row["value"])
        for row in reference("irving-2000-game-values.csv")
        if row["value"]
    }
    legal = 0
    for row in reference("irving-2000-perfect-games.csv"):
        pits, seeds = row["pits"], row["seeds"]
        turns = ["".join(str(int(pit) + 1) for pit in turn) for turn in row["game"].split("-")]
        line = kalah.Line(" ".join(turns), int(pits))
        try:
            end = line.replay(f"{pits}x{seeds}")
        except kalah.errors.IllegalMoveError:
            continue
        legal += 1
        assert end.final_value is not None
        assert end.final_value * (-1) ** len(line) == values[pits, seeds]
    assert legal >= 10


def test_numbers_of_positions_are_the_published_ones(reference: Callable[[str], Iterator[dict[str, str]]]) -> None:
    for row in reference("rawlings-2015-layers.csv"):
        assert kalah.layer_positions(6, int(row["counters"])) == int(row["positions"])
    for row in reference("irving-2000-cumulative-positions.csv"):
        total = sum(kalah.layer_positions(6, seeds) for seeds in range(2, int(row["counters"]) + 1))
        assert total == int(row["positions"])


def test_positions_outside_the_tables_are_errors_that_say_what_to_do(tables: Tables, tmp_path: Path) -> None:
    with pytest.raises(MissingTableError, match="15.*kalah.build.*kalah.solve"):
        tables.probe("6x2")
    with pytest.raises(LookupError, match="kalah.solve"):
        tables.probe("6x9")
    with pytest.raises(PositionError):
        tables.score("3x2")
    with pytest.raises(MissingTableError, match="kalah.build"):
        Tables.open(tmp_path)
    with pytest.raises(MissingTableError, match="kalah.build"):
        tables.sample(10, 15)
    with pytest.raises(ValueError):
        Tables.open(tmp_path, pits=9)
    with pytest.raises(TypeError, match="position"):
        tables.score(5)  # type: ignore[arg-type]


def test_a_with_block_closes_the_tables(tables: Tables) -> None:
    with Tables.open(tables.directory) as there:
        assert there.score("6x1") == 7 and not there.closed
        solver = kalah.Solver("6x2", tables=there, memory=1 << 20)
    assert there.closed and "closed" in repr(there)
    assert (there.pits, there.max_seeds, there.rules, there.directory) == (6, 14, tables.rules, tables.directory)
    calls: list[Callable[[], object]] = [
        *(lambda: there.score("6x1"), lambda: there.scores([1] * 12), there.check),
        *(lambda: there.sample(1, 5), lambda: there.layer(5), lambda: pickle.dumps(there)),
        *(lambda: kalah.Solver("6x2", tables=there), lambda: there.__enter__().line("6x1")),
    ]
    for call in calls:
        with pytest.raises(ArgumentError, match="closed"):
            call()
    there.close()
    # A solver keeps the tables that it reads.
    assert solver.value("6x1") == tables.value("6x1")


def test_tables_are_pickled_as_where_they_are(tables: Tables, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pickled = pickle.dumps(tables)
    monkeypatch.chdir(tmp_path)
    twin = pickle.loads(pickled)
    assert twin.score("6x1") == tables.score("6x1") == 7
    assert (twin.rules, twin.pits, twin.max_seeds) == (tables.rules, 6, 14)


def test_a_relative_directory_is_that_of_the_time_of_opening(
    tables: Tables, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    directory = Path(tables.directory)
    monkeypatch.chdir(directory.parent)
    relative = Tables.open(directory.name)
    monkeypatch.chdir(tmp_path)
    assert relative.directory == tables.directory
    assert pickle.loads(pickle.dumps(relative)).score("6x1") == 7
    with pytest.raises(MissingTableError, match=str(tables.directory)):
        relative.layer(40)


def test_files_that_are_not_mapped_may_change(tables: Tables, tmp_path: Path) -> None:
    for seeds in range(2, 13):
        shutil.copy(Path(tables.directory) / f"empty-capture-6-{seeds:02}.kalah", tmp_path)
    rows, scores = tables.sample(2000, 12, 1)
    read = Tables.open(tmp_path, mapped=False)
    twin = pickle.loads(pickle.dumps(read))
    for there in (read, twin):
        assert there.max_seeds == 12
        there.check()
        assert np.array_equal(there.scores(rows), scores)
        assert np.array_equal(there.layer(9), tables.layer(9))
        assert there.probe("6x1") == tables.probe("6x1")
        assert kalah.solve("6x1", tables=there).value == tables.value("6x1")
    unread = Tables.open(tmp_path, mapped=False)
    for path in tmp_path.iterdir():
        # Shorter, and other bytes: a mapped file would end the process.
        path.write_bytes(b"damaged")
    with pytest.raises(TableError):
        unread.scores(rows)
    with pytest.raises(DamagedTableError):
        Tables.open(tmp_path, mapped=False)


def test_the_first_calls_import_nothing(tables: Tables) -> None:
    """Ctrl-C during a later import would cause a panic, which `except Exception` does not catch."""
    program = """
import builtins, sys, kalah
tables = kalah.Tables.open(sys.argv[1])
def interrupted(*arguments, **more):
    raise KeyboardInterrupt
builtins.__import__ = interrupted
assert tables.scores(tables.sample(10, 5)[0]).shape == (10,)
for wrong in [lambda: tables.layer(1), lambda: tables.layer(40), lambda: kalah.Rules("x"), lambda: kalah.Position("x")]:
    try:
        wrong()
    except kalah.Error:
        pass
"""
    subprocess.run([sys.executable, "-c", program, str(tables.directory)], check=True)


def run(begin: threading.Event, ran: threading.Event) -> None:
    begin.wait()
    ran.set()


def test_other_threads_run_while_few_positions_are_looked_up(tables: Tables) -> None:
    """Reading a file and comparing a block with its checksum may be slow, even for a single position."""
    one = kalah.to_array("6x1")
    reads: list[Callable[[], object]] = [
        lambda: tables.scores(one),
        lambda: tables.best_moves(one),
        lambda: tables.score("6x1"),
        lambda: tables.move_scores("6x1"),
        lambda: tables.probe("6x1"),
        lambda: tables.line("6x1"),
        lambda: tables.rank(5, []),
        lambda: tables.sample(1, 5),
        lambda: tables.layer(3),
    ]
    interval = sys.getswitchinterval()
    for read in reads:
        begin, ran = threading.Event(), threading.Event()
        thread = threading.Thread(target=run, args=(begin, ran))
        thread.start()
        try:
            # With this interval no thread is forced to release the lock.
            sys.setswitchinterval(1000)
            begin.set()
            for _ in range(1_000_000):
                read()
                if ran.is_set():
                    break
            assert ran.is_set()
        finally:
            sys.setswitchinterval(interval)
            thread.join()


def test_damage_is_an_error_wherever_it_is_read(directory: Path, tmp_path: Path) -> None:
    for path in sorted(directory.glob("empty-capture-3-*.kalah")):
        shutil.copy(path, tmp_path)
    path = tmp_path / "empty-capture-3-12.kalah"
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 0x10
    path.write_bytes(contents)
    damaged = Tables.open(tmp_path, pits=3)
    every = damaged.unrank(12, np.arange(kalah.layer_positions(3, 12)))
    reads: list[Callable[[], object]] = [
        damaged.check,
        lambda: damaged.layer(12),
        lambda: damaged.scores(every),
        lambda: damaged.best_moves(every),
        lambda: [damaged.probe(Position.from_rows(row[:3], row[3:])) for row in every.tolist()],
    ]
    for read in reads:
        with pytest.raises(DamagedTableError, match="delete it and run `kalah.build"):
            read()
    path.write_bytes(b"not a table")
    with pytest.raises(DamagedTableError):
        Tables.open(tmp_path, pits=3)


def test_the_directory_is_that_of_the_variable(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Tables.open(directory, "standard", 3)
    assert pickle.loads(pickle.dumps(whole)).directory == whole.directory == directory
    monkeypatch.setenv("KALAH_TABLES", str(directory))
    drawn, expected = Tables.open(rules="standard", pits=3).sample(9, 8), whole.sample(9, 8)
    assert all((one == other).all() for one, other in zip(drawn, expected))
    for wrong in ([directory, directory], 3):
        with pytest.raises(TypeError):
            Tables.open(wrong, "standard", 3)  # type: ignore[arg-type]
