/*
 * Live state: bits of all storage elements are flipped while small programs run, on machines of each
 * pipeline: a prefix sum in shared memory, with loads, stores, barriers, divergent lanes and loops,
 * and arithmetic in single and double precision (tests/kernels/opencl).
 *
 *     test-live KERNELS              a few flips of each kind, and what they do
 *     test-live KERNELS fuzz N SEED [MACHINE]  N random flips on each machine: nothing but outcomes
 *     test-live KERNELS rows N SEED [MACHINE [ROW]]  every live row, or this one, of the registry should change the
 *                                    outcome or the time of some run within N flips, at random times
 *                                    from which on they wait for an entry that is in use
 */
#include "base/rng.h"
#include "gpu/device.h"
#include "gpu/time/live.h"
#include <heddle/heddle.h>

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum {
    GROUP = 128, /* threads of a block */
    BLOCKS = 3,
    WORDS = GROUP * BLOCKS
};

static const char *kernels; /* folder */
static u32 tries;
static bool waits;       /* flips wait until an entry of their row is in use */
static const char *only; /* this machine; NULL: all */
static const char *only_row;

struct machine {
    const char *name, *form, *settings;
};
static const struct machine machines[] = {
    {"gtx480", "ptx", "gpu.cores=1 l2.channels=1"},
    {"gtx1080ti", "ptx", "gpu.cores=1 l2.channels=1"},
    {"tahiti", "clang14.so", "gpu.cores=1 l2.channels=1 gpu.cluster=0"},
    {"miaow", "clang14.so", ""},
};

/* A kernel with one or two inputs, an output and, in the latter case, the number of threads. */
struct sample {
    const char *file, *kernel;
    u32 inputs;
    u32 in_words, out_words; /* of a thread */
};
static const struct sample samples[] = {
    {"reduce", "prefix", 1, 1, 1},
    {"math", "exact32", 2, 1, 12},
    {"doubles", "exact64", 2, 2, 28},
};
enum {
    MOST_WORDS = WORDS * 28
};

struct bed {
    const struct machine *machine;
    const struct sample *program;
    u32 right[MOST_WORDS]; /* the output of a run without flips */
    struct hd_device *device;
    struct hd_kernel *kernel;
    hd_address in[2], out;
    u64 cycles;     /* of a run without flips */
    bool disturbed; /* caches may not be as after such a run, */
    bool lasting;   /* and the L2, which launches share, may hold a line twice */
    const char *settings;
};

/* How a run ended. */
enum ending {
    SAME,   /* the output is right, in the same time */
    SLOWER, /* the output is right, in another time */
    WRONG,  /* the output is wrong */
    FAULT,  /* the guest has a fault */
    HANGS,  /* deadlock or limit */
    ENDINGS
};

static void must(bool ok, const struct hd_error *error)
{
    if (!ok)
        fail_msg("%s", error->message);
}

static void set_all(struct hd_config *config, const char *settings)
{
    char *copy = strdup(settings), *rest = copy;
    struct hd_error error = {0};
    for (char *one; (one = strtok_r(rest, " ", &rest));)
        must(hd_config_set(config, one, &error), &error);
    free(copy);
}

static struct hd_module *load(struct bed *bed)
{
    static char code[1 << 18], path[4096];
    struct hd_error error = {0};
    snprintf(path, sizeof path, "%s/opencl/%s.%s", kernels, bed->program->file, bed->machine->form);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("cannot open %s", path);
    const size_t length = fread(code, 1, sizeof code, file);
    fclose(file);
    struct hd_module *module = hd_module_load(bed->device, code, length, path, &error);
    must(module, &error);
    return module;
}

/* Word i of an input: a small integer, or a number between 1 and 32 as a float or double. */
static u32 input(const struct sample *program, u32 i)
{
    const u32 random = i * 2654435761u;
    if (program->inputs == 1)
        return random >> 20;
    if (program->in_words == 1)
        return 0x3f800000 + random % (5u << 23);
    return i % 2 ? 0x3ff00000 + random % (5u << 20) : random;
}

