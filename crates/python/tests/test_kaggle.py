"""Replays of Kaggle's mancala arena are read as they are written there, and every move is worth what it loses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import kalah
from kalah import Position
from kalah.kaggle import RULES, read_replay, review


def replay(moves: list[int]) -> dict[str, Any]:
    """A replay in the arena's format, with these pits (from 1) as moves."""
    history, player, position = [], 0, Position("6x4")
    for move in moves:
        history.append(f"{player}:{player * 7 + move}")
        position, again = position.play(move, RULES)
        player = player if again else 1 - player
    first = position if player == 0 else position.turned()
    board = [first.other_store, *first.mover, first.mover_store, *first.other]
    shown = {"board": board, "current_player": player, "is_terminal": position.is_over}
    observation = {
        "observationString": json.dumps(shown),
        "serializedGameAndState": f"[Game]\nmancala_proxy()\n[State]\nhistory={','.join(history)}\nmove_number=1\n",
    }
    players = [{"action": {"submission": -1}, "reward": reward, "observation": observation} for reward in (1.0, -1.0)]
    start = [{"action": {"submission": -1}, "reward": 0.0, "observation": {}} for _ in range(2)]
    return {
        "name": "open_spiel_mancala",
        "configuration": {"openSpielGameName": "mancala"},
        "info": {"TeamNames": ["A", "B"]},
        "steps": [start, players],
    }


def whole_game() -> list[int]:
    """A game in which both always play the legal pit that is next to the store."""
    moves, position = [], Position("6x4")
    while not position.is_over:
        moves.append(position.moves()[-1])
        position, _ = position.play(moves[-1], RULES)
    return moves


def test_moves_lose_what_the_values_after_them_lack(standard: kalah.Tables) -> None:
    game = read_replay(replay(whole_game()))
    assert game.names == ("A", "B") and game.rewards == (1.0, -1.0) and not game.is_forfeit and game.end.is_over
    assert [move for _, move in game.moves] == whole_game()
    endgame = list(review(game, standard, max_seeds=standard.max_seeds))
    assert len(endgame) > 5
    for each in endgame:
        before, (after, again) = standard.value(each.position), each.position.play(each.move, RULES)
        assert before - (standard.value(after) if again else -standard.value(after)) == 2 * each.lost >= 0


def test_files_are_read_and_early_ends_are_marked(tmp_path: Path) -> None:
    path = tmp_path / "replay.json"
    path.write_text(json.dumps(replay([3, 6, 1])), encoding="utf-8")
    game = read_replay(path)
    assert game.is_forfeit and game.moves == ((0, 3), (0, 6), (1, 1))
    assert read_replay(replay([])).moves == ()


@pytest.mark.parametrize("key", ["configuration", "steps"])
def test_other_documents_are_refused(key: str, tmp_path: Path) -> None:
    document = replay([3])
    del document[key]
    with pytest.raises(kalah.errors.ArgumentError, match="not a replay"):
        read_replay(document)
    document = replay([3])
    document["configuration"]["openSpielGameName"] = "chess"
    with pytest.raises(kalah.errors.ArgumentError, match="mancala is expected"):
        read_replay(document)
    (tmp_path / "text").write_text("text", encoding="utf-8")
    with pytest.raises(kalah.errors.ArgumentError, match="not JSON"):
        read_replay(tmp_path / "text")


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    for path in [tmp_path / "nofile", tmp_path, tmp_path / "null\0"]:
        with pytest.raises(kalah.errors.ArgumentError, match="cannot be read"):
            read_replay(path)
    # A byte-order mark does not belong to the text.
    (tmp_path / "marked").write_bytes(b"\xef\xbb\xbf" + json.dumps(replay([3])).encode())
    assert read_replay(tmp_path / "marked").moves == ((0, 3),)
    (tmp_path / "deep").write_text("[" * 100_000, encoding="utf-8")
    with pytest.raises(kalah.errors.ArgumentError, match="not JSON"):
        read_replay(tmp_path / "deep")


def test_boards_that_the_moves_do_not_reach_are_refused() -> None:
    document = replay([3, 6])
    document["steps"][-1][0]["observation"]["observationString"] = json.dumps(
        {"board": [0, *[4] * 6, 0, *[4] * 6], "is_terminal": False}
    )
    with pytest.raises(kalah.errors.ArgumentError, match="not to its last board"):
        read_replay(document)
