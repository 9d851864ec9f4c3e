"""Arguments of calls. A wrong type is a TypeError, a wrong value an error of this package."""

from __future__ import annotations

import operator
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from ._kalah import Position, is_address
from .errors import ArgumentError, OutOfMemoryError, PositionError, _shown

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

_T = TypeVar("_T")

MOST = (1 << 64) - 1
"""The largest number of 64 bits."""


def number(name: str, number: int, least: int, most: int) -> int:
    """Returns a whole number in a range."""
    number = operator.index(number)
    if not least <= number <= most:
        raise ArgumentError(f"{name} must be {least} to {most}, not {_shown(number)}")
    return number


def name(argument: str, name: _T, literal: Any) -> _T:
    """Returns the name, which must be one of a type of `kalah.names`."""
    names = get_args(literal)
    if not isinstance(name, str):
        raise TypeError(f"{argument} is a text, not {type(name)}")
    if name not in names:
        raise ArgumentError(f"{argument} must be {' or '.join(map(repr, names))}, not {_shown(name)}")
    return name


def seed(seed: Any) -> int:
    """Returns the seed of a random sequence: a number of 64 bits. A generator of numpy draws one; None is any."""
    if seed is None:
        return secrets.randbits(64)
    # Naming the class would import `numpy.random` in the first call.
    if hasattr(seed, "bit_generator"):
        return int(seed.integers(0, 1 << 64, dtype=np.uint64))
    return number("seed", seed, 0, MOST)


def position(position: Position | str) -> Position:
    """Returns a position, which may be written as a text."""
    return position if isinstance(position, Position) else Position(position)


def converted(given: ArrayLike, kind: DTypeLike, expected: str, width: int | None = None) -> NDArray[Any]:
    """Returns whole numbers in a new array of type `kind` in C order. Its last axis has `width` elements, if that is
    given. `expected` describes the right array.
    """
    # Numpy reads ranges and texts, too, which may be long.
    if not isinstance(given, (list, tuple)) and not hasattr(given, "__array__"):
        raise TypeError(f"{expected}, not {type(given)}")
    try:
        array = np.asarray(given)
    except ValueError as error:
        raise PositionError(f"{expected}: {error}") from error
    except MemoryError as error:
        raise OutOfMemoryError(str(error)) from error
    kind, found = np.dtype(kind), f"{expected}, not type {array.dtype} and shape {array.shape}"
    if array.shape == (0,):
        # The type of an empty list is a float.
        return np.empty(0 if width is None else (0, width), kind)
    if array.dtype.kind not in "iu":
        raise TypeError(found)
    if array.ndim == 0 or (width is not None and array.shape[-1] != width):
        raise PositionError(found)
    try:
        result = np.empty(array.shape, kind)
    except (MemoryError, ValueError) as error:
        raise OutOfMemoryError(str(error)) from error
    limits = np.iinfo(kind)
    for limit in (int(array.min()), int(array.max())) if array.size else ():
        if not limits.min <= limit <= limits.max:
            raise PositionError(f"{expected}, not the number {limit}")
    result[...] = array
    return result


def directory(path: str | os.PathLike[str]) -> str:
    """Returns a directory as an absolute path, which stays the same if the process changes its working directory."""
    text = written(path)
    if is_address(text):
        raise ArgumentError(f"{text} is not a directory: it is an address, and only Tables.open reads those")
    try:
        os.fsencode(text)
        if text:
            return str(Path(text).absolute())
        raise ArgumentError("an empty text is not a directory")
    except (OSError, UnicodeError) as error:
        raise ArgumentError(f"the path is invalid on this system: {error}") from None


def location(path: str | os.PathLike[str]) -> str:
    """Returns a directory as an absolute path, or an address as it is."""
    text = written(path)
    return text if is_address(text) else directory(text)


def written(path: str | os.PathLike[str]) -> str:
    """Returns a path or an address as it was written."""
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError(f"directory is a path or an address, not {type(path)}")
    return text
