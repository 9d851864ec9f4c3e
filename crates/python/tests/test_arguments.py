"""Any argument of a caller: the exception is a `kalah.Error` or that of a wrong type, and is raised at once."""

from __future__ import annotations

import inspect
import itertools
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kalah
from kalah import Position, Tables, kaggle
from kalah.errors import (
    ArgumentError,
    BuildError,
    IllegalMoveError,
    MissingTableError,
    OutOfMemoryError,
    PositionError,
    RulesError,
    _shown,
)

HOSTILE: list[Any] = [
    *(-1, 0, 1, 49, 255, 256, 2**31, 2**32, 2**63, 2**64, 2**70, -(2**70), 10**40, 10**400, 10**5000, True),
    *(np.int64(-5), np.uint64(2**64 - 1)),
    *(None, 1.5, float("nan"), float("inf"), 1j, object(), print, "", "x", "0"),
    *("\ud800", "\0", b"x", [], (), {}, set()),
    *([-1] * 6, [2**70] * 6, [None], ["x"], (1, 2), range(2**40), itertools.count()),
    *(np.zeros(shape, kind) for shape in [(), (3,), (2, 3), (2, 12), (1, 2, 12), (0, 0)] for kind in ["u1", "i8", "O"]),
    np.full((2, 12), 255, np.uint8),
    np.broadcast_to(np.zeros(12, np.uint8), (2**50, 12)),
    np.broadcast_to(np.int64(0), (2**50,)),
    np.frombuffer(b"\0" * 17, np.uint8)[1:].view(np.int64),
    Position("6x1"),
    kalah.Rules("standard"),
]
"""Values tried for each argument."""


class Hostile:
    """Calls a function with each of its arguments replaced by each value in HOSTILE."""

    def __init__(self, also: tuple[type[BaseException], ...] = ()) -> None:
        self.allowed: tuple[type[BaseException], ...] = (kalah.Error, TypeError, OverflowError, UnicodeError, *also)
        self.wrong: list[str] = []
        self.calls = 0

    def call(
        self, name: str, function: Callable[..., object], good: dict[str, Any], kept: tuple[str, ...] = ()
    ) -> None:
        """Other arguments are those in `good`. Arguments in `kept` are not replaced by numbers that take long."""
        known = [parameter for parameter in inspect.signature(function).parameters if parameter != "self"]
        assert sorted(known) == sorted(good), f"{name} has the arguments {known}"
        function(**good)
        for argument, value in itertools.product(good, HOSTILE):
            if argument in kept and isinstance(value, int) and 256 < value < 2**63:
                continue
            if isinstance(value, itertools.count):
                value = itertools.count()
            try:
                self.calls += 1
                function(**{**good, argument: value})
            except self.allowed:
                pass
            except BaseException as error:
                self.wrong.append(f"{name}({argument}={_shown(value)}): {type(error)}: {error!s:.200}")


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hostile]:
    monkeypatch.chdir(tmp_path)
    hostile = Hostile()
    yield hostile
    assert hostile.wrong == []
    assert hostile.calls > 0


def members(owner: object, skip: tuple[str, ...] = ()) -> dict[str, Callable[..., object]]:
    """Returns the public functions and methods with arguments."""
    found = {}
    for name in dir(owner):
        function = getattr(owner, name)
        if name.startswith("_") or name in skip or inspect.isclass(function) or not callable(function):
            continue
        if [parameter for parameter in inspect.signature(function).parameters if parameter != "self"]:
            found[name] = function
    return found


