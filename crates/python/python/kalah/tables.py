"""Tables on this machine or elsewhere: opening, building, and looking positions up."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, final

from . import _arguments, _kalah
from ._filesystem import Directory
from .errors import ArgumentError
from .names import Part, Source
from .results import BuildProgress, BuildReport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._kalah import Line, Position, Rules
    from .data import Batches
    from .names import Labels, RulesName

__all__ = ["Tables", "build"]


@final
class Tables(_kalah.Tables):
    """The tables of one rule set and number of pits in a directory: all layers from 2 seeds up, without
    a gap.

    Open them with `Tables.open`. The files are mapped into memory, so opening is quick and takes no memory of
    its own. Every block of a file is compared with its checksum before a score in it is used.

    The files must not change while they are mapped: if one becomes shorter, the signal SIGBUS ends the process.
    Replacing one by renaming another file over it is safe.

    Tables can be pickled; unpickling opens the directory again. No method holds the interpreter's lock while it
    reads a file.

    Positions in arrays are of type uint8 and shape (n, 2 x pits): the mover's pits, then the other player's, each in
    its owner's sowing order. Stores do not matter. Lists and other integers are converted. A single row, and more
    axes before the last one, give results with the same axes.

    A `with` block closes them at its end. Afterwards they look nothing up, and raise ArgumentError.
    """

    _opened: tuple[Any, ...] | None = None
    """The arguments of `open`; None once they are closed."""

    @staticmethod
    def open(
        directory: str | os.PathLike[str] | None = None,
        rules: Rules | RulesName = "empty-capture",
        pits: int = 6,
        max_seeds: int = 48,
        mapped: bool = True,
        filesystem: Any = None,
    ) -> Tables:
        """Opens all tables in `directory` with at most `max_seeds` seeds in play. With `mapped=False` the files
        are read, which is slower, and may change. The default directory is that of the environment variable
        KALAH_TABLES, or else `tables`.

        An address such as `"https://example.org/tables"` takes the place of a directory. Blocks are then fetched
        when they are read, and kept in the user's cache directory, or in that of the variable KALAH_CACHE.

        With `filesystem`, a file system of fsspec such as `s3fs.S3FileSystem()`, `directory` is a directory in it, and
        blocks come from there.

        Raises MissingTableError if there is no such directory or no table in it, or a layer is missing below
        another one. Raises DamagedTableError or TableError if a file is damaged or cannot be read, and
        ArgumentError for pits or seeds that no tables have.
        """
        if directory is None:
            directory = os.environ.get("KALAH_TABLES") or "tables"
        place = _arguments.location(directory) if filesystem is None else _arguments.written(directory)
        files = None if filesystem is None else Directory(filesystem, place)
        tables = Tables(place, rules, pits, max_seeds, mapped, files)
        tables._opened = place, tables.rules, pits, max_seeds, mapped, filesystem
        return tables

    def close(self) -> None:
        """Closes the files, and lets go of a file system, as soon as no call and no solver reads them. Closing again
        does nothing.
        """
        super().close()
        self._opened = None

    def __enter__(self) -> Tables:
        """Returns these tables."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Closes these tables."""
        self.close()

    def value(self, position: Position | str) -> int:
        """Returns the final store difference for the mover with best play. Raises as `probe` does."""
        position = _arguments.position(position)
        return position.value(self.score(position))

    def line(self, position: Position | str) -> Line:
        """Returns a line of best play to the end of the game. Raises as `probe` does."""
        return self.probe(position).line

    def best_moves(self, positions: ArrayLike, *, threads: int | None = None) -> NDArray[np.bool_]:
        """Returns the best moves of many positions, as a bool array of shape (n, pits). Column i is the move of
        pit i + 1. A row has no True if the game is over. Arguments and exceptions are those of `scores`.
        """
        scores = self.scores_of_moves(positions, threads=threads)
        best: NDArray[np.bool_] = scores == scores.max(axis=-1, keepdims=True, initial=0)
        return best

    def sample(
        self,
        n: int,
        seeds: int,
        seed: int | np.random.Generator | None = 0,
        *,
        part: Part | None = None,
        test: float = 0.1,
        source: Source = "uniform",
        start: Position | str | None = None,
        threads: int | None = None,
    ) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Draws `n` positions of the layer with `seeds` seeds in play, independently, with their exact scores. A
        position may be drawn several times.

        Returns a uint8 array of shape (n, 2 x pits) and an int8 array of shape (n,).

        The same `seed`, 0 to 2^64 - 1, gives the same positions. Samples of different seeds are independent. A
        numpy.random.Generator draws the seed, and None stands for any.

        `part`, 'train' or 'test', draws from one part of all positions. A hash of the position decides its part;
        `test` is the share of the positions for tests.

        `source` is 'uniform', where all positions of the layer are equally likely, or 'play': positions reached by
        random moves from `start`, one of each game. The start has four seeds a pit by default, or more if the layer
        has more.

        Raises MissingTableError, DamagedTableError, OutOfMemoryError, or ArgumentError for numbers out of range.
        """
        is_play = _arguments.name("source", source, Source) == "play"
        if not is_play and start is not None:
            raise ArgumentError('start is the first position of play: give source="play", too')
        is_test = None if part is None else _arguments.name("part", part, Part) == "test"
        number = _arguments.seed(seed)
        return self._sample(n, seeds, number, is_test, test, is_play, start, threads)

    def batches(
        self,
        seeds: int | Iterable[int],
        size: int = 4096,
        *,
        seed: int | np.random.Generator | None = 0,
        start: int = 0,
        worker: tuple[int, int] | None = None,
        labels: Labels = "scores",
        part: Part | None = None,
        test: float = 0.1,
        source: Source = "uniform",
        threads: int | None = None,
    ) -> Batches:
        """Returns an endless iterable of random batches for training, a `kalah.data.Batches`. A batch is a pair of
        arrays: positions, uint8 (size, 2 x pits), and scores, int8 (size,). With labels='moves' the second has the
        scores of all moves, int8 (size, pits).

        `seeds` is the number of seeds in play of a layer, or a list of several, which are equally likely. The same
        `seed` gives the same batches, from number `start` on. `worker` is a pair of numbers: this process, and the
        number of processes. Each process gets other batches, and so does each worker of a torch DataLoader.

        `part`, `test`, `source` and the exceptions are those of `sample`.
        """
        from .data import batches

        return batches(self, seeds, size, seed, start, worker, labels, part, test, source, threads)

    def __repr__(self) -> str:
        pits = "1 pit" if self.pits == 1 else f"{self.pits} pits"
        closed = ", closed" if self.closed else ""
        return f"<kalah.Tables: {self.rules}, {pits}, to {self.max_seeds} seeds, in \"{self.directory}\"{closed}>"

    def __reduce__(self) -> tuple[Any, ...]:
        if self._opened is None:
            raise ArgumentError("these tables are closed: open them again")
        return Tables.open, self._opened


def build(
    directory: str | os.PathLike[str],
    seeds: int,
    rules: Rules | RulesName = "empty-capture",
    pits: int = 6,
    *,
    threads: int | None = None,
    memory: int | None = None,
    progress: Callable[[BuildProgress], object] | None = None,
) -> BuildReport:
    """Builds the tables of all layers from 2 to `seeds` seeds in play in `directory`, on the CPU. Existing tables
    are compared with their checksums and kept. The directory is created if it does not exist.

    `progress` is called about twenty times a second with a BuildProgress. An exception that it raises, or
    Ctrl-C in the main thread, ends the build. Finished frames are kept, and the next call continues from there.
    The interpreter's lock is released meanwhile. `threads` is the number of cores by default. `memory` is the
    maximum number of bytes for the build.

    Raises ArgumentError if there are no tables with these pits or seeds. Raises BuildError if the directory
    cannot be created, the disk or `memory` is too small, or another process builds there. Raises
    OutOfMemoryError, DamagedTableError or TableError.
    """
    return _kalah.build(_arguments.directory(directory), seeds, rules, pits, threads, memory, progress)
