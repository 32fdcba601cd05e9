// Sorting and merging: bitonic in local memory, rank of equal keys kept, merge by binary search.
kernel void bitonic(global int *keys)
{
    local int s[128];
    int t = get_local_id(0);
    s[t] = keys[get_global_id(0)];
    for (int k = 2; k <= 128; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            barrier(CLK_LOCAL_MEM_FENCE);
            int other = t ^ j, mine = s[t], theirs = s[other];
            bool smaller_first = ((t & k) == 0) == (t < other);
            barrier(CLK_LOCAL_MEM_FENCE);
            s[t] = smaller_first ? min(mine, theirs) : max(mine, theirs);
        }
    keys[get_global_id(0)] = s[t];
}

kernel void rank_sort(global const uchar *in, global uchar *out, global int *from, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int rank = 0;
    for (int k = 0; k < n; k++)
        rank += in[k] < in[i] || (in[k] == in[i] && k < i);
    out[rank] = in[i];
    from[rank] = i;
}

kernel void merge(global const uint *a, global const uint *b, global uint *out, int n)
{
    int i = get_global_id(0);
    bool first = i < n;
    uint key = first ? a[i] : b[i - n];
    global const uint *other = first ? b : a;
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (first ? other[mid] < key : other[mid] <= key)
            lo = mid + 1;
        else
            hi = mid;
    }
    out[(first ? i : i - n) + lo] = key;
}
