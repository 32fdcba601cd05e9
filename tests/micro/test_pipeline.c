/*
 * The way of one instruction through a core, against closed forms.
 *
 * Stages, one cycle each: issue; the instruction takes a collector; its operands are read, one more
 * cycle for each further read of the same bank; it goes to its unit's latch; it enters the unit.
 * After the latency, two registers of the unit later, the result is written, and what waits for it
 * issues in the same cycle. So from issue to the issue of a dependent instruction:
 * 4 + latency + 2, and the cycles that reads of a bank wait for each other.
 */
#include "rig.h"

enum {
    STAGES = 4, /* issue to entering the unit: collector, read, latch, unit */
    UNIT_REGISTERS = 2
};

/* What nothing in these tests may wait for. */
#define FREE "gpu.cores=1 collect.banks=64 collect.generic=16 units.result_buses=16 "

/* ---- latency and interval of each class ---- */

struct op_class {
    const char *name;  /* of the parameter; the interval's is name_interval */
    const char *chain; /* x = f(x, y, z) */
    const char *alone; /* with its number as destination */
    const char *type;  /* of registers: r 32 bits, d 64 bits */
    const char *lanes; /* of its unit */
};
static const struct op_class classes[] = {
    {"int_simple", "and.b32 %r1, %r1, %r2", "and.b32 %%r%u, %%r2, %%r3", "r", "units.sp_lanes"},
    {"int_add", "add.u32 %r1, %r1, %r2", "add.u32 %%r%u, %%r2, %%r3", "r", "units.sp_lanes"},
    {"int_max", "max.s32 %r1, %r1, %r2", "max.s32 %%r%u, %%r2, %%r3", "r", "units.sp_lanes"},
    {"int_mul", "mul.lo.u32 %r1, %r1, %r2", "mul.lo.u32 %%r%u, %%r2, %%r3", "r", "units.sp_lanes"},
    {"int_mad", "mad.lo.u32 %r1, %r1, %r2, %r3", "mad.lo.u32 %%r%u, %%r2, %%r3, %%r4", "r",
     "units.sp_lanes"},
    {"int_div", "div.u32 %r1, %r1, %r2", "div.u32 %%r%u, %%r2, %%r3", "r", "units.sfu_lanes"},
    {"shuffle", "shfl.sync.bfly.b32 %r1, %r1, 1, 31, -1",
     "shfl.sync.bfly.b32 %%r%u, %%r2, 1, 31, -1", "r", "units.sp_lanes"},
    {"fp32_add", "add.f32 %r1, %r1, %r2", "add.f32 %%r%u, %%r2, %%r3", "r", "units.sp_lanes"},
    {"fp32_max", "max.f32 %r1, %r1, %r2", "max.f32 %%r%u, %%r2, %%r3", "r", "units.sp_lanes"},
    {"fp32_mul", "mul.f32 %r1, %r1, %r2", "mul.f32 %%r%u, %%r2, %%r3", "r", "units.sp_lanes"},
    {"fp32_mad", "fma.rn.f32 %r1, %r1, %r2, %r3", "fma.rn.f32 %%r%u, %%r2, %%r3, %%r4", "r",
     "units.sp_lanes"},
    {"fp32_div", "div.rn.f32 %r1, %r1, %r2", "div.rn.f32 %%r%u, %%r2, %%r3", "r",
     "units.sfu_lanes"},
    {"fp64_add", "add.f64 %d1, %d1, %d2", "add.f64 %%d%u, %%d2, %%d3", "d", "units.fp64_lanes"},
    {"fp64_max", "max.f64 %d1, %d1, %d2", "max.f64 %%d%u, %%d2, %%d3", "d", "units.fp64_lanes"},
    {"fp64_mul", "mul.f64 %d1, %d1, %d2", "mul.f64 %%d%u, %%d2, %%d3", "d", "units.fp64_lanes"},
    {"fp64_mad", "fma.rn.f64 %d1, %d1, %d2, %d3", "fma.rn.f64 %%d%u, %%d2, %%d3, %%d4", "d",
     "units.fp64_lanes"},
    {"fp64_div", "div.rn.f64 %d1, %d1, %d2", "div.rn.f64 %%d%u, %%d2, %%d3", "d",
     "units.sfu_lanes"},
    {"sfu", "ex2.approx.f32 %r1, %r1", "ex2.approx.f32 %%r%u, %%r2", "r", "units.sfu_lanes"},
};

