/*
 * Canonical hashes of live state (gpu/time/live.h), in the middle of a matrix product: the hash
 * depends on each bit of the large arrays, and is the same again when the bit is flipped back.
 *
 *     test-hash KERNELS  the test
 *     test-hash KERNELS cost MACHINE EVERY N [picture]
 *                        a product of N x N matrices, or the Mandelbrot set, with a hash every so
 *                        many cycles, or none (0): to count host instructions with
 */
#include "base/rng.h"
#include "core/live.h"
#include "gpu/device.h"
#include "gpu/time/live.h"
#include "gpu/time/parts.h"
#include <heddle/heddle.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *kernels; /* folder */

struct machine {
    const char *name, *form;
    const char *elements[24]; /* with an entry in use at one of the moments */
};
static const struct machine machines[] = {
    {"gtx480",
     "ptx",
     {"collect.registers", "lsu.shared", "issue.scoreboard", "issue.mask", "issue.stack",
      "collect.operands", "units.sp", "l1d.tags", "l1d.data", "l2.tags", "l2.valid", "l2.data",
      "lsu.stores", "fetch.waiting"}},
    {"tahiti",
     "clang14.so",
     {"collect.registers", "collect.scalar_registers", "lsu.shared", "issue.special", "l2.data",
      "l2.tags", "issue.counters", "units.sp"}},
    {"miaow",
     "clang14.so",
     {"vgpr.registers", "sgpr.registers", "shared.words", "exec.exec", "exec.vcc", "exec.scc",
      "issue.vector_busy", "issue.scalar_busy", "simf.sources", "wavepool.words", "decode.halves",
      "lsu.addresses", "issue.in_flight", "fetch.tags"}},
};

static void must(bool ok, const struct hd_error *error)
{
    if (!ok)
        fail_msg("%s", error->message);
}

struct bed {
    const struct machine *machine;
    struct hd_device *device;
    struct hd_kernel *kernel;
    hd_address arrays[3];
    u32 n;        /* rows of a matrix or picture */
    bool picture; /* the Mandelbrot set, not a matrix product */
};

static struct bed open_bed(const struct machine *machine, const char *cores, u32 n, bool picture)
{
    static char code[1 << 17], path[4096];
    struct hd_error error = {0};
    struct bed bed = {.machine = machine, .n = n, .picture = picture};
    struct hd_config *config = hd_config_create();
    must(hd_config_load(config, machine->name, &error), &error);
    must(hd_config_set(config, "timing.functional=false", &error), &error);
    must(hd_config_set(config, "timing.live_state=true", &error), &error);
    if (cores)
        must(hd_config_set(config, cores, &error), &error);
    bed.device = hd_device_open(config, &error);
    must(bed.device, &error);
    hd_config_destroy(config);
    snprintf(path, sizeof path, "%s/opencl/%s.%s", kernels, picture ? "loops" : "scan",
             machine->form);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    const size_t length = fread(code, 1, sizeof code, file);
    fclose(file);
    struct hd_module *module = hd_module_load(bed.device, code, length, path, &error);
    must(module, &error);
    bed.kernel = hd_kernel_find(module, picture ? "mandelbrot" : "matmul16", &error);
    must(bed.kernel, &error);
    for (u32 k = 0; k < 3; k++) {
        bed.arrays[k] = hd_alloc(bed.device, 4 * n * n, &error);
        must(hd_fill(bed.device, bed.arrays[k], &(float){0.5f + (float)k}, 4, 4 * n * n, &error),
             &error);
    }
    return bed;
}

static u64 run(struct bed *bed)
{
    struct hd_error error = {0};
    struct hd_result result;
    const struct hd_arg product[] = {
        {&bed->arrays[0], 8}, {&bed->arrays[1], 8}, {&bed->arrays[2], 8}, {&bed->n, 4}};
    const struct hd_arg picture[] = {
        {&bed->arrays[0], 8}, {&bed->n, 4},         {&bed->n, 4},    {&(float){-2.0f}, 4},
        {&(float){-1.0f}, 4}, {&(float){0.04f}, 4}, {&(u32){100}, 4}};
    must(hd_launch(bed->kernel, (struct hd_dim){bed->n / 16, bed->n / 16, 1},
                   (struct hd_dim){16, 16, 1}, 0, bed->picture ? picture : product,
                   bed->picture ? 7 : 4, &result, &error),
         &error);
    assert_int_equal(result.outcome, HD_DONE);
    return result.cycles;
}

