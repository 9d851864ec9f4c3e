/* Checks certificates without a search: files that prove values of Kalah. Written from docs/rules.md and
 * docs/certificates.md alone, it shares no code with the rest of the project.
 *
 *     cc -O2 -o check_certificate check_certificate.c -lzstd
 *     ./check_certificate FILE...
 *
 * The score of a position is the most seeds that the mover can still collect, of those in play. It is the maximum over
 * the moves of the seeds that the move stores plus those that the mover collects afterwards. So bounds of the scores
 * after all moves give bounds of the score: they follow in one ply. A certificate claims bounds for millions of
 * positions, and states bounds of the value of one. It is accepted if each claim follows in one ply from other claims,
 * ends of games and small positions, and if the statement follows from the claims. The scores of the small positions
 * are computed here. No table is read.
 *
 * This is a proof by induction, since the game has no cycles: each move lowers the seeds in play, or leaves them and
 * lowers the potential of the rows. This program checks that, too, for every move that it plays (`is_later`).
 *
 * The file is trusted for two choices only: the rules, and the number of seeds of the largest small positions.
 * Checksums and digests are not compared, since they make no claim true or false.
 *
 * Exit codes: 0 all files accepted, 3 a file refused, 2 wrong usage. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { MOST_PITS = 16, MOST_SEEDS = 255, BLOCK_CLAIMS = 16384, HEADER_BYTES = 128, DIGEST_BYTES = 32 };

static jmp_buf next_file;

/* Ends the check of this file unless a condition holds. */
static void need(bool holds, const char *otherwise) {
    if (holds)
        return;
    printf("REFUSED: %s\n", otherwise);
    longjmp(next_file, 1);
}

static void *resize(void *memory, uint64_t bytes) {
    memory = realloc(memory, bytes + 1);
    need(memory, "too little memory");
    return memory;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- The game: docs/rules.md ---- */

static const struct Rules {
    const char *name;
    bool moves_again, relays;
    enum { ALWAYS, OPPOSITE_SEEDS, NEVER } capture;
} RULES[4] = {
    {"empty-capture", true, false, ALWAYS},
    {"standard", true, false, OPPOSITE_SEEDS},
    {"s-kalaha", true, true, NEVER},
    {"single-move", false, false, ALWAYS},
}, *rules;
static int pits; /* of each side */

/* The mover's row, then the other row, each in its owner's sowing order. The game is over if a row is empty. */
typedef struct {
    uint8_t pit[2 * MOST_PITS];
} Position;

/* A move: seeds that it stores, and the position after it, seen by the player next to move. */
typedef struct {
    Position next;
    int stored;
    bool again;
} Move;

/* Seeds in the mover's row (side 0), or in the other row (side 1). */
static int row(const Position *position, int side) {
    int seeds = 0;
    for (int i = 0; i < pits; i++)
        seeds += position->pit[side * pits + i];
    return seeds;
}

/* Plays a pit that holds seeds. Places in the order of sowing: own pits, own store, other pits. */
static Move play(const Position *position, int pit) {
    const int store = pits;
    int place[2 * MOST_PITS + 1], at = pit, was;
    for (int i = 0; i <= 2 * pits; i++)
        place[i] = i == store ? 0 : position->pit[i - (i > store)];
    do {
        int hand = place[at];
        place[at] = 0;
        for (was = 1; hand > 0; hand--) {
            at = at == 2 * pits ? 0 : at + 1;
            was = place[at]++;
        }
    } while (rules->relays && was > 0 && at != store);
    int *opposite = &place[2 * pits - at];
    if (at < store && was == 0 && (rules->capture == ALWAYS || (rules->capture == OPPOSITE_SEEDS && *opposite > 0))) {
        place[store] += place[at] + *opposite;
        place[at] = *opposite = 0;
    }
    Move move = {.stored = place[store], .again = at == store && rules->moves_again};
    const int mover = move.again ? 0 : pits;
    for (int i = 0; i < pits; i++) {
        move.next.pit[mover + i] = (uint8_t)place[i];
        move.next.pit[pits - mover + i] = (uint8_t)place[store + 1 + i];
    }
    return move;
}

/* Sum over all seeds of their distance to the last pit of the row. */
static int potential(const Position *position) {
    int sum = 0;
    for (int i = 0; i < pits; i++)
        sum += (pits - 1 - i) * (position->pit[i] + position->pit[pits + i]);
    return sum;
}

/* ---- Numbers of positions: docs/certificates.md, "Sequence ranks" ---- */

/* choose[i][p] = C(p + i - 1, i), or UINT64_MAX if that is larger. */
static uint64_t choose[2 * MOST_PITS + 1][MOST_SEEDS + 2];

static void fill_choose(void) {
    for (int i = 0; i <= 2 * MOST_PITS; i++)
        for (int p = 0; p < MOST_SEEDS + 2; p++) {
            const uint64_t a = i > 0 ? choose[i - 1][p] : 1, b = i > 0 && p > 0 ? choose[i][p - 1] : 0;
            choose[i][p] = p == 0 && i > 0 ? 0 : a > UINT64_MAX - b ? UINT64_MAX : a + b;
        }
}

/* Number of positions with fewer seeds in play. */
static uint64_t before(int seeds) { return choose[2 * pits][seeds]; }

/* Number of a position: those with fewer seeds in play, plus the rank. This is one more term of the rank's sum. */
static uint64_t number_of(const Position *position) {
    uint64_t number = 0;
    for (int i = 1, sum = 0; i <= 2 * pits; i++)
        number += choose[i][sum += position->pit[i - 1]];
    return number;
}

static Position position_of(int seeds, uint64_t number) {
    Position position = {{0}};
    for (int i = 2 * pits; i > 0; i--) {
        const int sum = seeds;
        while (choose[i][seeds] > number)
            seeds--;
        number -= choose[i][seeds];
        if (i < 2 * pits)
            position.pit[i] = (uint8_t)(sum - seeds);
    }
    position.pit[0] = (uint8_t)seeds;
    return position;
}

/* ---- Bounds ---- */

typedef struct {
    int64_t lower, upper;
} Bounds;

/* Scores by the numbers of the positions, which have up to `exact` seeds. */
enum { UNKNOWN = 255 };
static uint8_t *scores;
static int exact, computed;

/* A claim has the number of a position in its upper 48 bits, then the lower and the upper bound. They are sorted. */
static uint64_t *claims, claim_count;

static Bounds bounds_in(uint64_t claim) { return (Bounds){claim >> 8 & 255, claim & 255}; }

static Bounds both(Bounds a, Bounds b) { return (Bounds){larger(a.lower, b.lower), smaller(a.upper, b.upper)}; }

static Bounds one_ply(const Position *position, int seeds, int *turn);

/* Bounds of a score: exact at the end of a game and of small positions, else claimed, else trivial. */
static Bounds bounds_of(const Position *position, int seeds) {
    const int own = row(position, 0);
    if (own == 0 || own == seeds)
        return (Bounds){own, own};
    const uint64_t number = number_of(position);
    if (seeds <= exact) {
        if (scores[number] == UNKNOWN)
            scores[number] = (uint8_t)one_ply(position, seeds, NULL).lower;
        return (Bounds){scores[number], scores[number]};
    }
    uint64_t from = 0, to = claim_count;
    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;
        if (claims[middle] >> 16 < number)
            from = middle + 1;
        else
            to = middle;
    }
    return from < claim_count && claims[from] >> 16 == number ? bounds_in(claims[from]) : (Bounds){0, seeds};
}

