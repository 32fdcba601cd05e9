/* Test mechanism: reads the chip, on each core its part. Seam: launch. */
#include "core/mechanism.h"

#define COMPONENT reader
#define COMPONENT_DEF "chip/reader.def"
#define COMPONENT_HELP "reads the chip, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

extern const struct mechanism reader_mechanism;

struct reader {
    MECHANISM_STATE(reader);
};

static void launch(void *state, struct core *core, bool begins)
{
    struct reader *r = state;
    const struct file_plan *plan = &core_chip(core)->plan;
    const struct chip_core *own = core_chip_core(core);
    const u32 weight = core_config(core)->index + 1;
    if (!begins)
        return;
    for (u32 i = 0; i < file_plan_words(plan); i++)
        r->stats->delays += own->delays[i] * weight;
    for (u32 entry = 0; entry < plan->banks * plan->entries; entry++) {
        const u32 count = chip_failing(own, entry, 0.625);
        r->stats->failing += count * weight;
        for (u32 i = 0; i < count; i++)
            r->stats->ones += cell_reads(&chip_cells(own, entry)[i]);
    }
}

const struct mechanism reader_mechanism = {
    MECHANISM_NAMED(reader, "reads the chip"), .chip = true,     .no_operands = true,
    .state_size = sizeof(struct reader),       .launch = launch,
};