def test_every_function_and_method(directory: Path, hostile: Hostile) -> None:
    tables = Tables.open(directory)
    rows = tables.sample(2, 5)[0]
    common: dict[str, dict[str, Any]] = {"threads": {"threads": 1}}
    many = {"positions": rows, **common["threads"]}
    search = {"seconds": 60, "progress": None}
    solver, player = kalah.Solver("3x2", memory=2**20, threads=1), kalah.Player("greedy")
    sample = {"part": "train", "test": 0.5, "source": "play", "start": None, "threads": 1}
    table = {"directory": directory, "rules": "empty-capture", "pits": 3}
    objects: list[tuple[str, object, dict[str, dict[str, Any]]]] = [
        (
            "kalah",
            kalah,
            {
                "build": {"seeds": 4, **table, "directory": "new", "threads": 1, "memory": 2**40, "progress": None},
                "layer_positions": {"pits": 6, "seeds": 5},
                "solve": {
                    **{"position": "3x2", "rules": "standard", "tables": None, "book": True, "threads": 1},
                    **{"memory": 2**20, **search},
                },
                "to_array": {"positions": ["6x1"]},
                "from_array": {"positions": [[1, 2]]},
            },
        ),
        (
            "Tables",
            tables,
            {
                "open": {**table, "max_seeds": 9, "mapped": False, "filesystem": None},
                **{name: {"position": "6x1"} for name in ["probe", "score", "value", "move_scores", "line"]},
                **{name: {**many, "default": -9} for name in ["scores", "scores_of_moves"]},
                "best_moves": many,
                "check": {"threads": 1},
                "sample": {"n": 3, "seeds": 5, "seed": 1, **sample},
                "batches": {
                    **{"seeds": [5, 6], "size": 4, "seed": 1, "start": 2, "worker": (1, 2), "labels": "moves"},
                    **{"part": "train", "test": 0.5, "source": "play", "threads": 1},
                },
                "unrank": {"seeds": 5, "ranks": np.arange(3), "threads": 1},
                "rank": {"seeds": 5, **many},
                "layer": {"seeds": 5, "threads": 1},
            },
        ),
        (
            "Position",
            Position("6x1"),
            {
                "from_rows": {"mover": [1, 2], "other": [3, 4], "mover_store": 5, "other_store": 6},
                "play": {"move": 6, "rules": "standard"},
                "value": {"score": 3},
            },
        ),
        ("Game", kalah.Game("6x1"), {"push": {"move": 6}}),
        ("Line", kalah.Line("65 65"), {"replay": {"start": "6x1", "rules": "empty-capture"}}),
        (
            "Solver",
            solver,
            {
                "solve": {"position": "3x1", **search},
                "value": {"position": "3x1", **search},
                "move_scores": {"position": "3x1", **search},
            },
        ),
        ("Player", player, {"choose": {"position": "6x1", "seconds": 60}}),
    ]
    constructors: dict[str, dict[str, Any]] = {
        "Position": {"text": "6x1"},
        "Rules": {"name": "standard"},
        "Game": {"start": "6x1", "rules": "standard"},
        "Line": {"text": "65", "pits": 6},
        "Solver": {
            **{"largest": "3x2", "rules": "standard", "tables": None, "book": True, "threads": 1, "memory": 2**20},
        },
        "Player": {
            **{"name": "perfect", "rules": "empty-capture", "tables": tables, "book": True, "threads": 1},
            "memory": 2**20,
        },
    }
    for name, owner, arguments in objects:
        found = members(owner)
        assert sorted(found) == sorted(arguments), f"of {name}"
        for function, good in arguments.items():
            hostile.call(f"{name}.{function}", found[function], good, kept=("n",))
    classes = [name for name in kalah.__all__ if inspect.isclass(getattr(kalah, name))]
    # Methods make the others.
    made = [name for name in classes if is_dataclass(getattr(kalah, name)) or name in ("Error", "Tables")]
    assert sorted([*constructors, *made]) == sorted(classes)
    for name, good in constructors.items():
        hostile.call(name, getattr(kalah, name), good)


