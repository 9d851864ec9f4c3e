/* Solves positions with CMancala: one a line, the mover's pits and then the other player's, as 12 numbers. Prints the
 * value for the mover, the nodes, and the processor time in milliseconds. Arguments: the power of two of the cache, and
 * the seeds of the largest table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logic/board.h"
#include "logic/solver/algo.h"
#include "logic/solver/cache.h"
#include "logic/solver/egdb/core.h"

/* Milliseconds of processor time. */
#ifdef __EMSCRIPTEN__
#include <emscripten.h>
EM_JS(double, processor_time, (void), {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e3;
})
#else
static double processor_time(void) { return 1e3 * (double)clock() / CLOCKS_PER_SEC; }
#endif

/* Progress and messages, which its interfaces show. */
void renderOutput(const char *message, const char *prefix) {
    (void)message;
    (void)prefix;
}
void startProgress(const SolverConfig *config, const char *prefix) {
    (void)config;
    (void)prefix;
}
void updateProgress(int depth, int move, int score, uint64_t nodes) {
    (void)depth;
    (void)move;
    (void)score;
    (void)nodes;
}
void finishProgress(void) {}
void setBinaryProgress(int step, int total) {
    (void)step;
    (void)total;
}
void startEGDBProgress(void) {}
void updateEGDBProgress(int seeds, uint64_t current, uint64_t total) {
    (void)seeds;
    (void)current;
    (void)total;
}
void finishEGDBProgress(void) {}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    setMoveFunction(CLASSIC_MOVE);
    setCacheSize(atoi(arguments[1]));
    double start = processor_time();
    if (atoi(arguments[2]) > 0) generateEGDB(atoi(arguments[2]), false);
    printf("tables %.3f\n", processor_time() - start);
    fflush(stdout);
    SolverConfig config = {.solver = LOCAL_SOLVER, .compressCache = AUTO};
    for (;;) {
        Board board = {.color = 1}, last = {0};
        int seeds = 0;
        for (int pit = 0; pit < 13; pit++) {
            if (pit == SCORE_P1) continue;
            int number;
            if (scanf("%d", &number) != 1) return 0;
            board.cells[pit] = (uint8_t)number;
            seeds += number;
        }
        setStoneCount(seeds);
        invalidateCache();
        /* It holds the times of 65,535 depths. */
        static Context context;
        memset(&context, 0, sizeof context);
        context.board = &board;
        context.lastBoard = &last;
        start = processor_time();
        aspirationRoot(&context, &config);
        double time = processor_time() - start;
        printf("%d %llu %.3f\n", context.metadata.lastEvaluation, (unsigned long long)context.metadata.lastNodes, time);
        fflush(stdout);
    }
}
