#!/usr/bin/env python3
"""Reads scores from kalah tables.

    python3 kalah_reader.py DIRECTORY RULES [POSITION...]

RULES is empty-capture, standard or s-kalaha. A POSITION is <m,S,N,s1,..,sm,n1,..,nm>: pits a side, the mover's store, the
other store, the mover's row, the other row, each in its owner's sowing order. Without a POSITION they are read from
standard input, one a line. Prints a line `POSITION SCORE` for each: the most of the seeds in play that the mover can still
collect.

Written from docs/indexing.md and docs/format.md alone, with the standard library alone. Checksums are not verified:
neither of the two hash functions is in the standard library.
"""

import mmap
import os
import struct
import sys

MAGIC = b"KALAHTB\n"
RULES = ["empty-capture", "standard", "s-kalaha"]
HEADER = struct.Struct("<8sIBBBBQQ32s56sQ")
ENTRY = struct.Struct("<5Q32s")
LINE_POSITIONS = 126


class TableError(Exception):
    """A table is missing, damaged, or of something else."""


class Rows:
    """Ranks of the rows of a board (docs/indexing.md)."""

    def __init__(self, pits, max_seeds):
        self.pits = pits
        # count[n][k][p]: rows of n pits with k seeds and potential p.
        self.count = [None, [[1] for _ in range(max_seeds + 1)]]
        for n in range(2, pits + 1):
            table = []
            for k in range(max_seeds + 1):
                counts = self.count[n - 1][k] + [0] * k
                for p, count in enumerate(table[k - 1] if k else []):
                    counts[p + n - 1] += count
                table.append(counts)
            self.count.append(table)

    def rows(self, seeds):
        """Rows with this many seeds."""
        return sum(self.count[self.pits][seeds])

    def rank(self, row):
        """The rank of a row among those with as many seeds."""
        k = sum(row)
        p = sum(seeds * (self.pits - 1 - pit) for pit, seeds in enumerate(row))
        rank = sum(self.count[self.pits][k][:p])
        for pit in range(self.pits - 2):
            n = self.pits - pit
            rank += self.count[n][k][p]
            k -= row[pit]
            p -= row[pit] * (n - 1)
            rank -= self.count[n][k][p]
        return rank

    def unrank(self, seeds, rank):
        """The row with this rank among those with `seeds` seeds."""
        k, p = seeds, 0
        while rank >= self.count[self.pits][k][p]:
            rank -= self.count[self.pits][k][p]
            p += 1
        row = []
        for n in range(self.pits - 1, 0, -1):
            row.append(0)
            while True:
                counts = self.count[n][k]
                fewer = counts[p] if p < len(counts) else 0
                if rank < fewer:
                    break
                rank -= fewer
                row[-1] += 1
                k -= 1
                p -= n
        return tuple(row) + (k,)


def up(size):
    """The next multiple of 64."""
    return (size + 63) // 64 * 64


class Table:
    """The table of one layer (docs/format.md)."""

    def __init__(self, directory, rules, pits, seeds, rows=None):
        self.pits, self.seeds = pits, seeds
        self.rows = rows if rows is not None else Rows(pits, seeds)
        self.path = os.path.join(directory, "%s-%d-%02d.kalah" % (rules, pits, seeds))
        try:
            with open(self.path, "rb") as file:
                if os.fstat(file.fileno()).st_size < HEADER.size:
                    raise TableError("%s: not a kalah table" % self.path)
                self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise TableError("%s: %s" % (self.path, error.strerror)) from None
        magic, version, *key, finished, _, length, _, _, _ = HEADER.unpack_from(self.bytes)
        if magic != MAGIC:
            raise TableError("%s: not a kalah table" % self.path)
        if version != 1:
            raise TableError("%s: version %d of the format, not 1" % (self.path, version))
        if not finished:
            raise TableError("%s: never finished" % self.path)
        if key != [RULES.index(rules), pits, seeds]:
            raise TableError("%s: another table than its name says" % self.path)
        if length != len(self.bytes):
            raise TableError("%s: %d bytes where %d belong" % (self.path, len(self.bytes), length))

    def score(self, mover, other):
        """The score of the position with these rows, each in its owner's sowing order."""
        mover_seeds = sum(mover)
        at = HEADER.size + (mover_seeds - 1) * ENTRY.size
        frame, row_count, lines, patch_bytes, _, _ = ENTRY.unpack_from(self.bytes, at)
        mover_rank, other_rank = self.rows.rank(mover), self.rows.rank(other)
        number, place = divmod(other_rank * row_count + mover_rank, LINE_POSITIONS)
        lines_at = frame + up(row_count)
        patches_at = lines_at + 64 * lines
        line = self.bytes[lines_at + 64 * number:lines_at + 64 * (number + 1)]
        if row_count != self.rows.rows(mover_seeds) or number >= lines or len(line) < 64:
            raise TableError("%s: its directory is damaged" % self.path)
        code = None
        if line[63] >= 128:
            at = patches_at + struct.unpack_from("<I", line)[0]
            head = self.bytes[at:at + 5]
            end = at + 5 + 2 * head[4] if len(head) == 5 else None
            if end is None or end > min(patches_at + patch_bytes, len(self.bytes)):
                raise TableError("%s: line %d of a frame is damaged" % (self.path, number))
            line = head[:4] + line[4:]
            exceptions = self.bytes[at + 5:end]
            code = dict(zip(exceptions[::2], exceptions[1::2])).get(place)
        if code is None:
            code = line[place // 2] >> 4 * (place % 2) & 15
        score = ((line[63] & 127) - 64 + code + self.bytes[frame + mover_rank]) % 256
        if score > self.seeds:
            raise TableError("%s: line %d of a frame is damaged" % (self.path, number))
        return score


class Tables:
    """The tables of a directory, opened when first asked for."""

    def __init__(self, directory, rules):
        if rules not in RULES:
            raise ValueError("unknown rules %r: use %s" % (rules, ", ".join(RULES)))
        self.directory, self.rules = directory, rules
        self.rows, self.tables = {}, {}

    def score(self, mover, other):
        """The score of the position with these rows."""
        mover, other = tuple(mover), tuple(other)
        pits, seeds = len(mover), sum(mover) + sum(other)
        if sum(mover) == 0 or sum(other) == 0:
            return sum(mover)
        if not 1 <= pits <= 6 or seeds > 48:
            raise TableError("no table has %d pits a side and %d seeds" % (pits, seeds))
        if (pits, seeds) not in self.tables:
            if pits not in self.rows:
                self.rows[pits] = Rows(pits, 48)
            self.tables[pits, seeds] = Table(self.directory, self.rules, pits, seeds, self.rows[pits])
        return self.tables[pits, seeds].score(mover, other)


def parse(text):
    """The rows (mover's, other) of a position literal."""
    text = text.strip()
    try:
        if not (text.startswith("<") and text.endswith(">")):
            raise ValueError
        numbers = [int(number) for number in text[1:-1].split(",")]
        pits = numbers[0]
        if pits < 1 or len(numbers) != 2 * pits + 3 or min(numbers) < 0:
            raise ValueError
    except ValueError:
        raise ValueError("%r is not a position: write <m,S,N,s1..sm,n1..nm>" % text) from None
    return numbers[3:3 + pits], numbers[3 + pits:]


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    try:
        tables = Tables(*arguments[:2])
        for position in arguments[2:] or filter(str.strip, sys.stdin):
            print(position.strip(), tables.score(*parse(position)))
    except (TableError, ValueError) as error:
        sys.exit("error: %s" % error)


if __name__ == "__main__":
    main(sys.argv[1:])
