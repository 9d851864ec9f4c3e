#!/usr/bin/env python3
"""Writes wrong copies of a certificate, to test programs that check certificates.

    python3 mutate_certificate.py FILE DIRECTORY RANDOM [PATTERN...]

Each copy has one change, and its name states the change. Checksums and the digest are those of the changed bytes. So a
checker must find the fault itself. Only copies with names like a PATTERN are written, such as `block-*`; by default
all. They are wrong, with two exceptions. In `right`, only the compression differs. In RANDOM copies, whose names begin
with `maybe`, a random claim differs and may still follow; there, compare two checkers.

The digest of a file above 1 MB is left as it was, since computing it in Python takes minutes.

Certificates are read and written as in docs/certificates.md, with libzstd.
"""

import ctypes
import ctypes.util
import fnmatch
import functools
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "docs"))
from certificate_reader import Cursor, blake3, sequences, unrank  # noqa: E402
from kalah_reader import xxh3  # noqa: E402

ZSTD = ctypes.CDLL(ctypes.util.find_library("zstd"))
ZSTD.ZSTD_compress.restype = ZSTD.ZSTD_decompress.restype = ZSTD.ZSTD_compressBound.restype = ctypes.c_size_t
ZSTD.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
ZSTD.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
ZSTD.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]


def unpack(frame, size):
    raw = ctypes.create_string_buffer(size)
    if ZSTD.ZSTD_decompress(raw, size, frame, len(frame)) != size:
        raise ValueError("a block cannot be unpacked")
    return raw.raw


def pack(raw):
    packed = ctypes.create_string_buffer(ZSTD.ZSTD_compressBound(len(raw)))
    size = ZSTD.ZSTD_compress(packed, len(packed), raw, len(raw), 3)
    return packed.raw[:size]


def leb128(number):
    """The number in the fewest bytes."""
    coded = bytearray()
    while number > 127:
        coded.append(number & 127 | 128)
        number >>= 7
    return bytes(coded + bytes([number]))


@functools.cache
def decode(raw, claims):
    """The claims of a block: (seeds, rank, lower, slack)."""
    block = Cursor(raw)
    groups = [(block.take(1)[0], block.number()) for _ in range(block.number())]
    found = []
    for seeds, size in groups:
        rank = 0
        for _ in range(size):
            rank += block.number()
            found.append((seeds, rank))
    return [(*claim, *bounds) for claim, *bounds in zip(found, block.take(claims), block.take(claims))]


def encode(claims):
    """The bytes of a block. Claims may be in any order within a number of seeds."""
    groups = {}
    for seeds, rank, _, _ in claims:
        groups.setdefault(seeds, []).append(rank)
    raw = leb128(len(groups))
    for seeds, ranks in groups.items():
        raw += bytes([seeds]) + leb128(len(ranks))
    for ranks in groups.values():
        raw += b"".join(leb128(max(rank - before, 0)) for before, rank in zip([0] + ranks, ranks))
    return raw + bytes(claim[2] for claim in claims) + bytes(claim[3] for claim in claims)