enum {
    LINKS = 6,
    SETUP = 1 + 2 * 4 /* instructions before the measured ones */
};

/* Registers are set (all pending results have come when the first of the chain issues, because it
 * waits for the last), then come the links. */
static void begin_kernel(struct text *text)
{
    add(text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b64 %%p; .reg .b32 %%r<40>;"
                   " .reg .b64 %%d<40>;\n ld.param.u64 %%p, [p];\n");
    for (u32 i = 1; i <= 4; i++)
        add(text, " mov.b32 %%r%u, 0x3f800000; mov.f64 %%d%u, 0d3ff0000000000000;\n", i, i);
}

static struct rig *chain_rig(const struct op_class *c, const char *settings)
{
    struct text text = {0};
    begin_kernel(&text);
    for (u32 i = 0; i < LINKS; i++)
        add(&text, " %s;\n", c->chain);
    add(&text, " ret;\n}\n");
    return rig_open_text(NULL, settings, &text);
}

static u64 class_value(const struct rig *rig, const struct op_class *c, const char *suffix)
{
    char name[64];
    snprintf(name, sizeof name, "units.%s%s", c->name, suffix);
    return param(rig, name);
}

static u64 passes(const struct rig *rig, const struct op_class *c)
{
    u64 lanes = param(rig, c->lanes);
    return (param(rig, "core.warp_size") + lanes - 1) / lanes;
}

static const char *const lane_settings[] = {
    FREE "units.fp64=1",
    FREE "units.fp64=1 units.integer=1",
    FREE "units.fp64=1 units.sp_lanes=8 units.sfu_lanes=4 units.fp64_lanes=2",
    FREE "units.fp64=1 units.sp_lanes=31", /* one more pass than 32 */
    FREE "units.fp64=1 units.int_add=5 units.fp32_mul=9 units.sfu_latency=21",
};

static void test_latency(void **state)
{
    for (u32 m = 0; m < ARRAY_LEN(lane_settings); m++)
        for (u32 i = 0; i < ARRAY_LEN(classes); i++) {
            const struct op_class *c = &classes[i];
            struct rig *rig = chain_rig(c, lane_settings[m]);
            rig_run(rig, 1, 32, rig_memory(rig, 8));
            u64 interval = class_value(rig, c, "_interval"), n = passes(rig, c);
            u64 latency = class_value(rig, c, strcmp(c->name, "sfu") == 0 ? "_latency" : "") +
                          interval * (n - 1);
            if (latency < interval * n) /* a result is never there before the last pass */
                latency = interval * n;
            for (u32 k = 1; k < LINKS; k++) {
                u64 cycles = issued_at(rig, 0, 0, SETUP + k) - issued_at(rig, 0, 0, SETUP + k - 1);
                if (cycles != STAGES + latency + UNIT_REGISTERS)
                    fail_msg("%s, machine %u, link %u: %llu cycles, not %llu", c->name, m, k,
                             (unsigned long long)cycles,
                             (unsigned long long)(STAGES + latency + UNIT_REGISTERS));
            }
            rig_close(rig);
        }
}

