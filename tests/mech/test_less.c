/*
 * The register file of two segments (less): results are those of a plain one in every mode, also
 * when registers overflow; registers, accesses and energy against counts by hand; what a bus and a
 * write port cost, in cycles; the halves of a bus; and that a wrong row, a result that is wrongly
 * taken for narrow and a reader that does not extend it make programs fail.
 *
 *   test-mech-less TESTS     the folder tests/ of the sources
 */
#include "gpu/device.h"
#include "model/array.h"
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
/* clang-format on */

/* A second one, which can be made wrong. */
#define less_component crooked_component
#define less_mechanism plain_crooked_mechanism
#include "mech/less.c"
#undef less_component
#undef less_mechanism

extern const struct mechanism less_mechanism;

/* ---- what the banks are asked for ---- */

#define COMPONENT probe
#define COMPONENT_DEF "probe.def"
#define COMPONENT_HELP "looks at the places of registers, for tests"
#include "base/component_struct.h"
#include "base/component_table.h"

enum {
    PEEKED = 4096
};
static struct {
    u32 frame, reg, row;
    u64 banks;
} peeked[PEEKED];
static u32 peeks;

struct probe {
    MECHANISM_STATE(probe);
};

static void peek(void *state, struct core *core, const struct inflight *inflight, bool write,
                 struct places *at)
{
    for (u32 i = 0; i < at->count && peeks < PEEKED; i++, peeks++) {
        peeked[peeks].frame = inflight->dyn.warp->frame;
        peeked[peeks].reg = at->at[i].reg;
        peeked[peeks].row = core_register_row(core, inflight->slot, at->at[i].reg, 0);
        peeked[peeks].banks = at->at[i].banks;
    }
}

/* With `turn`, after each instruction all registers become safe, or stop being so. */
static bool probe_turns;
static void turn(void *state, struct core *core, struct inflight *inflight)
{
    static const u64 none[8], all[8] = {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull};
    static u32 times;
    if (probe_turns)
        core_cover(core, inflight->slot, ++times % 2 ? all : none);
}

static const struct mechanism probe_mechanism = {
    MECHANISM_NAMED(probe, "looks at the places of registers"),
    .state_size = sizeof(struct probe),
    .places = peek,
    .retired = turn,
};

extern const struct mechanism avf_mechanism, operand_file_mechanism, register_ecc_mechanism;

static const struct mechanism *const watched[] = {&avf_mechanism,          &less_mechanism,
                                                  &operand_file_mechanism, &register_ecc_mechanism,
                                                  &probe_mechanism,        NULL};

/* ---- small programs ---- */

struct counts {
    json_t *all, *totals;
    json_t *costs;
    u32 memory[64];
};

#define HEAD                                                                                       \
    ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n"         \
    ".reg .u64 %a;\n.reg .u64 %b;\n.reg .u64 %c;\n.reg .u32 %x, %y, %t, %r<32>;\n.reg .pred %p;\n" \
    "ld.param.u64 %a, [p];\n"

/* On one core of fermi16; memory holds `value` in every word before. */
static struct counts run(const char *body, u32 warps, u32 value, const char *const *words)
{
    struct hd_error error = {0};
    struct hd_result result;
    struct counts counts = {0};
    char *code = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&code, &length);
    fprintf(out, "%s%sret;\n}\n", HEAD, body);
    fclose(out);
    struct hd_config *config = config_with(watched);
    assert_true(hd_config_load(config, "fermi16", &error));
    static const char *const usual[] = {"timing.functional=false", "gpu.cores=1",
                                        "ptx.optimize=false",      "icache.perfect=true",
                                        "fetch.buffer=16",         NULL};
    for (u32 i = 0; usual[i]; i++)
        assert_true(hd_config_set(config, usual[i], &error));
    for (; *words; words++)
        if (!rig_apply(config, *words, &error))
            fail_msg("%s: %s", *words, error.message);
    char *text = hd_energy_json(config, &error);
    assert_non_null(text);
    counts.costs = json_loads(text, 0, NULL);
    hd_free(text);
    struct hd_device *device = hd_device_open(config, &error);
    if (!device)
        fail_msg("%s", error.message);
    struct hd_module *module = hd_module_load(device, code, length, "k.ptx", &error);
    if (!module)
        fail_msg("%s", error.message);
    hd_address memory = hd_alloc(device, sizeof counts.memory, &error);
    for (u32 i = 0; i < ARRAY_LEN(counts.memory); i++)
        counts.memory[i] = value;
    assert_true(hd_write(device, memory, counts.memory, sizeof counts.memory, &error));
    struct hd_arg arg = {&memory, sizeof memory};
    if (!hd_launch(hd_kernel_at(module, 0), (struct hd_dim){1, 1, 1},
                   (struct hd_dim){32 * warps, 1, 1}, 0, &arg, 1, &result, &error))
        fail_msg("%s", error.message);
    assert_int_equal(result.outcome, HD_DONE);
    assert_true(hd_read(device, counts.memory, memory, sizeof counts.memory, &error));
    text = hd_stats_json(device);
    counts.all = json_loads(text, 0, NULL);
    counts.totals = json_object_get(counts.all, "totals");
    hd_free(text);
    free(code);
    hd_device_close(device);
    hd_config_destroy(config);
    return counts;
}