class File:
    """A certificate in parts that can be changed one by one."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.whole = file.read()
        header = struct.unpack_from("<8sIBBBBQIIQQ", self.whole)
        self.header = list(header)
        prefix = self.whole[128:128 + header[9] - 8]
        self.statement = bytearray(prefix[:len(prefix) - 24 * header[7] - 32 * max(header[5] - 1, 0)])
        self.tables = prefix[len(self.statement):len(prefix) - 24 * header[7]]
        self.reserved = bytes(72)
        self.blocks, at = [], 128 + header[9]
        for block in range(header[7]):
            entry = struct.unpack_from("<IIIIQ", prefix, len(prefix) - 24 * (header[7] - block))
            self.blocks.append([entry[0], entry[1], self.whole[at:at + entry[2]], entry[3], entry[4]])
            at += entry[2]

    def copy(self):
        other = object.__new__(File)
        other.__dict__ = {name: value.copy() if isinstance(value, (list, bytearray)) else value
                          for name, value in self.__dict__.items()}
        other.blocks = [block.copy() for block in self.blocks]
        return other

    def claims(self, block):
        """The claims of a block, as lists that can be changed."""
        count, size, packed = self.blocks[block][:3]
        return [list(claim) for claim in decode(unpack(packed, size), count)]

    def set_block(self, block, claims, raw, packed=None):
        """Replaces a block by one with these bytes."""
        self.blocks[block] = [claims, len(raw), pack(raw) if packed is None else packed, 0, None]

    def bytes(self, lengths=True):
        """The bytes of the file with right checksums; without `lengths`, those in the header stay as they are."""
        entries = b""
        for claims, size, packed, reserved, checksum in self.blocks:
            entry = struct.pack("<IIII", claims, size, len(packed), reserved)
            entries += entry + struct.pack("<Q", xxh3(entry + packed) if checksum is None else checksum)
        prefix = bytes(self.statement) + self.tables + entries
        prefix += struct.pack("<Q", xxh3(prefix))
        blocks = b"".join(block[2] for block in self.blocks)
        if lengths:
            self.header[9:] = [len(prefix), 128 + len(prefix) + len(blocks) + 32]
        header = struct.pack("<8sIBBBBQIIQQ", *self.header) + self.reserved
        header += struct.pack("<Q", xxh3(header + bytes(8)))
        body = header + prefix + blocks
        return body + (blake3(body) if len(body) < 1 << 20 else self.whole[-32:])


RULES, PITS, EFFORT, TABLES, CLAIMS, BLOCKS, OPENINGS, PREFIX, LENGTH = range(2, 11)


def headers(file):
    """Copies with another header, with their names."""
    for field, name, change in [
            (0, "magic", lambda value: b"KALAHTB\n"), (1, "version", lambda value: 2),
            (RULES, "rules", lambda value: (value + 1) % 4), (RULES, "no-such-rules", lambda value: 4),
            (PITS, "pits", lambda value: value - 1), (PITS, "too-many-pits", lambda value: 17),
            (EFFORT, "effort", lambda value: 41), (TABLES, "more-tables", lambda value: value + 1),
            (TABLES, "tables-of-one-seed", lambda value: 1),
            (CLAIMS, "more-claims", lambda value: value + 1), (CLAIMS, "fewer-claims", lambda value: value - 1),
            (BLOCKS, "more-blocks", lambda value: value + 1), (BLOCKS, "fewer-blocks", lambda value: value - 1),
            (OPENINGS, "more-openings", lambda value: value + 1), (PREFIX, "longer-prefix", lambda value: value + 1),
            (PREFIX, "shorter-prefix", lambda value: value - 1), (LENGTH, "longer", lambda value: value + 1),
            (LENGTH, "shorter", lambda value: value - 1)]:
        copy = file.copy()
        copy.header[field] = change(copy.header[field])
        yield "header-" + name, copy.bytes(lengths=False)
    copy = file.copy()
    copy.reserved = bytes(71) + b"\1"
    yield "header-reserved", copy.bytes()
    for fewer, name in [(1, "one-table-less"), (file.header[TABLES] - 1, "no-tables")]:
        copy = file.copy()
        copy.header[TABLES] = 0 if name == "no-tables" else copy.header[TABLES] - fewer
        copy.tables = copy.tables[:len(copy.tables) - 32 * fewer]
        yield "header-" + name, copy.bytes()


def statements(file):
    """Copies with another statement, with their names."""
    pits = file.header[PITS]
    at = 8 + 8 * pits
    lower, upper = struct.unpack_from("<qq", file.statement, at)
    seeds = sum(struct.unpack_from("<%dI" % (2 * pits), file.statement, 8))
    for name, bounds in [("value-raised", (lower + 1, upper + 2)), ("value-lowered", (lower - 2, upper - 1)),
                         ("value-crossed", (upper + 1, lower)), ("value-empty", (-seeds, seeds)),
                         ("value-impossible", (seeds + 1, seeds + 1))]:
        copy = file.copy()
        struct.pack_into("<qq", copy.statement, at, *bounds)
        yield name, copy.bytes()
    for name, place, change in [("store", 0, 2), ("other-store", 4, 2), ("pit", 8, 1)]:
        copy = file.copy()
        struct.pack_into("<I", copy.statement, place, struct.unpack_from("<I", copy.statement, place)[0] + change)
        yield "position-" + name, copy.bytes()
    copy = file.copy()
    first, second = struct.unpack_from("<II", copy.statement, 8)
    struct.pack_into("<II", copy.statement, 8, first - 1, second + 1)
    yield "position-seed-moved", copy.bytes()
    for name, bounds, moves in [("illegal", (-seeds, seeds), [pits + 1]), ("false", (upper + 2, seeds), [1]),
                                ("empty", (-seeds, seeds), [])]:
        copy = file.copy()
        copy.header[OPENINGS] += 1
        copy.statement += struct.pack("<qqH", *bounds, len(moves)) + bytes(moves)
        yield "opening-" + name, copy.bytes()
    # The header does not count this opening.
    copy = file.copy()
    copy.statement += struct.pack("<qqH", -seeds, seeds, 1) + bytes([1])
    yield "opening-uncounted", copy.bytes()


def is_taken(claims, at, rank):
    return any(claim[:2] == [claims[at][0], rank] for claim in claims)


def changed_claims(file, block, generator):
    """Changes of one claim of a block, with their names: functions that change a list of claims."""
    claims = file.claims(block)
    lower = generator.choice([at for at, claim in enumerate(claims) if claim[2] > 0])
    upper = generator.choice([at for at, claim in enumerate(claims) if claim[3] > 0])
    other = generator.choice([at for at in range(1, len(claims)) if claims[at][0] == claims[at - 1][0]])
    seeds = claims[other][0]

    # The contrary of a true claim is false, so it never follows.
    def contrary_lower(claims):
        claims[lower][2:] = [0, claims[lower][0] - claims[lower][2] + 1]

    def contrary_upper(claims):
        claims[upper][2:] = [claims[upper][0] - claims[upper][3] + 1, 0]

    def all_seeds(claims):
        claims[upper][2:] = [claims[upper][0], 0]

    def crossed(claims):
        claims[lower][2] = claims[lower][0] - claims[lower][3] + 1

    def no_bound(claims):
        claims[lower][2:] = [0, 0]

    def too_much_slack(claims):
        claims[upper][2:] = [0, claims[upper][0] + 1]

    def twice(claims):
        claims.insert(other, claims[other].copy())

    def out_of_order(claims):
        claims[other - 1], claims[other] = claims[other], claims[other - 1]

    def empty_row(claims):
        first = next(at for at, claim in enumerate(claims) if claim[0] == seeds)
        claims.insert(first, [seeds, 0, 0, seeds])

    def too_large_rank(claims):
        last = max(at for at, claim in enumerate(claims) if claim[0] == seeds)
        claims[last][1] = sequences(file.header[PITS], seeds)

    for change in [contrary_lower, contrary_upper, all_seeds, crossed, no_bound, too_much_slack, twice, out_of_order,
                   empty_row, too_large_rank]:
        if change is empty_row and is_taken(claims, other, 0):
            continue
        yield change.__name__.replace("_", "-"), change


def with_claims(file, block, claims):
    copy = file.copy()
    copy.header[CLAIMS] += len(claims) - copy.blocks[block][0]
    copy.set_block(block, len(claims), encode(claims))
    return copy


def blocks(file, generator):
    """Copies with other blocks, with their names."""
    count = file.header[BLOCKS]
    for block in sorted({0, count // 2, count - 1}):
        for name, change in changed_claims(file, block, generator):
            claims = file.claims(block)
            change(claims)
            yield "block-%d-%s" % (block, name), with_claims(file, block, claims).bytes()
    last, size, packed = count - 1, *file.blocks[-1][1:3]
    raw = unpack(packed, size)
    groups, first = raw[0], raw[1:2]
    for name, claims, changed in [
            ("longer", 0, raw + b"\0"), ("shorter", 0, raw[:-1]), ("another-count", 1, raw),
            ("long-number", 0, bytes([groups | 128, 0]) + raw[1:]),
            ("empty-group", 0, bytes([groups + 1]) + bytes([first[0] - 1, 0]) + raw[1:]),
            ("more-groups", 0, bytes([groups + 1]) + raw[1:])]:
        copy = file.copy()
        copy.set_block(last, copy.blocks[last][0] + claims, changed)
        yield "last-block-" + name, copy.bytes()
    for name, frame, size in [("two-frames", pack(raw[:9]) + pack(raw[9:]), len(raw)),
                              ("damaged", packed[:-9] + bytes([packed[-9] ^ 255]) + packed[-8:], len(raw)),
                              ("wrong-size", packed, len(raw) + 1)]:
        copy = file.copy()
        copy.set_block(last, copy.blocks[last][0], raw, frame)
        copy.blocks[last][1] = size
        yield "last-block-" + name, copy.bytes()
    copy = file.copy()
    copy.blocks[last][3:] = [1, None]
    yield "last-block-reserved", copy.bytes()
    copy = file.copy()
    copy.header[CLAIMS] -= copy.blocks.pop()[0]
    copy.header[BLOCKS] -= 1
    yield "last-block-missing", copy.bytes()
    if count > 2:
        copy = file.copy()
        copy.blocks[0], copy.blocks[1] = copy.blocks[1], copy.blocks[0]
        yield "blocks-swapped", copy.bytes()
        copy = file.copy()
        copy.blocks[1] = copy.blocks[0]
        yield "block-twice", copy.bytes()


def lengths(file):
    """Copies of another length, with their names."""
    whole = file.whole
    for size in [0, 100, 128, 128 + file.header[PREFIX] // 2, len(whole) // 2, len(whole) - 32, len(whole) - 1]:
        yield "cut-to-%d" % size, whole[:size]
    yield "byte-added", whole + b"\0"


def maybe_wrong(file, generator, number):
    """Copies with a random change of a random claim, with their names."""
    for copy in range(number):
        block = generator.randrange(file.header[BLOCKS])
        claims = file.claims(block)
        at = generator.randrange(len(claims))
        claim = claims[at]
        seeds, _, lower, slack = claim
        kind = copy % 4
        if kind == 0:
            del claims[at]
            if file.header[BLOCKS] > 1 and block < file.header[BLOCKS] - 1:
                continue
        elif kind == 1:
            claim[1] += 1
            pits = file.header[PITS]
            if claim[1] >= sequences(pits, seeds) or any(next[:2] <= claim[:2] for next in claims[at + 1:at + 2]):
                continue
            row = unrank(pits, seeds, claim[1])
            if not sum(row[:pits]) or not sum(row[pits:]):
                continue
        elif kind == 2 and lower + slack < seeds:
            claim[2 if lower > 0 else 3] += 1
        elif lower + slack > 1:
            claim[2 if lower > 0 else 3] -= 1
        yield "maybe-%d" % copy, with_claims(file, block, claims).bytes()


def right(file):
    """A copy with other compression, with its name."""
    copy = file
    for block in {0, file.header[BLOCKS] - 1}:
        copy = with_claims(copy, block, file.claims(block))
    yield "right", copy.bytes()


def main(arguments):
    if len(arguments) < 3:
        sys.exit(__doc__)
    path, directory, number, *patterns = arguments
    file, generator = File(path), random.Random(1)
    if file.bytes() != file.whole:
        sys.exit("the copy without a change differs")
    os.makedirs(directory, exist_ok=True)
    for copies in [right(file), headers(file), statements(file), blocks(file, generator), lengths(file),
                   maybe_wrong(file, generator, int(number))]:
        for name, changed in copies:
            if any(fnmatch.fnmatch(name, pattern) for pattern in patterns or ["*"]):
                with open(os.path.join(directory, name + ".certificate"), "wb") as output:
                    output.write(changed)


if __name__ == "__main__":
    main(sys.argv[1:])
