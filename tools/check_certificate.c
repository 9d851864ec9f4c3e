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
 * Exit codes: 0 all files accepted, 3 a file refused, 2 wrong usage, 1 a file that cannot be read or needs too much. */
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { MOST_PITS = 16, MOST_SEEDS = 255, BLOCK_CLAIMS = 16384, HEADER_BYTES = 128, DIGEST_BYTES = 32 };

static jmp_buf next_file;
static int exit_code;

/* Ends the check of this file. Code 3: it is wrong. Code 1: this program cannot check it. */
static _Noreturn void stop(int code, const char *reason) {
    printf("%s: %s\n", code == 3 ? "REFUSED" : "NOT CHECKED", reason);
    exit_code = code > exit_code ? code : exit_code;
    longjmp(next_file, 1);
}

static void need(bool holds, const char *reason) {
    if (!holds)
        stop(3, reason);
}

/* Frees a block of memory, and returns a new one. */
static void *replace(void *old, uint64_t bytes) {
    free(old);
    void *new = malloc(bytes + 1);
    if (!new) {
        puts("NOT CHECKED: too little memory");
        exit(1);
    }
    return new;
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- The game: docs/rules.md ---- */

typedef struct {
    const char *name;
    bool moves_again, relays;
    enum { ALWAYS, OPPOSITE_SEEDS, NEVER } capture;
} Rules;

static const Rules RULES[4] = {
    {"empty-capture", true, false, ALWAYS},
    {"standard", true, false, OPPOSITE_SEEDS},
    {"s-kalaha", true, true, NEVER},
    {"single-move", false, false, ALWAYS},
};
static const Rules *rules;
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

/* Plays a pit that holds seeds. `place` has the places in the order of sowing: own pits, own store, other pits. */
static Move play(const Position *position, int pit) {
    const int store = pits;
    int place[2 * MOST_PITS + 1] = {0};
    for (int i = 0; i < pits; i++) {
        place[i] = position->pit[i];
        place[store + 1 + i] = position->pit[pits + i];
    }
    int at = pit, was;
    do {
        int hand = place[at];
        place[at] = 0;
        do {
            at = at == 2 * pits ? 0 : at + 1;
            was = place[at]++;
        } while (--hand > 0);
    } while (rules->relays && was > 0 && at != store);
    if (at < store && was == 0) {
        int *opposite = &place[2 * pits - at];
        if (rules->capture == ALWAYS || (rules->capture == OPPOSITE_SEEDS && *opposite > 0)) {
            place[store] += place[at] + *opposite;
            place[at] = *opposite = 0;
        }
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

static bool is_later(const Position *position, const Move *move) {
    return move->stored > 0 || potential(&move->next) < potential(position);
}

/* ---- Sequence ranks: docs/certificates.md ---- */

/* choose[i][p] = C(p + i - 1, i), or UINT64_MAX if that is larger. */
static uint64_t choose[2 * MOST_PITS][MOST_SEEDS + 2];

static void fill_choose(void) {
    for (int i = 0; i < 2 * MOST_PITS; i++)
        for (int p = 0; p < MOST_SEEDS + 2; p++) {
            const uint64_t a = i > 0 ? choose[i - 1][p] : 1, b = i > 0 && p > 0 ? choose[i][p - 1] : 0;
            choose[i][p] = p == 0 && i > 0 ? 0 : a > UINT64_MAX - b ? UINT64_MAX : a + b;
        }
}

/* Number of positions with these seeds in play. Their ranks are below it. */
static uint64_t positions(int seeds) { return choose[2 * pits - 1][seeds + 1]; }

static uint64_t rank_of(const Position *position) {
    uint64_t rank = 0;
    for (int i = 1, sum = 0; i < 2 * pits; i++)
        rank += choose[i][sum += position->pit[i - 1]];
    return rank;
}

static Position position_of(int seeds, uint64_t rank) {
    Position position = {{0}};
    for (int i = 2 * pits - 1; i > 0; i--) {
        int sum = seeds;
        while (choose[i][sum] > rank)
            sum--;
        rank -= choose[i][sum];
        position.pit[i] = (uint8_t)(seeds - sum);
        seeds = sum;
    }
    position.pit[0] = (uint8_t)seeds;
    return position;
}

/* ---- Bounds ---- */

typedef struct {
    int64_t lower, upper;
} Bounds;

/* Scores of the positions with up to `exact` seeds by rank, for the numbers of seeds up to `computed`. */
enum { UNKNOWN = 255 };
static uint8_t *scores[MOST_SEEDS + 1];
static int exact, computed = 1;

/* Claims in the order of the file. Those with N seeds in play are first[N] to first[N + 1] - 1, sorted by rank. */
static uint64_t first[MOST_SEEDS + 2], *ranks;
static uint8_t *lowers, *uppers;

static Bounds one_ply(const Position *position, int seeds, bool whole_turn);

/* Bounds of a score: exact at the end of a game and of small positions, else claimed, else trivial. */
static Bounds bounds_of(const Position *position, int seeds) {
    const int own = row(position, 0);
    if (own == 0 || own == seeds)
        return (Bounds){own, own};
    const uint64_t rank = rank_of(position);
    if (seeds <= exact) {
        uint8_t *score = &scores[seeds][rank];
        if (*score == UNKNOWN)
            *score = (uint8_t)one_ply(position, seeds, false).lower;
        return (Bounds){*score, *score};
    }
    uint64_t from = first[seeds], to = first[seeds + 1];
    while (from < to) {
        const uint64_t middle = from + (to - from) / 2;
        if (ranks[middle] == rank)
            return (Bounds){lowers[middle], uppers[middle]};
        if (ranks[middle] < rank)
            from = middle + 1;
        else
            to = middle;
    }
    return (Bounds){0, seeds};
}

static int deeper; /* number of positions for which `whole_turn` may still go deeper */

/* Bounds of a score from those of the positions after all moves. With `whole_turn`, bounds of positions after an
 * again-move may themselves follow in one ply. */
static Bounds one_ply(const Position *position, int seeds, bool whole_turn) {
    Bounds best = {0, 0};
    for (int pit = 0; pit < pits; pit++) {
        if (position->pit[pit] == 0)
            continue;
        const Move move = play(position, pit);
        need(is_later(position, &move), "a move does not lower seeds or potential, so the proof may be circular");
        const int left = seeds - move.stored;
        Bounds next = bounds_of(&move.next, left);
        if (whole_turn && move.again && next.lower < next.upper && deeper-- > 0) {
            const Bounds ply = one_ply(&move.next, left, true);
            next = (Bounds){larger(next.lower, ply.lower), smaller(next.upper, ply.upper)};
        }
        if (!move.again)
            next = (Bounds){left - next.upper, left - next.lower};
        best = (Bounds){larger(best.lower, move.stored + next.lower), larger(best.upper, move.stored + next.upper)};
    }
    return best;
}

static void compute_scores(void) {
    uint64_t total = 0;
    for (int seeds = 2; seeds <= exact; seeds++) {
        total += positions(seeds);
        if (seeds <= computed)
            continue;
        scores[seeds] = memset(replace(NULL, positions(seeds)), UNKNOWN, positions(seeds));
        for (uint64_t rank = 0; rank < positions(seeds); rank++) {
            const Position position = position_of(seeds, rank);
            bounds_of(&position, seeds);
        }
        computed = seeds;
    }
    printf("%llu positions of up to %d seeds, computed by the rules\n", (unsigned long long)total, exact);
}

static void print_position(const Position *position, int64_t own, int64_t other) {
    printf("<%d,%lld,%lld", pits, (long long)own, (long long)other);
    for (int i = 0; i < 2 * pits; i++)
        printf(",%d", position->pit[i]);
    printf(">");
}

static void check_claims(void) {
    for (int seeds = 2; seeds <= MOST_SEEDS; seeds++)
        for (uint64_t i = first[seeds]; i < first[seeds + 1]; i++) {
            const Position position = position_of(seeds, ranks[i]);
            const Bounds found = seeds <= exact ? bounds_of(&position, seeds) : one_ply(&position, seeds, false);
            if (found.lower >= lowers[i] && found.upper <= uppers[i])
                continue;
            print_position(&position, 0, 0);
            printf(": score claimed as %d to %d, found to be %d to %d\n", lowers[i], uppers[i], (int)found.lower,
                   (int)found.upper);
            stop(3, "a claim does not follow in one ply");
        }
}

/* Checks bounds of the value for the player to move. Returns false if every game meets them. */
static bool check_value(const Position *position, int64_t own, int64_t other, Bounds value) {
    const int seeds = row(position, 0) + row(position, 1);
    const int64_t least = own - other - seeds; /* value = least + 2 score */
    const int64_t lower = value.lower > least ? (value.lower - least + 1) / 2 : 0;
    const int64_t upper = value.upper >= least ? (value.upper - least) / 2 : -1;
    Bounds found = bounds_of(position, seeds);
    if (found.lower < found.upper) {
        deeper = 1000000;
        const Bounds ply = one_ply(position, seeds, true);
        found = (Bounds){larger(found.lower, ply.lower), smaller(found.upper, ply.upper)};
    }
    need(found.lower >= lower && found.upper <= upper, "the statement does not follow from the claims");
    return lower > 0 || upper < seeds;
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
    uint64_t value = 0;
    for (int shift = 0; shift < 63; shift += 7) {
        const uint64_t byte = *take(part, 1);
        value |= (byte & 127) << shift;
        need(byte > 0 || shift == 0, "a number is longer than it must be");
        if (byte < 128)
            return value;
    }
    stop(3, "a number in a block is too large");
}

/* Bounds of a value. Those that no game reaches are reduced, to avoid overflows. */
static Bounds read_value(Part *part) {
    const int64_t most = (int64_t)1 << 40, lower = (int64_t)number(part, 8), upper = (int64_t)number(part, 8);
    need(lower <= upper, "a lower bound of a value is above the upper one");
    return (Bounds){smaller(larger(lower, -most), most), smaller(larger(upper, -most), most)};
}

/* Reads a block of `count` claims. `done` claims were read from the blocks in front of it. */
static void read_block(Part block, uint64_t done, uint64_t count) {
    static int last_seeds;
    last_seeds = done == 0 ? 0 : last_seeds;
    need((uint64_t)(block.end - block.at) >= 2 * count, "a block is too short");
    const uint8_t *lower = block.end - 2 * count, *slack = block.end - count;
    Part groups = {block.at, lower}, steps = groups;
    const uint64_t group_count = leb128(&steps);
    for (uint64_t i = 0; i < group_count; i++) {
        take(&steps, 1);
        leb128(&steps);
    }
    leb128(&groups);
    uint64_t at = 0;
    for (uint64_t group = 0; group < group_count; group++) {
        const int seeds = *take(&groups, 1);
        const uint64_t end = at + leb128(&groups);
        need(end > at && end <= count, "a group of claims has a wrong size");
        need(seeds > 1 && seeds + (group == 0) > last_seeds, "groups of claims are not in order");
        if (positions(seeds) == UINT64_MAX)
            stop(1, "its ranks need more than 64 bits");
        for (uint64_t rank = 0; at < end; at++) {
            const uint64_t step = leb128(&steps);
            need(step < positions(seeds) - rank, "a rank is too large");
            rank += step;
            need(seeds > last_seeds || rank > ranks[done + at - 1], "claims are not in order");
            const Position position = position_of(seeds, rank);
            need(row(&position, 0) > 0 && row(&position, 1) > 0, "a claim about a position with an empty row");
            need(lower[at] + slack[at] <= seeds, "a lower bound is above the upper one");
            need(lower[at] + slack[at] > 0, "a claim without a bound");
            ranks[done + at] = rank;
            lowers[done + at] = lower[at];
            uppers[done + at] = (uint8_t)(seeds - slack[at]);
            first[seeds + 1]++;
            last_seeds = seeds;
        }
    }
    need(at == count && steps.at == steps.end, "a block has too few claims, or is too long");
}

static void read_claims(Part list, Part blocks, uint64_t claims) {
    static uint8_t *raw;
    memset(first, 0, sizeof first);
    ranks = replace(ranks, claims * sizeof *ranks);
    lowers = replace(lowers, claims);
    uppers = replace(uppers, claims);
    for (uint64_t done = 0; done < claims; done += BLOCK_CLAIMS) {
        const uint64_t count = number(&list, 4), bytes = number(&list, 4), packed = number(&list, 4);
        need(count == (claims - done < BLOCK_CLAIMS ? claims - done : BLOCK_CLAIMS), "a block has a wrong size");
        need(number(&list, 4) == 0, "reserved bytes of the list of blocks are not zero");
        take(&list, 8); /* checksum */
        const uint8_t *frame = take(&blocks, packed);
        need(ZSTD_findFrameCompressedSize(frame, packed) == packed, "a block is not one zstd frame");
        raw = replace(raw, bytes);
        need(ZSTD_decompress(raw, bytes, frame, packed) == bytes, "a block cannot be unpacked");
        read_block((Part){raw, raw + bytes}, done, count);
    }
    need(blocks.at == blocks.end, "there are bytes after the last block");
    for (int seeds = 0; seeds <= MOST_SEEDS; seeds++)
        first[seeds + 1] += first[seeds];
}

/* Checks the bounds of the value after an opening. They are for the mover of the position that it begins with. */
static bool check_opening(Position position, int64_t own, int64_t other, Bounds value, Part moves) {
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
    return check_value(&position, own, other, value);
}

static void print_value(Bounds value) {
    if (value.lower < value.upper)
        printf(" is %+lld to %+lld\n", (long long)value.lower, (long long)value.upper);
    else
        printf(" is %+lld\n", (long long)value.upper);
}

static void check(const uint8_t *bytes, uint64_t size) {
    need(size >= HEADER_BYTES + DIGEST_BYTES, "the file is too short");
    Part header = {bytes, bytes + HEADER_BYTES}, rest = {header.end, bytes + size - DIGEST_BYTES};
    need(memcmp(take(&header, 8), "KALAHCT\n", 8) == 0, "it is no certificate");
    need(number(&header, 4) == 1, "its format has another version");
    const unsigned rule_set = *take(&header, 1), side = *take(&header, 1), effort = *take(&header, 1);
    const unsigned tables = *take(&header, 1);
    const uint64_t claims = number(&header, 8), blocks = number(&header, 4), openings = number(&header, 4);
    need(rule_set < 4 && side >= 1 && side <= MOST_PITS, "there is no such game");
    need(effort == 0, "its claims may need searches (its effort is not 0)");
    need(tables == 0 || (tables >= 2 && tables <= 48 && side <= 8), "there are no such tables");
    need(blocks == claims / BLOCK_CLAIMS + (claims % BLOCK_CLAIMS > 0), "it has a wrong number of blocks");
    const uint64_t prefix_bytes = number(&header, 8);
    Part prefix = {take(&rest, prefix_bytes), rest.at};
    need(number(&header, 8) == size, "its length is not that in its header");
    for (int i = 0; i < 72; i++)
        need(*take(&header, 1) == 0, "reserved bytes of its header are not zero");

    if (rules != &RULES[rule_set] || pits != (int)side)
        for (; computed > 1; computed--)
            free(scores[computed]);
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
    Part lines = {prefix.at, prefix.end};
    for (uint64_t i = 0; i < openings; i++) {
        take(&prefix, 16);
        take(&prefix, number(&prefix, 2));
    }
    take(&prefix, tables > 0 ? 32 * (tables - 1) : 0); /* digests of tables */
    Part list = {take(&prefix, 24 * blocks), prefix.at};
    take(&prefix, 8); /* checksum */
    need(prefix.at == prefix.end, "its prefix is too long");
    read_claims(list, rest, claims);

    compute_scores();
    check_claims();
    printf("%llu claims, each follows in one ply\n", (unsigned long long)claims);
    bool says = false;
    for (uint64_t i = 0; i < openings; i++) {
        const Bounds bounds = read_value(&lines);
        const uint64_t moves = number(&lines, 2);
        need(moves >= 1 && moves <= 1000, "an opening is empty or too long");
        const Part opening = {take(&lines, moves), lines.at};
        says |= check_opening(position, own, other, bounds, opening);
        printf("the value after");
        for (uint64_t move = 0; move < moves; move++)
            printf(" %d", opening.at[move]);
        print_value(bounds);
    }
    says |= check_value(&position, own, other, value);
    need(says, "its statement is true of every game");
    printf("ACCEPTED: for the mover, the value of ");
    print_position(&position, own, other);
    printf(" under %s rules", rules->name);
    print_value(value);
}

int main(int count, char **paths) {
    static int at; /* static, as its value must survive longjmp */
    static uint8_t *bytes;
    if (count < 2 || paths[1][0] == '-') {
        fprintf(stderr, "usage: check_certificate FILE...\n");
        return 2;
    }
    fill_choose();
    for (at = 1; at < count; at++) {
        if (setjmp(next_file) != 0)
            continue;
        printf("%s\n", paths[at]);
        FILE *file = fopen(paths[at], "rb");
        if (!file || fseek(file, 0, SEEK_END) != 0)
            stop(1, "it cannot be read");
        const long size = ftell(file);
        rewind(file);
        bytes = replace(bytes, size > 0 ? (uint64_t)size : 0);
        const bool complete = size >= 0 && fread(bytes, 1, (size_t)size, file) == (size_t)size;
        fclose(file);
        if (!complete)
            stop(1, "it cannot be read");
        check(bytes, (uint64_t)size);
    }
    return exit_code;
}