static void drop(struct counts *counts)
{
    json_decref(counts->all);
    json_decref(counts->costs);
}

static u64 count_of(const struct counts *counts, const char *name)
{
    json_t *value = json_object_get(counts->totals, name);
    if (!json_is_integer(value))
        fail_msg("no statistic %s", name);
    return (u64)json_integer_value(value);
}

static void expect(const struct counts *counts, const char *name, u64 value)
{
    char full[64];
    snprintf(full, sizeof full, "less.%s", name);
    if (count_of(counts, full) != value)
        fail_msg("%s is %llu, not %llu", full, (unsigned long long)count_of(counts, full),
                 (unsigned long long)value);
}

/* ---- counts by hand ---- */

/* %a is a pair that is read last by the store; %x and %y are read by the next instruction. */
#define SHORT_AND_LONG                               \
    "ld.global.u32 %x, [%a];\nadd.u32 %y, %x, %x;\n" \
    "st.global.u32 [%a], %y;\n"

static void segments_follow_lifetimes(void **state)
{
    struct counts c =
        run(SHORT_AND_LONG, 2, 7, WITH("less:limit=1", "ptx.life_limit=1", "less.mode=la"));
    assert_int_equal(c.memory[0], 14);
    expect(&c, "stt_rows", 2 * 2);
    expect(&c, "sram_rows", 2 * 1);
    expect(&c, "stt_overflows", 0);
    expect(&c, "sram_overflows", 0);
    expect(&c, "stt_reads", 2 * (1 + 1)); /* the address, a pair, by load and store */
    expect(&c, "sram_reads", 2 * (2 + 1));
    expect(&c, "stt_writes", 2 * 2);
    expect(&c, "sram_writes", 2 * 2);
    expect(&c, "writes", 2 * 4);
    expect(&c, "slow", 2);
    expect(&c, "stt_read_lanes", 64 * 2);
    expect(&c, "sram_read_lanes", 64 * 3);
    expect(&c, "stt_write_lanes", 64 * 2);
    expect(&c, "sram_write_lanes", 64 * 2);
    expect(&c, "checked_lanes", 0);
    drop(&c);
    /* a limit that all values meet, and one that none does */
    c = run(SHORT_AND_LONG, 1, 7, WITH("less:limit=100,mode=la"));
    expect(&c, "stt_rows", 0);
    expect(&c, "stt_writes", 0);
    drop(&c);
    c = run(SHORT_AND_LONG, 1, 7, WITH("less:sram_share=0,mode=la"));
    expect(&c, "sram_rows", 0);
    expect(&c, "stt_overflows", 0);
    expect(&c, "stt_writes", 4);
    drop(&c);
}

/* Homes: warp * count + number, and the bank is that of the row in its segment. */
static void homes_are_rows_of_the_kind(void **state)
{
    enum {
        WARPS = 8
    };
    peeks = 0;
    struct counts c =
        run(SHORT_AND_LONG, WARPS, 7, WITH("less:limit=1", "probe", "ptx.life_limit=1"));
    drop(&c);
    assert_true(peeks >= WARPS * 11);
    for (u32 i = 0; i < peeks; i++) {
        const u32 frame = peeked[i].frame, reg = peeked[i].reg;
        const u32 row = reg < 2 ? 256 + frame * 2 + reg : frame;
        assert_int_equal(peeked[i].row, row);
        assert_int_equal(peeked[i].banks, 1ull << row % 16);
    }
}

static void short_segments_overflow(void **state)
{
    /* one row of SRAM for the short-lived register of four warps */
    struct counts c =
        run(SHORT_AND_LONG, 4, 7, WITH("less:limit=1,sram_share=0.0009765625", "ptx.life_limit=1"));
    expect(&c, "sram_rows", 1);
    expect(&c, "stt_rows", 4 * 3 - 1);
    expect(&c, "stt_overflows", 3);
    expect(&c, "sram_overflows", 0);
    drop(&c);
    /* three of STT-RAM for pairs of four */
    c = run(SHORT_AND_LONG, 4, 7, WITH("less:limit=1,sram_share=0.9970703125", "ptx.life_limit=1"));
    expect(&c, "stt_rows", 3);
    expect(&c, "sram_rows", 4 * 3 - 3);
    expect(&c, "sram_overflows", 5);
    drop(&c);
}

/* By number instead: three of four registers in STT-RAM. */
static void without_lifetimes_numbers_decide(void **state)
{
    struct counts c =
        run("ld.global.u64 %b, [%a];\nst.global.u64 [%a], %b;\n", 1, 7, WITH("less:mode=nwa"));
    expect(&c, "stt_rows", 3);
    expect(&c, "sram_rows", 1);
    drop(&c);
}

