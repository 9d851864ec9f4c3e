"""Single probes from Python: these tables, and the Syzygy tables of chess with python-chess.

python crates/python/benches/syzygy.py TABLES SEEDS SYZYGY

The tables in the directory TABLES must reach SEEDS seeds in play, with the rules `empty-capture` and 6 pits. SYZYGY is
a directory with Syzygy tables of 3 and 4 men, such as data/syzygy/regular in the source package of `chess`. Random
positions are made first, then looked up. Figures are the best of five runs, in processor time of one thread.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

import chess
import chess.syzygy

import kalah

COUNT = 20_000


def rate(work: Callable[[], object]) -> float:
    """Returns the probes per second of `work`, which does `COUNT` of them."""

    def seconds() -> float:
        start = time.process_time()
        work()
        return time.process_time() - start

    return COUNT / min(seconds() for _ in range(5))


def boards(material: list[str], count: int) -> list[chess.Board]:
    """Returns random legal positions, each of one of these tables, such as `KQvKR`."""
    chooser = random.Random(1)
    found: list[chess.Board] = []
    while len(found) < count:
        white, black = chooser.choice(material).split("v")
        board = chess.Board(None)
        squares = iter(chooser.sample(range(64), len(white) + len(black)))
        for men, colour in ((white, chess.WHITE), (black, chess.BLACK)):
            for man in men:
                board.set_piece_at(next(squares), chess.Piece(chess.PIECE_SYMBOLS.index(man.lower()), colour))
        board.turn = chooser.choice([chess.WHITE, chess.BLACK])
        if board.is_valid():
            found.append(board)
    return found


def main() -> None:
    directory, seeds, syzygy = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    tables = kalah.Tables.open(directory)
    array, scores = tables.sample(COUNT, seeds, seed=1)
    singles = [kalah.Position.from_rows(row[:6], row[6:]) for row in array.tolist()]
    assert list(map(tables.score, singles)) == scores.tolist()
    print(f"kalah, {seeds} seeds, score          {rate(lambda: list(map(tables.score, singles))):12,.0f} /s")
    print(
        f"kalah, {seeds} seeds, best_moves(1)  "
        f"{rate(lambda: [tables.best_moves(row[None]) for row in array]):12,.0f} /s"
    )
    print(f"kalah, {seeds} seeds, scores(array)  {rate(lambda: tables.scores(array, threads=1)):12,.0f} /s")
    for men in (3, 4):
        material = sorted(path.stem for path in syzygy.glob("*.rtbw") if len(path.stem) == men + 1)
        if not material:
            continue
        found = boards(material, COUNT)
        with chess.syzygy.open_tablebase(str(syzygy)) as chess_tables:
            for name, probe in (("wdl", chess_tables.probe_wdl), ("dtz", chess_tables.probe_dtz)):
                list(map(probe, found[:100]))
                print(f"chess, {men} men, {name}            {rate(lambda: list(map(probe, found))):12,.0f} /s")


if __name__ == "__main__":
    main()
