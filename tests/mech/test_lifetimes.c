/*
 * Observed lifetimes: small programs whose values were counted by hand, on both instruction sets, in
 * time and in functional runs; cycles against a list of all issues and retirements; and the kernels
 * of tests/kernels, whose values must not live longer than the analysis of the code says.
 *
 *   test-mech-lifetimes TESTS     the folder tests/ of the sources
 */
#include "analysis/lifetimes.h"
#include "core/mechanism.h"
#include "gpu/device.h"
#include "rig.h"

#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

#define COMPONENT probe
#define COMPONENT_DEF "probe.def"
#define COMPONENT_HELP "writes down when instructions issue and retire, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    MOST = 64
};

static const char *tests_folder;

/* ---- a list of what the only warp of a launch does ---- */

static struct {
    u64 issued[MOST], retired[MOST]; /* cycles, by instruction */
    u64 started, ended;              /* of the block */
} seen;

struct probe {
    MECHANISM_STATE(probe);
};

static u32 operand(void *state, struct core *core, struct inflight *inflight)
{
    assert_true(inflight->dyn.inst < MOST);
    seen.issued[inflight->dyn.inst] = core_cycle(core);
    return 0;
}

static void retired(void *state, struct core *core, struct inflight *inflight)
{
    seen.retired[inflight->dyn.inst] = core_cycle(core);
}

static void block(void *state, struct core *core, u32 place, bool started)
{
    *(started ? &seen.started : &seen.ended) = core_cycle(core);
}

static const struct mechanism probe_mechanism = {
    MECHANISM_NAMED(probe, "writes down when instructions issue and retire"),
    .state_size = sizeof(struct probe),
    .operand = operand,
    .retired = retired,
    .block = block,
};

extern const struct mechanism lifetimes_mechanism;
static const struct mechanism *const available[] = {&probe_mechanism, &lifetimes_mechanism, NULL};

/* ---- launches ---- */

struct code_bytes {
    const char *data, *name;
    size_t length;
    u32 args; /* of its kernels: none, or an address */
};

/* Statistics of a launch with `lifetimes` and these settings. */
static json_t *run(const char *machine, const char *const *words, struct code_bytes code,
                   const char *name, u32 blocks, u32 threads)
{
    struct hd_error error = {0};
    struct hd_result result;
    struct hd_config *config = config_with(available);
    assert_true(hd_config_load(config, machine, &error));
    assert_true(hd_config_set(config, "ptx.optimize=false", &error));
    assert_true(hd_config_mechanism(config, "lifetimes:check=true", &error));
    for (; *words; words++)
        if (!rig_apply(config, *words, &error))
            fail_msg("%s: %s", *words, error.message);
    struct hd_device *device = hd_device_open(config, &error);
    if (!device)
        fail_msg("%s", error.message);
    hd_config_destroy(config);
    struct hd_module *module = hd_module_load(device, code.data, code.length, code.name, &error);
    if (!module)
        fail_msg("%s", error.message);
    const hd_address memory = hd_alloc(device, 4096, &error);
    const struct hd_arg arg = {&memory, sizeof memory};
    if (!hd_launch(hd_kernel_find(module, name, &error), (struct hd_dim){blocks, 1, 1},
                   (struct hd_dim){threads, 1, 1}, 0, &arg, code.args, &result, &error))
        fail_msg("%s on %s: %s", name, machine, error.message);
    if (result.outcome != HD_DONE)
        fail_msg("%s on %s: %s", name, machine, result.explanation);
    char *text = hd_stats_json(device);
    json_t *all = json_loads(text, 0, NULL);
    json_t *totals = json_incref(json_object_get(all, "totals"));
    json_decref(all);
    hd_free(text);
    hd_device_close(device);
    return totals;
}

static u64 stat_of(const json_t *totals, const char *name)
{
    char key[64];
    snprintf(key, sizeof key, "lifetimes.%s", name);
    const json_t *value = json_object_get(totals, key);
    if (!json_is_integer(value))
        fail_msg("no statistic %s", key);
    return (u64)json_integer_value(value);
}

struct expected {
    const char *name;
    u64 count;
};

