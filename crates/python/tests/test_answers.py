"""Documents of results: those that the program prints."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import kalah
from kalah import Player, Solver, Tables

PROGRAM = os.environ.get("KALAH_PROGRAM")

SMALL = 1 << 24
"""Bytes of a transposition table."""

EFFORT = ("seconds", "nodes", "table_hits")
"""Fields that differ from run to run."""


def lasting(document: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in document.items() if name not in EFFORT}


def test_documents_have_what_the_results_have(tables: Tables) -> None:
    probe = tables.probe("6x1")
    document, board = probe.to_dict(), str(probe.position)
    assert (document["position"], document["rules"], document["source"]) == (board, "empty-capture", "tables")
    assert (document["score"], document["value"], document["best"]) == (probe.score, probe.value, probe.best)
    assert {move["move"]: move["score"] for move in document["moves"]} == probe.moves
    assert document["line"] == str(probe.line)
    solution = Solver("6x1", tables=tables, memory=SMALL, threads=1).solve("6x1")
    solved = solution.to_dict()
    assert (solved["value"], solved["best"], solved["line"]) == (solution.value, solution.best, str(solution.line))
    assert (solved["nodes"], solved["seconds"]) == (solution.nodes, solution.seconds)
    choice = Player("alphabeta:3").choose("6x4")
    chosen = choice.to_dict()
    assert (chosen["player"], chosen["move"], chosen["source"]) == ("alphabeta:3", choice.move, "depth")
    assert (chosen["estimate"], chosen["depth"]) == (choice.evaluation, 3)


@pytest.mark.skipif(PROGRAM is None, reason="KALAH_PROGRAM does not name the program")
def test_documents_are_those_of_the_program(directory: Path, tables: Tables, standard: Tables) -> None:
    def printed(*arguments: str) -> dict[str, Any]:
        command = [str(PROGRAM), *arguments, "--json", "--tables", str(directory)]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        document: dict[str, Any] = json.loads(output)
        return document

    for position in ["6x1", "<6,3,0,0,1,0,2,0,1,0,0,1,0,0,2>", "0,0,0,0,0,0/1,0,0,0,0,2"]:
        for rules, of_rules in [("empty-capture", tables), ("standard", standard)]:
            probe = of_rules.probe(position)
            assert list(probe.to_dict().items()) == list(printed("probe", position, "--rules", rules).items())
    for position in ["6x2", "6x4"]:
        solution = Solver(position, tables=tables, memory=SMALL, threads=1).solve(position)
        assert lasting(solution.to_dict()) == lasting(printed("solve", position, "--threads", "1"))
    for name in ["perfect", "greedy", "alphabeta:3", "random:5"]:
        for position in ["6x1", "6x4"]:
            choice = Player(name, tables=tables, memory=SMALL, threads=1).choose(position)
            assert lasting(choice.to_dict()) == lasting(printed("move", position, "--player", name))
    assert kalah.solve("6x4", threads=1).to_dict()["source"] == "book"