/* Bounds of a score from those of the positions after all moves. If `turn` is given, the bounds of that many positions
 * after again-moves may themselves follow in one ply. */
static Bounds one_ply(const Position *position, int seeds, int *turn) {
    Bounds best = {0, 0};
    for (int pit = 0; pit < pits; pit++) {
        if (position->pit[pit] == 0)
            continue;
        const Move move = play(position, pit);
        need(move.stored > 0 || potential(&move.next) < potential(position),
             "a move does not lower seeds or potential, so the proof may be circular");
        const int left = seeds - move.stored;
        Bounds next = bounds_of(&move.next, left);
        if (turn && move.again && next.lower < next.upper && (*turn)-- > 0)
            next = both(next, one_ply(&move.next, left, turn));
        if (!move.again)
            next = (Bounds){left - next.upper, left - next.lower};
        best = (Bounds){larger(best.lower, move.stored + next.lower), larger(best.upper, move.stored + next.upper)};
    }
    return best;
}

/* Computes the scores of all positions with up to `exact` seeds. */
static void compute_scores(void) {
    if (exact > computed) {
        scores = resize(scores, before(exact + 1));
        memset(scores + before(computed + 1), UNKNOWN, before(exact + 1) - before(computed + 1));
    }
    for (; computed < exact; computed++)
        for (uint64_t number = before(computed + 1); number < before(computed + 2); number++) {
            const Position position = position_of(computed + 1, number);
            bounds_of(&position, computed + 1);
        }
}

static void print_position(const Position *position, int64_t own, int64_t other) {
    printf("<%d,%lld,%lld", pits, (long long)own, (long long)other);
    for (int i = 0; i < 2 * pits; i++)
        printf(",%d", position->pit[i]);
    printf(">");
}

