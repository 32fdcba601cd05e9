/*
 * Random numbers of a normal distribution: each thread runs a Mersenne twister of its own, of 19
 * words with a matrix of its own, and a second kernel makes normal numbers of its even ones. The
 * words are looked up by number, so they lie in the thread's private memory, not in registers.
 */
#define WORDS 19
#define MIDDLE 9
#define UPPER 0xfffffffeu /* of a word, what is used together with LOWER of the next */
#define LOWER 1u

/* Row i of the results holds the numbers that all threads gave out as their i-th. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void twist(__global const uint *matrices, __global const uint *seeds, __global float *numbers,
           uint rows)
{
    uint thread = get_global_id(0), threads = get_global_size(0);
    uint matrix = matrices[thread], words[WORDS], at = 0;

    words[0] = seeds[thread];
    for (uint i = 1; i < WORDS; i++) /* as the twister's authors fill it from one word */
        words[i] = 1812433253u * (words[i - 1] ^ words[i - 1] >> 30) + i;
    uint now = words[0];
    for (uint row = 0; row < rows; row++) {
        uint next = at + 1 < WORDS ? at + 1 : 0;
        uint middle = at + MIDDLE < WORDS ? at + MIDDLE : at + MIDDLE - WORDS;
        uint following = words[next], mixed = (now & UPPER) | (following & LOWER);
        uint x = words[middle] ^ mixed >> 1 ^ (mixed & 1 ? matrix : 0);
        words[at] = x;
        at = next;
        now = following;
        x ^= x >> 11; /* tempering, with the constants of MT19937 */
        x ^= x << 7 & 0x9d2c5680u;
        x ^= x << 15 & 0xefc60000u;
        x ^= x >> 18;
        /* Neither 0 nor 1, and no rounding: 23 bits and a half. */
        numbers[row * threads + thread] = ((x >> 9) + 0.5f) * 0x1p-23f;
    }
}

/* Two even numbers become two normal ones (Box and Muller, 1958). Rows come in pairs. */
__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void make_normal(__global float *numbers, uint rows)
{
    uint threads = get_global_size(0);

    for (uint row = 0; row < rows; row += 2) {
        uint i = row * threads + get_global_id(0);
        float radius = sqrt(-2 * log(numbers[i]));
        float angle = 2 * M_PI_F * (numbers[i + threads] - 0.5f);
        numbers[i] = radius * native_cos(angle);
        numbers[i + threads] = radius * native_sin(angle);
    }
}
