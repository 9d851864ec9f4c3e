"""Arguments of calls. A wrong type is a TypeError, a wrong value an error of this package."""

from __future__ import annotations

import operator
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ._kalah import Position, is_address
from .errors import ArgumentError, _shown

if TYPE_CHECKING:
    from collections.abc import Iterable

MOST = (1 << 64) - 1
"""The largest number of 64 bits."""


def number(name: str, number: int, least: int, most: int) -> int:
    """Returns a whole number in a range."""
    number = operator.index(number)
    if not least <= number <= most:
        raise ArgumentError(f"{name} must be {least} to {most}, not {_shown(number)}")
    return number


def name(argument: str, name: str, names: tuple[str, str]) -> str:
    """Returns the name, which must be one of two."""
    if not isinstance(name, str):
        raise TypeError(f"{argument} is a text, not {type(name)}")
    if name not in names:
        raise ArgumentError(f"{argument} must be {names[0]!r} or {names[1]!r}, not {_shown(name)}")
    return name


def seed(seed: Any) -> int:
    """Returns the seed of a random sequence: a number of 64 bits. A generator of numpy draws one."""
    # Naming the class would import `numpy.random` in the first call.
    if hasattr(seed, "bit_generator"):
        return int(seed.integers(0, 1 << 64, dtype=np.uint64))
    return number("seed", seed, 0, MOST)


def position(position: Position | str) -> Position:
    """Returns a position, which may be written as a text."""
    return position if isinstance(position, Position) else Position(position)


def directory(path: str | os.PathLike[str]) -> str:
    """Returns a directory as an absolute path, which stays the same if the process changes its working directory."""
    text = _written(path)
    if is_address(text):
        raise ArgumentError(f"{text} is not a directory: it is an address, and only Tables.open reads those")
    try:
        os.fsencode(text)
        if text:
            return str(Path(text).absolute())
        raise ArgumentError("an empty text is not a directory")
    except (OSError, UnicodeError) as error:
        raise ArgumentError(f"the path is invalid on this system: {error}") from None


def locations(
    directory: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
) -> tuple[list[str], str | None]:
    """Returns absolute paths and addresses; and a single one as it was written."""
    if isinstance(directory, (str, bytes, os.PathLike)):
        return [_location(directory)], _written(directory)
    found = [_location(path) for path in directory]
    if not found:
        raise ArgumentError("directory is an empty sequence: name a directory")
    return found, None


def _location(path: str | os.PathLike[str]) -> str:
    text = _written(path)
    return text if is_address(text) else directory(text)


def _written(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"directory is a path, an address, or a list of them, not {type(path)}")
    return text
