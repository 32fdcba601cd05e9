/*
 * What `rise` adds to the hardware, the energy of its events, and where it differs from the text.
 */
#include "mech/rise.h"

void rise_storage(const void *params, struct state_list *list)
{
    const struct rise_params *p = params;
    const struct state_row *file = state_find(list, "collect.registers");
    const struct state_row *queue = state_find(list, "dram.queue");
    const struct state_row *blocks = state_find(list, "issue.arrived");
    const u32 lanes = file ? file->shape.access_bits / 32 : 32;
    state_flops(list, "rise", "buffer", p->buffers, 32 * lanes, STATE_COUNTED,
                "results that wait for their comparison");
    if (!p->request_pending)
        return;
    state_flops(list, "rise", "counters", blocks ? blocks->entries : 8, RISE_TIMER_BITS + 6,
                STATE_COUNTED,
                "instructions that a block still executes twice: redundant cycles times warps");
    if (!queue)
        return;
    state_owner(list, "channel", queue->copies);
    state_flops(list, "rise", "timers", queue->entries, RISE_TIMER_BITS, STATE_COUNTED,
                "how long a request has waited in the controller's buffer");
    state_flops(list, "rise", "latency", 1, 4 * RISE_TIMER_BITS, STATE_COUNTED,
                "the sampled latency, its sum and its number of requests");
    state_owner(list, "core", file ? file->copies : 1);
}

/* Horowitz 2014: an addition of 32 bits; a comparison of as many takes two thirds of it, as in `uniform`. */
#define HOROWITZ \
    "32-bit addition, Horowitz, Computing's energy problem, ISSCC 2014: 0.1 pJ at 45 nm"

const struct energy_event rise_events[] = {
    {"buffer_words", "redundancy", ENERGY_WRITE, "rise.buffer", .bits = 32},
    {"compared_words", "redundancy", ENERGY_READ, "rise.buffer", .bits = 32},
    {"compared_words", "redundancy", ENERGY_LOGIC, .pj = 0.067, .nm = 45,
     .source = "a comparison of 32 bits as two thirds of a " HOROWITZ},
    {"counters_set", "redundancy", ENERGY_WRITE, "rise.counters"},
    {"redundant_pending", "redundancy", ENERGY_WRITE, "rise.counters"},
    {"timed", "redundancy", ENERGY_READ, "rise.timers"},
    {"scaled", "redundancy", ENERGY_LOGIC, .pj = 0.3, .nm = 45,
     .source =
         "a multiplication of 10 bits: a tenth of that of 32 bits, 3.1 pJ, Horowitz, ISSCC 2014"},
    {0},
};

const char *const rise_deviations[] = {
    "The result of an instruction that is executed twice is written when it has been compared, one "
    "cycle later "
    "than in the text, which writes it to the register and to the buffer at once. An instruction "
    "that overwrites one of its "
    "sources could not be executed a third time. On rise28, where a warp waits for the copy "
    "anyway, this takes no time.",
    "The copy issues with the operands that the first execution has read; it takes collectors and "
    "banks like any instruction.",
    "Instructions in idle lanes (partial) are computed and compared like others, but their bits in "
    "the units cannot be flipped. A "
    "partner is taken if any of its threads fits. Instructions that read special registers have no "
    "partner.",
    "Votes, shuffles and instructions of scalar units are executed once, like loads, stores and "
    "branches.",
    "The warp, register and other control of a result are not compared, only its values and lanes.",
    "The third execution issues after a fixed time (refetch); it is not fetched through the "
    "instruction cache. It is impossible where "
    "a warp may have several instructions in flight and has issued another one meanwhile: the "
    "launch then stops.",
    "Timers and the latency count cycles of the memory controller; a block's counter counts "
    "instructions of the core.",
    "The buffer has two registers instead of one: 64-bit results take both.",
    "Cores are drawn for each launch, and which of them really get more blocks is left to the "
    "dispatcher.",
    NULL,
};