static void write_inputs(struct bed *bed)
{
    u32 words[MOST_WORDS];
    struct hd_error error = {0};
    const u32 count = WORDS * bed->program->in_words;
    for (u32 k = 0; k < bed->program->inputs; k++) {
        for (u32 i = 0; i < count; i++)
            words[i] = input(bed->program, i + k * count);
        must(hd_write(bed->device, bed->in[k], words, count * sizeof *words, &error), &error);
    }
}

/* Runs the program; flips what is to be flipped. */
static enum ending run_once(struct bed *bed, struct strike *strikes, u32 count)
{
    u32 words[MOST_WORDS];
    struct hd_error error = {0};
    struct hd_result result;
    const u32 bytes = WORDS * bed->program->out_words * 4, inputs = bed->program->inputs;
    const struct hd_arg one[] = {{&bed->in[0], 8}, {&bed->out, 8}};
    const struct hd_arg two[] = {
        {&bed->in[0], 8}, {&bed->in[1], 8}, {&bed->out, 8}, {&(u32){WORDS}, 4}};
    write_inputs(bed);
    must(hd_fill(bed->device, bed->out, &(u8){0}, 1, bytes, &error), &error);
    if (count)
        timing_strike(bed->device->timing, strikes, count);
    must(hd_launch(bed->kernel, (struct hd_dim){BLOCKS, 1, 1}, (struct hd_dim){GROUP, 1, 1}, 0,
                   inputs == 1 ? one : two, inputs == 1 ? 2 : 4, &result, &error),
         &error);
    if (result.outcome == HD_DEADLOCK || result.outcome == HD_LIMIT)
        return HANGS;
    if (result.outcome != HD_DONE)
        return FAULT;
    must(hd_read(bed->device, words, bed->out, bytes, &error), &error);
    if (!bed->cycles) { /* the first run without flips */
        memcpy(bed->right, words, bytes);
        bed->cycles = result.cycles;
    }
    if (memcmp(words, bed->right, bytes))
        return WRONG;
    /* when a launch begins, relative to the clocks of memory, costs a few cycles */
    const u64 most = bed->cycles + bed->cycles / 100, least = bed->cycles - bed->cycles / 100;
    return result.cycles >= least && result.cycles <= most ? SAME : SLOWER;
}

/* A new device with the program, and a run without flips. */
static void fill_bed(struct bed *bed)
{
    struct hd_error error = {0};
    struct hd_config *config = hd_config_create();
    const struct sample *program = bed->program;
    must(hd_config_load(config, bed->machine->name, &error), &error);
    set_all(config, bed->machine->settings);
    set_all(config, "timing.functional=false timing.stuck_cycles=20000 timing.max_cycles=200000");
    set_all(config, bed->settings);
    bed->device = hd_device_open(config, &error);
    must(bed->device, &error);
    hd_config_destroy(config);
    bed->kernel = hd_kernel_find(load(bed), program->kernel, &error);
    must(bed->kernel, &error);
    for (u32 k = 0; k < program->inputs; k++)
        bed->in[k] = hd_alloc(bed->device, WORDS * program->in_words * 4, &error);
    bed->out = hd_alloc(bed->device, WORDS * program->out_words * 4, &error);
    bed->cycles = 0;
    run_once(bed, NULL, 0); /* warms the caches */
    bed->cycles = 0;
    assert_int_equal(run_once(bed, NULL, 0), SAME);
    bed->disturbed = bed->lasting = false;
}

/* Its queues are rarely in use. */
static bool is_of_memory(const char *element)
{
    return !strncmp(element, "l2.", 3) || !strncmp(element, "dram.", 5) ||
           !strncmp(element, "network.", 8);
}

/* Runs until caches are as a run without flips leaves them. */
static void calm(struct bed *bed)
{
    for (u32 n = 0; bed->disturbed && n < 4; n++)
        bed->disturbed = run_once(bed, NULL, 0) != SAME;
    if (bed->disturbed && bed->lasting) {
        hd_device_close(bed->device);
        fill_bed(bed);
    }
    assert_false(bed->disturbed);
    bed->lasting = false;
}