/* A row that is stored as 16 bits, through all kinds of writes. */
static void narrow_registers_keep_their_values(void **state)
{
    static const char body[] = "mov.u32 %t, %tid.x;\n"
                               "mul.wide.u32 %b, %t, 4;\n"
                               "add.u64 %a, %a, %b;\n"
                               "ld.global.u32 %x, [%a];\n"
                               "setp.lt.u32 %p, %t, 16;\n"
                               "@%p add.u32 %x, %x, 1;\n"       /* some lanes, stays narrow */
                               "@%p add.u32 %x, %x, 0x10000;\n" /* some become wide */
                               "@%p mov.u32 %x, 3;\n"           /* and narrow again */
                               "add.u32 %y, %x, 0x10000;\n"
                               "st.global.u32 [%a], %y;\n";
    struct counts c = run(body, 1, 0xffff, WITH("less:sram_share=0"));
    for (u32 i = 0; i < 32; i++)
        assert_int_equal(c.memory[i], i < 16 ? 0x10003 : 0x1ffff);
    /* %a, its sum, %y and the sums of %x that pass 16 bits are wide: 0xffff + 1, too */
    expect(&c, "slow", 9);
    expect(&c, "narrow", 4);         /* %t, %b, the load, 3 */
    expect(&c, "halves", 1 + 2 + 1); /* a pair is two registers */
    expect(&c, "extended", 2);       /* the first partial write, and the last */
    expect(&c, "checked_lanes", 32 * (2 + 1 + 2 + 2 + 1 + 1) + 16 * 3);
    drop(&c);
    c = run(body, 1, 0xfff, WITH("less:sram_share=0"));
    for (u32 i = 0; i < 32; i++)
        assert_int_equal(c.memory[i], i < 16 ? 0x10003 : 0x10fff);
    expect(&c, "narrow", 5);
    expect(&c, "halves", 1 + 2 + 1 + 1);
    expect(&c, "extended", 2);
    expect(&c, "halved_reads", 1 + 2 + 1 + 1 + 1 + 1 + 1 + 2); /* pairs count once */
    expect(&c, "halved_writes", 2 + 1 + 2 + 2 + 1 + 3 + 1);
    drop(&c);
}

/* ---- time ---- */

enum {
    MORE = 16, /* instructions: as many as banks, so that the last ones write to the same */
    LONG = 24, /* cycles */
    REGISTERS = 2 * MORE
};

/* Sums of %x that do not depend on each other; `chain`: each is added to the one before. */
static const char *sums(char *text, size_t size, u32 count, bool chain)
{
    size_t at = (size_t)snprintf(text, size, "ld.global.u32 %%x, [%%a];\nadd.u32 %%y, %%x, %%x;\n");
    for (u32 i = 0; i < REGISTERS && !chain; i++)
        at += (size_t)snprintf(text + at, size - at, "add.u32 %%r%u, %%x, %%x;\n", i);
    for (u32 i = 0; i < count; i++)
        at += (size_t)(chain ? snprintf(text + at, size - at, "add.u32 %%y, %%y, %%x;\n")
                             : snprintf(text + at, size - at, "add.u32 %%r%u, %%r%u, %%x;\n",
                                        i % REGISTERS, i % REGISTERS));
    if (!chain) /* the last one comes first: so all have been written */
        at += (size_t)snprintf(text + at, size - at, "add.u32 %%y, %%y, %%r%u;\n",
                               (count - 1) % REGISTERS);
    for (u32 i = 0; i < REGISTERS && !chain; i++)
        at += (size_t)snprintf(text + at, size - at, "add.u32 %%y, %%y, %%r%u;\n", i);
    return text;
}

/* Cycles that MORE sums of each warp take. */
static u64 more(u32 warps, bool chain, u32 value, const char *const *words)
{
    char text[16384];
    struct counts a = run(sums(text, sizeof text, 2 * MORE, chain), warps, value, words);
    struct counts b = run(sums(text, sizeof text, MORE, chain), warps, value, words);
    const u64 cycles = count_of(&a, "timing.cycles") - count_of(&b, "timing.cycles");
    drop(&a);
    drop(&b);
    return cycles;
}

#define ALL_STT "less:sram_share=0", "units.result_buses=1"

/* A write of n cycles holds the bus for n. */
static void writes_hold_the_bus(void **state)
{
    for (u32 n = LONG; n <= LONG + 1; n++) {
        char word[64];
        snprintf(word, sizeof word, "less.write_cycles=%u", n);
        assert_int_equal(more(1, false, 7, WITH(ALL_STT, word)), MORE * n);
        assert_int_equal(more(2, false, 7, WITH(ALL_STT, word, "less.mode=la")), 2 * MORE * n);
        assert_int_equal(more(1, false, 7, WITH("less:sram_share=1", word)),
                         more(1, false, 7, WITH("less:sram_share=1"))); /* SRAM takes one cycle */
        snprintf(word, sizeof word, "less.write_cycles=%u", 2 * n);
        assert_int_equal(more(1, false, 7, WITH("less:sram_share=0", "units.result_buses=2", word)),
                         MORE * n);
    }
}