/* Independent instructions of one warp: soon as many cycles apart as the unit is taken. */
static void test_interval(void **state)
{
    enum {
        FILL = 16, /* collectors and latches before the unit are full after so many */
        COUNT = 24
    };
    for (u32 m = 0; m < ARRAY_LEN(lane_settings); m++)
        for (u32 i = 0; i < ARRAY_LEN(classes); i++) {
            const struct op_class *c = &classes[i];
            struct text text = {0};
            char settings[256];
            begin_kernel(&text);
            for (u32 k = 0; k < COUNT; k++) {
                char line[128];
                snprintf(line, sizeof line, c->alone, 10 + k);
                add(&text, " %s;\n", line);
            }
            for (u32 k = 0; k < COUNT; k++) /* so that each result needs its own register */
                add(&text, " st.global.%s [%%p], %%%s%u;\n", c->type[0] == 'd' ? "b64" : "b32",
                    c->type, 10 + k);
            add(&text, " ret;\n}\n");
            snprintf(settings, sizeof settings,
                     "%s units.sp=1 issue.schedulers=1 collect.generic=2", lane_settings[m]);
            struct rig *rig = rig_open_text(NULL, settings, &text);
            rig_run(rig, 1, 32, rig_memory(rig, 8));
            u64 interval = class_value(rig, c, "_interval") * passes(rig, c);
            for (u32 k = FILL; k < COUNT; k++) {
                u64 cycles = issued_at(rig, 0, 0, SETUP + k) - issued_at(rig, 0, 0, SETUP + k - 1);
                if (cycles != interval)
                    fail_msg("%s, machine %u, number %u: %llu cycles, not %llu", c->name, m, k,
                             (unsigned long long)cycles, (unsigned long long)interval);
            }
            rig_close(rig);
        }
}

/* A scheduler's turns, whatever units the instructions of its warps go to: n cycles apart, not n
 * - 1.
 */
static void test_turns(void **state)
{
    enum {
        WARPS = 4,
        MOST = 6
    };
    static const char kernel[] =
        HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<9>; .reg .b64 %p;\n"
             " ld.param.u64 %p, [p];\n mov.u32 %r0, 1;\n ld.global.u32 %r1, [%p];\n"
             " mov.u32 %r2, 2;\n mov.u32 %r3, 3;\n ld.global.u32 %r4, [%p+4];\n"
             " mov.u32 %r5, 4;\n st.global.u32 [%p], %r5;\n ret;\n}\n";
    for (u32 n = 1; n <= MOST; n++) {
        char settings[256];
        snprintf(settings, sizeof settings, FREE "issue.schedulers=1 issue.interval=%u", n);
        struct rig *rig = rig_open(NULL, settings, kernel);
        u64 least = UINT64_MAX;
        rig_run(rig, 1, 32 * WARPS, rig_memory(rig, 8));
        for (u32 i = 1; i < rig->issued.count; i++)
            least = MIN(least, rig->issued.data[i].cycle - rig->issued.data[i - 1].cycle);
        assert_int_equal(param(rig, "issue.interval"), n);
        assert_int_equal(least, n);
        /* between turns, warps that could issue wait for their unit, not for a collector */
        assert_int_equal(stat(rig, "issue.idle_collector"), 0);
        assert_true(n == 1 || stat(rig, "issue.idle_unit") >= n - 1);
        rig_close(rig);
    }
}

/* One instruction is fetched in a cycle: warps take turns, though each wants two. */
static void test_fetch_turns(void **state)
{
    enum {
        WARPS = 6
    };
    static const char kernel[] =
        HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<9>;\n"
             " mov.u32 %r0, 1; mov.u32 %r1, 1; mov.u32 %r2, 2; mov.u32 %r3, 3;\n"
             " ret;\n}\n";
    struct rig *rig = rig_open(
        NULL, FREE "issue.schedulers=1 fetch.per_cycle=1 fetch.width=1 fetch.buffer=2", kernel);
    rig_run(rig, 1, 32 * WARPS, rig_memory(rig, 8));
    for (u32 s = 1; s < WARPS; s++)
        assert_int_equal(issued_at(rig, 0, s, 0), issued_at(rig, 0, 0, 0) + s);
    rig_close(rig);
}

/* ---- the end of a unit ---- */

