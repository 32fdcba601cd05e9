/*
 * Programs of one block that exchange values through local memory, as real ones do. Each is written
 * once and compiled as OpenCL C, as CUDA C, and as C for the interpreter that says what is right.
 *
 * The including file defines KERNEL(name), HELPER, SHARED(type, name, count), LOCAL(type) (a
 * pointer into what SHARED declares), ITEM (the number of the work-item), BARRIER() and
 * INCREMENT(address) (atomic). A kernel has `in` and `out`, arrays of N unsigned integers; a block
 * has N work-items.
 */
#define N 128

// clang-format off
#define IDIOMS(X)       \
    X(stencil)          \
    X(flag)             \
    X(scan)             \
    X(scan_two_buffers) \
    X(reduction)        \
    X(radix_sort)       \
    X(bitonic_sort)     \
    X(odd_even_sort)    \
    X(read_twice)       \
    X(converge)         \
    X(carry)            \
    X(elimination)      \
    X(butterfly)        \
    X(transpose)        \
    X(product)          \
    X(count)            \
    X(histogram)        \
    X(paths)
// clang-format on

/* Neighbours are read, then everybody writes. */
KERNEL(stencil)
{
    SHARED(unsigned, t, N);
    int l = ITEM;
    t[l] = in[l];
    BARRIER();
    for (int step = 0; step < 6; step++) {
        unsigned v = t[(l + N - 1) % N] + 2 * t[l] + t[(l + 1) % N];
        BARRIER();
        t[l] = v;
        BARRIER();
    }
    out[l] = t[l];
}

/* One work-item broadcasts what to do next. */
KERNEL(flag)
{
    SHARED(unsigned, go, 1);
    int l = ITEM;
    unsigned sum = 0;
    for (int i = 0; i < 16; i++) {
        if (l == 0)
            go[0] = in[i] & 1;
        BARRIER();
        sum = sum * 3 + (go[0] ? in[(l + i) % N] : 1);
        BARRIER();
    }
    out[l] = sum;
}

KERNEL(scan)
{
    SHARED(unsigned, t, N);
    int l = ITEM;
    t[l] = in[l];
    BARRIER();
    for (int d = 1; d < N; d *= 2) {
        unsigned v = t[l];
        if (l >= d)
            v += t[l - d];
        BARRIER();
        t[l] = v;
        BARRIER();
    }
    out[l] = t[l];
}

/* Two halves of an array in turn. */
KERNEL(scan_two_buffers)
{
    SHARED(unsigned, t, 2 * N);
    int l = ITEM, to = 0, from = 1;
    t[l] = l ? in[l - 1] : 0;
    t[N + l] = 0;
    BARRIER();
    for (int d = 1; d < N; d *= 2) {
        to = 1 - to;
        from = 1 - to;
        t[to * N + l] = t[from * N + l] + (l >= d ? t[from * N + l - d] : 0);
        BARRIER();
    }
    out[l] = t[to * N + l];
}

KERNEL(reduction)
{
    SHARED(unsigned, t, N);
    int l = ITEM;
    t[l] = in[l];
    BARRIER();
    for (int d = N / 2; d > 0; d /= 2) {
        if (l < d)
            t[l] += t[l + d];
        BARRIER();
    }
    out[l] = t[0] + l;
}

/* Radix sort, one bit at a time: a scan of the flags, then all items move. */
KERNEL(radix_sort)
{
    SHARED(unsigned, t, N);
    SHARED(unsigned, before, N);
    SHARED(unsigned, zeros, 1);
    int l = ITEM;
    t[l] = in[l] & 255u;
    BARRIER();
    for (unsigned bit = 0; bit < 8; bit++) {
        unsigned v = t[l], zero = !(v >> bit & 1u);
        before[l] = zero;
        BARRIER();
        for (int d = 1; d < N; d *= 2) {
            unsigned sum = l >= d ? before[l - d] : 0;
            BARRIER();
            before[l] += sum;
            BARRIER();
        }
        if (l == N - 1)
            zeros[0] = before[l];
        BARRIER();
        unsigned mine = before[l] - zero;
        t[zero ? mine : zeros[0] + (unsigned)l - mine] = v;
        BARRIER();
    }
    out[l] = t[l];
}

KERNEL(bitonic_sort)
{
    SHARED(unsigned, t, N);
    int l = ITEM;
    t[l] = in[l];
    BARRIER();
    for (int k = 2; k <= N; k *= 2)
        for (int j = k / 2; j > 0; j /= 2) {
            int other = l ^ j;
            if (other > l && (t[l] > t[other]) == ((l & k) == 0)) {
                unsigned v = t[l];
                t[l] = t[other];
                t[other] = v;
            }
            BARRIER();
        }
    out[l] = t[l];
}

/* Everybody keeps a value over the barrier and writes it elsewhere. */
KERNEL(odd_even_sort)
{
    SHARED(unsigned, t, N);
    int l = ITEM;
    t[l] = in[l];
    BARRIER();
    for (int step = 0; step < N; step++) {
        int other = (l + step) % 2 ? l - 1 : l + 1;
        int inside = other >= 0 && other < N;
        unsigned mine = t[l], theirs = inside ? t[other] : mine;
        BARRIER();
        t[l] = !inside     ? mine
               : other > l ? (mine < theirs ? mine : theirs)
                           : (mine > theirs ? mine : theirs);
        BARRIER();
    }
    out[l] = t[l];
}