/* ... and the write port of its bank; but reads go on. */
static void writes_hold_their_port(void **state)
{
    static const char *const many[] = {"units.result_buses=16", "collect.banks=1"};
    for (u32 n = LONG; n <= LONG + 1; n++) {
        char word[64];
        snprintf(word, sizeof word, "less.write_cycles=%u", n);
        assert_int_equal(
            more(1, false, 7, WITH("less:sram_share=0", many[0], many[1], word, "less.mode=la")),
            MORE * n);
        assert_true(more(1, false, 7, WITH("less:sram_share=0", many[0], word, "less.mode=la")) <
                    MORE * n);
    }
    const u64 plain = more(1, true, 7, WITH("less:sram_share=0", "less.write_cycles=1", many[1]));
    for (u32 n = 2; n <= 8; n++) {
        char word[64];
        snprintf(word, sizeof word, "less.write_cycles=%u", n);
        assert_int_equal(more(1, true, 7, WITH("less:sram_share=0", word, many[1])), plain);
    }
}

/* Narrow results of two warps share the bus: both need as long as one. Those of one warp, wide
 * ones, and those for the same bank do not. */
static void narrow_results_share_the_bus(void **state)
{
    static const char *const modes[] = {"less.pair=consecutive", "less.pair=any"};
    for (u32 i = 0; i < 2; i++)
        for (u32 n = LONG; n <= LONG + 1; n++) {
            char word[64];
            snprintf(word, sizeof word, "less.write_cycles=%u", n);
            const u64 pairs = more(2, false, 7, WITH(ALL_STT, word, modes[i]));
            assert_true(pairs >= MORE * n && pairs <= MORE * n + n);
            assert_int_equal(more(1, false, 7, WITH(ALL_STT, word, modes[i])), MORE * n);
            assert_int_equal(more(2, false, 0x7fff8000, WITH(ALL_STT, word, modes[i])),
                             2 * MORE * n);
            assert_int_equal(more(2, false, 7, WITH(ALL_STT, word, modes[i], "collect.banks=1")),
                             2 * MORE * n);
        }
}

/* Who may share, by the valid bits, from cycle to cycle. */
static void halves_have_valid_bits(void **state)
{
    struct core *core = calloc(1, sizeof *core);
    struct less *l = calloc(1, sizeof *l);
    struct less_params params = {.write_cycles = 4, .pair = 1};
    struct inflight one = {.slot = 1, .pipe = PIPE_SP, .bus = 2};
    struct inflight two = one, load = one;
    struct inflight three = one;
    two.slot = 2;
    three.slot = 3;
    load.slot = 2;
    load.pipe = PIPE_MEMORY;
    l->core = core;
    l->params = &params;
#define SHARES(who)                               \
    ({                                            \
        struct places p = {0};                    \
        find_bus(l, who, &p);                     \
        assert_true(!p.shares_bus || p.bus == 2); \
        p.shares_bus;                             \
    })
    core->clock.cycle = 100;
    assert_false(SHARES(&two)); /* both 0: it takes a bus of its own */
    struct less_inflight t = {.narrow = true, .stt = 1};
    set_halves(l, &one, &t); /* low half, cycles 100 to 103 */
    assert_true(SHARES(&two));
    assert_false(SHARES(&one));  /* of another warp only */
    assert_false(SHARES(&load)); /* another bus */
    core->clock.cycle = 103;
    assert_true(SHARES(&two)); /* n - 1 */
    core->clock.cycle = 104;
    assert_false(SHARES(&two)); /* n: done */
    core->clock.cycle = 102;
    t.shares = true;
    set_halves(l, &two, &t);      /* high half, 102 to 105 */
    assert_false(SHARES(&three)); /* both 1 */
    core->clock.cycle = 104;      /* the low half is free again */
    assert_true(SHARES(&one));
    set_halves(l, &one, &t); /* low, 104 to 107 */
    core->clock.cycle = 105;
    assert_false(SHARES(&three));
    core->clock.cycle = 106;
    assert_true(SHARES(&two));
    t = (struct less_inflight){.stt = 1}; /* a whole write clears both */
    core->clock.cycle = 108;
    set_halves(l, &one, &t);
    assert_false(SHARES(&two));
    /* in the same cycle or the next */
    params.pair = 0;
    t.narrow = true;
    set_halves(l, &one, &t);
    assert_true(SHARES(&two));
    core->clock.cycle = 109;
    assert_true(SHARES(&two));
    core->clock.cycle = 110;
    assert_false(SHARES(&two));
    free(l);
    free(core);
}

/* ---- energy ---- */

static f64 pj_of(const struct counts *counts, const char *counter)
{
    size_t i;
    json_t *row;
    json_array_foreach(
        json_object_get(counts->costs, "events"), i,
        row) if (!strcmp(json_string_value(json_object_get(row, "counter")), counter) &&
                 json_real_value(json_object_get(row, "pj")) >
                     0) return json_real_value(json_object_get(row, "pj"));
    fail_msg("no event %s", counter);
    return 0;
}

static f64 mw_of(const struct counts *counts, const char *element)
{
    size_t i;
    json_t *row;
    json_array_foreach(
        json_object_get(counts->costs, "leakage"), i,
        row) if (!strcmp(json_string_value(json_object_get(row, "what")),
                         element)) return json_real_value(json_object_get(row, "mw"));
    return 0;
}

