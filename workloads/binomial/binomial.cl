/*
 * The price of a European call on a binomial lattice, a block an option. At first values[i] is what
 * the option pays after i moves up of all STEPS. Each step back in time makes the value of a node
 * from those of its two successors. Steps read one array and write the other, so one barrier each.
 */
struct call {
    float spot, strike;
    float step;
    float up, down;
};

__kernel __attribute__((reqd_work_group_size(BLOCK_X, 1, 1)))
void price(__global const struct call *calls, __global float *prices)
{
    __local float values[2][STEPS + 1];
    struct call call = calls[get_group_id(0)];
    uint lane = get_local_id(0), from = 0;

    for (uint i = lane; i <= STEPS; i += BLOCK_X) {
        int moves = 2 * (int)i - STEPS;
        values[0][i] = fmax(call.spot * exp(moves * call.step) - call.strike, 0);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint nodes = STEPS; nodes > 0; nodes--, from ^= 1) {
        for (uint i = lane; i < nodes; i += BLOCK_X)
            values[from ^ 1][i] = call.up * values[from][i + 1] + call.down * values[from][i];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (lane == 0)
        prices[get_group_id(0)] = values[from][0];
}
