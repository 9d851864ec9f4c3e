#!/usr/bin/env python3
"""Reads a certificate.

    python3 certificate_reader.py FILE            the statement
    python3 certificate_reader.py --claims FILE   the claims, a line `POSITION LOWER UPPER` each

A POSITION is <m,0,0,s1,..,sm,n1,..,nm>: pits a side, empty stores, the mover's row, the other row, each in its owner's
sowing order. LOWER and UPPER are bounds of its score: of the seeds in play that the mover can still collect.

Written only from docs/certificates.md. All checksums are compared; the digest is not, because BLAKE3 is not in the
standard library. Whether the claims are true is not checked: `kalah check` does that. Blocks are unpacked with the
module compression.zstd of Python 3.14, the package zstandard, or the program zstd, whichever is there.
"""

import os
import struct
import subprocess
import sys
from math import comb

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from kalah_reader import RULES, xxh3  # noqa: E402

HEADER = struct.Struct("<8sIBBBBQIIQQ72sQ")
ENTRY = struct.Struct("<IIIIQ")
BLOCK_CLAIMS = 16384


class CertificateError(Exception):
    """The file is damaged, or is no certificate."""


def need(condition, what):
    if not condition:
        raise CertificateError(what)


def unzstd(data, size):
    """Unpacks a zstd frame of `size` bytes."""
    try:
        from compression import zstd
        return zstd.decompress(data)
    except ImportError:
        pass
    try:
        import zstandard
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=size)
    except ImportError:
        return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout


def unrank(pits, seeds, rank):
    """The 2m pits of the position with this rank among those with so many seeds."""
    sums = [seeds]
    for i in range(2 * pits - 1, 0, -1):
        total = sums[-1]
        while comb(total + i - 1, i) > rank:
            total -= 1
        rank -= comb(total + i - 1, i)
        sums.append(total)
    sums.reverse()
    return [sums[0]] + [after - before for before, after in zip(sums, sums[1:])]


class Cursor:
    """Bytes that are read from the front."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size):
        taken = self.data[self.at:self.at + size]
        need(len(taken) == size, "a part ends too early")
        self.at += size
        return taken

    def struct(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))

    def number(self):
        number = shift = 0
        while True:
            byte = self.take(1)[0]
            number |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return number


class Certificate:
    """The statement of a certificate, and its claims."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        need(len(self.bytes) >= HEADER.size + 32, "the file is too short")
        (magic, version, rules, self.pits, self.effort, self.table_seeds, self.count, self.blocks, openings, prefix,
         length, _, checksum) = HEADER.unpack(self.bytes[:HEADER.size])
        need(magic == b"KALAHCT\n", "it is not a certificate")
        need(version == 1, "its format has another version")
        need(xxh3(self.bytes[:HEADER.size - 8] + bytes(8)) == checksum, "its header is damaged")
        need(length == len(self.bytes), "it has another length than its header says")
        need(self.blocks == -(-self.count // BLOCK_CLAIMS), "it has another number of blocks")
        self.rules = RULES[rules]
        data = self.bytes[HEADER.size:HEADER.size + prefix]
        need(len(data) == prefix > 24, "its prefix ends too early")
        need(struct.pack("<Q", xxh3(data[:-8])) == data[-8:], "its prefix is damaged")
        prefix = Cursor(data[:-8])
        self.stores = prefix.struct("II")
        self.position = prefix.struct("%dI" % (2 * self.pits))
        self.bounds = prefix.struct("qq")
        self.openings = []
        for _ in range(openings):
            bounds = prefix.struct("qq")
            self.openings.append((list(prefix.take(prefix.struct("H")[0])), bounds))
        self.tables = [prefix.take(32) for _ in range(2, self.table_seeds + 1)]
        self.entries = [ENTRY.unpack(prefix.take(ENTRY.size)) for _ in range(self.blocks)]
        need(prefix.at == len(prefix.data), "its prefix is too long")
        self.first = HEADER.size + len(data)
        end = self.first + sum(packed for _, _, packed, _, _ in self.entries)
        need(end + 32 == len(self.bytes), "its blocks have another length")

    def claims(self):
        """The claims in order: pits, lower bound, upper bound."""
        at, last, total = self.first, (0, 0), 0
        for entry in self.entries:
            claims, raw, packed, _, checksum = entry
            data = self.bytes[at:at + packed]
            at += packed
            need(xxh3(ENTRY.pack(*entry)[:16] + data) == checksum, "a block of claims is damaged")
            data = unzstd(data, raw)
            need(len(data) == raw, "a block of claims has another length")
            block = Cursor(data)
            groups = [(block.take(1)[0], block.number()) for _ in range(block.number())]
            need(sum(size for _, size in groups) == claims, "a block has another number of claims")
            keys = []
            for seeds, size in groups:
                rank = 0
                for _ in range(size):
                    rank += block.number()
                    need((seeds, rank) > last, "claims are not in order")
                    last = (seeds, rank)
                    keys.append(last)
            lower, slack = block.take(claims), block.take(claims)
            need(block.at == raw, "a block of claims is too long")
            for (seeds, rank), least, less in zip(keys, lower, slack):
                pits = unrank(self.pits, seeds, rank)
                is_over = 0 in (sum(pits[:self.pits]), sum(pits[self.pits:]))
                need(least <= seeds - less and not is_over, "a claim is impossible")
                yield pits, least, seeds - less
            total += claims
        need(total == self.count, "it has another number of claims")


def literal(pits, stores, seeds):
    return "<%s>" % ",".join(str(number) for number in [pits, *stores, *seeds])


def main(arguments):
    claims = arguments[:1] == ["--claims"]
    if len(arguments) != 1 + claims or arguments[-1].startswith("-"):
        sys.exit(__doc__)
    try:
        certificate = Certificate(arguments[-1])
        pits = certificate.pits
        if claims:
            for seeds, lower, upper in certificate.claims():
                print(literal(pits, (0, 0), seeds), lower, upper)
            return
        print("rules", certificate.rules)
        print("position", literal(pits, certificate.stores, certificate.position))
        print("value %d to %d" % certificate.bounds)
        for moves, bounds in certificate.openings:
            print("after", " ".join(str(move) for move in moves) + ":", "%d to %d" % bounds)
        print("effort", certificate.effort)
        print("tables to", certificate.table_seeds, "seeds")
        print("claims", certificate.count)
    except (CertificateError, OSError, IndexError) as error:
        sys.exit("%s: %s" % (arguments[-1], error))


if __name__ == "__main__":
    main(sys.argv[1:])