def test_parquet(directory: Path, hostile: Hostile) -> None:
    parquet = pytest.importorskip("kalah.parquet")
    hostile.allowed += (OSError,)
    sample = {"sample": 3, "seed": 1, "part": "train", "test": 0.5, "source": "play"}
    good = {"path": "scores", "tables": Tables.open(directory), "seeds": 5, **sample, "moves": True}
    hostile.call("write", parquet.write, good, kept=("sample",))
    counts = {"train": 9, "test": 3, "seed": 1}
    good = {"directory": "new", "tables": Tables.open(directory, pits=3), "seeds": 5, "sources": ["play"], **counts}

    def dataset(**arguments: Any) -> None:
        shutil.rmtree("new", ignore_errors=True)
        parquet.dataset(**arguments)

    dataset.__signature__ = inspect.signature(parquet.dataset)  # type: ignore[attr-defined]
    hostile.call("dataset", dataset, good, kept=("train", "test"))


def test_kaggle(standard: Tables, hostile: Hostile) -> None:
    replay = kaggle.Replay((), ("A", "B"), (None, None), Position("6x4"), True)

    def review(**arguments: Any) -> None:
        assert list(kaggle.review(**arguments)) == []

    review.__signature__ = inspect.signature(kaggle.review)  # type: ignore[attr-defined]
    hostile.call("review", review, {"replay": replay, "tables": standard, "max_seeds": 5, "threads": 1})

    def read_replay(replay: Any) -> None:
        with pytest.raises(ArgumentError):
            kaggle.read_replay(replay)

    hostile.call("read_replay", read_replay, {"replay": {}})


def test_openspiel(standard: Tables, hostile: Hostile) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    adapter = pytest.importorskip("kalah.openspiel")
    other, over = pyspiel.load_game("tic_tac_toe").new_initial_state(), pyspiel.load_game("mancala").new_initial_state()
    state = over.clone()
    while not over.is_terminal():
        over.apply_action(over.legal_actions()[0])
    while adapter.position_of(state).seeds > 12:
        state.apply_action(state.legal_actions()[-1])
    bot, referee = adapter.PerfectBot(standard, seconds=0.001), adapter.Referee(standard)
    action = state.legal_actions()[0]
    hostile.call("PerfectBot", adapter.PerfectBot, {"tables": standard, "seconds": 1, "threads": 1})
    hostile.call("Referee", adapter.Referee, {"tables": standard, "threads": 1})
    hostile.call("position_of", adapter.position_of, {"state": state})
    hostile.call("action_of", adapter.action_of, {"move": 3, "player": 1})
    hostile.call("move_of", adapter.move_of, {"action": 3, "player": 0})
    for name in ["step", "step_with_policy", "get_policy", "restart_at"]:
        hostile.call(name, getattr(bot, name), {"state": state})
    hostile.call("move_scores", referee.move_scores, {"position": "6x1"})
    hostile.call("lost", referee.lost, {"state": state, "action": action})
    greedy = [FirstAction(), FirstAction()]
    hostile.call("play_game", adapter.play_game, {"bots": greedy, "referee": None, "opening": [1]})
    hostile.call("inform_action", bot.inform_action, {"state": state, "player": 0, "action": 1})
    hostile.call("inform_actions", bot.inform_actions, {"state": state, "actions": [1]})
    informed = [lambda state: bot.inform_action(state, 0, 1), lambda state: bot.inform_actions(state, [1])]
    reads = [bot.step, bot.step_with_policy, bot.get_policy, bot.restart_at, lambda state: referee.lost(state, 1)]
    for read in [adapter.position_of, *reads, *informed]:
        with pytest.raises(ArgumentError, match="tic_tac_toe"):
            read(other)
    with pytest.raises(IllegalMoveError):
        bot.step(over)
    with pytest.raises(IllegalMoveError):
        referee.lost(over, 1)
    with pytest.raises(IllegalMoveError):
        adapter.play_game(greedy, opening=[1, 1])


class FirstAction:
    """A bot that plays the first legal action."""

    def step(self, state: Any) -> int:
        action: int = state.legal_actions()[0]
        return action

    def restart_at(self, state: Any) -> None:
        pass

    def inform_action(self, state: Any, player: int, action: int) -> None:
        pass


