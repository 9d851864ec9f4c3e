/* Writes a certificate without a search as text for check_certificate.c. Written from docs/certificates.md alone.
 * Nothing here needs to be trusted: that program checks all that it reads, so an error here cannot prove a false
 * statement.
 *
 *     cc -O2 -o read_certificate read_certificate.c -lzstd
 *     ./read_certificate FILE
 *
 * Checksums and digests are not compared, since they make no claim true or false.
 *
 * Exit codes: 0 written, 3 the file has another form (the text ends with a question mark), 2 wrong usage. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { MOST_PITS = 16, BLOCK_CLAIMS = 16384, HEADER_BYTES = 128, DIGEST_BYTES = 32 };

/* Ends the text unless a condition holds. */
static void need(bool holds, const char *otherwise) {
    if (!holds) {
        printf("\n?\n.\n");
        fprintf(stderr, "REFUSED: %s\n", otherwise);
        exit(3);
    }
}

static void *resize(void *memory, uint64_t bytes) {
    memory = realloc(memory, bytes + 1);
    need(memory, "too little memory");
    return memory;
}

typedef struct {
    const uint8_t *at, *end;
} Part;

static const uint8_t *take(Part *part, uint64_t bytes) {
    need(bytes <= (uint64_t)(part->end - part->at), "a part of the file ends too early");
    part->at += bytes;
    return part->at - bytes;
}

static Part part_of(Part *part, uint64_t bytes) {
    const uint8_t *from = take(part, bytes);
    return (Part){from, part->at};
}

/* Little-endian number of up to 8 bytes. */
static uint64_t number(Part *part, int bytes) {
    const uint8_t *from = take(part, (uint64_t)bytes);
    uint64_t value = 0;
    while (bytes-- > 0)
        value = value << 8 | from[bytes];
    return value;
}

/* Number in LEB128, below 2^63. */
static uint64_t leb128(Part *part) {
    uint64_t value = 0, byte = 128;
    for (int shift = 0; byte >= 128; shift += 7) {
        byte = *take(part, 1);
        need(shift < 63 && (byte > 0 || shift == 0), "a number is too large, or longer than it must be");
        value |= (byte & 127) << shift;
    }
    return value;
}

/* Writes the claims of a block: seeds in play, rank, lower and upper bound of the score. */
static void write_block(Part ranks, uint64_t count) {
    need((uint64_t)(ranks.end - ranks.at) >= 2 * count, "a block is too short");
    ranks.end -= 2 * count;
    const uint8_t *lower = ranks.end, *slack = ranks.end + count;
    const uint64_t groups = leb128(&ranks);
    Part heads = ranks;
    for (uint64_t group = 0; group < groups; group++) {
        take(&ranks, 1); /* seeds in play */
        leb128(&ranks); /* claims */
    }
    for (uint64_t group = 0; group < groups; group++) {
        const int seeds = *take(&heads, 1);
        uint64_t left = leb128(&heads), rank = 0;
        need(left > 0 && left <= count, "a group of claims has a wrong size");
        for (count -= left; left > 0; left--, lower++, slack++) {
            rank += leb128(&ranks);
            need(*lower + *slack > 0 && *lower + *slack <= seeds, "a claim has no bound, or impossible ones");
            printf("%d %" PRIu64 " %d %d\n", seeds, rank, *lower, seeds - *slack);
        }
    }
    need(count == 0 && ranks.at == ranks.end, "a block has a wrong length");
}

static void write_claims(Part list, Part blocks, uint64_t count) {
    static uint8_t *raw;
    printf("%" PRIu64 "\n", count);
    while (count > 0) {
        const uint64_t size = number(&list, 4), bytes = number(&list, 4), packed = number(&list, 4);
        need(size == (count < BLOCK_CLAIMS ? count : BLOCK_CLAIMS), "a block has a wrong number of claims");
        need(number(&list, 4) == 0, "reserved bytes of the list of blocks are not zero");
        take(&list, 8); /* checksum */
        const uint8_t *frame = take(&blocks, packed);
        need(ZSTD_findFrameCompressedSize(frame, packed) == packed, "a block is not one zstd frame");
        raw = resize(raw, bytes);
        need(ZSTD_decompress(raw, bytes, frame, packed) == bytes, "a block cannot be unpacked");
        write_block((Part){raw, raw + bytes}, size);
        count -= size;
    }
    need(blocks.at == blocks.end, "there are bytes after the last block");
}

