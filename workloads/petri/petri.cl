/*
 * Simulates a stochastic Petri net, one trajectory per block. The net has two rows of places for each
 * thread of the block. A transition takes a token from two places of a row and puts one into the
 * same two places of a neighbouring row; places hold at most CAPACITY tokens. In each step a thread
 * tries one random transition between its own two rows, then one between its second row and the first
 * row of the next thread. The tokens lie in global memory, the block's random numbers (MT19937,
 * Matsumoto and Nishimura) in local memory.
 */
#define WORDS 624 /* of the generator's state */
#define AHEAD 397 /* distance of the word that a new one also depends on */

/* The next WORDS random numbers. As many at a time as do not depend on each other. */
void refill(__local uint *state)
{
    uint at_once = min((uint)get_local_size(0), (uint)(WORDS - AHEAD)), lane = get_local_id(0);

    for (uint start = 0; start < WORDS; start += at_once) {
        uint i = start + lane, word = 0;
        bool mine = lane < at_once && i < WORDS;
        if (mine) {
            uint joined = (state[i] & 0x80000000) | (state[(i + 1) % WORDS] & 0x7fffffff);
            word = state[(i + AHEAD) % WORDS] ^ (joined >> 1) ^ (joined & 1 ? 0x9908b0df : 0);
        }
        barrier(CLK_LOCAL_MEM_FENCE); /* all have read the old words */
        if (mine)
            state[i] = word;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

uint tempered(uint word)
{
    word ^= word >> 11;
    word ^= (word << 7) & 0x9d2c5680;
    word ^= (word << 15) & 0xefc60000;
    return word ^ (word >> 18);
}

/* Fires a transition between two rows if it is enabled; 16 bits choose it. Returns the larger number
 * of tokens that it made, 0 if it did not fire. */
uint fire(__global uchar *row, __global uchar *next, uint choice)
{
    uint one = choice % COLUMNS, other = (one + 1 + (choice >> 6) % (COLUMNS - 1)) % COLUMNS;
    __global uchar *from = choice & 0x8000 ? next : row, *to = choice & 0x8000 ? row : next;

    if (from[one] == 0 || from[other] == 0 || to[one] == CAPACITY || to[other] == CAPACITY)
        return 0;
    from[one]--;
    from[other]--;
    return max(++to[one], ++to[other]);
}

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void simulate(__global const uint *seeds, __global uchar *tokens, __global uint *fired,
              __global uint *most, uint steps)
{
    __local uint state[WORDS], counts[BLOCK_X], largest[BLOCK_X];
    uint lane = get_local_id(0), threads = get_local_size(0), trajectory = get_group_id(0);
    __global uchar *net = tokens + trajectory * 2 * threads * COLUMNS;
    __global uchar *first = net + 2 * lane * COLUMNS, *second = first + COLUMNS;
    __global uchar *next = net + 2 * ((lane + 1) % threads) * COLUMNS;
    uint count = 0, most_seen = 0;

    for (uint i = lane; i < WORDS; i += threads)
        state[i] = seeds[trajectory * WORDS + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 0, used = WORDS; step < steps; step++, used += threads) {
        if (used + threads > WORDS) {
            refill(state);
            used = 0;
        }
        uint choice = tempered(state[used + lane]);
        uint made = fire(first, second, choice & 0xffff);
        count += made > 0;
        most_seen = max(most_seen, made);
        barrier(CLK_GLOBAL_MEM_FENCE);
        made = fire(second, next, choice >> 16);
        count += made > 0;
        most_seen = max(most_seen, made);
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
    counts[lane] = count;
    largest[lane] = most_seen;
    for (uint left = threads / 2; left > 0; left /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < left) {
            counts[lane] += counts[lane + left];
            largest[lane] = max(largest[lane], largest[lane + left]);
        }
    }
    if (lane == 0) {
        fired[trajectory] = counts[0];
        most[trajectory] = largest[0];
    }
}
