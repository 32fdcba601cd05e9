/* Test mechanism: gives registers other rows than they are offered, and moves them, whole or in
 * pieces, while their warps run; and gives threads other lanes. */
#include "seam/seam.h"

#define COMPONENT rows
#define COMPONENT_DEF "seam/rows.def"
#define COMPONENT_HELP "moves registers, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    MAP_OFFERED,
    MAP_REVERSED,
    MAP_BEYOND,
    MAP_TWICE
};

struct rows {
    MECHANISM_STATE(rows);
    u32 added;   /* the first one */
    u64 retired; /* instructions */
};

static void create(void *state, struct core *core)
{
    struct rows *r = state;
    r->added = core_add_rows(core, r->params->added);
}

static void allocate(void *state, struct core *core, u32 slot, u32 *rows, u32 count)
{
    struct rows *r = state;
    const u32 all = core_rows(core);
    r->stats->allocated += count;
    for (u32 i = 0; i < count && r->params->map == MAP_REVERSED; i++)
        rows[i] = all - 1 - (core_slot(core, slot)->warp->frame * count + i);
    if (r->params->map == MAP_BEYOND)
        rows[count - 1] = all;
    if (r->params->map == MAP_TWICE)
        rows[count - 1] = rows[0];
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    struct rows *r = state;
    u8 lanes[MAX_LANES] = {0};
    if (!started)
        return;
    const u32 spare = core_spare_rows(core, NULL, 0);
    r->stats->spare = r->stats->spare ? MIN(r->stats->spare, spare) : spare;
    for (u32 i = 0; r->params->turn && i < core_warp_size(core); i++)
        lanes[i] = (u8)(core_warp_size(core) - 1 - i);
    for (u64 set = core_block(core, place)->slots; set; set &= set - 1) {
        if (r->params->turn || r->params->turn_badly)
            core_set_lanes(core, first_bit(set), lanes);
        for (u32 i = 0; i < core_warp_size(core); i++)
            r->stats->lanes += core_lane(core, first_bit(set), i) != i;
    }
}

/* Where a register goes: to a spare row, or one of the mechanism's own. */
static u32 target(const struct rows *r, const struct core *core)
{
    enum {
        CHOICES = 64
    };
    u32 rows[CHOICES];
    for (u32 i = 0; i < r->params->added && r->retired % 2; i++)
        if (!core_row_lanes(core, r->added + i))
            return r->added + i;
    const u32 count = MIN(core_spare_rows(core, rows, CHOICES), CHOICES);
    return count ? rows[r->retired % count] : NO_ROW;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    struct rows *r = state;
    if (!r->params->every || ++r->retired % r->params->every ||
        !core_slot(core, inflight->slot)->warp)
        return;
    const u64 n = r->retired / r->params->every;
    const u32 reg = (u32)(n % core_exec(core)->register_rows), row = target(r, core);
    if (row == NO_ROW)
        return;
    const lane_set lanes =
        r->params->pieces ? 15ull << n / 7 * 4 % core_warp_size(core) : core_all_lanes(core);
    r->stats->moves++;
    if (r->params->lose)
        core_place_lanes(core, inflight->slot, reg, lanes, row);
    else
        core_move_lanes(core, inflight->slot, reg, lanes, row);
}

const struct mechanism rows_mechanism = {
    MECHANISM_NAMED(rows, "moves registers"),
    .state_size = sizeof(struct rows),
    .create = create,
    .allocate = allocate,
    .block = block,
    .retired = retired,
};
