#!/usr/bin/env python3
"""Reads scores from kalah tables, or bounds of scores from bound tables.

    python3 kalah_reader.py DIRECTORY RULES [POSITION...]
    python3 kalah_reader.py --bounds DIRECTORY RULES [POSITION...]

RULES is empty-capture, standard, s-kalaha or single-move. A POSITION is <m,S,N,s1,..,sm,n1,..,nm>: pits a side, the
mover's store, the other store, the mover's row, the other row, each in its owner's sowing order. Without arguments,
positions are read from standard input, one per line. For each it prints a line `POSITION SCORE`: the most of the seeds
in play that the mover can still collect; with --bounds a line `POSITION LOWER UPPER`: what the score is at least and at
most by the bound table.

Written only from docs/indexing.md, docs/format.md, docs/bounds.md and docs/evaluation.md, with only the standard
library. The header, the directory of a bound table, and every block that is read are compared with their checksums: a
flipped bit is an error, never a wrong score. Digests are not compared, because BLAKE3 is not in the standard library.
So this reader misses a small frame that was overwritten by another one and its checksum; `kalah verify` finds it.
"""

import mmap
import os
import struct
import sys

MAGIC = b"KALAHTB\n"
RULES = ["empty-capture", "standard", "s-kalaha", "single-move"]
HEADER = struct.Struct("<8sIBBBBQQ32s32sI12sQQ")
ENTRY = struct.Struct("<5Q32s")
GROUP_POSITIONS = 126
BLOCK = 65536

BOUNDS_MAGIC = b"KALAHBD\n"
NETWORK_MAGIC = b"KALAHNN\n"
NETWORK_HEAD = struct.Struct("<8sIBBBB32h32h32h")
LANES, MOST_HELD = 32, 15


class TableError(Exception):
    """A table is missing, damaged, or not the expected one."""


WORD = (1 << 64) - 1
PRIME32_1, PRIME32_2, PRIME32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
PRIME64_1, PRIME64_2, PRIME64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
PRIME64_4, PRIME64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221"
    "b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb"
    "170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")