static void close_to(f64 a, f64 b)
{
    if (fabs(a - b) > 1e-9 * fabs(b))
        fail_msg("%.12g, not %.12g", a, b);
}

static void energy_is_that_of_the_table(void **state)
{
    struct counts c = run(SHORT_AND_LONG, 1, 7, WITH("less:limit=1", "ptx.life_limit=1"));
    close_to(pj_of(&c, "less.sram_read_lanes"), 49.0 / 32);
    close_to(pj_of(&c, "less.sram_write_lanes"), 43.0 / 32);
    close_to(pj_of(&c, "less.stt_read_lanes"), 82.0 / 32);
    close_to(pj_of(&c, "less.stt_write_lanes"), 529.0 / 32);
    close_to(mw_of(&c, "less.sram"), 31.2);
    close_to(mw_of(&c, "less.stt"), 3.21);
    close_to(mw_of(&c, "collect.registers"), 0);
    /* exactly the sum of all events, rounded one by one */
    u64 dynamic = 0;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(c.costs, "events"), i, row) dynamic +=
        (u64)rint((f64)count_of(&c, json_string_value(json_object_get(row, "counter"))) *
                  json_real_value(json_object_get(row, "pj")) * 1000);
    close_to((f64)dynamic,
             rint(json_real_value(json_object_get(c.totals, "energy.dynamic_pj")) * 1000));
    drop(&c);
    c = run(SHORT_AND_LONG, 1, 7, WITH("less:sram_share=0,mode=la"));
    close_to(pj_of(&c, "less.stt_read_lanes"), 92.0 / 32);
    close_to(pj_of(&c, "less.stt_write_lanes"), 645.0 / 32);
    close_to(mw_of(&c, "less.stt"), 4.283);
    drop(&c);
    c = run(SHORT_AND_LONG, 1, 7, WITH("less:sram_share=1,mode=la"));
    close_to(pj_of(&c, "less.sram_read_lanes"), 131.0 / 32);
    close_to(mw_of(&c, "less.sram"), 130);
    drop(&c);
}

/* Other sizes cost as much more or less than the nearest of the table as the array model says. */
static void other_sizes_follow_the_model(void **state)
{
    static const struct {
        const char *share, *element;
        f64 read, leaks;
        u32 rows, table;
    } rows[] = {
        {"less:sram_share=0.5", "less.stt", 82, 3.21, 512, 768},
        {"less:sram_share=0.5", "less.sram", 49, 31.2, 512, 256},
        {"less:sram_share=0.75", "less.sram", 131, 130, 768, 1024},
        {"less:sram_share=0.0625", "less.stt", 92, 4.283, 960, 1024},
    };
    const struct technology technology = {40, 0.9, 67};
    const struct array_shape shape = {.banks = 16, .access_bits = 1024, .data = true};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char counter[64];
        const struct array_cost ours = array_cost(rows[i].rows * 32, 32, &shape, &technology);
        const struct array_cost theirs = array_cost(rows[i].table * 32, 32, &shape, &technology);
        struct counts c = run(SHORT_AND_LONG, 1, 7, WITH(rows[i].share));
        snprintf(counter, sizeof counter, "%s_read_lanes", rows[i].element);
        close_to(pj_of(&c, counter), rows[i].read / 32 * ours.read_pj / theirs.read_pj);
        close_to(mw_of(&c, rows[i].element), rows[i].leaks * ours.leakage_mw / theirs.leakage_mw);
        drop(&c);
    }
}

/* ---- vulnerability ---- */

static u64 ace(const struct counts *c, const char *which)
{
    char name[64];
    snprintf(name, sizeof name, "avf.vector_%s", which);
    return count_of(c, name);
}

/* What is in STT-RAM is safe: of two values, by hand; all; nothing. */
static void stt_is_safe(void **state)
{
    /* %x waits in SRAM for the instruction after the next, while %a is in STT-RAM */
    struct counts c = run(SHORT_AND_LONG, 1, 7, WITH("avf", "ptx.life_limit=1"));
    assert_int_equal(ace(&c, "safe"), 0);
    assert_int_equal(ace(&c, "vulnerable"), ace(&c, "ace"));
    drop(&c);
    c = run(SHORT_AND_LONG, 1, 7, WITH("avf", "less:limit=1", "ptx.life_limit=1"));
    const u64 all = ace(&c, "ace"), safe = ace(&c, "safe");
    assert_int_equal(safe + ace(&c, "vulnerable"), all);
    drop(&c);
    c = run(SHORT_AND_LONG, 1, 7, WITH("avf", "less:sram_share=0", "ptx.life_limit=1"));
    assert_int_equal(ace(&c, "vulnerable"), 0);
    drop(&c);
    /* the address, 32 bits of a pair in 32 lanes, is needed for hundreds of cycles of a miss; the
     * others for the few cycles from a write to the next read */
    assert_true(safe > all * 9 / 10 && safe < all);
    assert_int_equal((all - safe) % 32, 0);
}