/* All of them, `times` as often. */
static void expect(json_t *totals, const struct expected *list, u64 times, const char *where)
{
    for (; list->name; list++)
        if (stat_of(totals, list->name) != times * list->count)
            fail_msg("%s: %s is %llu, expected %llu", where, list->name,
                     (unsigned long long)stat_of(totals, list->name),
                     (unsigned long long)(times * list->count));
    json_decref(totals);
}

/* ---- PTX ---- */

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry k(.param .u64 out)\n"
    "{\n"
    ".reg .b32 %r<9>;\n.reg .b64 %rd<5>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\n"  /* 0: two values, read by 3: 3 instructions */
    "mov.u32 %r1, %tid.x;\n"       /* 1: read by 2, 5, 6: 5 */
    "mul.wide.u32 %rd2, %r1, 4;\n" /* 2: two values: 1 */
    "add.u64 %rd3, %rd1, %rd2;\n"  /* 3: two values, read by 12: 7 on either side */
    "mov.u32 %r2, 5;\n"            /* 4: 1 */
    "add.u32 %r3, %r1, %r2;\n"     /* 5: read by 8, or by 11 in lanes that go there: 4 */
    "setp.lt.u32 %p1, %r1, 8;\n"   /* 6 */
    "@%p1 bra THEN;\n"             /* 7 */
    "shl.b32 %r3, %r3, 20;\n"      /* 8: read by 12: 2, not counting the other side */
    "bra.uni END;\n"               /* 9 */
    "THEN:\n"
    "mov.u32 %r4, 100000;\n"   /* 10: 1 */
    "add.u32 %r3, %r3, %r4;\n" /* 11: 1 */
    "END:\n"
    "st.global.u32 [%rd3], %r3;\n" /* 12 */
    "ret;\n"                       /* 13 */
    "}\n"
    ".visible .entry guards(.param .u64 out)\n"
    "{\n"
    ".reg .b32 %r<9>;\n.reg .b64 %rd<5>;\n.reg .pred %p<2>;\n"
    "mov.u32 %r1, %tid.x;\n"     /* 0: 1 */
    "setp.lt.u32 %p1, %r1, 8;\n" /* 1 */
    "mov.u32 %r2, -1;\n"         /* 2: read by 4 in 24 lanes: 2 */
    "@%p1 mov.u32 %r2, 3;\n"     /* 3: of 8 lanes: 1 */
    "mov.u32 %r3, %r2;\n"        /* 4: never read */
    "ret;\n"
    "}\n"
    ".visible .entry rounds(.param .u64 out)\n"
    "{\n"
    ".reg .b32 %r<9>;\n.reg .pred %p<2>;\n"
    "mov.u32 %r1, 0;\n" /* 0: 1 */
    "AGAIN:\n"
    "add.u32 %r1, %r1, 1;\n"      /* 1: read by 2, and by 1 of the next round: 3; of the last: 1 */
    "setp.lt.u32 %p1, %r1, 20;\n" /* 2 */
    "@%p1 bra AGAIN;\n"           /* 3 */
    "ret;\n"
    "}\n"
    ".visible .entry narrow(.param .u64 out)\n"
    "{\n"
    ".reg .b32 %r<9>;\n"
    "mov.u32 %r1, 1;\n"        /* 3 */
    "mov.u32 %r2, 2;\n"        /* 2 */
    "mov.u32 %r3, 65535;\n"    /* 2 */
    "add.u32 %r4, %r1, %r2;\n" /* 1 */
    "add.u32 %r4, %r4, %r3;\n" /* never read; 17 bits */
    "ret;\n"
    "}\n";

