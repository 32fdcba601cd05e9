// Searching: binary search, substring counts, the n queens by an explicit stack.
kernel void binary_search(global const int *sorted, int n, global const int *keys, global int *at)
{
    int key = keys[get_global_id(0)], lo = 0, hi = n;
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (sorted[mid] < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    at[get_global_id(0)] = lo < n && sorted[lo] == key ? lo : ~lo;
}

kernel void substring(global const char *text, int n, constant char *word, int m,
                      global int *count, global int *first)
{
    int i = get_global_id(0);
    if (i + m > n)
        return;
    for (int k = 0; k < m; k++)
        if (text[i + k] != word[k])
            return;
    atomic_inc(count);
    atomic_min(first, i);
}

// Solutions whose first two queens stand where the work-item says.
kernel void queens(global int *out, int n)
{
    int a = get_global_id(0) / n, b = get_global_id(0) % n, found = 0;
    uint all = (1u << n) - 1;
    uint columns[12], left[12], right[12], free_places[12];
    out[get_global_id(0)] = 0;
    if (b == a || b == a + 1 || b == a - 1)
        return;
    int depth = 2;
    columns[2] = 1u << a | 1u << b;
    left[2] = ((1u << a) << 1 | 1u << b) << 1;
    right[2] = ((1u << a) >> 1 | 1u << b) >> 1;
    free_places[2] = all & ~(columns[2] | left[2] | right[2]);
    while (depth >= 2) {
        uint f = free_places[depth];
        if (f == 0) {
            depth--;
            continue;
        }
        uint place = f & -f;
        free_places[depth] = f ^ place;
        if (depth == n - 1) {
            found++;
            continue;
        }
        columns[depth + 1] = columns[depth] | place;
        left[depth + 1] = (left[depth] | place) << 1;
        right[depth + 1] = (right[depth] | place) >> 1;
        free_places[depth + 1] =
            all & ~(columns[depth + 1] | left[depth + 1] | right[depth + 1]);
        depth++;
    }
    out[get_global_id(0)] = found;
}