static enum ending run(struct bed *bed, struct strike *strikes, u32 count)
{
    calm(bed);
    const enum ending ending = run_once(bed, strikes, count);
    bed->disturbed = ending != SAME;
    for (u32 i = 0; i < count; i++)
        bed->lasting |= is_of_memory(strikes[i].element);
    return ending;
}

static struct bed *open_program(const struct sample *program, const struct machine *machine,
                                const char *settings)
{
    struct bed *bed = calloc(1, sizeof *bed);
    bed->machine = machine;
    bed->program = program;
    bed->settings = settings;
    fill_bed(bed);
    for (u32 i = 0, sum = 0; program == samples && i < WORDS; i++) {
        sum = (i % GROUP ? sum : 0) + input(program, i);
        assert_int_equal(bed->right[i], sum);
    }
    return bed;
}

static struct bed *open_bed(const struct machine *machine, const char *more)
{
    return open_program(samples, machine, more);
}

static void close_bed(struct bed *bed)
{
    hd_device_close(bed->device);
    free(bed);
}

/* A device on which turns of networks and open rows are as after the first launches. */
static void reopen(struct bed *bed)
{
    hd_device_close(bed->device);
    fill_bed(bed);
}

#define LIVE "timing.live_state=true"

static const struct state_row *row_of(const struct bed *bed, const char *element)
{
    return state_find(timing_rows(bed->device->timing), element);
}

/* A flip of a bit of a random entry that is in use, at a random cycle. */
static enum ending flip(struct bed *bed, struct rng *rng, const struct state_row *row,
                        struct strike *strike)
{
    static char element[128];
    snprintf(element, sizeof element, "%s.%s", row->unit, row->name);
    const u32 owner = (u32)rng_below(rng, timing_owners(bed->device->timing, row));
    const u64 entry = rng_below(rng, row->entries), bit = rng_below(rng, row->backed);
    *strike = (struct strike){.element = element,
                              .owner = owner,
                              .bit = entry * row->bits + bit,
                              .cycle = rng_below(rng, bed->cycles),
                              .seek = true,
                              .wait = waits};
    return run(bed, strike, 1);
}

/* The machine works as before, whatever has happened to it. */
static void expect_sound(struct bed *bed)
{
    bed->disturbed = true;
    calm(bed);
}

/* ---- tests ---- */

/* Without flips, a launch with live state is like one without it. */
static void nothing_flipped(void **state)
{
    for (u32 m = 0; m < ARRAY_LEN(machines); m++) {
        struct bed *plain = open_bed(&machines[m], ""), *live = open_bed(&machines[m], LIVE);
        assert_null(timing_rows(plain->device->timing));
        assert_int_equal(plain->cycles, live->cycles);
        char *a = hd_stats_json(plain->device), *b = hd_stats_json(live->device);
        json_t *x = json_loads(a, 0, NULL), *y = json_loads(b, 0, NULL);
        assert_true(json_equal(json_object_get(x, "totals"), json_object_get(y, "totals")));
        assert_non_null(json_object_get(x, "totals"));
        json_decref(x);
        json_decref(y);
        hd_free(a);
        hd_free(b);
        close_bed(plain);
        close_bed(live);
    }
}

/* Every row visits as many bits as it calls live, and none more than it declares. */
static void widths(void **state)
{
    for (u32 m = 0; m < ARRAY_LEN(machines); m++) {
        struct bed *bed = open_bed(&machines[m], LIVE);
        const struct state_list *rows = timing_rows(bed->device->timing);
        for (u32 i = 0; i < rows->rows.count; i++) {
            const struct state_row *row = &rows->rows.data[i];
            if (!timing_owners(bed->device->timing, row))
                continue;
            u64 bits[(1 << 14) / 64];
            assert_in_range(row->backed, 1, row->bits);
            assert_in_range(row->bits, 1, 1 << 14);
            struct state_walk walk = {.mode = WALK_READ, .out = bits};
            struct core *core = timing_core(bed->device->timing, 0);
            memset(bits, 0, sizeof bits);
            if (strcmp(row->owner, "core"))
                continue;
            row->visit(&walk, row, core, row->entries - 1); /* the last entry of an idle core */
            if (walk.bits != row->backed)
                fail_msg("%s: %s.%s visits %u bits, %u when counted", machines[m].name, row->unit,
                         row->name, walk.bits, row->backed);
        }
        close_bed(bed);
    }
}

