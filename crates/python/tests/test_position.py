"""Positions, rules and lines of play."""

from __future__ import annotations

import copy
import doctest
import pickle
from typing import get_args

import pytest

import kalah
from kalah import Line, Position, Rules
from kalah.errors import IllegalMoveError, PositionError, RulesError

LITERAL = "<6,7,21,0,2,10,1,0,1,1,3,0,1,1,0>"


def test_a_position_reads_what_it_prints() -> None:
    position = Position(LITERAL)
    assert str(position) == LITERAL
    assert repr(position) == f"Position('{LITERAL}')"
    assert eval(repr(position)) == position
    assert (position.mover, position.other) == ((0, 2, 10, 1, 0, 1), (1, 3, 0, 1, 1, 0))
    assert (position.mover_store, position.other_store, position.pits, position.seeds) == (7, 21, 6, 20)
    assert Position.from_rows(position.mover, position.other, 7, 21) == position
    assert Position("6x4") == Position("4,4,4,4,4,4/4,4,4,4,4,4")


@pytest.mark.parametrize("thing", [Position(LITERAL), Rules("standard"), Line("36 21 4"), Line("11,3 2", 12)])
def test_small_things_are_equal_to_their_copies_and_to_nothing_else(thing: object) -> None:
    for twin in [pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing), eval(repr(thing))]:
        assert twin == thing and hash(twin) == hash(thing)
    others = [Position("6x4"), Rules("s-kalaha"), Line("36 21"), Line("3621 4"), str(thing), None]
    assert all(thing != other for other in others)
    assert len({thing, *others}) == 7


def test_wrong_texts_are_errors_that_are_value_errors() -> None:
    for text in ["", "6y4", "<6,0,0,1>", "1,2/3", "17x2", "1,-2/3,4"]:
        with pytest.raises(PositionError):
            Position(text)
    with pytest.raises(ValueError, match="unknown rules 'chess'"):
        Rules("chess")
    with pytest.raises(PositionError):
        Line("37", 6)
    with pytest.raises(PositionError):
        Position.from_rows([1, 2], [3])
    with pytest.raises(TypeError):
        Position.from_rows([1, 2], [3, 4]).play(1, 7)  # type: ignore[arg-type]
    assert issubclass(RulesError, kalah.Error) and issubclass(PositionError, kalah.Error)


def test_rule_sets_differ_as_they_say() -> None:
    assert [rules.name for rules in Rules.all()] == ["empty-capture", "standard", "s-kalaha", "single-move"]
    assert Rules("Empty_Capture") == Rules("empty-capture")
    # The last seed falls into an empty pit opposite an empty one.
    start = Position("1,0,3/0,0,3")
    assert [start.play(1, rules)[0].other_store for rules in Rules.all()] == [1, 0, 0, 1]


def test_moves_are_played_or_refused() -> None:
    start = Position("6x4")
    assert start.moves() == [1, 2, 3, 4, 5, 6]
    after, again = start.play(3)
    assert again and str(after) == "<6,1,0,4,4,0,5,5,5,4,4,4,4,4,4>"
    after, again = after.play(6)
    assert not again and after.mover_store == 0 and after.other_store == 2
    for move in [0, 3, 7, 17]:
        with pytest.raises(IllegalMoveError):
            Position("1,1,0/1,1,1").play(move)
    over = Position("0,0/1,2")
    assert over.is_over and over.moves() == [] and over.final_value == -3 and over.turned().final_value == 3
    with pytest.raises(IllegalMoveError):
        over.turned().play(1)


def test_a_line_leads_to_its_end() -> None:
    line = Line("65 65 4 4 3")
    assert line.turns == ((6, 5), (6, 5), (4,), (4,), (3,)) and len(line) == 5
    assert line.moves == (6, 5, 6, 5, 4, 4, 3)
    assert list(line) == list(line.turns) and line[0] == (6, 5) and line[-1] == (3,) and line[1:3] == line.turns[1:3]
    assert (4,) in line and (5,) not in line
    with pytest.raises(IndexError):
        line[5]
    with pytest.raises(TypeError):
        line["x"]  # type: ignore[call-overload]
    assert line.replay("6x1").final_value == -2
    with pytest.raises(IllegalMoveError):
        Line("6 6").replay("6x1")


@pytest.mark.parametrize(("start", "rules"), [("6x4", "standard"), ("12x1", "s-kalaha"), ("3x2", "single-move")])
def test_a_game_that_is_taken_back_is_as_before(start: str, rules: kalah.names.RulesName) -> None:
    game, seen = kalah.Game(start, rules), []
    while not game.is_over:
        seen.append((game.position, game.player, str(game), str(game.line)))
        assert game.board == (game.position if game.player == 0 else game.position.turned())
        with pytest.raises(IllegalMoveError):
            game.push(17)
        game.push(game.legal_moves()[-1])
    assert game.legal_moves() == [] and game.value == game.board.final_value
    assert game.line.moves == game.moves and game.line.replay(start, rules) == game.position
    for position, player, shown, line in reversed(seen):
        move = game.moves[-1]
        assert game.pop() == move == position.moves()[-1]
        assert (game.position, game.player, str(game), str(game.line)) == (position, player, shown, line)
    assert game.position == game.start == Position(start) and game.value is None
    with pytest.raises(IllegalMoveError, match="no move to take back"):
        game.pop()


def test_names_of_rules_are_those_of_the_rule_sets() -> None:
    assert list(get_args(kalah.names.RulesName)) == [rules.name for rules in Rules.all()]
    assert [kalah.Player(name).name for name in get_args(kalah.names.PlayerName)] != []


def test_the_examples_of_the_documentation_are_right() -> None:
    for module in (kalah, kalah.game):
        failed, attempted = doctest.testmod(module, extraglobs={"kalah": kalah})
        assert failed == 0 and attempted >= 4