/* A long operation, some others, a short one: cycles from the long one's write-back to the short
 * one's. `apart` lies between their issues. */
static i64 written_after(u32 apart, u32 units, u64 *latencies)
{
    struct text text = {0};
    char settings[256];
    add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<40>; .reg .b64 %%p;\n"
                    " ld.param.u64 %%p, [p];\n mov.u32 %%r0, 1;\n add.u32 %%r1, %%r0, 1;\n");
    for (u32 i = 2; i <= apart + 1; i++)
        add(&text, " and.b32 %%r%u, %%r0, 1;\n", i);
    for (u32 i = 0; i <= apart + 1; i++)
        add(&text, " st.global.u32 [%%p], %%r%u;\n", i);
    add(&text, " ret;\n}\n");
    snprintf(settings, sizeof settings, FREE "issue.schedulers=1 units.sp=%u", units);
    struct rig *rig = rig_open_text(NULL, settings, &text);
    rig_run(rig, 1, 32, rig_memory(rig, 8));
    *latencies = param(rig, "units.int_add") - param(rig, "units.int_simple");
    i64 cycles = (i64)retired_at(rig, 0, 0, 2 + apart) - (i64)retired_at(rig, 0, 0, 2);
    rig_close(rig);
    return cycles;
}

/* Two results cannot leave a unit in one cycle, though buses are free; two units can do it. */
static void test_output(void **state)
{
    u64 n;
    written_after(1, 1, &n);
    assert_true(n > 2);
    assert_int_equal(written_after((u32)n - 1, 1, &n), -1);
    assert_int_equal(written_after((u32)n, 1, &n), 1);
    assert_int_equal(written_after((u32)n, 2, &n), 0);
    assert_int_equal(written_after((u32)n + 1, 1, &n), 1 + 1);
}

/* Results of two units that would be written in one cycle, and one bus for them: one waits. */
static void test_bus(void **state)
{
    static const char kernel[] =
        HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<9>;\n mov.u32 %r0, 1;\n"
             " add.u32 %r1, %r0, 1; ex2.approx.f32 %r2, %r0; ret;\n}\n";
    for (u32 buses = 1; buses <= 2; buses++) {
        char settings[256];
        /* ex2 issues a cycle later */
        snprintf(settings, sizeof settings,
                 "gpu.cores=1 collect.banks=64 collect.generic=16 units.result_buses=%u "
                 "issue.schedulers=1 units.int_add=9 units.sfu_latency=8 units.sfu_lanes=32",
                 buses);
        struct rig *rig = rig_open(NULL, settings, kernel);
        rig_run(rig, 1, 32, 0);
        assert_int_equal(issued_at(rig, 0, 0, 2), issued_at(rig, 0, 0, 1) + 1);
        assert_int_equal(retired_at(rig, 0, 0, 2), retired_at(rig, 0, 0, 1) + (buses == 1));
        assert_int_equal(stat(rig, "units.bus_stalls"), buses == 1);
        rig_close(rig);
    }
}

/* ---- banks ---- */

/* A collector waits as many cycles as its bank serves reads. If one bank has all registers, the second of
 * two that come one after the other waits for the first, too. */
static void test_wait_cycles(void **state)
{
    static const char kernel[] =
        HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %r<9>;\n"
             " mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;\n"
             " not.b32 %r3, %r2;\n" /* 1 read, after all results: no write is in its way */
             " mad.lo.u32 %r4, %r3, %r0, %r1;\n" /* 3 reads */
             " mad.lo.u32 %r5, %r3, %r1, %r0;\n" /* they begin a cycle later */
             " ret;\n}\n";
    static const u32 cycles[] = {1 + 3 + (3 - 1 + 3), 1 + 1 + 1};
    for (u32 i = 0; i < 2; i++) {
        struct rig *rig = rig_open(
            NULL, i ? "gpu.cores=1 collect.banks=64" : "gpu.cores=1 collect.banks=1", kernel);
        rig_run(rig, 1, 32, 0);
        assert_int_equal(issued_at(rig, 0, 0, 5), issued_at(rig, 0, 0, 4) + 1);
        assert_int_equal(stat(rig, "collect.reads"), 7);
        assert_int_equal(stat(rig, "collect.wait_cycles"), cycles[i]);
        rig_close(rig);
    }
}