/* Flips of an element until a run ends in one of these ways (bits); fails after many. */
static void expect_ending(struct bed *bed, const char *element, u32 endings)
{
    enum {
        MOST = 600
    };
    struct rng rng;
    rng_stream(&rng, 7, 0, "test", 0, "live");
    const struct state_row *row = row_of(bed, element);
    if (!row || !row->visit)
        fail_msg("%s has no live %s", bed->machine->name, element);
    for (u32 n = 0; n < MOST; n++) {
        struct strike strike;
        const enum ending ending = flip(bed, &rng, row, &strike);
        if (strike.result != FLIP_DONE && strike.done && ending != SAME)
            fail_msg("%s: %s, bit %" PRIu64 " in cycle %" PRIu64 ": nothing reads it, but a run "
                     "ends otherwise (%d)",
                     bed->machine->name, element, strike.bit, strike.cycle, ending);
        if (endings >> ending & 1)
            return;
    }
    fail_msg("%s: no flip of %s had the expected effect", bed->machine->name, element);
}

#define BAD (1u << WRONG | 1u << FAULT | 1u << HANGS)

static void effects(void **state)
{
    static const struct {
        const char *element;
        u32 machines; /* bits */
        u32 endings;  /* bits: one of them must be seen */
    } cases[] = {
        {"collect.registers", 7, 1u << WRONG},
        {"vgpr.registers", 8, 1u << WRONG},
        {"collect.scalar_registers", 4, BAD},
        {"sgpr.registers", 8, BAD},
        {"lsu.shared", 7, 1u << WRONG},
        {"shared.words", 8, 1u << WRONG},
        {"issue.mask", 7, BAD},
        {"exec.exec", 8, BAD},
        {"issue.stack", 3, BAD},
        {"fetch.pc", 15, 1u << FAULT},
        {"fetch.tags", 8, 1u << HANGS},
        {"wavepool.words", 8, 1u << WRONG},
        {"wavepool.words", 8, 1u << FAULT},
        {"wavepool.input", 8, BAD},
        {"decode.input", 8, BAD},
        {"decode.halves", 8, BAD},
        {"issue.entries", 8, 1u << WRONG},
        {"issue.entries", 8, 1u << FAULT},
        {"issue.groups", 8, 1u << HANGS},
        {"vgpr.addresses", 8, BAD},
        {"issue.scoreboard", 3, 1u << HANGS},
        {"issue.vector_busy", 8, 1u << HANGS},
        {"issue.barrier", 3, 1u << HANGS},
        {"issue.arrived", 3, 1u << HANGS | 1u << WRONG},
        {"issue.counters", 4, BAD},
        {"collect.operands", 3, BAD},
        {"units.sp", 7, BAD},
        {"units.results", 3, BAD},
        {"simd.queue", 8, BAD},
        {"simd.sources", 8, BAD},
        {"lsu.addresses", 15, BAD},
        {"lsu.data", 15, 1u << WRONG},
        {"lsu.stores", 7, 1u << HANGS},
        {"l1d.waiters", 1, 1u << HANGS},
        {"l2.data", 7, 1u << WRONG},
        {"l2.tags", 7, 1u << WRONG | 1u << SLOWER},
    };
    for (u32 m = 0; m < ARRAY_LEN(machines); m++) {
        struct bed *bed = open_bed(&machines[m], LIVE);
        for (u32 i = 0; i < ARRAY_LEN(cases); i++)
            if (cases[i].machines >> m & 1)
                expect_ending(bed, cases[i].element, cases[i].endings);
        expect_sound(bed);
        close_bed(bed);
    }
}

