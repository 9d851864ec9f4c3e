"""Building: progress, interruption, and the interpreter's lock."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest

import kalah
from kalah.errors import BuildError


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob("*.kalah")}


def test_progress_is_reported_to_the_end(tmp_path: Path) -> None:
    seen: list[kalah.BuildProgress] = []
    report = kalah.build(tmp_path, 13, "s-kalaha", progress=seen.append)
    total = sum(kalah.layer_positions(6, seeds) for seeds in range(2, 14))
    assert (report.kept, report.built, report.positions) == (0, 12, total)
    document = report.to_dict()
    assert (document["kept"], len(document["built"]), document["positions"]) == (0, 12, total)
    assert report.seconds > 0
    assert all(one.positions <= next.positions for one, next in zip(seen, seen[1:]))
    assert (seen[-1].positions, seen[-1].total, seen[-1].seeds) == (total, total, 13)
    again = kalah.build(tmp_path, 13, "s-kalaha")
    assert (again.kept, again.built, again.positions) == (12, 0, 0)
    assert 0 < again.seconds


def test_ctrl_c_ends_a_build_that_goes_on_later(tmp_path: Path) -> None:
    stopped, whole = tmp_path / "stopped", tmp_path / "whole"
    seen: list[kalah.BuildProgress] = []

    def interrupt(progress: kalah.BuildProgress) -> None:
        seen.append(progress)
        if progress.positions > 0 and len(seen) < 1000:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        kalah.build(stopped, 17, "s-kalaha", progress=interrupt)
    assert seen[-1].positions < seen[-1].total, "it went on to the end"
    report = kalah.build(stopped, 15, "s-kalaha")
    assert report.kept + report.built == 14
    kalah.build(whole, 15, "s-kalaha")
    built = contents(whole)
    assert len(built) == 14
    assert {name: contents(stopped)[name] for name in built} == built


def test_an_exception_of_the_callback_is_the_callers(tmp_path: Path) -> None:
    class OwnError(Exception):
        pass

    def fail(progress: kalah.BuildProgress) -> None:
        raise OwnError(progress.total)

    with pytest.raises(OwnError):
        kalah.build(tmp_path, 16, "s-kalaha", progress=fail)
    with pytest.raises(TypeError):
        kalah.build(tmp_path, 8, progress=3)  # type: ignore[arg-type]


def test_other_threads_run_while_tables_are_built(tmp_path: Path) -> None:
    counts = [0]
    done = threading.Event()

    def count() -> None:
        while not done.wait(0.001):
            counts[0] += 1

    thread = threading.Thread(target=count)
    seen: list[int] = []
    thread.start()
    try:
        kalah.build(tmp_path, 15, "s-kalaha", progress=lambda _: seen.append(counts[0]))
    finally:
        done.set()
        thread.join()
    assert seen[-1] > seen[0] + 10


def test_what_cannot_be_built_is_an_error(tmp_path: Path) -> None:
    for seeds, pits in [(1, 6), (49, 6), (10, 0), (10, 9)]:
        with pytest.raises(ValueError):
            kalah.build(tmp_path, seeds, pits=pits)
    with pytest.raises(BuildError, match="of memory, but only"):
        kalah.build(tmp_path, 20, memory=1000)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(BuildError, match="file"):
        kalah.build(file, 5)
    assert contents(tmp_path) == {}
