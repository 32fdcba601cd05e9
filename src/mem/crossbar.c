/*
 * The crossbar: one router between all inputs and all outputs.
 *
 * In each cycle, a flit of each waiting packet enters its input's buffer; the switch makes
 * `speedup` steps; each output's link takes a flit, which is at the output hop_cycles - 1 later. A
 * step moves at most one flit from each buffer and to each output. Buffers are queues: the packet
 * at the head requests its output, and those behind it wait. A free output is granted to the next
 * requesting input, round robin, and stays granted until the packet's tail has passed. Since a
 * buffer requests only one output, this equals iSLIP.
 *
 * A grant takes a step of its own, so that a packet of n flits occupies buffer and output for n + 1
 * steps: at two steps per cycle (as in GPGPU-Sim's intersim2: internal_speedup 2, one virtual
 * channel, vc_alloc and sw_alloc one step each) packets of one flit pass at one per cycle, with the
 * head-of-line blocking of input queues, and longer ones faster than the links take them. At one
 * step per cycle, the next packet is granted its output while the previous one passes.
 *
 * With reply_by_sector, a reply is as many packets as it has sectors. They stay together here: its
 * parts follow each other in the buffer and each asks anew, so that other inputs come between; it is
 * delivered with the last. (GPGPU-Sim splits a request into sectors at the L2 and answers each.)
 *
 * Deviations: an output holds output_packets packets whatever their size (GPGPU-Sim: 64 + 16
 * flits), an entrance input_packets (GPGPU-Sim: 9 flits); the whole pipeline of hop_cycles is after
 * the switch.
 */
#include "base/hot.h"
#include "base/state_walk.h"
#include "mem/network_kind.h"

enum {
    NO_INPUT = UINT32_MAX
};

struct input_buffer {
    RING(u32) packets; /* slots with a flit in the buffer, or whose flits are still entering */
    u32 held;          /* flits */
    /* of the first packet, once it requests: */
    u32 left;       /* flits of the parts that have not passed */
    u32 part;       /* of the part that requests or passes: flits that have not passed */
    u32 part_flits; /* flits of every part */
    u32 output;
    bool begun; /* a part of it has passed, so that it has its place at the output */
};

struct exit {
    /* Inputs whose first packet requests this output, not granted yet. */
    union {
        u64 few;   /* of at most 64 inputs */
        u64 *many; /* of more */
    } asking;
    u32 given;      /* the input it is granted to, or NO_INPUT */
    u32 last;       /* granted last: round robin starts after it */
    u64 link_cycle; /* when the link takes the last flit that has passed the switch */
};

struct crossbar {
    struct input_buffer *buffers;
    struct exit *exits;
    u64 *wanted; /* exits that are granted or requested */
    u64 *next;   /* inputs whose next packet requests from the next step on */
};

void crossbar_create(struct network *network)
{
    struct arena *arena = network->arena;
    struct crossbar *crossbar = arena_new(arena, struct crossbar);
    network->crossbar = crossbar;
    crossbar->buffers = arena_array(arena, struct input_buffer, network->inputs);
    for (u32 i = 0; i < network->inputs; i++)
        ring_create(&crossbar->buffers[i].packets, arena, network->params.buffer_flits + 1);
    crossbar->exits = arena_array(arena, struct exit, network->outputs);
    for (u32 o = 0; o < network->outputs; o++) {
        if (network->input_words > 1)
            crossbar->exits[o].asking.many = arena_array(arena, u64, network->input_words);
        crossbar->exits[o].last = network->inputs - 1;
        crossbar->exits[o].given = NO_INPUT;
    }
    crossbar->wanted = arena_array(arena, u64, network->output_words);
    crossbar->next = arena_array(arena, u64, network->input_words);
}

/*
 * The functions below are compiled twice: for networks of at most 64 inputs and outputs, whose
 * masks are one word, and for all others.
 */
#define EACH_WIDTH static inline __attribute__((always_inline))

struct width {
    u32 input_words, output_words;
};