/* ---- each bit counts ---- */

struct look {
    struct bed *bed;
    struct rng rng;
    u32 seen[24]; /* by element: bits that were flipped and flipped back */
};

static void *owner_of(struct timing *timing, const struct state_row *row)
{
    return strcmp(row->owner, "core") ? memory_system_slice(timing->memory_system, 0)
                                      : (void *)timing_core(timing, 0);
}

/* As after a strike. */
static void disturb(struct timing *timing, const struct state_row *row)
{
    if (!strcmp(row->owner, "core"))
        live_disturb(timing_core(timing, 0));
}

/* Flips a bit of some entry in use, and flips it back. */
static void flip_both_ways(struct look *look, u32 e)
{
    enum {
        MOST = 4000
    };
    struct timing *timing = look->bed->device->timing;
    const char *element = look->bed->machine->elements[e];
    const struct state_row *row = state_find(timing_rows(timing), element);
    if (!row || !row->visit)
        fail_msg("%s has no live %s", look->bed->machine->name, element);
    void *owner = owner_of(timing, row);
    for (u32 n = 0; n < MOST; n++) {
        const u64 entry = rng_below(&look->rng, row->entries);
        const u64 bit = entry * row->bits + rng_below(&look->rng, row->backed);
        u64 bits[256];
        if (!state_get(row, owner, entry, bits))
            continue;
        const u64 before = timing_hash(timing, true);
        const bool acts = state_flip(row, owner, bit) == FLIP_DONE;
        disturb(timing, row);
        const u64 between = timing_hash(timing, true);
        state_flip(row, owner, bit);
        disturb(timing, row);
        if (acts && between == before)
            fail_msg("%s: %s, bit %" PRIu64 ": a flip does not change the hash",
                     look->bed->machine->name, element, bit);
        if (timing_hash(timing, true) != before)
            fail_msg("%s: %s, bit %" PRIu64 ": the hash is not the same after two flips",
                     look->bed->machine->name, element, bit);
        look->seen[e] += acts;
        if (acts)
            return;
    }
}

static void look_at(void *user, u64 cycle, u64 canonical, u64 full)
{
    struct look *look = user;
    struct timing *timing = look->bed->device->timing;
    for (u32 i = 0; i < timing->core_count; i++)
        live_disturb(timing_core(timing, i)); /* nothing that was hashed before is used again */
    if (timing_hash(timing, true) != canonical)
        fail_msg("%s, cycle %" PRIu64 ": the hash of what has changed is not that of everything",
                 look->bed->machine->name, cycle);
    for (u32 e = 0; look->bed->machine->elements[e]; e++)
        if (look->seen[e] < 3)
            flip_both_ways(look, e);
}

static void each_bit_counts(void **state)
{
    for (u32 m = 0; m < ARRAY_LEN(machines); m++) {
        struct bed bed = open_bed(&machines[m], "gpu.cores=1", 48, false);
        struct look look = {.bed = &bed};
        rng_stream(&look.rng, 9, m, "test", 0, "hash");
        run(&bed); /* warms the caches */
        const u64 cycles = run(&bed);
        timing_watch_canonical(bed.device->timing, 41, look_at, &look);
        assert_in_range(run(&bed), cycles - cycles / 20, cycles + cycles / 20);
        for (u32 e = 0; machines[m].elements[e]; e++)
            if (!look.seen[e])
                fail_msg("%s: %s was never in use", machines[m].name, machines[m].elements[e]);
        hd_device_close(bed.device);
    }
}

/* ---- cost ---- */

static void count(void *user, u64 cycle, u64 canonical, u64 full)
{
    ++*(u32 *)user;
}

static int cost(const char *name, u64 every, u32 n, bool picture)
{
    u32 hashes = 0;
    for (u32 m = 0; m < ARRAY_LEN(machines); m++) {
        if (strcmp(machines[m].name, name))
            continue;
        struct bed bed = open_bed(&machines[m], NULL, n, picture);
        if (every)
            timing_watch_canonical(bed.device->timing, every, count, &hashes);
        const u64 cycles = run(&bed);
        printf("%s: %" PRIu64 " cycles, %u hashes\n", name, cycles, hashes);
        hd_device_close(bed.device);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_bit_counts)};
    kernels = argc > 1 ? argv[1] : ".";
    if (argc > 5 && !strcmp(argv[2], "cost"))
        return cost(argv[3], (u64)atoll(argv[4]), (u32)atoi(argv[5]), argc > 6);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