/* The same place is read before and after another work-item has written it. */
KERNEL(read_twice)
{
    SHARED(unsigned, t, N);
    int l = ITEM;
    t[l] = in[l];
    BARRIER();
    unsigned first = t[5];
    BARRIER();
    if (l == 7)
        t[5] = in[9] * 3;
    BARRIER();
    unsigned second = t[5];
    BARRIER();
    if (l == 100)
        t[5] += first;
    BARRIER();
    out[l] = first * 100 + second * 10 + t[5];
}

/* Repeats until no work-item has changed anything. */
KERNEL(converge)
{
    SHARED(unsigned, t, N);
    SHARED(unsigned, changed, 1);
    int l = ITEM;
    unsigned rounds = 0, again;
    t[l] = in[l] & 63;
    do {
        if (l == 0)
            changed[0] = 0;
        BARRIER();
        unsigned v = l ? t[l - 1] : 0;
        BARRIER();
        if (t[l] < v) {
            t[l] = v;
            changed[0] = 1;
        }
        rounds++;
        BARRIER();
        again = changed[0];
        BARRIER();
    } while (again);
    out[l] = t[l] * 1000 + rounds;
}

/* A sum that is carried from one part to the next. */
KERNEL(carry)
{
    SHARED(unsigned, t, N);
    SHARED(unsigned, total, 1);
    int l = ITEM;
    unsigned sum = 0;
    if (l == 0)
        total[0] = 0;
    for (int part = 0; part < 5; part++) {
        t[l] = in[(l * 7 + part) % N];
        BARRIER();
        for (int d = N / 2; d > 0; d /= 2) {
            if (l < d)
                t[l] += t[l + d];
            BARRIER();
        }
        sum = sum * 5 + total[0];
        BARRIER();
        if (l == 0)
            total[0] += t[0];
        BARRIER();
    }
    out[l] = sum + total[0];
}

/* Rows of a matrix by the row that all read; without fractions. */
KERNEL(elimination)
{
    SHARED(unsigned, m, N);
    int l = ITEM, row = l / 8, column = l % 8;
    m[l] = in[l] & 15;
    BARRIER();
    for (int k = 0; k < 8; k++) {
        unsigned factor = m[row * 8 + k], pivot = m[k * 8 + k], v = m[l];
        unsigned top = m[k * 8 + column];
        BARRIER();
        if (row > k)
            m[l] = (v * pivot - top * factor) & 0xffff;
        BARRIER();
    }
    out[l] = m[l];
}

HELPER unsigned exchange(LOCAL(unsigned) t, int l, int with, unsigned v)
{
    t[l] = v;
    BARRIER();
    unsigned result = t[with];
    BARRIER();
    return result;
}

/* Barriers in a function; the tile is used again at once. */
KERNEL(butterfly)
{
    SHARED(unsigned, t, N);
    int l = ITEM;
    unsigned v = in[l];
    for (int d = 1; d < N; d *= 2) {
        unsigned other = exchange(t, l, l ^ d, v);
        v = l & d ? other - v : other + v;
    }
    out[l] = v;
}

KERNEL(transpose)
{
    SHARED(unsigned, t, 8 * (N / 8 + 1));
    int l = ITEM;
    unsigned v = in[l];
    for (int i = 0; i < 3; i++) {
        t[(l % 8) * (N / 8 + 1) + l / 8] = v + i;
        BARRIER();
        v = t[l / (N / 8) * (N / 8 + 1) + l % (N / 8)] * 3;
        BARRIER();
    }
    out[l] = v;
}

/* A tile that is filled again and again. */
KERNEL(product)
{
    SHARED(unsigned, a, N);
    SHARED(unsigned, b, N);
    int l = ITEM, row = l / 8, column = l % 8;
    unsigned sum = 0;
    for (int tile = 0; tile < 4; tile++) {
        a[l] = in[(l + tile * 11) % N] & 31;
        b[l] = in[(l * 3 + tile) % N] & 31;
        BARRIER();
        for (int k = 0; k < 8; k++)
            sum += a[row * 8 + k] * b[k * 8 + column];
        BARRIER();
    }
    out[l] = sum;
}

/* How many have something; the count is taken back and used again. */
KERNEL(count)
{
    SHARED(unsigned, found, 1);
    int l = ITEM;
    unsigned sum = 0;
    for (int i = 0; i < 4; i++) {
        if (l == i)
            found[0] = 0;
        BARRIER();
        if (in[l] >> i & 1)
            INCREMENT(&found[0]);
        BARRIER();
        sum = sum * 200 + found[0];
        BARRIER();
    }
    out[l] = sum;
}

/* A column of counters for every work-item. */
KERNEL(histogram)
{
    SHARED(unsigned, bins, 4 * N);
    int l = ITEM;
    for (int i = 0; i < 4; i++)
        bins[i * N + l] = 0;
    for (int i = 0; i < 8; i++)
        bins[(in[(l + i) % N] & 3) * N + l]++;
    BARRIER();
    for (int d = N / 2; d > 0; d /= 2) {
        if (l < d)
            for (int i = 0; i < 4; i++)
                bins[i * N + l] += bins[i * N + l + d];
        BARRIER();
    }
    out[l] = bins[(l & 3) * N] * 10 + bins[((l + 1) & 3) * N];
}

/* A table in place, of longer and longer steps (Floyd and Warshall). */
KERNEL(paths)
{
    SHARED(unsigned, d, N);
    int l = ITEM, row = l / 8 % 8, column = l % 8;
    d[l] = in[l] & 1023;
    BARRIER();
    for (int k = 0; k < 8; k++) {
        int base = l / 64 * 64;
        unsigned through = d[base + row * 8 + k] + d[base + k * 8 + column];
        BARRIER();
        if (through < d[l])
            d[l] = through;
        BARRIER();
    }
    out[l] = d[l];
}