/* The same on the memory side, where the L2 is so small that lines come from DRAM. */
static void effects_in_memory(void **state)
{
    static const struct {
        const char *element;
        u32 machines; /* bits */
        u32 endings;  /* bits: one of them must be seen */
    } cases[] = {
        {"l2.mshrs", 7, 1u << HANGS},
        {"l2.waiters", 7, 1u << HANGS},
        {"l2.miss_queue", 7, BAD},
        {"l2.queue_in", 7, 1u << WRONG},
        {"l2.queue_in", 7, 1u << HANGS},
        {"l2.queue_out", 7, BAD},
        {"l2.queue_dram", 7, 1u << HANGS},
        {"network.entrances", 7, BAD},
        {"network.buffers", 3, BAD},
        {"network.outlets", 7, 1u << WRONG},
        {"network.outlets", 7, 1u << HANGS},
        {"dram.queue", 7, 1u << HANGS},
        {"dram.queue", 7, 1u << WRONG},
        {"dram.return_data", 7, 1u << WRONG},
        {"dram.open_rows", 1, 1u << WRONG | 1u << SLOWER},
    };
    waits = true;
    for (u32 m = 0; m < 3; m++) {
        struct bed *bed = open_bed(&machines[m], LIVE " l2.sets=1 l2.ways=2 network.flit_bytes=8");
        for (u32 i = 0; i < ARRAY_LEN(cases); i++)
            if (cases[i].machines >> m & 1)
                expect_ending(bed, cases[i].element, cases[i].endings);
        expect_sound(bed);
        close_bed(bed);
    }
    waits = false;
}

/* What is not in use, or not there, changes nothing. */
static void no_effect(void **state)
{
    struct bed *bed = open_bed(&machines[0], LIVE);
    const struct state_row *registers = row_of(bed, "collect.registers");
    struct strike strikes[] = {
        {.element = "collect.registers", .bit = state_owner_bits(registers) - 1, .cycle = 200},
        {.element = "fetch.buffer", .cycle = 200},
        {.element = "no.such", .cycle = 200},
        {.element = "collect.registers", .owner = 99, .cycle = 200},
        {.element = "collect.registers", .cycle = 1000000000},
    };
    assert_int_equal(run(bed, strikes, ARRAY_LEN(strikes)), SAME);
    assert_int_equal(strikes[0].result, FLIP_UNUSED);
    for (u32 i = 1; i < 4; i++)
        assert_int_equal(strikes[i].result, FLIP_COUNTED);
    for (u32 i = 0; i < 4; i++)
        assert_true(strikes[i].done);
    assert_false(strikes[4].done);
    close_bed(bed);
}

/* Two flips of the same bit in the same cycle cancel out. */
static void twice(void **state)
{
    static const char *const elements[] = {"collect.registers", "lsu.shared",       "issue.mask",
                                           "issue.stack",       "issue.scoreboard", "l2.tags"};
    struct bed *bed = open_bed(&machines[0], LIVE);
    for (u32 i = 0; i < ARRAY_LEN(elements); i++)
        for (u64 bit = 0; bit < 40; bit += 13) {
            const struct strike one = {.element = elements[i], .bit = bit, .cycle = 300};
            struct strike strikes[] = {one, one};
            if (!strcmp(elements[i], "issue.stack") && bit < 31)
                continue; /* a PC outside the code is a fault at once */
            assert_int_equal(run(bed, strikes, 2), SAME);
        }
    close_bed(bed);
}

/* ---- hashes ---- */

enum {
    MOST_HASHES = 4096
};
struct hashes {
    u64 cycle[MOST_HASHES], canonical[MOST_HASHES], full[MOST_HASHES];
    u32 count;
};

static void take_hash(void *user, u64 cycle, u64 canonical, u64 full)
{
    struct hashes *hashes = user;
    assert_in_range(hashes->count, 0, MOST_HASHES - 1);
    hashes->cycle[hashes->count] = cycle;
    hashes->canonical[hashes->count] = canonical;
    hashes->full[hashes->count++] = full;
}

