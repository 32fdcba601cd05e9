// targets: ptx clang14 clang19 v4
// Private arrays that registers cannot hold, of every element size, indexed by data.
kernel void heap_sort(global const int *in, global int *out)
{
    int heap[24];
    for (int k = 0; k < 24; k++) {
        int at = k;
        heap[k] = in[24 * get_global_id(0) + k];
        while (at > 0 && heap[(at - 1) / 2] < heap[at]) {
            int swap = heap[at];
            heap[at] = heap[(at - 1) / 2];
            heap[(at - 1) / 2] = swap;
            at = (at - 1) / 2;
        }
    }
    for (int n = 23; n > 0; n--) {
        int swap = heap[0], at = 0;
        heap[0] = heap[n];
        heap[n] = swap;
        for (;;) {
            int child = 2 * at + 1;
            if (child >= n)
                break;
            if (child + 1 < n && heap[child + 1] > heap[child])
                child++;
            if (heap[child] <= heap[at])
                break;
            swap = heap[at];
            heap[at] = heap[child];
            heap[child] = swap;
            at = child;
        }
    }
    for (int k = 0; k < 24; k++)
        out[24 * get_global_id(0) + k] = heap[k];
}

// One array of each element size, moved about by the same random indices.
kernel void sizes(global const uint *seeds, global ulong *out, int steps)
{
    uchar c[37];
    ushort s[21];
    uint w[19];
    ulong l[13];
    uint4 v[5];
    uint x = seeds[get_global_id(0)];
    for (uint k = 0; k < 37; k++)
        c[k] = k;
    for (uint k = 0; k < 21; k++)
        s[k] = 1000 * k;
    for (uint k = 0; k < 19; k++)
        w[k] = 100000 * k;
    for (uint k = 0; k < 13; k++)
        l[k] = 10000000000ul * k;
    for (uint k = 0; k < 5; k++)
        v[k] = (uint4)(k, 2 * k, 3 * k, 4 * k);
    for (int k = 0; k < steps; k++) {
        x = x * 1664525u + 1013904223u;
        uint r = x >> 16;
        c[r % 37] += s[r % 21];
        s[r % 21] ^= w[r % 19];
        w[r % 19] += l[r % 13] >> 20;
        l[r % 13] += v[r % 5].y * 77ul + (char)c[r % 11];
        v[r % 5] += (uint4)(c[r % 37], (short)s[(r >> 3) % 21], r, l[(r >> 2) % 13]);
    }
    ulong sum = 0;
    for (uint k = 0; k < 37; k++)
        sum = sum * 31 + c[k];
    for (uint k = 0; k < 21; k++)
        sum = sum * 31 + s[k];
    for (uint k = 0; k < 19; k++)
        sum = sum * 31 + w[k];
    for (uint k = 0; k < 13; k++)
        sum = sum * 31 + l[k];
    for (uint k = 0; k < 5; k++)
        sum = sum * 31 + v[k].x + 3 * v[k].y + 5 * v[k].z + 7ul * v[k].w;
    out[get_global_id(0)] = sum;
}

// Determinant of a 5 x 5 integer matrix without fractions (Bareiss), rows exchanged by pivot.
kernel void determinant(global const int *in, global long *out)
{
    long m[5][5], before = 1, sign = 1;
    int row[5];
    for (int y = 0; y < 5; y++) {
        row[y] = y;
        for (int x = 0; x < 5; x++)
            m[y][x] = in[25 * get_global_id(0) + 5 * y + x];
    }
    for (int k = 0; k < 4; k++) {
        int p = k;
        while (p < 5 && m[row[p]][k] == 0)
            p++;
        if (p == 5) {
            out[get_global_id(0)] = 0;
            return;
        }
        if (p != k) {
            int swap = row[p];
            row[p] = row[k];
            row[k] = swap;
            sign = -sign;
        }
        for (int y = k + 1; y < 5; y++)
            for (int x = k + 1; x < 5; x++)
                m[row[y]][x] = (m[row[y]][x] * m[row[k]][k] - m[row[y]][k] * m[row[k]][x]) / before;
        before = m[row[k]][k];
    }
    out[get_global_id(0)] = sign * m[row[4]][4];
}

// Edit distance of two strings with one row in private memory.
kernel void edits(global const uchar *a, global const uchar *b, global const int *length,
                  global int *out, int stride)
{
    int i = get_global_id(0), n = length[2 * i], m = length[2 * i + 1];
    uchar row[33];
    for (int x = 0; x <= m; x++)
        row[x] = x;
    for (int y = 1; y <= n; y++) {
        int corner = row[0];
        row[0] = y;
        for (int x = 1; x <= m; x++) {
            int up = row[x];
            int best = corner + (a[i * stride + y - 1] != b[i * stride + x - 1]);
            best = min(best, min(up, (int)row[x - 1]) + 1);
            corner = up;
            row[x] = best;
        }
    }
    out[i] = row[m];
}
