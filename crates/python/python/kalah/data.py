"""Endless random batches with exact scores, for training.

    for positions, scores in tables.batches([18, 20, 22], 4096, seed=1, part="train"):
        ...

`Tables.batches` makes them. If torch is imported, they are an `IterableDataset`, which a `DataLoader` with
`batch_size=None` reads; each of its workers gets batches of its own.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _arguments
from ._arguments import MOST
from .errors import ArgumentError, _shown
from .names import Labels, Part, Source
from .tables import Tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

__all__ = ["Batches"]


@dataclass(repr=False, eq=False)
class Batches:
    """An endless iterable of pairs of arrays: positions, and their scores or those of their moves.

    Batches depend on the attributes alone, which are the arguments of `Tables.batches`, not on the version of numpy or
    on threads. Every iterator begins with the batch `start`.
    """

    tables: Tables
    seeds: int | Iterable[int]
    size: int
    seed: int | np.random.Generator | None
    start: int
    worker: tuple[int, int] | None
    labels: Labels
    part: Part | None
    test: float
    source: Source
    threads: int | None

    def __post_init__(self) -> None:
        self.seeds = self._layers = _layers(self.seeds)
        self.size = _arguments.number("size", self.size, 1, 1 << 24)
        self.seed = self._seed = _arguments.seed(self.seed)
        self.start = _arguments.number("start", self.start, 0, MOST)
        self.worker = self._worker = _worker(self.worker)
        _arguments.name("labels", self.labels, Labels)
        for layer in self._layers:
            # Wrong arguments are an error here rather than in a worker.
            self._sample(0, layer, 0)

    def __iter__(self) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int8]]]:
        index, _ = self._worker
        inner, workers = _torch_worker()
        worker = index * workers + inner
        number = self.start
        while True:
            yield self.batch(number, worker)
            number += 1

    def batch(self, number: int, worker: int = 0) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        """Returns the batch with this number, from 0, of a worker."""
        given = {"worker": worker, "number": number}
        words = [self._seed, *(_arguments.number(name, value, 0, MOST) for name, value in given.items())]
        # Numpy splits numbers into words of 32 bits, as many as each needs. Two words for each keep them apart.
        key = [half for word in words for half in (word & 0xFFFFFFFF, word >> 32)]
        layers = len(self._layers)
        # Numpy guarantees that these numbers stay the same; it does not for those of a Generator.
        random = np.random.PCG64(np.random.SeedSequence(key)).random_raw(layers + self.size)
        seeds, choice = random[:layers], random[layers:] % layers
        positions = np.empty((self.size, 2 * self.tables.pits), np.uint8)
        scores = np.empty(self.size, np.int8)
        for index, layer in enumerate(self._layers):
            chosen = np.flatnonzero(choice == index)
            positions[chosen], scores[chosen] = self._sample(len(chosen), layer, int(seeds[index]))
        if self.labels == "moves":
            return positions, self.tables.scores_of_moves(positions, threads=self.threads)
        return positions, scores

    def _sample(self, n: int, layer: int, seed: int) -> tuple[NDArray[np.uint8], NDArray[np.int8]]:
        return self.tables.sample(
            n, layer, seed, part=self.part, test=self.test, source=self.source, threads=self.threads
        )

    def __repr__(self) -> str:
        return (
            f"<kalah.data.Batches: {self.size} positions of {self.tables.rules} with {list(self._layers)} seeds, "
            f"source {self.source!r}, part {self.part!r}, seed {self.seed}>"
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return batches, tuple(getattr(self, each.name) for each in fields(self))


def batches(*arguments: Any) -> Batches:
    """Returns `Batches` with these attributes: an `IterableDataset` of torch as well, if torch is imported."""
    data = getattr(getattr(sys.modules.get("torch"), "utils", None), "data", None)
    if data is None:
        return Batches(*arguments)
    base = data.IterableDataset
    if base not in _datasets:
        _datasets[base] = type("Batches", (Batches, base), {"__module__": __name__})
    return _datasets[base](*arguments)


_datasets: dict[type, type[Batches]] = {}
"""The class of batches for torch, by its base class."""


def _torch_worker() -> tuple[int, int]:
    """Returns the number of this worker of a torch DataLoader, and the number of workers."""
    data = getattr(getattr(sys.modules.get("torch"), "utils", None), "data", None)
    info = None if data is None else data.get_worker_info()
    return (0, 1) if info is None else (info.id, info.num_workers)


def _layers(seeds: int | Iterable[int]) -> tuple[int, ...]:
    """Returns the layers of an argument `seeds`, a number or several different ones."""
    if isinstance(seeds, (str, bytes)):
        raise TypeError(f"seeds are a number or a list of numbers, not {type(seeds)}")
    if isinstance(seeds, (int, np.integer)):
        return (operator.index(seeds),)
    layers: list[int] = []
    for layer in seeds:
        layers.append(_arguments.number("seeds", layer, 2, 48))
        if len(set(layers)) < len(layers):
            raise ArgumentError(f"seeds has {layer} twice")
    if not layers:
        raise ArgumentError("seeds must be a number or a list of at least one")
    return tuple(layers)


def _worker(worker: tuple[int, int] | None) -> tuple[int, int]:
    if worker is None:
        return 0, 1
    if not isinstance(worker, tuple) or len(worker) != 2:
        raise TypeError(f"worker is a pair of numbers, (this worker, number of workers), not {_shown(worker)}")
    # Each may have as many workers of torch.
    count = _arguments.number("the number of workers", worker[1], 1, 1 << 32)
    return _arguments.number("worker", worker[0], 0, count - 1), count