/* Hashes of a run. */
static enum ending run_hashed(struct bed *bed, struct strike *strike, struct hashes *hashes)
{
    hashes->count = 0;
    calm(bed);
    timing_watch_hash(bed->device->timing, 100, take_hash, hashes);
    const enum ending ending = run(bed, strike, strike ? 1 : 0);
    timing_watch_hash(bed->device->timing, 100, NULL, NULL);
    return ending;
}

/* The same for every number of threads, and in every run. */
static void hashes_repeat(void **state)
{
    static struct hashes first, again;
    struct machine three = machines[0];
    three.settings = "gpu.cores=3 l2.channels=1";
    struct bed *bed = open_bed(&three, LIVE);
    assert_int_equal(run_hashed(bed, NULL, &first), SAME);
    assert_in_range(first.count, 5, MOST_HASHES);
    assert_true(first.canonical[2] != first.canonical[3] && first.full[2] != first.full[3]);
    for (u32 threads = 1; threads <= 3; threads++) {
        reopen(bed);
        timing_set_threads(bed->device->timing, threads);
        timing_share_all(bed->device->timing);
        assert_int_equal(run_hashed(bed, NULL, &again), SAME);
        assert_int_equal(again.count, first.count);
        for (u32 i = 0; i < first.count; i++)
            if (again.canonical[i] != first.canonical[i] || again.full[i] != first.full[i])
                fail_msg("%u threads: other hashes in cycle %" PRIu64, threads, first.cycle[i]);
    }
    close_bed(bed);
}

/* A flip changes both hashes; when the bit has been overwritten, they are as before. */
static void hashes_show_flips(void **state)
{
    static struct hashes clean, flipped;
    struct bed *bed = open_bed(&machines[0], LIVE);
    const struct state_row *row;
    struct rng rng;
    u32 back = 0, stays = 0;
    rng_stream(&rng, 3, 0, "test", 0, "live");
    run_hashed(bed, NULL, &clean);
    for (u32 n = 0; n < 60 && !(back && stays); n++) {
        reopen(bed);
        row = row_of(bed, "collect.registers");
        struct strike strike = {.element = "collect.registers",
                                .bit = rng_below(&rng, state_owner_bits(row)),
                                .cycle = 250 + rng_below(&rng, 600),
                                .seek = true};
        const enum ending ending = run_hashed(bed, &strike, &flipped);
        assert_int_equal(strike.result, FLIP_DONE);
        u32 at = 0;
        while (clean.cycle[at] <= strike.cycle)
            at++;
        for (u32 i = 0; i < at; i++)
            assert_true(flipped.canonical[i] == clean.canonical[i]);
        if (ending != SAME)
            continue;
        u32 differs = 0; /* hashes */
        for (u32 i = at; i < clean.count; i++)
            differs += flipped.canonical[i] != clean.canonical[i];
        const u32 last = clean.count - 1;
        back += differs && flipped.canonical[last] == clean.canonical[last];
        stays += flipped.full[last] != clean.full[last];
    }
    assert_in_range(back, 1, 60);
    assert_in_range(stays, 1, 60);
    close_bed(bed);
}

/* ---- many flips ---- */

static void fuzz_machine(const struct machine *machine, u64 seed)
{
    struct bed *beds[ARRAY_LEN(samples)];
    struct rng rng;
    u32 seen[ENDINGS] = {0};
    rng_stream(&rng, seed, 0, "test", 0, "live");
    for (u32 i = 0; i < ARRAY_LEN(samples); i++)
        beds[i] = open_program(&samples[i], machine, LIVE);
    const struct state_list *rows = timing_rows(beds[0]->device->timing);
    for (u32 n = 0; n < tries;) {
        struct bed *bed = beds[n % ARRAY_LEN(samples)];
        const struct state_row *row = &rows->rows.data[rng_below(&rng, rows->rows.count)];
        struct strike strike;
        if (!timing_owners(bed->device->timing, row))
            continue;
        const enum ending ending = flip(bed, &rng, row, &strike);
        seen[ending]++;
        if (strike.done && strike.result != FLIP_DONE && ending != SAME && ending != SLOWER)
            fail_msg("%s: %s, bit %" PRIu64 " in cycle %" PRIu64
                     ": nothing reads it, but a run ends otherwise (%d)",
                     machine->name, strike.element, strike.bit, strike.cycle, ending);
        if (++n % 32 == 0)
            expect_sound(bed);
    }
    printf("%s: %u same, %u in another time, %u wrong, %u faults, %u hang\n", machine->name,
           seen[SAME], seen[SLOWER], seen[WRONG], seen[FAULT], seen[HANGS]);
    for (u32 i = 0; i < ARRAY_LEN(samples); i++)
        close_bed(beds[i]);
}

