/* AVF as a table: see avf.h. Structures that no launch has used have no row. */
#include "cli/avf.h"

#include "base/arena.h"
#include "base/types.h"
#include <string.h>

static f64 number(const json_t *totals, const char *name, const char *what)
{
    char key[64];
    snprintf(key, sizeof key, "avf.%s%s", name, what);
    return json_number_value(json_object_get(totals, key));
}

/* "12.3 %", or "-" where there is nothing to relate to. */
static const char *share(f64 part, f64 whole, char *text, size_t size)
{
    if (whole > 0)
        snprintf(text, size, "%.1f %%", 100 * part / whole);
    else
        snprintf(text, size, "-");
    return text;
}

struct structure {
    const char *text;
    const char *name;     /* of its statistics */
    const char *capacity; /* suffix of all of it, NULL: its size is not defined; */
    const char *used;     /* and of what is in use; NULL: not counted */
};

static const struct structure structures[] = {
    {"vector registers", "vector", "_bits", "_allocated"},
    {"scalars, predicates", "scalar", "_bits", NULL},
    {"shared memory", "shared", "_bits", "_allocated"},
    {"SP lanes", "sp", "_lanes", "_busy"},
    {"INT lanes", "int", "_lanes", "_busy"},
    {"FP64 lanes", "fp64", "_lanes", "_busy"},
    {"SFU lanes", "sfu", "_lanes", "_busy"},
    {"collectors", "collector", "_all", "_held"},
    {"instruction buffers", "buffer", "_all", "_held"},
    {"PCs", "pc", "_all", "_held"},
    {"active lanes", "mask", "_all", "_held"},
    {"divergence stacks", "stack", "_all", "_ace"},
    {"L1 data", "l1d_bits", "", "_held"},
    {"L1 tags", "l1d_lines", "", "_held"},
    {"read-only cache, data", "readonly_bits", "", "_held"},
    {"read-only cache, tags", "readonly_lines", "", "_held"},
    {"constant cache, data", "constant_bits", "", "_held"},
    {"constant cache, tags", "constant_lines", "", "_held"},
    {"instr. cache, data", "icache_bits", "", "_held"},
    {"instr. cache, tags", "icache_lines", "", "_held"},
    {"load/store unit", "lsu", "_all", "_held"},
    {"load/store queues", "queue", "_all", "_held"},
    {"L1 MSHRs", "mshr", "_all", "_held"},
    {"requests in flight", "requests", NULL, "_held"},
    {"replies in flight", "replies", NULL, "_held"},
    {"L2 data", "l2_bits", "", "_held"},
    {"L2 tags", "l2_lines", "", "_held"},
    {"L2 waiting requests", "l2_waits", "_all", "_held"},
    {"DRAM queues", "dram", "_all", "_held"},
};

static void print_structure(FILE *to, const json_t *totals, const struct structure *s)
{
    char avf[16], used[16], undecided[16];
    const f64 all = s->capacity ? number(totals, s->name, s->capacity) : 0;
    const f64 ace = number(totals, s->name, "_ace");
    if ((s->capacity && all <= 0) || (s->used && number(totals, s->name, s->used) <= 0))
        return;
    fprintf(to, "%-22s %8s %10s %10s\n", s->text, share(ace, all, avf, sizeof avf),
            share(ace, s->used ? number(totals, s->name, s->used) : all, used, sizeof used),
            share(number(totals, s->name, "_undecided"), ace, undecided, sizeof undecided));
}

void print_avf(FILE *to, const json_t *stats)
{
    const json_t *totals = json_object_get(stats, "totals");
    char dead[16], few[16], much[16];
    if (!json_object_get(totals, "avf.instructions"))
        return;
    fprintf(to, "\n%-22s %8s %10s %10s\n", "vulnerability", "AVF", "of used", "undecided");
    for (u32 i = 0; i < ARRAY_LEN(structures); i++)
        print_structure(to, totals, &structures[i]);
    fprintf(
        to,
        "dead instructions %s; of the values that are read, %s live at most 10 instructions; "
        "the others have %s of the vector registers' vulnerable time\n",
        share(number(totals, "dead_", "instructions"), number(totals, "", "instructions"), dead,
              sizeof dead),
        share(number(totals, "values_", "short"), number(totals, "values_", "read"), few,
              sizeof few),
        share(number(totals, "ace_", "long"), number(totals, "vector_", "ace"), much, sizeof much));
}
