/*
 * Edit distances of pairs of strings by dynamic programming, one pair per thread, a row of the table
 * at a time. The row lies in global memory, that of all threads interleaved. Strings lie one behind
 * the other: string s is letters[starts[s]] up to, not including, letters[starts[s + 1]]. Pair i is
 * strings 2 i and 2 i + 1. Lengths differ from thread to thread, and so do the loops.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void edit_distance(__global const uchar *letters, __global const uint *starts, __global uint *rows,
                   __global uint *distances, uint pairs)
{
    uint pair = get_global_id(0);

    if (pair >= pairs)
        return;
    uint first = starts[2 * pair], second = starts[2 * pair + 1], end = starts[2 * pair + 2];
    uint length = second - first, columns = end - second;
    __global uint *row = rows + pair;
    for (uint j = 0; j <= columns; j++)
        row[j * pairs] = j;
    for (uint i = 1; i <= length; i++) {
        uchar letter = letters[first + i - 1];
        uint diagonal = i - 1, left = i;
        row[0] = i;
        for (uint j = 1; j <= columns; j++) {
            uint above = row[j * pairs];
            uint changed = diagonal + (letters[second + j - 1] != letter);
            left = min(min(left, above) + 1, changed);
            row[j * pairs] = left;
            diagonal = above;
        }
    }
    distances[pair] = row[columns * pairs];
}