static void fuzz(void **state)
{
    for (u32 m = 0; m < ARRAY_LEN(machines); m++)
        if (!only || !strcmp(only, machines[m].name))
            fuzz_machine(&machines[m], *(u64 *)*state);
}

/* Whether some flip of a row changes a run of one of the programs. */
static bool row_acts(struct bed *const *beds, struct rng *rng, const struct state_row *row)
{
    for (u32 n = 0; n < tries; n++) {
        struct strike strike;
        if (flip(beds[n % ARRAY_LEN(samples)], rng, row, &strike) != SAME)
            return true;
    }
    return false;
}

/* Rows that only these programs leave idle: what is not in them is tried elsewhere, or decides only
 * the order of warps, which takes less than the tolerance of time. */
static bool may_be_idle(const struct state_row *row)
{
    static const char *const names[] = {"turn", "last", "age", "order"};
    for (u32 i = 0; i < ARRAY_LEN(names); i++)
        if (!strcmp(row->name, names[i]))
            return true;
    return !strcmp(row->unit, "readonly") || !strcmp(row->unit, "constant");
}

static void rows_act(void **state)
{
    u32 idle = 0;
    waits = true;
    for (u32 m = 0; m < ARRAY_LEN(machines); m++) {
        struct bed *beds[ARRAY_LEN(samples)];
        struct rng rng;
        if (only && strcmp(only, machines[m].name))
            continue;
        rng_stream(&rng, *(u64 *)*state, 0, "test", 0, "live");
        for (u32 i = 0; i < ARRAY_LEN(samples); i++)
            beds[i] = open_program(&samples[i], &machines[m], LIVE);
        const struct state_list *rows = timing_rows(beds[0]->device->timing);
        for (u32 i = 0; i < rows->rows.count; i++) {
            const struct state_row *row = &rows->rows.data[i];
            if (only_row && row != state_find(rows, only_row))
                continue;
            if (!timing_owners(beds[0]->device->timing, row) || row_acts(beds, &rng, row))
                continue;
            printf("%s: %s.%s: no effect in %u flips%s\n", machines[m].name, row->unit, row->name,
                   tries, may_be_idle(row) ? " (not required)" : "");
            fflush(stdout);
            idle += !may_be_idle(row);
        }
        for (u32 i = 0; i < ARRAY_LEN(samples); i++)
            close_bed(beds[i]);
    }
    assert_int_equal(idle, 0);
}

int main(int argc, char **argv)
{
    static u64 seed;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_flipped), cmocka_unit_test(widths),
        cmocka_unit_test(effects),         cmocka_unit_test(effects_in_memory),
        cmocka_unit_test(no_effect),       cmocka_unit_test(twice),
        cmocka_unit_test(hashes_repeat),   cmocka_unit_test(hashes_show_flips),
    };
    const struct CMUnitTest many[] = {cmocka_unit_test_prestate(fuzz, &seed)};
    const struct CMUnitTest every[] = {cmocka_unit_test_prestate(rows_act, &seed)};
    kernels = argc > 1 ? argv[1] : ".";
    tries = argc > 3 ? (u32)atoi(argv[3]) : 0;
    only = argc > 5 ? argv[5] : NULL;
    only_row = argc > 6 ? argv[6] : NULL;
    seed = argc > 4 ? (u64)atoll(argv[4]) : 1;
    if (argc > 2 && !strcmp(argv[2], "fuzz"))
        return cmocka_run_group_tests(many, NULL, NULL);
    if (argc > 2 && !strcmp(argv[2], "rows"))
        return cmocka_run_group_tests(every, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