/* What changes in between: nothing is lost. */
static void parts_add_up(void **state)
{
    static const char *const sets[][4] = {{"avf", "probe"}, {"avf", "probe", "avf.window=64"}};
    for (u32 i = 0; i < 2; i++) {
        char text[16384];
        sums(text, sizeof text, 8, false);
        strcat(text, "st.global.u32 [%a], %y;\n");
        struct counts c = run(text, 2, 7, sets[i]);
        const u64 all = ace(&c, "ace");
        assert_int_equal(ace(&c, "safe"), 0);
        drop(&c);
        probe_turns = true;
        c = run(text, 2, 7, sets[i]);
        probe_turns = false;
        assert_true(i || ace(&c, "ace") == all); /* a full log has more of what is not known */
        assert_int_equal(ace(&c, "safe") + ace(&c, "vulnerable"), ace(&c, "ace"));
        assert_true(all > 0 && ace(&c, "safe") > 0 && ace(&c, "vulnerable") > 0);
        drop(&c);
    }
}

/* ---- what it is compared with ---- */

static void expect_ecc(const struct counts *counts, const char *name, u64 value)
{
    char full[64];
    snprintf(full, sizeof full, "register_ecc.%s", name);
    if (count_of(counts, full) != value)
        fail_msg("%s is %llu, not %llu", full, (unsigned long long)count_of(counts, full),
                 (unsigned long long)value);
}

static void all_registers_have_check_bits(void **state)
{
    struct counts plain_run = run(SHORT_AND_LONG, 2, 7, WITH("avf", "ptx.life_limit=1"));
    struct counts c = run(SHORT_AND_LONG, 2, 7, WITH("avf", "register_ecc", "ptx.life_limit=1"));
    expect_ecc(&c, "writes", 2 * 4);
    expect_ecc(&c, "reads", 2 * (1 + 2 + 2)); /* pairs once */
    expect_ecc(&c, "write_lanes", 64 * 4);
    expect_ecc(&c, "read_lanes", 64 * 5);
    expect_ecc(&c, "searches", 0);
    assert_int_equal(ace(&c, "vulnerable"), 0);
    assert_int_equal(ace(&c, "ace"), ace(&plain_run, "ace"));
    assert_int_equal(count_of(&c, "timing.cycles"), count_of(&plain_run, "timing.cycles"));
    drop(&plain_run);
    drop(&c);
}

/* Shield: the address is long-lived, two registers of two warps. */
static void a_table_has_the_long_lived(void **state)
{
    struct counts c = run(SHORT_AND_LONG, 2, 7,
                          WITH("avf", "register_ecc:mode=table,limit=1", "ptx.life_limit=1"));
    expect_ecc(&c, "inserted", 2 * 2);
    expect_ecc(&c, "refused", 0);
    expect_ecc(&c, "freed", 2 * 2);
    expect_ecc(&c, "writes", 2 * 2);
    expect_ecc(&c, "reads", 2 * 2);
    expect_ecc(&c, "searches", 2 * (5 + 4));
    const u64 safe = ace(&c, "safe");
    assert_true(safe > 0 && ace(&c, "vulnerable") > 0);
    drop(&c);
    c = run(SHORT_AND_LONG, 2, 7,
            WITH("avf", "register_ecc:mode=table,limit=1,entries=3", "ptx.life_limit=1"));
    expect_ecc(&c, "inserted", 3);
    expect_ecc(&c, "refused", 1);
    expect_ecc(&c, "freed", 3);
    assert_true(ace(&c, "safe") < safe);
    drop(&c);
}

static void expect_file(const struct counts *counts, const char *name, u64 value)
{
    char full[64];
    snprintf(full, sizeof full, "operand_file.%s", name);
    if (count_of(counts, full) != value)
        fail_msg("%s is %llu, not %llu", full, (unsigned long long)count_of(counts, full),
                 (unsigned long long)value);
}

/* %y is read by the next instruction; %t as well, and in the next block; %x is loaded. */
static void the_operand_file_has_what_is_read_soon(void **state)
{
    static const char body[] = "ld.global.u32 %x, [%a];\n"
                               "add.u32 %y, %x, 1;\n"
                               "add.u32 %t, %y, %y;\n"
                               "setp.lt.u32 %p, %t, 1000;\n"
                               "@%p bra NEXT;\n"
                               "NEXT:\nadd.u32 %y, %t, 1;\n"
                               "st.global.u32 [%a], %y;\n";
    struct counts c = run(body, 1, 7, WITH("avf", "operand_file"));
    assert_int_equal(c.memory[0], 17);
    expect_file(&c, "file_writes", 3);         /* %y, %t, %y */
    expect_file(&c, "both_writes", 1);         /* %t */
    expect_file(&c, "main_writes", 2 + 1 + 1); /* %a, %x, %t */
    expect_file(&c, "file_reads", 2 + 1 + 1);  /* by add, setp, st */
    expect_file(&c, "main_reads", 1 + 1 + 1 + 1);
    expect_file(&c, "file_read_lanes", 32 * 4);
    expect_file(&c, "file_write_lanes", 32 * 3);
    expect_file(&c, "main_write_lanes", 32 * 4);
    assert_int_equal(ace(&c, "safe") + ace(&c, "vulnerable"), ace(&c, "ace"));
    assert_true(ace(&c, "safe") > ace(&c, "ace") * 9 / 10 && ace(&c, "vulnerable") > 0);
    close_to(pj_of(&c, "operand_file.main_write_lanes"), 645.0 / 32);
    close_to(mw_of(&c, "operand_file.main"), 4.283);
    drop(&c);
    /* only the next instruction counts; no entries are left for the second */
    c = run("add.u32 %x, 1, 2;\nadd.u32 %y, 3, 4;\nadd.u32 %t, %x, %y;\nst.global.u32 [%a], %t;\n",
            1, 7, WITH("operand_file:first=1"));
    expect_file(&c, "file_writes", 2); /* %y, %t */
    drop(&c);
    c = run("add.u32 %x, 1, 2;\nadd.u32 %y, 3, 4;\nadd.u32 %t, %x, %y;\nst.global.u32 [%a], %t;\n",
            1, 7, WITH("operand_file:entries=1"));
    expect_file(&c, "file_writes", 2); /* %x, %t */
    drop(&c);
}