def xxh3(data):
    """XXH3, 64 bits, seed 0, of 17 bytes or more (all that tables need)."""
    def words(data, at, count):
        return struct.unpack_from("<%dQ" % count, data, at)

    def fold(a, b):
        product = a * b
        return (product ^ product >> 64) & WORD

    def mix(at, secret):
        (a, b), (c, d) = words(data, at, 2), words(SECRET, secret, 2)
        return fold(a ^ c, b ^ d)

    def avalanche(x):
        x = (x ^ x >> 37) * 0x165667919E3779F9 & WORD
        return x ^ x >> 32

    size = len(data)
    assert size > 16
    if size <= 240:
        total = size * PRIME64_1
        if size <= 128:
            for pair in range((size - 1) // 32 + 1):
                total += mix(16 * pair, 32 * pair) + mix(size - 16 * (pair + 1), 32 * pair + 16)
            return avalanche(total & WORD)
        total += sum(mix(16 * part, 16 * part) for part in range(8))
        total = avalanche(total & WORD)
        total += sum(mix(16 * part, 16 * (part - 8) + 3) for part in range(8, size // 16))
        return avalanche(total + mix(size - 16, 136 - 17) & WORD)

    lanes = [PRIME32_3, PRIME64_1, PRIME64_2, PRIME64_3, PRIME64_4, PRIME32_2, PRIME64_5, PRIME32_1]

    def stripe(at, secret):
        keys = words(SECRET, secret, 8)
        for lane, word in enumerate(words(data, at, 8)):
            key = word ^ keys[lane]
            lanes[lane ^ 1] += word
            lanes[lane] += (key & 0xFFFFFFFF) * (key >> 32)

    stripes = (size - 1) // 64
    for number in range(stripes):
        stripe(64 * number, 8 * (number % 16))
        if number % 16 == 15:
            keys = words(SECRET, len(SECRET) - 64, 8)
            for lane, key in enumerate(keys):
                word = lanes[lane] & WORD
                lanes[lane] = (word ^ word >> 47 ^ key) * PRIME32_1 & WORD
    stripe(size - 64, len(SECRET) - 64 - 7)
    total = size * PRIME64_1
    keys = words(SECRET, 11, 8)
    for lane in range(0, 8, 2):
        total += fold(lanes[lane] & WORD ^ keys[lane], lanes[lane + 1] & WORD ^ keys[lane + 1])
    return avalanche(total & WORD)


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
        """The rank of a row among those with the same number of seeds."""
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


class File:
    """A mapped file with frames in blocks, each compared with its checksum once."""

    def __init__(self, name, kind, magic, key):
        directory, rules, self.pits, self.seeds = key
        self.path, self.sound = os.path.join(directory, name % (rules, self.pits, self.seeds)), set()
        path = self.path
        try:
            with open(path, "rb") as file:
                if os.fstat(file.fileno()).st_size < HEADER.size:
                    raise TableError("%s: not a %s" % (path, kind))
                self.bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            raise TableError("%s: %s" % (path, error.strerror)) from None
        fields = HEADER.unpack_from(self.bytes)
        found, version, *own, self.form, _, length, _, _, attached, _, self.prefix_checksum, checksum = fields
        if found != magic:
            raise TableError("%s: not a %s" % (path, kind))
        if version != 1:
            raise TableError("%s: version %d of the format, not 1" % (path, version))
        if not self.form:
            raise TableError("%s: never finished" % path)
        if own != [RULES.index(rules), self.pits, self.seeds]:
            raise TableError("%s: another table than its name says" % path)
        if length != len(self.bytes):
            raise TableError("%s: %d bytes where %d belong" % (path, len(self.bytes), length))
        if xxh3(self.bytes[:HEADER.size - 8] + bytes(8)) != checksum:
            raise TableError("%s: its header is damaged" % path)
        end = HEADER.size + (self.seeds - 1) * ENTRY.size
        self.attached, self.first = self.bytes[end:end + attached], up(end + attached)

    def entry(self, mover_seeds):
        """The entry of a frame: its offset and four figures."""
        return ENTRY.unpack_from(self.bytes, HEADER.size + (mover_seeds - 1) * ENTRY.size)[:5]

    def check(self, frame, checksums_at, start, end, tag=0):
        """Checks the blocks that hold the bytes from start to end of a frame against their checksums, each once."""
        for block in range(start // BLOCK, (end - 1) // BLOCK + 1):
            at = frame + block * BLOCK
            if at in self.sound:
                continue
            data = self.bytes[at:min(at + BLOCK, checksums_at)]
            checksum = self.bytes[checksums_at + 8 * block:checksums_at + 8 * block + 8]
            if len(data) <= 16 or len(checksum) < 8 or xxh3(data) ^ tag != struct.unpack("<Q", checksum)[0]:
                raise TableError("%s: its block of scores at byte %d is damaged" % (self.path, at))
            self.sound.add(at)


class Table(File):
    """The table of one layer (docs/format.md)."""

    def __init__(self, directory, rules, pits, seeds, rows=None):
        self.rows = rows if rows is not None else Rows(pits, seeds)
        super().__init__("%s-%d-%02d.kalah", "kalah table", MAGIC, (directory, rules, pits, seeds))

    def score(self, mover, other):
        """The score of the position with these rows, each in its owner's sowing order."""
        mover_seeds = sum(mover)
        frame, row_count, groups, patch_bytes, _ = self.entry(mover_seeds)
        mover_rank, other_rank = self.rows.rank(mover), self.rows.rank(other)
        number, place = divmod(other_rank * row_count + mover_rank, GROUP_POSITIONS)
        groups_at = frame + up(row_count)
        patches_at = groups_at + 64 * groups
        group_at = groups_at + 64 * number
        group = self.bytes[group_at:group_at + 64]
        if row_count != self.rows.rows(mover_seeds) or number >= groups or len(group) < 64:
            raise TableError("%s: its directory is damaged" % self.path)
        checksums_at = patches_at + up(patch_bytes)
        for start, end in [(mover_rank, mover_rank + 1), (group_at - frame, group_at - frame + 64)]:
            self.check(frame, checksums_at, start, end)
        code = None
        if group[63] >= 128:
            at = patches_at + struct.unpack_from("<I", group)[0]
            head = self.bytes[at:at + 5]
            end = at + 5 + 2 * head[4] if len(head) == 5 else None
            if end is None or end > min(patches_at + patch_bytes, len(self.bytes)):
                raise TableError("%s: its group of scores at byte %d is damaged" % (self.path, group_at))
            self.check(frame, checksums_at, at - frame, end - frame)
            group = head[:4] + group[4:]
            exceptions = self.bytes[at + 5:end]
            code = dict(zip(exceptions[::2], exceptions[1::2])).get(place)
        if code is None:
            code = group[place // 2] >> 4 * (place % 2) & 15
        score = ((group[63] & 127) - 64 + code + self.bytes[frame + mover_rank]) % 256
        if score > self.seeds:
            raise TableError("%s: its group of scores at byte %d is damaged" % (self.path, group_at))
        return score


class Network:
    """An evaluation network (docs/evaluation.md)."""

    def __init__(self, path, data):
        if len(data) < NETWORK_HEAD.size + 8 or data[:8] != NETWORK_MAGIC:
            raise TableError("%s: its evaluation network is damaged" % path)
        _, version, self.rules, self.pits, lanes, self.shift, *numbers = NETWORK_HEAD.unpack_from(data)
        if version != 1:
            raise TableError("%s: version %d of the evaluation network, not 1" % (path, version))
        count = 2 * self.pits * (MOST_HELD + 1) * LANES
        if lanes != LANES or len(data) != NETWORK_HEAD.size + 2 * count + 8:
            raise TableError("%s: its evaluation network is damaged" % path)
        if xxh3(data[:-8]) != struct.unpack("<Q", data[-8:])[0]:
            raise TableError("%s: its evaluation network is damaged" % path)
        self.bias, self.floor, self.outputs = (numbers[at:at + LANES] for at in range(0, 3 * LANES, LANES))
        self.inputs = struct.unpack_from("<%dh" % count, data, NETWORK_HEAD.size)

    def evaluate(self, mover, other):
        """The evaluation of the position with these rows, in sixteenths of a seed."""
        lanes = list(self.bias)
        for pit, held in enumerate(tuple(mover) + tuple(other)):
            at = (pit * (MOST_HELD + 1) + min(held, MOST_HELD)) * LANES
            lanes = [lane + number for lane, number in zip(lanes, self.inputs[at:at + LANES])]
        total = sum(max(lane, floor) * output for lane, floor, output in zip(lanes, self.floor, self.outputs))
        return 8 * (sum(mover) + sum(other)) + (total >> self.shift)


class BoundTable(File):
    """The bound table of one layer (docs/bounds.md)."""

    def __init__(self, directory, rules, pits, seeds, rows=None):
        self.rows = rows if rows is not None else Rows(pits, seeds)
        super().__init__("%s-%d-%02d.bounds", "bound table", BOUNDS_MAGIC, (directory, rules, pits, seeds))
        self.bits = self.form
        if self.bits not in (1, 2) or xxh3(self.bytes[HEADER.size:self.first]) != self.prefix_checksum:
            raise TableError("%s: its directory is damaged" % self.path)
        self.network = Network(self.path, self.attached)
        if (self.network.rules, self.network.pits) != (RULES.index(rules), pits):
            raise TableError("%s: its evaluation network is that of another board" % self.path)

    def bounds(self, mover, other):
        """The least and the greatest score of the position with these rows."""
        mover_seeds = sum(mover)
        frame, packed_cuts, *_ = self.entry(mover_seeds)
        cuts = [*struct.unpack("<3h", struct.pack("<Q", packed_cuts)[:6])][:2 ** self.bits - 1]
        index = self.rows.rank(other) * self.rows.rows(mover_seeds) + self.rows.rank(mover)
        byte, place = divmod(index * self.bits, 8)
        positions = self.rows.rows(mover_seeds) * self.rows.rows(self.seeds - mover_seeds)
        lines = -(-positions * self.bits // 512)
        if byte >= 64 * lines or sorted(cuts) != cuts or frame + 64 * lines > len(self.bytes):
            raise TableError("%s: its directory is damaged" % self.path)
        self.check(frame, frame + 64 * lines, byte, byte + 1, tag=mover_seeds)
        code = self.bytes[frame + byte] >> place & 2 ** self.bits - 1
        evaluation = self.network.evaluate(mover, other)
        thresholds = [-((-evaluation - cut) // 16) for cut in cuts]
        lower = thresholds[code - 1] if code > 0 else 0
        upper = thresholds[code] - 1 if code < len(cuts) else self.seeds
        # No score has this code, or none that the position can have.
        if lower > min(upper, self.seeds) or upper < 0:
            raise TableError("%s: its code at byte %d is damaged" % (self.path, frame + byte))
        return tuple(max(0, min(self.seeds, bound)) for bound in (lower, upper))


class Tables:
    """The tables of a directory, opened on first use."""

    def __init__(self, directory, rules):
        if rules not in RULES:
            raise ValueError("unknown rules %r: use %s" % (rules, ", ".join(RULES)))
        self.directory, self.rules = directory, rules
        self.rows, self.tables = {}, {}

    def layer(self, kind, pits, seeds):
        """The table or bound table, as `kind` says, of a layer."""
        if not 1 <= pits <= 8 or seeds > 48:
            raise TableError("no table has %d pits a side and %d seeds" % (pits, seeds))
        if (kind, pits, seeds) not in self.tables:
            if pits not in self.rows:
                self.rows[pits] = Rows(pits, 48)
            self.tables[kind, pits, seeds] = kind(self.directory, self.rules, pits, seeds, self.rows[pits])
        return self.tables[kind, pits, seeds]

    def score(self, mover, other):
        """The score of the position with these rows."""
        mover, other = tuple(mover), tuple(other)
        if sum(mover) == 0 or sum(other) == 0:
            return sum(mover)
        return self.layer(Table, len(mover), sum(mover) + sum(other)).score(mover, other)

    def bounds(self, mover, other):
        """The least and the greatest score of the position with these rows, by the bound table."""
        mover, other = tuple(mover), tuple(other)
        if sum(mover) == 0 or sum(other) == 0:
            return sum(mover), sum(mover)
        return self.layer(BoundTable, len(mover), sum(mover) + sum(other)).bounds(mover, other)


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
    of_bounds = arguments[:1] == ["--bounds"]
    arguments = arguments[of_bounds:]
    if len(arguments) < 2:
        sys.exit(__doc__)
    try:
        tables = Tables(*arguments[:2])
        for position in arguments[2:] or filter(str.strip, sys.stdin):
            rows = parse(position)
            print(position.strip(), *(tables.bounds(*rows) if of_bounds else [tables.score(*rows)]))
    except (TableError, ValueError) as error:
        sys.exit("error: %s" % error)


if __name__ == "__main__":
    main(sys.argv[1:])
