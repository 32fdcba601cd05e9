/*
 * Which bits are flipped, and when.
 *
 * Evenly over the product of all live bits of the selected structures and all cycles of all
 * launches. Counted bits, which the model does not hold, cannot be flipped; the summary lists them
 * apart.
 */
#include "base/rng.h"
#include "base/text.h"
#include "fault/campaign.h"
#include <regex.h>
#include <stdlib.h>

static void add_target(struct hd_inject *inject, const struct state_row *row, const char *name)
{
    const u32 owners = row->replaced ? 0 : timing_owners(inject->device->timing, row);
    const u64 live = owners * state_backed_bits(row);
    *vec_push(&inject->targets) = (struct fault_target){
        .row = row,
        .name = name,
        .owners = owners,
        .live = live,
        .counted = state_bits(row) - live,
    };
    inject->live_bits += live;
    inject->strata += inject->plan.stratify && live;
}

bool draw_targets(struct hd_inject *inject, struct error *error)
{
    const char *pattern = inject->plan.structures ? inject->plan.structures : "";
    const struct state_list *rows = timing_rows(inject->device->timing);
    regex_t regex;
    const int wrong = regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB);
    if (wrong) {
        char text[128];
        regerror(wrong, &regex, text, sizeof text);
        return error_set(error, ERROR_USAGE, "",
                         "'%.200s' is not a regular expression: %s; expected, for example, "
                         "'^collect[.]' or 'registers|shared'",
                         pattern, text);
    }
    for (u32 i = 0; i < rows->rows.count; i++) {
        const struct state_row *row = &rows->rows.data[i];
        const char *name = arena_printf(inject->arena, "%s.%s", row->unit, row->name);
        if (!row->replaced && regexec(&regex, name, 0, NULL, 0) == 0)
            add_target(inject, row, name);
    }
    regfree(&regex);
    if (!inject->targets.count)
        return error_set(
            error, ERROR_USAGE, "",
            "no storage element matches '%.200s': 'heddle machines %s --storage' lists "
            "their names",
            pattern, inject->machine);
    if (!inject->live_bits)
        return error_set(error, ERROR_USAGE, "",
                         "none of the %u storage elements that match '%.200s' has bits that can be "
                         "flipped: 'heddle machines %s --storage' shows which have (column 'live')",
                         inject->targets.count, pattern, inject->machine);
    return true;
}

bool draw_model(struct hd_inject *inject, struct error *error)
{
    static const char burst[] = "burst:", stuck[] = "stuck:";
    const char *model = inject->plan.model ? inject->plan.model : "bit";
    u64 bits;
    if (!strcmp(model, "bit"))
        inject->burst = 1;
    else if (!strcmp(model, "word"))
        inject->burst = 0;
    else if (!strncmp(model, stuck, sizeof stuck - 1) &&
             text_u64(model + sizeof stuck - 1, &bits) == TEXT_OK && bits >= 1 &&
             bits <= MOST_STUCK) {
        inject->burst = 1;
        inject->hold = bits;
    } else if (!strncmp(model, burst, sizeof burst - 1) &&
               text_u64(model + sizeof burst - 1, &bits) == TEXT_OK && bits >= 1 &&
               bits <= MOST_PATTERN)
        inject->burst = (u32)bits;
    else
        return error_set(error, ERROR_USAGE, "",
                         "'%.60s' is no fault model: expected bit, burst:K with K from 1 to %d, "
                         "stuck:CYCLES with 1 to %d cycles, or word",
                         model, MOST_PATTERN, MOST_STUCK);
    return true;
}

/* The bits of an entry: one, some that are next to each other, or a random value in the place of a
 * word of 32 bits. */
static void draw_bits(const struct hd_inject *inject, struct rng *rng, struct injection *fault)
{
    const u32 width = inject->targets.data[fault->target].row->backed;
    if (inject->burst) {
        const u32 bits = MIN(inject->burst, width);
        fault->bit = MIN(fault->bit, width - bits);
        fault->pattern = ~0ull >> (64 - bits);
        return;
    }
    fault->bit = fault->bit / 32 * 32;
    const u32 bits = MIN(32, width - fault->bit);
    fault->pattern = 1 + rng_below(rng, (1ull << bits) - 1);
}

/* A bit of any structure or, if they are strata, of that of the fault's turn. */
static u64 draw_bit(const struct hd_inject *inject, struct rng *rng, u64 id, u32 *target)
{
    u64 turn = inject->strata ? id % inject->strata : 0, bit;
    if (!inject->strata) {
        bit = rng_below(rng, inject->live_bits);
        for (*target = 0; bit >= inject->targets.data[*target].live; ++*target)
            bit -= inject->targets.data[*target].live;
        return bit;
    }
    for (*target = 0; !inject->targets.data[*target].live || turn; ++*target)
        turn -= inject->targets.data[*target].live != 0;
    return rng_below(rng, inject->targets.data[*target].live);
}

static struct injection draw_one(const struct hd_inject *inject, struct rng *rng, u64 id)
{
    const struct ledger *ledger = inject->ledger;
    struct injection fault = {0};
    const u64 bit = draw_bit(inject, rng, id, &fault.target);
    u64 cycle = rng_below(rng, ledger->cycles);
    const struct state_row *row = inject->targets.data[fault.target].row;
    fault.owner = (u32)(bit / state_backed_bits(row));
    fault.entry = bit % state_backed_bits(row) / row->backed;
    fault.bit = (u32)(bit % row->backed);
    draw_bits(inject, rng, &fault);
    for (; cycle >= ledger->ends[fault.launch].cycle; fault.launch++)
        cycle -= ledger->ends[fault.launch].cycle;
    fault.cycle = cycle;
    return fault;
}

void draw_faults(struct hd_inject *inject, u64 end)
{
    for (; inject->drawn < end; inject->drawn++) {
        struct rng rng; /* of its own: what a fault is does not depend on the others */
        rng_stream(&rng, inject->plan.seed, 0, "fault", inject->drawn, "draw");
        inject->faults[inject->drawn] = draw_one(inject, &rng, inject->drawn);
    }
}