/* ---- kernels ---- */

static const struct kernel_row {
    const char *file, *name, *machine;
} kernels[] = {
    {"cuda/matmul", "matmul16", "fermi16"},       {"cuda/reduce", "reduce_tree", "fermi16"},
    {"cuda/scan", "scan_inclusive", "rtx2060"},   {"cuda/mandel", "mandel", "fermi16"},
    {"cuda/double", "doubles", "gtx480"},         {"cuda/control", "switches", "rtx2060"},
    {"cuda/calls", "recursion", "gtx480"},        {"cuda/warps", "shuffles", "fermi16"},
    {"cuda/warps", "exchange", "gtx480"},         {"cuda/warps", "aggregate", "gtx480"},
    {"cuda/barriers", "barrier_votes", "gtx480"}, {"cuda/atomics", "atomics_shared", "fermi16"},
    {"opencl/reduce", "reduce", "generic64"},     {"opencl/integer", "longs", "generic64"},
    {"opencl/sort", "bitonic", "generic64"},
};

static const struct mechanism *const plain[] = {&less_mechanism, &operand_file_mechanism, NULL};

static void results_do_not_change(void **state)
{
    static const char *const sets[][6] = {
        {"less:mode=la", "ptx.life_limit=10"},
        {"less", "ptx.life_limit=10"},
        {"less:mode=nwa,pair=any"},
        {"less:sram_share=0,pair=any", "gpu.cores=1"},
        {"less:sram_share=0.01,limit=2", "ptx.life_limit=2", "ptx.max_registers=16"},
        {"less:sram_share=0.99,write_cycles=9", "units.result_buses=1", "gpu.cores=1"},
    };
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen without =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, plain, false);
        for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
            struct seen with = rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                                       sets[i], plain, false);
            if (with.hash != without.hash)
                fail_msg("%s %s: other bytes with %s", kernels[k].file, kernels[k].name,
                         sets[i][0]);
            assert_int_equal(rig_total(&with, "less.stt_read_lanes") +
                                 rig_total(&with, "less.sram_read_lanes"),
                             rig_total(&with, "collect.lane_reads"));
            assert_int_equal(rig_total(&with, "less.stt_write_lanes") +
                                 rig_total(&with, "less.sram_write_lanes"),
                             rig_total(&with, "collect.lane_writes"));
            assert_int_equal(rig_total(&with, "less.stt_reads") +
                                 rig_total(&with, "less.sram_reads"),
                             rig_total(&with, "collect.reads"));
            assert_int_equal(rig_total(&with, "less.writes"), rig_total(&with, "collect.writes"));
            rig_drop(&with);
        }
        rig_drop(&without);
    }
}

static void operand_files_change_no_results(void **state)
{
    static const char *const sets[][4] = {
        {"operand_file"},
        {"operand_file:first=64,entries=8", "gpu.cores=1"},
        {"operand_file:entries=1,first=64", "ptx.max_registers=16"},
    };
    for (size_t k = 0; k < ARRAY_LEN(kernels); k++) {
        struct seen without =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, plain, false);
        for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
            struct seen with = rig_run(kernels[k].file, kernels[k].name, kernels[k].machine,
                                       sets[i], plain, false);
            assert_int_equal(with.hash, without.hash);
            assert_int_equal(rig_total(&with, "operand_file.file_read_lanes") +
                                 rig_total(&with, "operand_file.main_read_lanes"),
                             rig_total(&with, "collect.lane_reads"));
            assert_int_equal(rig_total(&with, "operand_file.main_writes"),
                             rig_total(&with, "collect.writes"));
            rig_drop(&with);
        }
        rig_drop(&without);
    }
}