/* Of its own: when instructions arrive depends on where they are. */
static const char together[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry together(.param .u64 out)\n"
                               "{\n"
                               ".reg .b32 %r<9>;\n"
                               "bar.sync 0;\n"
                               "mov.u32 %r1, 1;\n" /* never read */
                               "mov.u32 %r2, 2;\n"
                               "ret;\n"
                               "}\n";

static const struct code_bytes together_code = {together, "together.ptx", sizeof together - 1, 1};
static const struct code_bytes ptx_code = {ptx, "lifetimes.ptx", sizeof ptx - 1, 1};

static const char *const modes[] = {"timing.functional=false", "timing.functional=true"};

static void ptx_values(void **state)
{
    static const struct expected k[] = {
        {"values", 12},        {"read", 12},           {"unread", 0},
        {"instructions", 36},  {"instructions_1", 5},  {"instructions_2", 1},
        {"instructions_5", 4}, {"instructions_10", 2}, {"instructions_20", 0},
        {"short_lived", 12},   {"by_long", 0},         {"by_short", 12},
        {"misjudged", 0},      {"mixed", 0},           {0},
    };
    static const struct expected limited[] = {/* at most 4: not 1 and 3 */
                                              {"short_lived", 9},     {"by_long", 3},
                                              {"by_short", 9},        {"missed", 0},
                                              {"registers_short", 2}, /* R2, R3 */
                                              {"registers_long", 3},  {0}};
    static const struct expected guards[] = {
        {"values", 4},         {"read", 3},           {"unread", 1},    {"instructions", 4},
        {"instructions_1", 2}, {"instructions_2", 1}, {"width_8", 2},   {"width_32", 2},
        {"narrow", 2},         {"narrow_signed", 4},  {"misjudged", 0}, {0},
    };
    static const struct expected rounds[] = {
        {"values", 21},
        {"read", 21},
        {"instructions", 1 + 19 * 3 + 1},
        {"instructions_5", 19},
        {"by_long", 20},
        {"missed", 20},
        {"misjudged", 0},
        {0},
    };
    for (u32 m = 0; m < 2; m++) {
        expect(run("generic", WITH(modes[m]), ptx_code, "k", 3, 32), k, 3, "k");
        expect(run("generic", WITH(modes[m], "lifetimes.short_limit=4"), ptx_code, "k", 1, 32),
               limited, 1, "k, limit 4");
        expect(run("generic", WITH(modes[m]), ptx_code, "guards", 1, 32), guards, 1, "guards");
        expect(run("generic", WITH(modes[m]), ptx_code, "rounds", 2, 64), rounds, 4, "rounds");
    }
}

/* Widths of one warp of `k`, whose values are known. The address fits into 48 bits. */
static void ptx_widths(void **state)
{
    static const struct expected narrow[] = {
        {"values", 5},   {"width_1", 1},       {"width_8", 2},
        {"width_16", 1}, {"width_24", 1},      {"width_32", 0},
        {"narrow", 4},   {"narrow_signed", 3}, {0},
    };
    for (u32 m = 0; m < 2; m++)
        expect(run("generic", WITH(modes[m]), ptx_code, "narrow", 1, 32), narrow, 1, "narrow");
}

/* Of each value: its writer, its last reader, the instruction that overwrites it (0: none), and its
 * lanes. */
struct value_of_k {
    u32 writer, reader, next, lanes, words;
};

static void ptx_cycles(void **state)
{
    static const struct value_of_k values[] = {
        {0, 3, 3, 32, 2},  /* R0:R1 */
        {1, 6, 8, 24, 1},  /* R4, in lanes of this side; */
        {1, 6, 11, 8, 1},  /* and of the other */
        {2, 3, 4, 32, 1},  /* R2 */
        {2, 3, 10, 8, 1},  /* R3, */
        {2, 3, 0, 24, 1},  /* not overwritten in lanes of this side */
        {3, 12, 0, 32, 2}, /* R0:R1 */
        {4, 5, 5, 32, 1},  /* R2 */
        {5, 11, 0, 32, 1}, /* R2 */
        {8, 12, 0, 24, 1}, /* R4 */
        {10, 11, 0, 8, 1}, /* R3 */
        {11, 12, 0, 8, 1}, /* R4 */
    };
    u64 live = 0, dead = 0;
    json_t *totals = run("generic", WITH("timing.functional=false", "probe"), ptx_code, "k", 1, 32);
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        const struct value_of_k *v = &values[i];
        const u64 end = v->next ? seen.retired[v->next] : seen.ended, last = seen.issued[v->reader];
        live += (last - seen.retired[v->writer]) * v->lanes * v->words;
        dead += (end - last) * v->lanes * v->words;
    }
    assert_int_equal(stat_of(totals, "live"), live);
    assert_int_equal(stat_of(totals, "dead"), dead);
    assert_int_equal(stat_of(totals, "resident"), (seen.ended - seen.started) * 5 * 32);
    /* R4 and the first R2:R3 have lanes with different ends, but are one value, or two */
    const u64 cycles = 2 * (seen.issued[3] - seen.retired[0]) + seen.issued[6] - seen.retired[1] +
                       2 * (seen.issued[3] - seen.retired[2]) +
                       2 * (seen.issued[12] - seen.retired[3]) + seen.issued[5] - seen.retired[4] +
                       seen.issued[11] - seen.retired[5] + seen.issued[12] - seen.retired[8] +
                       seen.issued[11] - seen.retired[10] + seen.issued[12] - seen.retired[11];
    assert_int_equal(stat_of(totals, "cycles"), cycles);
    const u64 classes = stat_of(totals, "cycles_10") + stat_of(totals, "cycles_30") +
                        stat_of(totals, "cycles_100") + stat_of(totals, "cycles_300") +
                        stat_of(totals, "cycles_1000") + stat_of(totals, "cycles_more");
    assert_int_equal(classes, 12);
    json_decref(totals);
}

