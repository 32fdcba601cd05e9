// targets: ptx clang14 clang19 v4 debug
// Constant data of the program itself: tables, structures, strings, switches made into tables.
constant uint squares[16] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225};
constant float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
constant struct month {
    char name[4];
    uchar days;
    short before;
} months[12] = {{"Jan", 31, 0},   {"Feb", 28, 31},  {"Mar", 31, 59},  {"Apr", 30, 90},
                {"May", 31, 120}, {"Jun", 30, 151}, {"Jul", 31, 181}, {"Aug", 31, 212},
                {"Sep", 30, 243}, {"Oct", 31, 273}, {"Nov", 30, 304}, {"Dec", 31, 334}};
constant double primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

kernel void look_up(global const uint *in, global ulong *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    uint v = in[i];
    out[i] = squares[v & 15] + ((ulong)primes[v >> 4 & 7] << 32) + (v >> 8) % 7 * 1000;
}

kernel void smooth(global const float *in, global float *out, int n)
{
    int i = get_global_id(0);
    float sum = 0.0f;
    for (int k = 0; k < 5; k++)
        sum = fma(weights[k], in[clamp(i + k - 2, 0, n - 1)], sum);
    if (i < n)
        out[i] = sum;
}

// A day of the year as text: "Mar17".
kernel void dates(global const ushort *day, global char *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int m = 0, d = day[i];
    while (m < 11 && d >= months[m + 1].before)
        m++;
    d -= months[m].before - 1;
    for (int k = 0; k < 3; k++)
        out[5 * i + k] = months[m].name[k];
    out[5 * i + 3] = d > months[m].days ? '?' : '0' + d / 10;
    out[5 * i + 4] = '0' + d % 10;
}

// A dense switch with different work in each arm.
kernel void dense(global const uint *op, global const int *a, global int *out, int n)
{
    int i = get_global_id(0);
    if (i >= n)
        return;
    int x = a[i], r;
    switch (op[i]) {
    case 0:
        r = x + 1;
        break;
    case 1:
        r = x * x;
        break;
    case 2:
        r = x ^ 0x5555;
    case 3: // falls into the next
        r = x / 3;
        break;
    case 4:
        r = popcount(x);
        break;
    case 5:
        r = 0;
        for (int k = 0; k < (x & 7); k++)
            r += k * x;
        break;
    case 6:
        r = -x;
        break;
    case 7:
        return;
    case 8:
        r = (int)squares[x & 15];
        break;
    default:
        r = 99;
    }
    out[i] = r;
}
