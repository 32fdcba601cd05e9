// LU decomposition of 16 x 16 matrices without pivoting, one group a matrix, in doubles.
#define N 16

kernel void lu(global double *m)
{
    local double s[N][N];
    int x = get_local_id(0), y = get_local_id(1);
    global double *mine = m + get_group_id(0) * N * N;
    s[y][x] = mine[y * N + x];
    for (int k = 0; k < N - 1; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (x == k && y > k)
            s[y][k] /= s[k][k];
        barrier(CLK_LOCAL_MEM_FENCE);
        if (x > k && y > k)
            s[y][x] = fma(-s[y][k], s[k][x], s[y][x]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    mine[y * N + x] = s[y][x];
}
