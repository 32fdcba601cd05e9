/*
 * Counts the ways to place queens on a board, one in each row, so that none attacks another. The
 * host places the first rows in all ways that are possible; each of these is a task for a thread.
 * Tasks differ in length and most threads have none, so warps diverge all the time.
 */
#include "common/workload.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    QUEENS,
    PLACED,
    BLOCKS,
};

enum {
    MOST_QUEENS = 16,
};

static const struct option_row options[] = {
    [QUEENS] = {"queens", NULL, "number of queens, and side of the board", 10, 0, 1, MOST_QUEENS},
    [PLACED] = {"placed", NULL, "rows that the host fills", 6, 0, 0, MOST_QUEENS},
    [BLOCKS] = {"blocks", NULL, "blocks that share the tasks", 256, 0, 1, 65536},
    {0},
};

static const struct program program = {"nqueens", "Counts the solutions of the n-queens problem.",
                                       options};

/* Solutions for boards of 0, 1, 2 ... queens: sequence A000170 of the OEIS. */
static const cl_uint known[MOST_QUEENS + 1] = {
    1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184, 14772512};

/* A board with some rows filled, as masks of columns of the next row; of the same layout there. */
struct task {
    cl_uint columns, rising, falling; /* attacked straight and along either diagonal */
    cl_uint weight;                   /* 2 when it stands for its mirror image, too */
};

struct tasks {
    struct task *list;
    cl_uint *solutions; /* of each, counted by the host */
    size_t count, room;
};

static bool attacked(const int *board, int row, int column)
{
    for (int above = 0; above < row; above++)
        if (board[above] == column || abs(board[above] - column) == row - above)
            return true;
    return false;
}

/* How many ways there are to fill the board from this row on. */
static cl_uint solutions(int *board, int row, int queens)
{
    cl_uint count = row == queens;
    for (board[row] = 0; row < queens && board[row] < queens; board[row]++)
        if (!attacked(board, row, board[row]))
            count += solutions(board, row + 1, queens);
    return count;
}

static void add_task(struct tasks *tasks, int *board, int placed, int queens)
{
    struct task task = {.weight = placed && board[0] < queens / 2 ? 2 : 1};
    for (int row = 0; row < placed; row++) {
        cl_uint queen = 1u << board[row];
        task.columns |= queen;
        task.rising |= queen << (placed - row);
        task.falling |= queen >> (placed - row);
    }
    if (tasks->count == tasks->room) {
        tasks->room = 2 * tasks->room + 1024;
        tasks->list = realloc(tasks->list, tasks->room * sizeof *tasks->list);
        tasks->solutions = realloc(tasks->solutions, tasks->room * sizeof *tasks->solutions);
        if (!tasks->list || !tasks->solutions)
            abort();
    }
    tasks->list[tasks->count] = task;
    tasks->solutions[tasks->count++] = task.weight * solutions(board, placed, queens);
}

static void make_tasks(struct tasks *tasks, int *board, int row, int placed, int queens)
{
    if (row == placed) {
        add_task(tasks, board, placed, queens);
        return;
    }
    /* The first queen stands in the left half: the other half mirrors it. */
    int columns = row ? queens : (queens + 1) / 2;
    for (board[row] = 0; board[row] < columns; board[row]++)
        if (!attacked(board, row, board[row]))
            make_tasks(tasks, board, row + 1, placed, queens);
}

int main(int argc, char **argv)
{
    struct workload *w = workload_open(&program, argc, argv);
    int queens = (int)option(w, QUEENS), placed = (int)option(w, PLACED);
    int board[MOST_QUEENS + 1] = {0};
    if (placed >= queens)
        placed = queens - 1;
    struct tasks tasks = {0};
    make_tasks(&tasks, board, 0, placed, queens);

    struct shape block = {"BLOCK", 96};
    workload_build(w, &block, 1, "-D QUEENS=%d -D PLACED=%d", queens, placed);
    size_t threads = option(w, BLOCKS) * block.x;
    cl_uint count = (cl_uint)tasks.count, total = 0;
    cl_mem tasks_device = workload_input(w, tasks.list, count * sizeof *tasks.list);
    cl_mem found_device = workload_output(w, threads * sizeof(cl_uint));
    cl_kernel kernel = workload_kernel(w, "search");
    workload_args(w, kernel, ARG(tasks_device), ARG(found_device), ARG(count));
    workload_launch(w, kernel, &block, option(w, BLOCKS), 1, 1);

    cl_uint *found = zeroed(threads, sizeof *found), *expected = zeroed(threads, sizeof *expected);
    for (size_t i = 0; i < tasks.count; i++)
        expected[i % threads] += tasks.solutions[i];
    workload_read(w, found_device, found, threads * sizeof *found);
    check_ints(w, "solutions of threads", found, expected, threads);
    for (size_t i = 0; i < threads; i++)
        total += found[i];
    check_true(w, total == known[queens], "%u solutions, %u are known", total, known[queens]);
    printf("%d queens: %u solutions from %u tasks\n", queens, total, count);
    free(tasks.list);
    free(tasks.solutions);
    free(found);
    free(expected);
    return workload_close(w);
}