/* All-STT is slower than both, and sharing a bus gains. */
static void directions_are_right(void **state)
{
    struct seen la = rig_run("cuda/matmul", "matmul16", "fermi16",
                             WITH("less:mode=la", "ptx.life_limit=10", "gpu.cores=1"), plain, 0);
    struct seen both = rig_run("cuda/matmul", "matmul16", "fermi16",
                               WITH("less", "ptx.life_limit=10", "gpu.cores=1"), plain, 0);
    struct seen stt = rig_run("cuda/matmul", "matmul16", "fermi16",
                              WITH("less:sram_share=0,mode=la", "gpu.cores=1"), plain, 0);
    struct seen sram = rig_run("cuda/matmul", "matmul16", "fermi16", WITH("gpu.cores=1"), plain, 0);
    assert_true(rig_total(&sram, "timing.cycles") < rig_total(&la, "timing.cycles"));
    assert_true(rig_total(&la, "timing.cycles") < rig_total(&stt, "timing.cycles"));
    assert_true(rig_total(&both, "timing.cycles") <= rig_total(&la, "timing.cycles"));
    assert_true(rig_total(&both, "less.paired") > 0);
    assert_int_equal(rig_total(&la, "less.paired"), 0);
    rig_drop(&la);
    rig_drop(&both);
    rig_drop(&stt);
    rig_drop(&sram);
}

/* ---- what is wrong is noticed ---- */

static enum {
    CROOKED_NOT,
    CROOKED_ROW,   /* a register is looked for in the row next to its own */
    CROOKED_WIDE,  /* every result counts as narrow */
    CROOKED_READER /* nobody extends narrow values */
} crooked_how;
static u32 crooked_results;

static void crooked_retired(void *state, struct core *core, struct inflight *inflight)
{
    retired(state, core, inflight);
    const struct slot *slot = core_slot(core, inflight->slot);
    if (crooked_how != CROOKED_ROW || !inflight->dyn.dst_rows[0] || !slot->warp || slot->ended ||
        ++crooked_results % 16)
        return;
    const u32 reg = inflight->dyn.to[0], row = core_register_row(core, inflight->slot, reg, 0);
    for (u32 other = row + 1; other < core_rows(core); other++)
        if (!core_row_lanes(core, other)) {
            core_place_register(core, inflight->slot, reg, other);
            return;
        }
}

static void crooked_result(void *state, struct core *core, struct inflight *inflight)
{
    struct less *l = state;
    result(state, core, inflight);
    if (crooked_how == CROOKED_WIDE && inflight->dyn.kind <= DYNINST_ACCESS)
        l->inflight[inflight_index(core, inflight)].narrow = true;
}

static void crooked_block(void *state, struct core *core, u32 place, bool started)
{
    block(state, core, place, started);
    for (u64 set = started ? core_block(core, place)->slots : 0; set; set &= set - 1)
        if (crooked_how == CROOKED_READER)
            register_keep(core_slot(core, first_bit(set))->warp, NULL);
}

static void wrong_ones_are_noticed(void **state)
{
    static struct mechanism crooked;
    static const struct mechanism *const with_crooked[] = {&crooked, NULL};
    crooked = plain_crooked_mechanism;
    crooked.component = &crooked_component;
    crooked.retired = crooked_retired;
    crooked.result = crooked_result;
    crooked.block = crooked_block;
    for (u32 how = CROOKED_NOT; how <= CROOKED_READER; how++)
        for (u32 k = 0; k < 2; k++) {
            crooked_how = how;
            crooked_results = 0;
            struct seen seen = rig_run(kernels[k].file, kernels[k].name, "fermi16",
                                       WITH("less", "gpu.cores=1", "timing.max_cycles=1000000"),
                                       with_crooked, true);
            if (seen.wrong != (how != CROOKED_NOT))
                fail_msg("%s, crooked %u: %s", kernels[k].name, how,
                         seen.wrong ? "fails" : "passes");
            rig_drop(&seen);
        }
}

static void off_is_identical(void **state)
{
    static const struct mechanism *const none[] = {NULL};
    for (size_t k = 0; k < 4; k++) {
        struct seen without =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, none, false);
        struct seen off =
            rig_run(kernels[k].file, kernels[k].name, kernels[k].machine, NULL, plain, false);
        assert_true(json_equal(without.totals, off.totals));
        rig_drop(&without);
        rig_drop(&off);
    }
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    rig_folder(argv[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_follow_lifetimes),
        cmocka_unit_test(homes_are_rows_of_the_kind),
        cmocka_unit_test(short_segments_overflow),
        cmocka_unit_test(without_lifetimes_numbers_decide),
        cmocka_unit_test(narrow_registers_keep_their_values),
        cmocka_unit_test(writes_hold_the_bus),
        cmocka_unit_test(writes_hold_their_port),
        cmocka_unit_test(narrow_results_share_the_bus),
        cmocka_unit_test(halves_have_valid_bits),
        cmocka_unit_test(energy_is_that_of_the_table),
        cmocka_unit_test(stt_is_safe),
        cmocka_unit_test(parts_add_up),
        cmocka_unit_test(all_registers_have_check_bits),
        cmocka_unit_test(a_table_has_the_long_lived),
        cmocka_unit_test(the_operand_file_has_what_is_read_soon),
        cmocka_unit_test(other_sizes_follow_the_model),
        cmocka_unit_test(results_do_not_change),
        cmocka_unit_test(operand_files_change_no_results),
        cmocka_unit_test(directions_are_right),
        cmocka_unit_test(wrong_ones_are_noticed),
        cmocka_unit_test(off_is_identical),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