/* Registers after the comma of the nth line with `op`: its sources. */
static u32 sources_of(const char *listing, const char *op, u32 nth, u32 *registers)
{
    const char *at = strstr(listing, op);
    while (at && nth--)
        at = strstr(at + 1, op);
    assert_non_null(at);
    const char *end = strchr(at, ';');
    u32 count = 0;
    for (at = strchr(at, ','); at && at < end; at = strchr(at + 1, ','))
        if (at[2] == 'R')
            registers[count++] = (u32)atoi(at + 3);
    return count;
}

/* A chain x = x * y + z with changing y and z: each link is late by the reads that the fullest bank
 * serves after its first. */
static void test_banks(void **state)
{
    enum {
        Y = 20,
        CHAIN = 40
    };
    u32 conflicts_seen = 0, free_seen = 0;
    static const u32 banks[] = {1, 2, 3, 4, 8, 16, 32, 64};
    for (u32 b = 0; b < ARRAY_LEN(banks); b++) {
        struct text text = {0};
        char settings[128];
        add(&text, HEAD ".visible .entry k(.param .u64 p)\n{\n .reg .b32 %%r<40>; .reg .b64 %%p;\n"
                        " ld.param.u64 %%p, [p];\n");
        for (u32 i = 0; i < Y; i++)
            add(&text, " mov.u32 %%r%u, %u;\n", i, i);
        for (u32 i = 0; i < CHAIN; i++)
            add(&text, " mad.lo.u32 %%r0, %%r0, %%r%u, %%r%u;\n", 1 + i * 7 % (Y - 1),
                1 + i * i % (Y - 1));
        for (u32 i = 0; i < Y; i++)
            add(&text, " st.global.u32 [%%p], %%r%u;\n", i);
        add(&text, " ret;\n}\n");
        snprintf(settings, sizeof settings, "gpu.cores=1 collect.banks=%u", banks[b]);
        struct rig *rig = rig_open_text(NULL, settings, &text);
        char *listing = hd_module_listing(rig->module, NULL, NULL);
        rig_run(rig, 1, 32, rig_memory(rig, 8));
        for (u32 slot = 0; slot < 1; slot++)
            for (u32 k = 2; k + 1 < CHAIN; k++) {
                u32 registers[4], reads[64] = {0}, most = 0;
                u32 count = sources_of(listing, "mad.lo.b32", k, registers);
                assert_int_equal(count, 3);
                for (u32 i = 0; i < count; i++) {
                    u32 *bank = &reads[(slot + registers[i]) % param(rig, "collect.banks")];
                    ++*bank;
                    most = MAX(most, *bank);
                }
                u64 cycles =
                    issued_at(rig, 0, slot, 1 + Y + k + 1) - issued_at(rig, 0, slot, 1 + Y + k);
                u64 want = STAGES + (most - 1) + param(rig, "units.int_mad") + UNIT_REGISTERS;
                if (cycles != want)
                    fail_msg("%u banks, link %u: %llu cycles, not %llu", banks[b], k,
                             (unsigned long long)cycles, (unsigned long long)want);
                conflicts_seen += most > 1;
                free_seen += most == 1;
            }
        hd_free(listing);
        rig_close(rig);
    }
    assert_true(conflicts_seen > CHAIN && free_seen > CHAIN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_latency), cmocka_unit_test(test_interval),
        cmocka_unit_test(test_turns),   cmocka_unit_test(test_fetch_turns),
        cmocka_unit_test(test_output),  cmocka_unit_test(test_bus),
        cmocka_unit_test(test_banks),   cmocka_unit_test(test_wait_cycles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
