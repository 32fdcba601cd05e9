/*
 * Each thread searches the tasks that are its own, row by row with a stack in local memory: for
 * each row what is attacked there, and the columns that are still to be tried. The stack has a place
 * for every row of the board, filled or not, so few blocks fit a core.
 */
#define ALL ((1u << QUEENS) - 1)

struct task {
    uint columns, rising, falling;
    uint weight;
};

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void search(__global const struct task *tasks, __global uint *found, uint count)
{
    __local uint columns[QUEENS][BLOCK_X], rising[QUEENS][BLOCK_X], falling[QUEENS][BLOCK_X];
    __local uint open[QUEENS][BLOCK_X];
    uint lane = get_local_id(0), solutions = 0;

    for (uint i = get_global_id(0); i < count; i += get_global_size(0)) {
        struct task task = tasks[i];
        int row = PLACED;
        columns[row][lane] = task.columns;
        rising[row][lane] = task.rising;
        falling[row][lane] = task.falling;
        open[row][lane] = ALL & ~(task.columns | task.rising | task.falling);
        while (row >= PLACED) {
            uint left = open[row][lane];
            uint queen = left & -left; /* the first column left */
            if (left == 0) {
                row--;
                continue;
            }
            open[row][lane] = left ^ queen;
            if (row == QUEENS - 1) {
                solutions += task.weight;
                continue;
            }
            uint straight = columns[row][lane] | queen;
            uint up = (rising[row][lane] | queen) << 1, down = (falling[row][lane] | queen) >> 1;
            row++;
            columns[row][lane] = straight;
            rising[row][lane] = up;
            falling[row][lane] = down;
            open[row][lane] = ALL & ~(straight | up | down);
        }
    }
    found[get_global_id(0)] = solutions;
}