static void check_claims(void) {
    int seeds = 0;
    for (uint64_t i = 0; i < claim_count; i++) {
        while (claims[i] >> 16 >= before(seeds + 1))
            seeds++;
        const Position position = position_of(seeds, claims[i] >> 16);
        const Bounds claimed = bounds_in(claims[i]), found = one_ply(&position, seeds, NULL);
        if (found.lower >= claimed.lower && found.upper <= claimed.upper)
            continue;
        print_position(&position, 0, 0);
        printf(": found a score of %d to %d\n", (int)found.lower, (int)found.upper);
        need(false, "a claim does not follow in one ply");
    }
}

/* ---- The file: docs/certificates.md ---- */

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

/* Bounds of a value. Those that no game reaches are reduced, to avoid overflows. */
static Bounds read_value(Part *part) {
    const int64_t most = (int64_t)1 << 40, lower = (int64_t)number(part, 8), upper = (int64_t)number(part, 8);
    need(lower <= upper, "a lower bound of a value is above the upper one");
    return (Bounds){smaller(larger(lower, -most), most), smaller(larger(upper, -most), most)};
}

/* Adds the claims of a block to the others. */
static void read_block(Part block, uint64_t count) {
    need((uint64_t)(block.end - block.at) >= 2 * count, "a block is too short");
    const uint8_t *lower = block.end - 2 * count, *slack = block.end - count;
    block.end = lower;
    const uint64_t groups = leb128(&block);
    need(groups <= MOST_SEEDS, "a block has too many groups");
    int seeds[MOST_SEEDS];
    uint64_t sizes[MOST_SEEDS];
    for (uint64_t group = 0; group < groups; group++) {
        seeds[group] = *take(&block, 1);
        sizes[group] = leb128(&block);
        need(sizes[group] > 0 && sizes[group] <= count, "a group of claims has a wrong size");
        need(seeds[group] > (group > 0 ? seeds[group - 1] : 1), "groups of claims are not in order");
        need(before(seeds[group] + 1) >> 48 == 0, "there are too many positions for this program");
        count -= sizes[group];
    }
    need(count == 0, "a block has too few claims");
    for (uint64_t group = 0; group < groups; group++) {
        uint64_t number = before(seeds[group]);
        for (uint64_t i = 0; i < sizes[group]; i++, lower++, slack++) {
            const uint64_t step = leb128(&block);
            need(step < before(seeds[group] + 1) - number, "a rank is too large");
            number += step;
            need(claim_count == 0 || number > claims[claim_count - 1] >> 16, "claims are not in order");
            const Position position = position_of(seeds[group], number);
            need(row(&position, 0) > 0 && row(&position, 1) > 0, "a claim about a position with an empty row");
            need(*lower + *slack <= seeds[group], "a lower bound is above the upper one");
            need(*lower + *slack > 0, "a claim without a bound");
            claims[claim_count++] = number << 16 | (uint64_t)*lower << 8 | (uint64_t)(seeds[group] - *slack);
        }
    }
    need(block.at == block.end, "a block is too long");
}

static void read_claims(Part list, Part blocks, uint64_t count) {
    static uint8_t *raw;
    claims = resize(claims, count * sizeof *claims);
    for (claim_count = 0; claim_count < count;) {
        const uint64_t size = number(&list, 4), bytes = number(&list, 4), packed = number(&list, 4);
        need(size == (uint64_t)smaller(BLOCK_CLAIMS, (int64_t)(count - claim_count)), "a block has a wrong size");
        need(number(&list, 4) == 0, "reserved bytes of the list of blocks are not zero");
        take(&list, 8); /* checksum */
        const uint8_t *frame = take(&blocks, packed);
        need(ZSTD_findFrameCompressedSize(frame, packed) == packed, "a block is not one zstd frame");
        raw = resize(raw, bytes);
        need(ZSTD_decompress(raw, bytes, frame, packed) == bytes, "a block cannot be unpacked");
        read_block((Part){raw, raw + bytes}, size);
    }
    need(blocks.at == blocks.end, "there are bytes after the last block");
}

/* Checks bounds of the value after some moves, for the mover of the position before them. Returns false if every game
 * meets the bounds. */
static bool check_value(Position position, int64_t own, int64_t other, Part moves, Bounds value) {
    print_position(&position, own, other);
    for (Part line = moves; line.at < line.end; line.at++)
        printf(" %d", *line.at);
    printf(" under %s: value %+lld to %+lld\n", rules->name, (long long)value.lower, (long long)value.upper);
    for (; moves.at < moves.end; moves.at++) {
        const int pit = *moves.at - 1;
        const bool over = row(&position, 0) == 0 || row(&position, 1) == 0;
        need(!over && pit >= 0 && pit < pits && position.pit[pit] > 0, "an opening is not legal");
        const Move move = play(&position, pit);
        const int64_t mine = own + move.stored;
        own = move.again ? mine : other;
        other = move.again ? other : mine;
        value = move.again ? value : (Bounds){-value.upper, -value.lower};
        position = move.next;
    }
    const int seeds = row(&position, 0) + row(&position, 1);
    const int64_t least = own - other - seeds; /* value = least + 2 score */
    const int64_t lower = value.lower > least ? (value.lower - least + 1) / 2 : 0;
    const int64_t upper = value.upper >= least ? (value.upper - least) / 2 : -1;
    int turn = 1000000;
    Bounds found = bounds_of(&position, seeds);
    if (found.lower < found.upper)
        found = both(found, one_ply(&position, seeds, &turn));
    need(found.lower >= lower && found.upper <= upper, "the statement does not follow from the claims");
    return lower > 0 || upper < seeds;
}

