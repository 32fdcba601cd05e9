// Dynamic programming: longest common subsequence by anti-diagonals, and all shortest paths.
kernel void lcs(global const uchar *a, global const uchar *b, global int *table, int n)
{
    // One group; a diagonal is a parallel step.
    int t = get_local_id(0), w = n + 1;
    for (int d = 2; d <= 2 * n; d++) {
        for (int i = t + 1; i <= n; i += get_local_size(0)) {
            int j = d - i;
            if (j >= 1 && j <= n) {
                int best = max(table[(i - 1) * w + j], table[i * w + j - 1]);
                if (a[i - 1] == b[j - 1])
                    best = max(best, table[(i - 1) * w + j - 1] + 1);
                table[i * w + j] = best;
            }
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}

kernel void floyd(global int *dist, int n, int k)
{
    int x = get_global_id(0), y = get_global_id(1);
    int via = dist[y * n + k] + dist[k * n + x];
    if (via < dist[y * n + x])
        dist[y * n + x] = via;
}
