// Monte Carlo with xorshift generators: points in the quarter circle; and random walks.
uint next(uint *state)
{
    uint x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

kernel void quarter_circle(global const uint *seeds, global uint *inside, int samples)
{
    uint state = seeds[get_global_id(0)], hits = 0;
    for (int i = 0; i < samples; i++) {
        float x = (next(&state) >> 8) * 0x1p-24f, y = (next(&state) >> 8) * 0x1p-24f;
        hits += x * x + y * y < 1.0f;
    }
    inside[get_global_id(0)] = hits;
}

kernel void walk(global const ulong *seeds, global int2 *end, int limit)
{
    ulong s = seeds[get_global_id(0)];
    int x = 0, y = 0, steps = 0;
    while (steps < limit && abs(x) + abs(y) < 12) {
        s ^= s >> 12;
        s ^= s << 25;
        s ^= s >> 27;
        switch (s * 0x2545f4914f6cdd1dul >> 62) {
        case 0:
            x++;
            break;
        case 1:
            x--;
            break;
        case 2:
            y++;
            break;
        default:
            y--;
        }
        steps++;
    }
    end[get_global_id(0)] = (int2)(x * 100 + y, steps);
}