/* Writes bounds of a value. Those that no game reaches are cut off at 40 bits. */
static void write_value(Part *statement) {
    const int64_t most = (int64_t)1 << 40, lower = (int64_t)number(statement, 8), upper = (int64_t)number(statement, 8);
    need(lower <= upper, "a lower bound of a value is above the upper one");
    for (int i = 0; i < 2; i++) {
        const int64_t bound = i == 0 ? lower : upper;
        printf("%" PRId64 " ", bound < -most ? -most : bound > most ? most : bound);
    }
}

static void write_certificate(const uint8_t *bytes, uint64_t size) {
    need(size >= HEADER_BYTES + DIGEST_BYTES, "the file is too short");
    Part header = {bytes, bytes + HEADER_BYTES}, rest = {header.end, bytes + size - DIGEST_BYTES};
    need(memcmp(take(&header, 8), "KALAHCT\n", 8) == 0 && number(&header, 4) == 1, "no certificate of version 1");
    const unsigned rules = *take(&header, 1), pits = *take(&header, 1), effort = *take(&header, 1);
    const unsigned tables = *take(&header, 1);
    const uint64_t count = number(&header, 8), blocks = number(&header, 4), openings = number(&header, 4);
    const uint64_t prefix = number(&header, 8), digests = tables > 0 ? 32 * (tables - 1) : 0;
    need(rules < 4 && pits >= 1 && pits <= MOST_PITS, "there is no such game");
    need(effort == 0, "its claims may need searches (its effort is not 0)");
    need(tables == 0 || (tables >= 2 && tables <= 48 && pits <= 8), "there are no such tables");
    need(blocks == count / BLOCK_CLAIMS + (count % BLOCK_CLAIMS > 0), "it has a wrong number of blocks");
    need(number(&header, 8) == size, "its length is not that in its header");
    for (int i = 0; i < 72; i++)
        need(*take(&header, 1) == 0, "reserved bytes of its header are not zero");
    need(prefix >= digests + 24 * blocks + 8, "its prefix is too short");
    Part statement = part_of(&rest, prefix - digests - 24 * blocks - 8);
    take(&rest, digests);
    const Part list = part_of(&rest, 24 * blocks);
    take(&rest, 8); /* checksum */

    printf("%u %u %u\n", rules, pits, tables);
    write_claims(list, rest, count);
    for (unsigned i = 0; i < 2 + 2 * pits; i++)
        printf("%" PRIu64 " ", number(&statement, 4));
    printf("\n%" PRIu64 "\n", openings + 1);
    write_value(&statement);
    printf("0\n"); /* moves */
    for (uint64_t i = 0; i < openings; i++) {
        write_value(&statement);
        uint64_t moves = number(&statement, 2);
        need(moves >= 1 && moves <= 1000, "an opening is empty or too long");
        printf("%" PRIu64, moves);
        for (; moves > 0; moves--)
            printf(" %d", *take(&statement, 1));
        printf("\n");
    }
    need(statement.at == statement.end, "its statement is too long");
    printf(".\n");
}

int main(int arguments, char **paths) {
    if (arguments != 2) {
        fprintf(stderr, "usage: %s FILE\n", paths[0]);
        return 2;
    }
    printf("%s\n", paths[1]);
    FILE *const file = fopen(paths[1], "rb");
    need(file && fseek(file, 0, SEEK_END) == 0, "the file cannot be read");
    const uint64_t length = (uint64_t)ftell(file);
    rewind(file);
    uint8_t *const bytes = resize(NULL, length);
    write_certificate(bytes, fread(bytes, 1, length, file));
    fclose(file);
    free(bytes);
    return 0;
}