def test_exceptions_say_what_is_wrong(tables: Tables, tmp_path: Path) -> None:
    cases: list[tuple[type[Exception], str, Callable[[], object]]] = [
        (IllegalMoveError, "move -1 is not legal", lambda: Position("6x4").play(-1)),
        (PositionError, "-1 is not a number of seeds", lambda: Position.from_rows([-1] * 6, [1] * 6)),
        (PositionError, "17 pits", lambda: Position.from_rows(range(10**12), [1])),
        (ArgumentError, "seeds must be 2 to 48, not -1", lambda: tables.layer(-1)),
        (ArgumentError, "seeds must be 2 to 48, not 0", lambda: tables.layer(0)),
        (ArgumentError, "seeds must be 2 to 48, not 1", lambda: tables.layer(1)),
        (ArgumentError, "seeds must be 2 to 48, not 100", lambda: tables.sample(3, 100)),
        (ArgumentError, "seeds must be 2 to 48, not 1", lambda: tables.sample(3, 1)),
        (OverflowError, "int", lambda: kalah.layer_positions(6, 2**200)),
        (ArgumentError, "seed must be", lambda: tables.sample(1, 5, -1)),
        (ArgumentError, "max_seeds must be 2 to 48, not 1", lambda: Tables.open(tables.directory, max_seeds=1)),
        (ArgumentError, "seconds", lambda: kalah.solve("3x1", book=False, seconds=float("inf"))),
        (RulesError, "rule", lambda: kalah.Rules("chess")),
        (BuildError, "empty-capture-3-05", lambda: kalah.build(Path(tables.directory) / "empty-capture-3-05.kalah", 5)),
        (ArgumentError, "test, a share of the positions", lambda: tables.sample(3, 5, part="train", test=2)),
        (MissingTableError, "missing", lambda: tables.scores(kalah.to_array(["6x1", "6x2"]))),
        (MissingTableError, "missing", lambda: tables.best_moves(kalah.to_array(["6x1"] * 70_000 + ["6x2"]))),
        (TypeError, "not <class 'bytes'>", lambda: Tables.open(b"x")),  # type: ignore[arg-type]
        (TypeError, "not callable", lambda: kalah.build(tmp_path, 8, progress=3)),  # type: ignore[arg-type]
    ]
    for error, message, call in cases:
        with pytest.raises(error, match=re.escape(message)):
            call()


def test_a_missing_table_is_told_apart_from_a_missing_directory(tables: Tables, tmp_path: Path) -> None:
    with pytest.raises(MissingTableError, match="there is no directory") as missing:
        Tables.open(tmp_path / "mistyped")
    assert "build" not in str(missing.value)
    with pytest.raises(MissingTableError, match="kalah.build"):
        Tables.open(tmp_path)
    few = Tables.open(tables.directory, max_seeds=9)
    calls: list[Callable[[], object]] = [
        *(lambda: few.layer(12), lambda: few.score("6x1"), lambda: few.scores(kalah.to_array("6x1"))),
    ]
    for call in calls:
        with pytest.raises(MissingTableError):
            call()


def test_memory_that_nobody_has_is_refused_at_once(tables: Tables) -> None:
    one = np.zeros(12, np.uint8)
    rows = np.broadcast_to(one, (2**50, 12))
    cases: list[Callable[[], object]] = [
        lambda: tables.sample(10**11, 12),
        lambda: tables.sample(2**61, 12),
        lambda: tables.scores(rows),
        lambda: tables.best_moves(rows),
        lambda: tables.rank(12, rows),
        lambda: tables.unrank(12, np.broadcast_to(np.int64(0), (2**50,))),
        lambda: kalah.Solver("6x4", memory=2**60),
        lambda: kalah.Player("perfect", memory=2**60),
    ]
    for case in cases:
        with pytest.raises(OutOfMemoryError):
            case()