/* Two warps write the same narrow values: one cycle apart with one scheduler, at once behind a barrier
 * on a machine that issues both in one cycle. */
static void pairs(void **state)
{
    static const struct {
        const char *settings[3];
        const char *machine, *kernel;
        u32 threads;
        struct expected want[4];
    } cases[] = {
        {{"issue.schedulers=1", "fetch.width=1"},
         "generic",
         "narrow",
         64,
         {{"narrow", 8}, {"paired", 8}, {"paired_at_once", 0}}},
        {{"lifetimes.window=1"},
         "fermi16",
         "together",
         64,
         {{"narrow", 4}, {"paired", 4}, {"paired_at_once", 4}}},
        {{"lifetimes.window=0"}, "fermi16", "together", 64, {{"paired", 4}, {"paired_at_once", 4}}},
        {{"issue.schedulers=1", "fetch.width=1", "lifetimes.window=0"},
         "generic",
         "narrow",
         64,
         {{"narrow", 8}, {"paired", 0}}},
        {{"issue.schedulers=1", "fetch.width=1", "collect.banks=1"},
         "generic",
         "narrow",
         64,
         {{"narrow", 8}, {"paired", 0}}},
        {{"issue.schedulers=1", "fetch.width=1"},
         "generic",
         "narrow",
         32,
         {{"narrow", 4}, {"paired", 0}}},
        {{"lifetimes.window=64"}, "generic", "narrow", 32, {{"narrow", 4}, {"paired", 0}}},
        {{"issue.schedulers=1", "fetch.width=1", "lifetimes.short_limit=2"},
         "generic",
         "narrow",
         64,
         {{"by_long", 2}, {"by_long_narrow", 2}, {"by_long_paired", 2}}},
        {{"issue.schedulers=1", "fetch.width=1", "lifetimes.short_limit=1"},
         "generic",
         "narrow",
         64,
         {{"by_long", 6}, {"by_long_narrow", 6}, {"by_long_paired", 6}}},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char where[32];
        snprintf(where, sizeof where, "pairs, case %zu", i);
        expect(run(cases[i].machine,
                   WITH("timing.functional=false", cases[i].settings[0], cases[i].settings[1],
                        cases[i].settings[2]),
                   strcmp(cases[i].kernel, "together") ? ptx_code : together_code, cases[i].kernel,
                   1, cases[i].threads),
               cases[i].want, 1, where);
    }
}

/* ---- Southern Islands ---- */

