/* Proves values of Kalah from claims about other positions. Written from docs/rules.md and docs/certificates.md alone,
 * it shares no code with the rest of the project, needs no library, and reads no table. It trusts nothing that it
 * reads.
 *
 *     cc -O2 -o check_certificate check_certificate.c
 *     cc -O2 -o read_certificate read_certificate.c -lzstd
 *     ./read_certificate FILE | ./check_certificate
 *
 * The score of a position is the most seeds that the mover can still collect, of those in play. It is the maximum over
 * the moves of the seeds that the move stores plus those that the mover collects afterwards. So bounds of the scores
 * after all moves give bounds of the score: they follow in one ply. A certificate claims bounds for millions of
 * positions, and states bounds of the value of one. It is accepted if each claim follows in one ply from other claims,
 * ends of games and small positions, and if the statement follows from the claims. The scores of small positions are
 * computed here.
 *
 * This is a proof by induction, since the game has no cycles: each move lowers the seeds in play, or leaves them and
 * lowers the potential of the rows. That, too, is checked for every move.
 *
 * The input has these decimal numbers for each certificate, after a line with its name and before a line with a point:
 *   - the rule set (0 to 3), pits a side, and the seeds of the largest small positions (2 to 48, or 0);
 *   - the number of claims, then for each: seeds in play, rank, lower and upper bound of the score;
 *   - the position: the mover's store, the other store, the mover's pits, the other pits;
 *   - the number of statements, then for each: bounds of the value, for the mover of the position; the number of moves
 *     after which they hold; and these moves, as numbers of pits from 1.
 *
 * Exit codes: 0 all certificates accepted, 3 one refused, or no certificate read. */
#include <ctype.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_PITS = 16, MOST_SEEDS = 255 };
_Static_assert(sizeof(size_t) >= 8, "numbers of positions have 64 bits");

static jmp_buf refused;

/* Refuses the certificate unless a condition holds. */
static void need(bool holds, const char *otherwise) {
    if (!holds) {
        printf("\nREFUSED: %s\n", otherwise);
        longjmp(refused, 1);
    }
}

/* ---- The game: docs/rules.md ---- */

static enum { EMPTY_CAPTURE, STANDARD, S_KALAHA, SINGLE_MOVE } rules;
static const char *const NAMES[] = {"empty-capture", "standard", "s-kalaha", "single-move"};
static int pits; /* of each side */

/* The mover's row, then the other row, each in its owner's sowing order. */
typedef struct {
    uint8_t pit[2 * MOST_PITS];
} Position;

/* Seeds in the mover's row (side 0), or in the other row (side 1). */
static int row(const Position *position, int side) {
    int seeds = 0;
    for (int i = 0; i < pits; i++)
        seeds += position->pit[side * pits + i];
    return seeds;
}

static bool is_over(const Position *position) { return row(position, 0) == 0 || row(position, 1) == 0; }

/* Sum over all seeds of their distance to the last pit of the row. */
static int potential(const Position *position) {
    int sum = 0;
    for (int i = 0; i < pits; i++)
        sum += (pits - 1 - i) * (position->pit[i] + position->pit[pits + i]);
    return sum;
}

/* A move: seeds that it stores, and the position after it, seen by the player next to move. */
typedef struct {
    Position next;
    int stored;
    bool again;
} Move;

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
    } while (rules == S_KALAHA && was > 0 && at != store);
    int *opposite = &place[2 * pits - at];
    if (at < store && was == 0 && rules != S_KALAHA && (rules != STANDARD || *opposite > 0)) {
        place[store] += place[at] + *opposite;
        place[at] = *opposite = 0;
    }
    Move move = {.stored = place[store], .again = at == store && rules != SINGLE_MOVE};
    const int mover = move.again ? 0 : pits;
    for (int i = 0; i < pits; i++) {
        move.next.pit[mover + i] = (uint8_t)place[i];
        move.next.pit[pits - mover + i] = (uint8_t)place[store + 1 + i];
    }
    need(move.stored > 0 || potential(&move.next) < potential(position), "a move may lead back to its position");
    return move;
}

/* ---- Numbers of positions: docs/certificates.md, "Sequence ranks" ---- */

/* choose[i][p] = C(p + i - 1, i), or UINT64_MAX if that is larger. */
static uint64_t choose[2 * MOST_PITS + 1][MOST_SEEDS + 2];

