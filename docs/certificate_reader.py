#!/usr/bin/env python3
"""Reads a certificate.

    python3 certificate_reader.py FILE            the statement
    python3 certificate_reader.py --claims FILE   the claims, a line `POSITION LOWER UPPER` each

A POSITION is <m,0,0,s1,..,sm,n1,..,nm>: pits a side, empty stores, the mover's row, the other row, each in its owner's
sowing order. LOWER and UPPER are bounds of its score: of the seeds in play that the mover can still collect.

Written only from docs/certificates.md. All checksums and the digest are compared, and any other encoding of the same
contents is refused. Whether the claims are true is not checked, nor whether openings are legal: `kalah check` does
that. Blocks are unpacked with the module compression.zstd of Python 3.14, the package zstandard, or the program zstd,
whichever is there.
"""

import functools
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
DIGEST_BYTES = 32

# BLAKE3: its first chaining value, how words are permuted between rounds, the quarter rounds of a round, and flags.
IV = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
PERMUTATION = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
QUARTERS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
            (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
CHUNK_START, CHUNK_END, PARENT, ROOT = 1, 2, 4, 8


class CertificateError(Exception):
    """The file is damaged, or is no certificate."""


def need(condition, what):
    if not condition:
        raise CertificateError(what)


# Certificates that differ little have many blocks in common.
@functools.lru_cache(1 << 16)
def compress(chain, block, counter, size, flags):
    """The chaining value of BLAKE3 after a block of 64 bytes."""
    words = struct.unpack("<16I", block)
    state = [*chain, *IV[:4], counter & 0xFFFFFFFF, counter >> 32, size, flags]
    for _ in range(7):
        for quarter, (a, b, c, d) in enumerate(QUARTERS):
            state[a] = (state[a] + state[b] + words[2 * quarter]) & 0xFFFFFFFF
            turned = state[d] ^ state[a]
            state[d] = (turned >> 16 | turned << 16) & 0xFFFFFFFF
            state[c] = (state[c] + state[d]) & 0xFFFFFFFF
            turned = state[b] ^ state[c]
            state[b] = (turned >> 12 | turned << 20) & 0xFFFFFFFF
            state[a] = (state[a] + state[b] + words[2 * quarter + 1]) & 0xFFFFFFFF
            turned = state[d] ^ state[a]
            state[d] = (turned >> 8 | turned << 24) & 0xFFFFFFFF
            state[c] = (state[c] + state[d]) & 0xFFFFFFFF
            turned = state[b] ^ state[c]
            state[b] = (turned >> 7 | turned << 25) & 0xFFFFFFFF
        words = [words[place] for place in PERMUTATION]
    return tuple(state[at] ^ state[at + 8] for at in range(8))


def blake3(data):
    """The digest: BLAKE3, 32 bytes, no key."""
    def node(first, end, root):
        """The chaining value of the chunks from `first` up to `end`, 1,024 bytes each."""
        if end - first == 1:
            chunk, chain = data[1024 * first:1024 * end], IV
            for at in range(0, max(len(chunk), 1), 64):
                block = chunk[at:at + 64]
                last = at + 64 >= len(chunk)
                flags = (CHUNK_START if at == 0 else 0) | (CHUNK_END | root if last else 0)
                chain = compress(chain, block.ljust(64, b"\0"), first, len(block), flags)
            return chain
        # The left part is the largest power of two of chunks that leaves some.
        half = first + (1 << (end - first - 1).bit_length() - 1)
        both = node(first, half, 0) + node(half, end, 0)
        return compress(IV, struct.pack("<16I", *both), 0, 64, PARENT | root)

    return struct.pack("<8I", *node(0, max(-(-len(data) // 1024), 1), ROOT))


def check_frame(data, size):
    """Raises an error unless `data` is one zstd frame of `size` bytes, with the only header that it may have."""
    header = b"\x28\xb5\x2f\xfd"
    if size < 256:
        header += bytes([0x20, size])
    elif size < 256 + (1 << 16):
        header += b"\x60" + struct.pack("<H", size - 256)
    else:
        header += b"\xa0" + struct.pack("<I", size)
    need(data.startswith(header), "a block of claims is compressed in another way")
    blocks = Cursor(data[len(header):])
    last = False
    while not last:
        block = int.from_bytes(blocks.take(3), "little")
        last, kind = block & 1, block >> 1 & 3
        # A block of the same byte many times has this byte alone.
        blocks.take(1 if kind == 1 else block >> 3)
    need(blocks.is_at_end(), "a block of claims is more than one zstd frame")


def unzstd(data, size):
    """Unpacks a zstd frame of `size` bytes."""
    check_frame(data, size)
    try:
        return unpacked(data, size)
    except CertificateError:
        raise
    except Exception as error:
        raise CertificateError("a block of claims cannot be unpacked: %s" % error) from error


def unpacked(data, size):
    """Unpacks it with the module or program at hand."""
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


def sequences(pits, seeds):
    """The number of positions with these seeds in play, empty rows included; None if they have no ranks."""
    count = comb(seeds + 2 * pits - 1, 2 * pits - 1)
    return count if seeds <= 255 and count <= 1 << 120 else None


def unrank(pits, seeds, rank):
    """The 2m pits of the position with this rank among those with these seeds."""
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

    def is_at_end(self):
        return self.at == len(self.data)

    def number(self):
        number = 0
        for shift in range(0, 126, 7):
            byte = self.take(1)[0]
            number |= (byte & 0x7f) << shift
            if byte < 0x80:
                need(byte or not shift, "a number is longer than it must be")
                return number
        raise CertificateError("a number is too large")


class Certificate:
    """The statement of a certificate, and its claims."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        need(len(self.bytes) >= HEADER.size + DIGEST_BYTES, "the file is too short")
        (magic, version, rules, self.pits, self.effort, self.table_seeds, self.count, self.blocks, openings, prefix,
         length, reserved, checksum) = HEADER.unpack(self.bytes[:HEADER.size])
        need(magic == b"KALAHCT\n", "it is not a certificate")
        need(version == 1, "its format has another version")
        need(xxh3(self.bytes[:HEADER.size - 8] + bytes(8)) == checksum, "its header is damaged")
        need(length == len(self.bytes), "it has another length than its header says")
        need(self.blocks == -(-self.count // BLOCK_CLAIMS), "it has another number of blocks")
        need(not any(reserved), "reserved bytes of its header are not zero")
        need(rules < len(RULES) and 1 <= self.pits <= 16 and self.effort <= 40, "its header is impossible")
        need(self.table_seeds == 0 or 2 <= self.table_seeds <= 48 and self.pits <= 8, "there are no such tables")
        self.rules = RULES[rules]
        data = self.bytes[HEADER.size:HEADER.size + prefix]
        need(len(data) == prefix > 24, "its prefix ends too early")
        need(struct.pack("<Q", xxh3(data[:-8])) == data[-8:], "its prefix is damaged")
        prefix = Cursor(data[:-8])
        self.stores = prefix.struct("II")
        self.position = prefix.struct("%dI" % (2 * self.pits))
        need(sequences(self.pits, sum(self.position)) is not None, "its position has too many seeds")
        need(sum(self.position) + sum(self.stores) < 1 << 31, "its position has too many seeds")
        self.bounds = self.read_bounds(prefix)
        self.openings = []
        for _ in range(openings):
            bounds = self.read_bounds(prefix)
            moves = list(prefix.take(prefix.struct("H")[0]))
            need(1 <= len(moves) <= 1000 and 1 <= min(moves) and max(moves) <= self.pits, "an opening is impossible")
            self.openings.append((moves, bounds))
        self.tables = [prefix.take(32) for _ in range(2, self.table_seeds + 1)]
        self.entries = [ENTRY.unpack(prefix.take(ENTRY.size)) for _ in range(self.blocks)]
        need(prefix.is_at_end(), "its prefix is too long")
        for block, (claims, _, _, reserved, _) in enumerate(self.entries):
            left = self.count - BLOCK_CLAIMS * block
            need(claims == min(left, BLOCK_CLAIMS), "a block has another number of claims")
            need(reserved == 0, "reserved bytes of the list of blocks are not zero")
        self.first = HEADER.size + len(data)
        end = self.first + sum(packed for _, _, packed, _, _ in self.entries)
        need(end + DIGEST_BYTES == len(self.bytes), "its blocks have another length")
        need(blake3(self.bytes[:-DIGEST_BYTES]) == self.bytes[-DIGEST_BYTES:], "it has another digest")

    @staticmethod
    def read_bounds(prefix):
        lower, upper = prefix.struct("qq")
        need(lower <= upper, "a lower bound is above the upper one")
        return lower, upper

    def claims(self):
        """The claims in order: pits, lower bound, upper bound."""
        at, last = self.first, (0, 0)
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
            need(all(size for _, size in groups), "a group has no claims")
            need(all(one[0] < two[0] for one, two in zip(groups, groups[1:])), "groups are not in order")
            keys = []
            for seeds, size in groups:
                rank, most = 0, sequences(self.pits, seeds)
                need(most is not None, "a claim has too many seeds")
                for _ in range(size):
                    rank += block.number()
                    need(rank < most, "a rank is too large")
                    need((seeds, rank) > last, "claims are not in order")
                    last = (seeds, rank)
                    keys.append(last)
            lower, slack = block.take(claims), block.take(claims)
            need(block.is_at_end(), "a block of claims is too long")
            for (seeds, rank), least, less in zip(keys, lower, slack):
                pits = unrank(self.pits, seeds, rank)
                is_over = 0 in (sum(pits[:self.pits]), sum(pits[self.pits:]))
                need(least <= seeds - less and not is_over, "a claim is impossible")
                need(least or less, "a claim says nothing")
                yield pits, least, seeds - less


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