static void si_values(void **state)
{
    static const struct expected partial[] = {
        {"values", 6},          {"read", 3},
        {"unread", 3},          {"instructions", 10},
        {"instructions_1", 1},  {"instructions_5", 1},
        {"instructions_10", 1}, {"width_1", 1},
        {"width_8", 4},         {"width_24", 1},
        {"narrow", 5},          {"by_short", 6},
        {"misjudged", 0},       {0},
    };
    /* A is long-lived, and so is v1, which also holds B */
    static const struct expected limited[] = {
        {"by_long", 1},         {"by_short", 5},       {"mixed", 1},
        {"registers_short", 3}, {"registers_long", 2}, {0}}; /* v0 lives 7 from the start */
    static const struct expected indexed[] = {
        {"values", 4},         {"read", 2},      {"unread", 2}, {"instructions", 8},
        {"instructions_5", 2}, {"misjudged", 0}, {0},
    };
    static const char *const machines[] = {"generic64", "tahiti"};
    char path[1024];
    struct error error;
    struct code_bytes code = {.name = "lifetimes.so"};
    snprintf(path, sizeof path, "%s/mech/si/lifetimes.so", tests_folder);
    code.data = text_read_file(path, false, 1 << 20, &code.length, &error);
    assert_non_null(code.data);
    for (size_t i = 0; i < ARRAY_LEN(machines); i++)
        for (u32 m = 0; m < 2; m++) {
            expect(run(machines[i], WITH(modes[m]), code, "partial", 3, 64), partial, 3, "partial");
            expect(
                run(machines[i], WITH(modes[m], "lifetimes.short_limit=5"), code, "partial", 1, 64),
                limited, 1, "partial, limit 5");
            expect(run(machines[i], WITH(modes[m]), code, "indexed", 2, 64), indexed, 2, "indexed");
        }
    expect(run("miaow", WITH("timing.functional=false"), code, "partial", 1, 64), partial, 1,
           "partial on miaow");
    free((char *)code.data);
}

/* ---- kernels ---- */

static const struct {
    const char *file, *name, *machine;
} kernels[] = {
    {"cuda/calls", "recursion", "generic"},   {"cuda/control", "loops", "gtx480"},
    {"opencl/life", "life", "generic64"},     {"opencl/sort", "bitonic", "generic64"},
    {"opencl/reduce", "reduce", "generic64"}, {"cuda/matmul", "matmul16", "gtx1080ti"},
};

/* In time: nothing else changes, and no value outlives its bound. */
static void kernels_in_time(void **state)
{
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen with =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                    WITH("lifetimes:check=true", "gpu.cores=2", "gpu.cluster=1"), NULL, false);
        struct seen without = rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                                      WITH("gpu.cores=2", "gpu.cluster=1"), NULL, false);
        const char *name;
        json_t *value;
        json_object_foreach(without.totals, name,
                            value) if (!json_equal(value, json_object_get(with.totals, name)))
            fail_msg("%s on %s: %s differs", kernels[k].name, kernels[k].machine, name);
        assert_int_equal(with.hash, without.hash);
        assert_int_equal(rig_total(&with, "lifetimes.misjudged"), 0);
        assert_int_equal(rig_total(&with, "lifetimes.read") + rig_total(&with, "lifetimes.unread"),
                         rig_total(&with, "lifetimes.values"));
        assert_true(rig_total(&with, "lifetimes.live") + rig_total(&with, "lifetimes.dead") <=
                    rig_total(&with, "lifetimes.resident"));
        rig_drop(&with);
        rig_drop(&without);
    }
}

/* Where warps do not diverge, instructions of the thread are those of the warp, as --avf counts
 * them, by a log that it analyses backwards. */
static void avf_agrees(void **state)
{
    static const char *const lives[] = {"1", "2", "5", "10", "20", "50", "more"};
    struct seen both =
        rig_run("cuda/matmul", "matmul16", "gtx480",
                WITH("lifetimes", "avf", "gpu.cores=2", "gpu.cluster=1"), NULL, false);
    assert_int_equal(rig_total(&both, "lifetimes.values"), rig_total(&both, "avf.values"));
    assert_int_equal(rig_total(&both, "lifetimes.unread"), rig_total(&both, "avf.values_unread"));
    assert_true(rig_total(&both, "lifetimes.values") > 1000);
    for (size_t i = 0; i < ARRAY_LEN(lives); i++) {
        char ours[64], theirs[64];
        snprintf(ours, sizeof ours, "lifetimes.instructions_%s", lives[i]);
        snprintf(theirs, sizeof theirs, "avf.values_%s", lives[i]);
        assert_int_equal(rig_total(&both, ours), rig_total(&both, theirs));
    }
    rig_drop(&both);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ptx_values), cmocka_unit_test(ptx_widths),
        cmocka_unit_test(ptx_cycles), cmocka_unit_test(pairs),
        cmocka_unit_test(si_values),  cmocka_unit_test(kernels_in_time),
        cmocka_unit_test(avf_agrees),
    };
    if (argc != 2)
        return 2;
    tests_folder = argv[1];
    rig_folder(argv[1]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