static void fill_choose(void) {
    for (int i = 0; i <= 2 * MOST_PITS; i++)
        for (int p = 0; p < MOST_SEEDS + 2; p++) {
            const uint64_t sum = i > 0 && p > 0 ? choose[i - 1][p] + choose[i][p - 1] : i == 0;
            choose[i][p] = i > 0 && p > 0 && sum < choose[i][p - 1] ? UINT64_MAX : sum;
        }
}

/* Number of positions with fewer seeds in play. */
static uint64_t before(int seeds) { return choose[2 * pits][seeds]; }

/* Refuses positions whose numbers do not fit in a claim, or belong to several positions. */
static void need_numbers(int seeds) {
    need(before(seeds + 1) >> 48 == 0, "there are too many positions for this program");
}

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

/* One more than the scores of the positions with up to `exact` seeds, by their numbers; 0 if not computed yet. */
static uint8_t *scores;
static int exact;

/* A claim has the number of a position in its upper 48 bits, then the lower and the upper bound. They are sorted. */
static uint64_t *claims, claim_count;

static Bounds bounds_in(uint64_t claim) { return (Bounds){claim >> 8 & 255, claim & 255}; }

static int compare(const void *number, const void *claim) {
    const uint64_t a = *(const uint64_t *)number, b = *(const uint64_t *)claim >> 16;
    return (a > b) - (a < b);
}

static Bounds one_ply(const Position *position, int seeds, bool in_turn);