/* bit_set and bit_clear for a mask of this many words. */
EACH_WIDTH void join(u64 *mask, u32 member, u32 words)
{
    mask[words == 1 ? 0 : member / 64] |= 1ull << member % 64;
}
EACH_WIDTH void quit(u64 *mask, u32 member, u32 words)
{
    mask[words == 1 ? 0 : member / 64] &= ~(1ull << member % 64);
}

EACH_WIDTH u64 *asking(struct exit *exit, struct width width)
{
    return width.input_words == 1 ? &exit->asking.few : exit->asking.many;
}

/* The first packet of a buffer requests its output. */
EACH_WIDTH void ask(struct network *network, u32 input, struct width width)
{
    struct crossbar *crossbar = network->crossbar;
    struct input_buffer *buffer = &crossbar->buffers[input];
    const struct queued_packet *slot = &network->slots[*ring_head(&buffer->packets)];
    buffer->begun = false;
    buffer->left = slot->flits;
    buffer->part = buffer->part_flits = slot->part_flits;
    buffer->output = slot->output;
    join(asking(&crossbar->exits[buffer->output], width), input, width.input_words);
    join(crossbar->wanted, buffer->output, width.output_words);
}

/* A flit of each entrance enters its buffer. */
EACH_WIDTH void enter(struct network *network, struct width width)
{
    struct input_buffer *buffers = network->crossbar->buffers;
    u32 limit = network->params.buffer_flits;
    for (u32 w = 0; w < width.input_words; w++) {
        FOR_BITS(bit, network->waiting[w]) {
            u32 input = w * 64 + (u32)bit;
            struct input_buffer *buffer = &buffers[input];
            if (buffer->held == limit)
                continue;
            bool head;
            u32 at = entrance_flit(network, input, &head);
            buffer->held++;
            if (!head)
                continue;
            *ring_push(&buffer->packets) = at;
            if (buffer->held == 1) /* all packets before it have left */
                ask(network, input, width);
        }
    }
}

/* The first requesting input after the last one, wrapping around. There is one. */
EACH_WIDTH u32 first_asking(struct exit *exit, struct width width)
{
    const u64 *const set = asking(exit, width);
    u32 w = width.input_words == 1 ? 0 : exit->last / 64;
    const u64 later = set[w] & ~1ull << exit->last % 64;
    if (width.input_words == 1)
        return (u32)__builtin_ctzll(later ? later : set[0]);
    u64 bits = later;
    while (!bits) {
        w = w + 1 == width.input_words ? 0 : w + 1;
        bits = set[w];
    }
    return w * 64 + (u32)__builtin_ctzll(bits);
}

/* The first that asks for a further part of a packet, which has its place at the output already. */
static COLD u32 first_begun(const struct network *network, struct exit *exit)
{
    const u64 *const set = asking(exit, (struct width){network->input_words, 0});
    for (u32 i = 1; i <= network->inputs; i++) {
        const u32 input = (exit->last + i) % network->inputs;
        if (set[input / 64] >> input % 64 & 1 && network->crossbar->buffers[input].begun)
            return input;
    }
    return NO_INPUT;
}

EACH_WIDTH bool give(struct network *network, u32 output, struct exit *exit, struct width width)
{
    u32 input = first_asking(exit, width);
    if (!network->crossbar->buffers[input].begun && !outlet_claim(network, output)) {
        input = network->by_sector ? first_begun(network, exit) : NO_INPUT;
        if (input == NO_INPUT)
            return false;
    }
    quit(asking(exit, width), input, width.input_words);
    exit->given = exit->last = input;
    return true;
}

/* All flits of a part have passed the switch, and its exit is free. The next part asks for it at once:
 * the exit is not visited again in this step. */
EACH_WIDTH void end_part(struct network *network, u32 output, struct exit *exit, struct width width)
{
    struct crossbar *crossbar = network->crossbar;
    const u32 input = exit->given;
    struct input_buffer *buffer = &crossbar->buffers[input];
    exit->given = NO_INPUT;
    buffer->left -= buffer->part_flits;
    if (buffer->left) {
        buffer->begun = true;
        buffer->part = buffer->part_flits;
        join(asking(exit, width), input, width.input_words);
        return;
    }
    if (!any_bit(asking(exit, width), width.input_words))
        quit(crossbar->wanted, output, width.output_words);
    const u32 at = *ring_head(&buffer->packets);
    ring_pop(&buffer->packets);
    if (buffer->held)
        join(crossbar->next, input, width.input_words);
    outlet_deliver(network, output, at, exit->link_cycle + network->params.hop_cycles - 1);
}

