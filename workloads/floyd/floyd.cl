/*
 * A step of Floyd's and Warshall's algorithm: which paths become shorter through the node `by`, if
 * those through all nodes before it are known. A block has a tile of the matrix. Row and column
 * `by` are read by all and do not change in this step, as a node is not nearer to itself than 0, so
 * the order of threads does not matter.
 */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, 1)))
void shorten(__global int *lengths, __global int *through, int nodes, int by)
{
    int to = get_global_id(0), from = get_global_id(1);

    if (to < nodes && from < nodes) {
        int length = lengths[from * nodes + by] + lengths[by * nodes + to];
        if (length < lengths[from * nodes + to]) {
            lengths[from * nodes + to] = length;
            through[from * nodes + to] = by;
        }
    }
}