/* Bounds of a score: exact at the end of a game and of small positions, else claimed, else trivial. */
static Bounds bounds_of(const Position *position, int seeds) {
    if (is_over(position))
        return (Bounds){row(position, 0), row(position, 0)};
    const uint64_t number = number_of(position);
    if (seeds <= exact) {
        if (scores[number] == 0)
            scores[number] = (uint8_t)(one_ply(position, seeds, false).lower + 1);
        return (Bounds){scores[number] - 1, scores[number] - 1};
    }
    const uint64_t *const claim = bsearch(&number, claims, claim_count, sizeof *claims, compare);
    return claim ? bounds_in(*claim) : (Bounds){0, seeds};
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
static Bounds both(Bounds a, Bounds b) { return (Bounds){larger(a.lower, b.lower), smaller(a.upper, b.upper)}; }

/* Bounds of a score from those of the positions after all moves. In a turn, those after again-moves may themselves
 * follow in one ply. */
static Bounds one_ply(const Position *position, int seeds, bool in_turn) {
    Bounds best = {0, 0};
    for (int pit = 0; pit < pits; pit++) {
        if (position->pit[pit] == 0)
            continue;
        const Move move = play(position, pit);
        const int left = seeds - move.stored;
        Bounds next = bounds_of(&move.next, left);
        if (in_turn && move.again && next.lower < next.upper)
            next = both(next, one_ply(&move.next, left, true));
        if (!move.again)
            next = (Bounds){left - next.upper, left - next.lower};
        best = (Bounds){larger(best.lower, move.stored + next.lower), larger(best.upper, move.stored + next.upper)};
    }
    return best;
}

/* ---- Certificates ---- */

/* Reads the next byte that is not white space. */
static int read_byte(void) {
    int byte = getchar();
    while (isspace(byte))
        byte = getchar();
    return byte;
}

/* Reads a number of at most 48 bits. */
static int64_t read_number(int64_t least, int64_t most) {
    int byte = read_byte();
    const bool minus = byte == '-', digit = isdigit(minus ? byte = getchar() : byte);
    int64_t number = 0;
    for (; isdigit(byte) && number >> 48 == 0; byte = getchar())
        number = 10 * number + byte - '0';
    ungetc(byte, stdin);
    number = minus ? -number : number;
    need(digit && number >= least && number <= most, "a number is missing, too small or too large");
    return number;
}

static void read_claims(void) {
    const uint64_t count = (uint64_t)read_number(0, (int64_t)1 << 40);
    uint64_t *const room = realloc(claims, (count + 1) * sizeof *claims);
    need(room, "too little memory");
    claims = room;
    for (claim_count = 0; claim_count < count;) {
        const int seeds = (int)read_number(2, MOST_SEEDS);
        need_numbers(seeds);
        const int64_t ranks = (int64_t)(before(seeds + 1) - before(seeds));
        const uint64_t number = before(seeds) + (uint64_t)read_number(0, ranks - 1);
        const uint64_t lower = (uint64_t)read_number(0, seeds), upper = (uint64_t)read_number(0, seeds);
        need(claim_count == 0 || number > claims[claim_count - 1] >> 16, "claims are not in order");
        claims[claim_count++] = number << 16 | lower << 8 | upper;
    }
}

static void check_claims(void) {
    int seeds = 0;
    for (uint64_t i = 0; i < claim_count; i++) {
        while (claims[i] >> 16 >= before(seeds + 1))
            seeds++;
        const Position position = position_of(seeds, claims[i] >> 16);
        const Bounds claim = bounds_in(claims[i]), found = one_ply(&position, seeds, false);
        need(!is_over(&position) && found.lower >= claim.lower && found.upper <= claim.upper,
             "a claim does not follow in one ply");
    }
}

/* Checks a statement. Returns false if it is true of every game. */
static bool check_statement(Position position, int64_t own, int64_t other) {
    const int64_t most = (int64_t)1 << 40, lower = read_number(-most, most), upper = read_number(-most, most);
    printf("value %+" PRId64 " to %+" PRId64, lower, upper);
    bool same = true; /* the player of the value is to move */
    int64_t moves = read_number(0, most);
    if (moves > 0)
        printf(" after");
    for (; moves > 0; moves--) {
        const int pit = (int)read_number(1, pits) - 1;
        printf(" %d", pit + 1);
        need(!is_over(&position) && position.pit[pit] > 0, "a move is not legal");
        const Move move = play(&position, pit);
        const int64_t mine = own + move.stored;
        own = move.again ? mine : other;
        other = move.again ? other : mine;
        same = same == move.again;
        position = move.next;
    }
    printf("\n");
    const int seeds = row(&position, 0) + row(&position, 1);
    const int64_t least = own - other - seeds; /* value = least + 2 score */
    Bounds found = bounds_of(&position, seeds), every = {least, least + 2 * seeds};
    if (found.lower < found.upper)
        found = both(found, one_ply(&position, seeds, true));
    found = (Bounds){least + 2 * found.lower, least + 2 * found.upper};
    if (!same) {
        found = (Bounds){-found.upper, -found.lower};
        every = (Bounds){-every.upper, -every.lower};
    }
    need(lower <= found.lower && upper >= found.upper, "the statement does not follow from the claims");
    return lower > every.lower || upper < every.upper;
}

static void check(void) {
    const unsigned rule_set = (unsigned)read_number(0, SINGLE_MOVE);
    const int side = (int)read_number(1, MOST_PITS), small = (int)read_number(0, 48);
    if (!scores || rules != rule_set || pits != side || exact != small) {
        rules = rule_set;
        pits = side;
        exact = small;
        free(scores);
        scores = calloc(before(exact + 1), 1);
        need(scores, "too little memory");
    }
    read_claims();
    const int64_t most = INT32_MAX, own = read_number(0, most), other = read_number(0, most);
    Position position = {{0}};
    int seeds = 0;
    for (int i = 0; i < 2 * pits; i++)
        seeds += position.pit[i] = (uint8_t)read_number(0, MOST_SEEDS - seeds);
    need_numbers(seeds);
    printf("rules %s, position <%d,%" PRId64 ",%" PRId64, NAMES[rules], pits, own, other);
    for (int i = 0; i < 2 * pits; i++)
        printf(",%d", position.pit[i]);
    printf(">\n");
    bool says = false;
    for (int64_t statements = read_number(1, most); statements > 0; statements--)
        says |= check_statement(position, own, other);
    need(says, "its statements are true of every game");
    need(read_byte() == '.', "it does not end with its statements");
    ungetc('.', stdin);
    check_claims();
    printf("ACCEPTED: %" PRIu64 " claims\n", claim_count);
}

int main(void) {
    static char line[4096];
    static int status = 3, refusals; /* static, as their values must survive longjmp */
    fill_choose();
    while (fgets(line, sizeof line, stdin)) {
        printf("certificate %s", line);
        if (setjmp(refused) == 0)
            check();
        else
            refusals++;
        status = refusals > 0 ? 3 : 0;
        while (fgets(line, sizeof line, stdin) && line[0] != '.')
            ;
    }
    return status;
}