/* Passes a flit of the packet that the exit is granted to, if one is in the buffer; returns the number
 * of flits. */
EACH_WIDTH u32 pass_flit(struct network *network, u32 output, struct exit *exit, struct width width)
{
    struct input_buffer *buffer = &network->crossbar->buffers[exit->given];
    if (!buffer->held)
        return 0;
    buffer->held--;
    exit->link_cycle = MAX(exit->link_cycle + 1, network->now);
    if (!--buffer->part)
        end_part(network, output, exit, width);
    return 1;
}

/* Returns the number of flits that pass. */
EACH_WIDTH u32 step(struct network *network, bool overlap, struct width width)
{
    struct crossbar *crossbar = network->crossbar;
    u32 passed = 0;
    for (u32 w = 0; w < width.output_words; w++) {
        FOR_BITS(bit, crossbar->wanted[w]) {
            u32 output = w * 64 + (u32)bit;
            struct exit *exit = &crossbar->exits[output];
            if (exit->given != NO_INPUT || (give(network, output, exit, width) && overlap))
                passed += pass_flit(network, output, exit, width);
        }
    }
    /* Only now, otherwise a buffer could send two flits in a step. */
    for (u32 w = 0; w < width.input_words; w++) {
        FOR_BITS(bit, crossbar->next[w])
            ask(network, w * 64 + (u32)bit, width);
        crossbar->next[w] = 0;
    }
    return passed;
}

EACH_WIDTH void tick(struct network *network, struct width width)
{
    const u32 steps = network->params.speedup;
    u32 passed = 0;
    enter(network, width);
    for (u32 s = 0; s < steps; s++)
        passed += step(network, steps == 1, width);
    network->stats->hops += passed;
}

HOT void crossbar_tick(struct network *network)
{
    if (network->input_words == 1 && network->output_words == 1)
        tick(network, (struct width){1, 1});
    else
        tick(network, (struct width){network->input_words, network->output_words});
}

/* ---- for visitors ---- */

bool crossbar_flit(const struct network *network, u32 input, u32 position, u32 *slot, u32 *flit)
{
    const struct input_buffer *buffer = &network->crossbar->buffers[input];
    if (position >= buffer->held)
        return false;
    for (u32 i = 0; i < ring_count(&buffer->packets); i++) {
        *slot = *ring_at(&buffer->packets, i);
        const u32 flits = network->slots[*slot].flits;
        const u32 left = i == 0 && buffer->left ? buffer->left : flits;
        *flit = flits - left + position;
        if (position < left)
            return true;
        position -= left;
    }
    return false;
}

u32 *crossbar_turn(const struct network *network, u32 output)
{
    return &network->crossbar->exits[output].last;
}

u64 crossbar_hash(const struct network *network, u64 hash)
{
    for (u32 i = 0; i < network->inputs; i++) {
        const struct input_buffer *buffer = &network->crossbar->buffers[i];
        if (ring_count(&buffer->packets))
            hash = hash_word(hash, (u64)i << 48 | (u64)buffer->held << 32 | buffer->left << 8 |
                                       buffer->part << 1 | buffer->begun);
        for (u32 k = 0; k < ring_count(&buffer->packets); k++)
            hash = hash_word(hash, network->slots[*ring_at(&buffer->packets, k)].packet.address);
    }
    for (u32 o = 0; o < network->outputs; o++) {
        const struct exit *exit = &network->crossbar->exits[o];
        if (exit->given != NO_INPUT || exit->link_cycle > network->now)
            hash = hash_word(hash, (u64)o << 48 | (u64)exit->given << 16 |
                                       (MAX(exit->link_cycle, network->now) - network->now));
    }
    return hash;
}