static void check(const uint8_t *bytes, uint64_t size) {
    need(size >= HEADER_BYTES + DIGEST_BYTES, "the file is too short");
    Part header = {bytes, bytes + HEADER_BYTES}, rest = {header.end, bytes + size - DIGEST_BYTES};
    need(memcmp(take(&header, 8), "KALAHCT\n", 8) == 0 && number(&header, 4) == 1, "no certificate of version 1");
    const unsigned rule_set = *take(&header, 1), side = *take(&header, 1), effort = *take(&header, 1);
    const unsigned tables = *take(&header, 1);
    const uint64_t count = number(&header, 8), blocks = number(&header, 4), openings = number(&header, 4);
    need(rule_set < 4 && side >= 1 && side <= MOST_PITS, "there is no such game");
    need(effort == 0, "its claims may need searches (its effort is not 0)");
    need(tables == 0 || (tables >= 2 && tables <= 48 && side <= 8), "there are no such tables");
    need(blocks == count / BLOCK_CLAIMS + (count % BLOCK_CLAIMS > 0), "it has a wrong number of blocks");
    const uint64_t prefix_bytes = number(&header, 8);
    Part prefix = part_of(&rest, prefix_bytes);
    need(number(&header, 8) == size, "its length is not that in its header");
    for (int i = 0; i < 72; i++)
        need(*take(&header, 1) == 0, "reserved bytes of its header are not zero");

    if (rules != &RULES[rule_set] || pits != (int)side)
        computed = 0;
    rules = &RULES[rule_set];
    pits = (int)side;
    exact = (int)tables;
    const int64_t own = (int64_t)number(&prefix, 4), other = (int64_t)number(&prefix, 4);
    int64_t seeds = 0;
    Position position = {{0}};
    for (int i = 0; i < 2 * pits; i++) {
        const uint64_t pit = number(&prefix, 4);
        need((seeds += (int64_t)pit) <= MOST_SEEDS, "its position has too many seeds");
        position.pit[i] = (uint8_t)pit;
    }
    need(own + other + seeds <= INT32_MAX, "its position has too many seeds");
    const Bounds value = read_value(&prefix);
    Part lines = prefix;
    for (uint64_t i = 0; i < openings; i++) {
        take(&prefix, 16);
        take(&prefix, number(&prefix, 2));
    }
    take(&prefix, tables > 0 ? 32 * (tables - 1) : 0); /* digests of tables */
    const Part list = part_of(&prefix, 24 * blocks);
    take(&prefix, 8); /* checksum */
    need(prefix.at == prefix.end, "its prefix is too long");

    read_claims(list, rest, count);
    compute_scores();
    check_claims();
    bool says = false;
    for (uint64_t i = 0; i < openings; i++) {
        const Bounds bounds = read_value(&lines);
        const uint64_t moves = number(&lines, 2);
        need(moves >= 1 && moves <= 1000, "an opening is empty or too long");
        says |= check_value(position, own, other, part_of(&lines, moves), bounds);
    }
    says |= check_value(position, own, other, part_of(&lines, 0), value);
    need(says, "its statement is true of every game");
    printf("ACCEPTED: %llu claims\n", (unsigned long long)count);
}

int main(int files, char **paths) {
    static int at, status; /* static, as their values must survive longjmp */
    static uint8_t *bytes;
    static FILE *file;
    fill_choose();
    for (at = 1; at < files; at++) {
        printf("%s\n", paths[at]);
        if (setjmp(next_file) != 0) {
            status = 3;
            continue;
        }
        need((file = fopen(paths[at], "rb")) && fseek(file, 0, SEEK_END) == 0, "it cannot be read");
        const long size = ftell(file);
        rewind(file);
        bytes = resize(bytes, size > 0 ? (uint64_t)size : 0);
        const bool complete = size >= 0 && fread(bytes, 1, (size_t)size, file) == (size_t)size;
        fclose(file);
        need(complete, "it cannot be read");
        check(bytes, (uint64_t)size);
    }
    return files > 1 ? status : 2;
}
