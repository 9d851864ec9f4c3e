"""Arrays as arguments and results: what numpy's own functions accept and return."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import kalah
from kalah import Position, Tables
from kalah.errors import MissingTableError, PositionError

MANY = ["scores", "scores_of_moves", "best_moves"]


def unaligned(rows: np.ndarray) -> np.ndarray:
    wide = rows.astype(np.int64)
    memory = np.zeros(wide.nbytes + 1, np.uint8)[1:]
    memory[:] = wide.view(np.uint8).ravel()
    return memory.view(np.int64).reshape(wide.shape)


@pytest.mark.parametrize("name", MANY)
def test_whatever_numpy_converts_to_integers_is_accepted(tables: Tables, name: str) -> None:
    rows = tables.sample(60, 12, 5)[0]
    read: Callable[..., np.ndarray] = getattr(tables, name)
    expected = read(rows)
    likes: list[Any] = [
        *(rows.astype(kind) for kind in ["int64", "int8", "uint16", ">i4", "<u8"]),
        *(rows.tolist(), tuple(map(tuple, rows.tolist())), list(rows), np.asfortranarray(rows), unaligned(rows)),
        *(np.repeat(rows, 2, axis=0)[::2], np.repeat(rows, 2, axis=1)[:, ::2], rows[::-1][::-1]),
    ]
    for like in likes:
        assert np.array_equal(read(like), expected)
    read_only = rows.copy()
    read_only.flags.writeable = False
    assert np.array_equal(read(read_only), expected)


@pytest.mark.parametrize("name", MANY)
def test_other_axes_are_kept(tables: Tables, name: str) -> None:
    rows = tables.sample(60, 12, 5)[0]
    read: Callable[..., np.ndarray] = getattr(tables, name)
    expected = read(rows)
    last = expected.shape[1:]
    assert np.array_equal(read(rows.reshape(3, 4, 5, 12)), expected.reshape(3, 4, 5, *last))
    one = read(rows[7])
    assert one.shape == last and np.array_equal(one, expected[7])
    for empty in [[], (), np.array([]), np.zeros((0, 12), np.uint8), np.zeros((0, 12), np.int64)]:
        assert read(empty).shape == (0, *last) and read(empty).dtype == expected.dtype
    assert read(np.zeros((4, 0, 12), np.uint8)).shape == (4, 0, *last)


def test_ranks_are_converted_too(tables: Tables) -> None:
    count = kalah.layer_positions(6, 7)
    ranks = np.arange(0, count, 97)
    expected = tables.unrank(7, ranks)
    likes: list[Any] = [ranks.tolist(), ranks.astype(np.int32), ranks.astype(np.uint64), ranks[::-1][::-1]]
    for like in likes:
        assert np.array_equal(tables.unrank(7, like), expected)
    assert tables.unrank(7, []).shape == (0, 12) and tables.rank(7, []).shape == (0,)
    assert np.array_equal(tables.rank(7, expected.tolist()), ranks)
    square = tables.unrank(7, ranks[:6].reshape(2, 3))
    assert square.shape == (2, 3, 12) and np.array_equal(tables.rank(7, square), ranks[:6].reshape(2, 3))


def test_a_message_has_the_type_and_shape_that_came(tables: Tables) -> None:
    cases: list[tuple[Any, type[Exception], str]] = [
        (np.zeros((3, 12)), TypeError, r"type float64 and shape \(3, 12\)"),
        (np.zeros((3, 12), bool), TypeError, r"type bool and shape \(3, 12\)"),
        (np.zeros((3, 11), np.int32), PositionError, r"type int32 and shape \(3, 11\)"),
        (np.zeros((3, 11), np.uint8), PositionError, r"type uint8 and shape \(3, 11\)"),
        (np.zeros((), np.uint8), PositionError, r"type uint8 and shape \(\)"),
        ([[1] * 11 + [-1]], PositionError, "not the number -1"),
        ([[1] * 11 + [256]], PositionError, "not the number 256"),
        (np.full((1, 12), 2**64 - 1, np.uint64), PositionError, "not the number 18446744073709551615"),
        ([[1] * 11 + [2**70]], TypeError, "type object"),
        ([[1] * 12, [1] * 11], PositionError, "inhomogeneous"),
        ([[1.0] * 12], TypeError, "type float64"),
        ("6x4", TypeError, "not <class 'str'>"),
        (range(12), TypeError, "not <class 'range'>"),
        (itertools.count(), TypeError, "not <class 'itertools.count'>"),
        (b"\1" * 12, TypeError, "not <class 'bytes'>"),
    ]
    reads: list[Callable[..., object]] = [tables.scores, tables.best_moves]
    for wrong, error, message in cases:
        for read in reads:
            with pytest.raises(error, match=message):
                read(wrong)
    with pytest.raises(PositionError, match="not the number 9223372036854775808"):
        tables.unrank(5, np.array([2**63], np.uint64))


@pytest.mark.parametrize("name", ["scores", "scores_of_moves"])
def test_rows_above_the_tables_get_the_default(tables: Tables, name: str) -> None:
    read: Callable[..., np.ndarray] = getattr(tables, name)
    rows = tables.sample(10_000, 12, 5)[0]
    over = np.zeros((1, 12), np.uint8)
    over[0, 6:] = 7
    mixed = np.concatenate([rows[:5000], np.full((3, 12), 4, np.uint8), rows[5000:], over, np.full((2, 12), 200)])
    mixed = mixed.astype(np.uint8)
    above = [*range(5000, 5003), 10_004, 10_005]
    found = read(mixed, default=-7)
    assert (found[above] == -7).all()
    assert np.array_equal(np.delete(found, above, axis=0), read(np.concatenate([rows, over])))
    assert np.array_equal(read(rows, default=-7), read(rows))
    assert (read(mixed[5000], default=-7) == -7).all()
    with pytest.raises((MissingTableError, PositionError)):
        read(mixed)
    with pytest.raises(OverflowError):
        read(rows, default=128)


def test_arrays_become_positions_and_back(tables: Tables) -> None:
    rows = tables.sample(50, 14)[0]
    for like in [rows, rows.astype(np.int64), rows.tolist(), np.asfortranarray(rows)]:
        positions = kalah.from_array(like)
        assert all(isinstance(position, Position) for position in positions)
        assert np.array_equal(kalah.to_array(positions), rows)
    assert kalah.from_array([1, 2, 3, 4]) == [Position("1,2/3,4")]
    assert kalah.from_array([]) == kalah.from_array(np.zeros((0, 12), np.uint8)) == []
    assert np.array_equal(kalah.to_array(iter(["6x1", "6x2"])), [[1] * 12, [2] * 12])
    wrong: list[tuple[Any, type[Exception], str]] = [
        ([1, 2, 3], PositionError, r"shape \(1, 3\)"),
        (np.zeros((2, 2, 2), np.int8), PositionError, r"shape \(2, 2, 2\)"),
        (np.zeros(12), TypeError, "float64"),
        ([[-1, 2]], PositionError, "-1"),
        ([[1, 2], [3]], PositionError, "inhomogeneous"),
        ("6x4", TypeError, "str"),
        (np.zeros((2, 34), np.uint8), PositionError, "16 pits"),
    ]
    for like, error, message in wrong:
        with pytest.raises(error, match=message):
            kalah.from_array(like)
